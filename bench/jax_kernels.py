"""The single kernels of kernels.py on JAX, jitted, on the CPU. Prints the same figures."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from kernels import ARRAY, COLUMNS, PRODUCTS, ROWS
from timer import Timer, emit


def best(fn, args) -> float:
    run = jax.jit(fn)
    return Timer("cpu", cpu_time="--cpu-time" in sys.argv).best_of_many(
        lambda: run(*args).block_until_ready()
    )


def layer_norm(a, w):
    d = a - a.mean(-1, keepdims=True)
    return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * w + w


def main() -> None:
    random = np.random.default_rng(0)

    def made(*shape):
        return jnp.asarray(random.standard_normal(shape, np.float32))

    x, y, row = made(ROWS, COLUMNS), made(ROWS, COLUMNS), made(COLUMNS)
    index = jnp.asarray(random.integers(0, ROWS, ROWS))
    memory = {
        "elementwise chain": (lambda a, b: jax.nn.relu((a * 2 + b) * a) - b, (x, y), 3 * ARRAY),
        "sum of all": (jnp.sum, (x,), ARRAY),
        "sum of rows": (lambda a: a.sum(1), (x,), ARRAY),
        "sum of columns": (lambda a: a.sum(0), (x,), ARRAY),
        "softmax": (lambda a: jax.nn.softmax(a, -1), (x,), 2 * ARRAY),
        "layer norm": (layer_norm, (x, row), 2 * ARRAY),
        "transpose": (jnp.transpose, (x,), 2 * ARRAY),
        "gather of rows": (lambda a, i: a[i], (x, index), 2 * ARRAY),
        "scatter-add of rows": (lambda a, i, b: a.at[i].add(b), (x, index, y), 4 * ARRAY),
    }
    for name, (fn, args, size) in memory.items():
        emit(name, size / best(fn, args) * 1e-9, "GB/s")
    for m, k, n in PRODUCTS:
        flops = 2 * m * k * n
        seconds = best(jnp.matmul, (made(m, k), made(k, n)))
        emit(f"product {m} x {k} x {n}", flops / seconds * 1e-9, "GFLOP/s")
    image, kernel = made(8, 128, 28, 28), made(128, 128, 3, 3)
    flops = 2 * 8 * 28 * 28 * 128 * 128 * 9

    def conv(a, w):
        return jax.lax.conv(a, w, (1, 1), "SAME")

    seconds = best(conv, (image, kernel))
    emit("convolution 3 x 3, 128 to 128", flops / seconds * 1e-9, "GFLOP/s")


if __name__ == "__main__":
    main()
