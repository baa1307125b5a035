"""Single kernels and what they need at least: bytes to and from memory, floating point operations.

Arrays of 8 MiB: beyond the caches of a core, and short enough to run undisturbed now and then.
"""

import torch
import torch.nn.functional as F
from timer import Timer, emit

ROWS, COLUMNS = 1024, 2048
ARRAY = 4 * ROWS * COLUMNS
PRODUCTS = (
    (1024, 1024, 1024),
    (2048, 512, 2048),
    (64, 784, 512),
    (4096, 64, 4096),
    (1, 2048, 2048),
    (512, 4096, 512),
)


def memory_bound(device: str) -> dict:
    """Per name: function, arguments, bytes."""

    def made(*shape):
        return torch.randn(*shape).to(device)

    x, y, row = made(ROWS, COLUMNS), made(ROWS, COLUMNS), made(COLUMNS)
    index = torch.randint(0, ROWS, (ROWS,)).to(device)
    return {
        "elementwise chain": (lambda a, b: ((a * 2 + b) * a).relu() - b, (x, y), 3 * ARRAY),
        "sum of all": (lambda a: a.sum(), (x,), ARRAY),
        "sum of rows": (lambda a: a.sum(1), (x,), ARRAY),
        "sum of columns": (lambda a: a.sum(0), (x,), ARRAY),
        "softmax": (lambda a: a.softmax(-1), (x,), 2 * ARRAY),
        "layer norm": (lambda a, w: F.layer_norm(a, (COLUMNS,), w, w), (x, row), 2 * ARRAY),
        "transpose": (lambda a: a.t().contiguous(), (x,), 2 * ARRAY),
        "gather of rows": (lambda a, i: a[i], (x, index), 2 * ARRAY),
        "scatter-add of rows": (
            lambda a, i, b: a.index_add(0, i, b),
            (x, index, y),
            4 * ARRAY,
        ),
    }


def compute_bound(device: str) -> dict:
    """Per name: function, arguments, flops."""

    def made(*shape):
        return torch.randn(*shape).to(device)

    cases = {
        f"product {m} x {k} x {n}": (torch.matmul, (made(m, k), made(k, n)), 2 * m * k * n)
        for m, k, n in PRODUCTS
    }
    image, kernel = made(8, 128, 28, 28), made(128, 128, 3, 3)
    flops = 2 * 8 * 28 * 28 * 128 * 128 * 9
    cases["convolution 3 x 3, 128 to 128"] = (
        lambda a, w: F.conv2d(a, w, padding=1),
        (image, kernel),
        flops,
    )
    return cases


@torch.no_grad()
def all_kernels(t: Timer) -> None:
    for name, (fn, args, size) in memory_bound(t.device).items():
        run = t.compiled(fn)
        seconds = t.best_of_many(lambda run=run, args=args: run(*args))
        emit(name, size / seconds * 1e-9, "GB/s")
    for name, (fn, args, flops) in compute_bound(t.device).items():
        run = t.compiled(fn)
        seconds = t.best_of_many(lambda run=run, args=args: run(*args))
        emit(name, flops / seconds * 1e-9, "GFLOP/s")
