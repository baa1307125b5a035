"""What the machine can do: a copy on all cores, and OpenBLAS's best product of f32 matrices."""

import sys

import numpy as np
import torch
from timer import Timer, emit


def main() -> None:
    best = Timer("cpu", cpu_time="--cpu-time" in sys.argv).best_of_many
    source = torch.ones(1 << 21)  # 8 MiB, as in kernels.py
    target = torch.empty_like(source)
    emit("copy", 2 * 4 * source.numel() / best(lambda: target.copy_(source), 2) * 1e-9, "GB/s")
    peak = 0.0
    for n in (512, 1024):
        a = np.ones((n, n), np.float32)
        out = np.empty_like(a)
        seconds = best(lambda a=a, out=out: np.matmul(a, a, out=out), 2)
        peak = max(peak, 2 * n**3 / seconds * 1e-9)
    emit("OpenBLAS sgemm", peak, "GFLOP/s")


if __name__ == "__main__":
    main()
