"""What the machine can do: a copy on all cores, and OpenBLAS's best product of f32 matrices."""

import time

import numpy as np
import torch
from timer import emit


def best(fn, count: int) -> float:
    seconds = []
    for _ in range(count + 2):
        start = time.perf_counter()
        fn()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    source = torch.ones(1 << 24)  # 64 MiB
    target = torch.empty_like(source)
    emit("copy", 2 * 4 * source.numel() / best(lambda: target.copy_(source), 15) * 1e-9, "GB/s")
    peak = 0.0
    for n in (512, 1024, 1536):
        a = np.ones((n, n), np.float32)
        out = np.empty_like(a)
        seconds = best(lambda a=a, out=out: np.matmul(a, a, out=out), 8)
        peak = max(peak, 2 * n**3 / seconds * 1e-9)
    emit("OpenBLAS sgemm", peak, "GFLOP/s")


if __name__ == "__main__":
    main()
