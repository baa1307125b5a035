"""Writes the StableHLO programs of this folder, as JAX lowers the functions below.

Needs jax (no other part of the project does): python tests/data/programs/generate.py [NAME ...]
test_programs.py runs every program on vtpu and on XLA:CPU and compares the results.
"""

import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")

F32, F64, S32 = np.float32, np.float64, np.int32
DTYPES = [F32, F64, jnp.bfloat16, np.float16, np.int8, S32, np.int64, np.uint8, np.uint32, np.bool_]
PROGRAMS = {}


def spec(*dims, dtype=F32):
    return jax.ShapeDtypeStruct(dims, dtype)


def add(name, function, *specs):
    assert name not in PROGRAMS
    PROGRAMS[name] = (function, specs)


def name_of(dtype):
    return np.dtype(dtype).name


def many(names):
    """One program that applies every named lax function to the same arguments."""
    return lambda *args: tuple(getattr(lax, name)(*args) for name in names)


def elementwise():
    unary = (
        "abs cbrt ceil cos exp expm1 floor is_finite log log1p logistic neg round rsqrt sign sin"
    )
    unary += " sqrt tan tanh"
    for dtype in (F32, F64, jnp.bfloat16, np.float16):
        add(f"unary_{name_of(dtype)}", many(unary.split()), spec(64, dtype=dtype))
        binary = many(["add", "sub", "mul", "div", "max", "min", "rem", "pow", "atan2"])
        add(f"binary_{name_of(dtype)}", binary, spec(64, dtype=dtype), spec(64, dtype=dtype))
    for dtype in (np.int8, S32, np.int64, np.uint8, np.uint32):
        names = "add sub mul div max min rem bitwise_and bitwise_or bitwise_xor shift_left "
        names += "shift_right_arithmetic shift_right_logical"
        args = (spec(64, dtype=dtype), spec(64, dtype=dtype))
        add(f"binary_{name_of(dtype)}", many(names.split()), *args)
        bits = many(["clz", "population_count", "bitwise_not", "neg", "sign"])
        add(f"unary_{name_of(dtype)}", bits, spec(64, dtype=dtype))
    compare = many(["eq", "ne", "lt", "le", "gt", "ge"])
    for dtype in (F32, S32, np.uint8, np.bool_):
        add(f"compare_{name_of(dtype)}", compare, spec(64, dtype=dtype), spec(64, dtype=dtype))
    for source in DTYPES:
        add(
            f"convert_{name_of(source)}",
            lambda x: tuple(lax.convert_element_type(x, dtype) for dtype in DTYPES),
            spec(64, dtype=source),
        )
    add(
        "select", lambda p, x, y: jnp.where(p, x, y), spec(5, 6, dtype=bool), spec(5, 6), spec(5, 6)
    )
    add("clamp", lambda x: lax.clamp(F32(-0.3), x, F32(0.4)), spec(40))
    complexes = "exp log sin cos sqrt tanh rsqrt log1p expm1 abs real imag conj neg"
    add("unary_complex64", many(complexes.split()), spec(40, dtype=np.complex64))
    pairs = (spec(40, dtype=np.complex64), spec(40, dtype=np.complex64))
    add("binary_complex64", many(["add", "sub", "mul", "div"]), *pairs)


def shapes():
    index = spec(dtype=S32)
    add("transpose", lambda x: jnp.transpose(x, (4, 2, 0, 3, 1)) + 1, spec(2, 3, 4, 5, 6))
    add("reshape", lambda x: x.reshape(6, 10) * 2, spec(3, 4, 5))
    add("broadcast", lambda x, y: x[:, None] + y[None, :], spec(7), spec(9))
    add("concatenate", lambda *x: jnp.concatenate(x, 1), spec(3, 2), spec(3, 5), spec(3, 1))
    add("slice", lambda x: x[1:8:3, ::2], spec(9, 9))
    add("reverse", lambda x: x[::-1, :, ::-1], spec(3, 4, 5))
    add("pad", lambda x, v: lax.pad(x, v, ((1, 2, 0), (0, -1, 2))), spec(4, 5), spec())
    add("pad_negative", lambda x, v: lax.pad(x, v, ((-1, 3, 1), (2, -2, 0))), spec(4, 5), spec())
    add("dynamic_slice", lambda x, *at: lax.dynamic_slice(x, at, (3, 2)), spec(8, 7), index, index)
    add(
        "dynamic_update_slice",
        lambda x, u, *at: lax.dynamic_update_slice(x, u, at),
        *(spec(8, 7), spec(3, 2), index, index),
    )
    add("iota", lambda x: lax.broadcasted_iota(S32, (4, 5), 1) + x, spec(4, 5, dtype=S32))
    add("bitcast", lambda x: lax.bitcast_convert_type(x, S32), spec(33))
    add("bitcast_narrow", lambda x: lax.bitcast_convert_type(x, np.uint8), spec(5))
    add("bitcast_wide", lambda x: lax.bitcast_convert_type(x, F32), spec(5, 4, dtype=np.uint8))
    add("roll", lambda x: jnp.roll(jnp.tile(x, (2, 3)), 2, 1), spec(3, 4))
    add("empty", lambda x: (x + 1, x.sum(), jnp.sum(x, 1)), spec(3, 0))
    add("scalar", lambda x, y: x * y + 1, spec(), spec())
    add("triangles", lambda x: (jnp.tril(x), jnp.triu(x, 1)), spec(6, 7))


def products():
    def dots(a, b, c, d, e):
        return (
            a @ b,
            b.T @ a.T,
            c @ c.T,
            jnp.einsum("bij,bjk->bik", d, e),
            a @ b[:, 0],
            b[:, 0] @ b,
        )

    for dtype in (F32, F64, S32, np.complex64, jnp.bfloat16):
        sizes = ((33, 20), (20, 17), (9, 31), (3, 5, 6), (3, 6, 7))
        add(f"dot_{name_of(dtype)}", dots, *(spec(*size, dtype=dtype) for size in sizes))
    add("einsum", lambda x, y: jnp.einsum("abcd,cbe->aed", x, y), spec(2, 3, 4, 5), spec(4, 3, 6))
    add("dot_no_terms", jnp.dot, spec(3, 0), spec(0, 4))


def convolutions():
    nchw, nhwc = ("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC")

    def conv(strides=(1, 1), padding=((1, 1), (1, 1)), layout=nchw, **more):
        return lambda x, w: lax.conv_general_dilated(
            x, w, strides, padding, dimension_numbers=layout, **more
        )

    x, w = spec(2, 3, 9, 8), spec(4, 3, 3, 3)
    add("conv", conv(), x, w)
    add("conv_strided", conv((2, 3), ((1, 2), (0, 1))), x, spec(4, 3, 3, 2))
    add("conv_nhwc", conv((1, 2), "VALID", nhwc), spec(2, 9, 8, 3), spec(3, 3, 3, 4))
    add("conv_dilated", conv(rhs_dilation=(2, 1), lhs_dilation=(1, 2)), x, w)
    add("conv_grouped", conv(feature_group_count=3), spec(2, 6, 7, 7), spec(9, 2, 3, 3))
    add("conv_depthwise", conv(feature_group_count=6), spec(2, 6, 7, 7), spec(6, 1, 3, 3))
    add("conv_batch_groups", conv(batch_group_count=2), spec(4, 3, 7, 7), spec(6, 3, 3, 3))
    add("conv_1d", conv((1,), "SAME", ("NCH", "OIH", "NCH")), spec(2, 3, 20), spec(5, 3, 4))
    volume = conv((1, 2, 1), "SAME", ("NCDHW", "OIDHW", "NCDHW"))
    add("conv_3d", volume, spec(1, 2, 5, 6, 7), spec(3, 2, 2, 3, 3))
    strided = conv((2, 1), "SAME")
    add("conv_gradient", jax.grad(lambda x, w: (strided(x, w) ** 2).sum(), argnums=(0, 1)), x, w)


def reductions():
    def all_axes(x):
        results = []
        for axis in (None, 0, 1, (0, 2)):
            results += [jnp.sum(x, axis), jnp.prod(x, axis), jnp.max(x, axis), jnp.min(x, axis)]
        return tuple(results)

    for dtype in (F32, S32, F64, jnp.bfloat16):
        add(f"reduce_{name_of(dtype)}", all_axes, spec(5, 17, 6, dtype=dtype))
    add("any_all", lambda x: (jnp.any(x, 0), jnp.all(x, 1)), spec(5, 6, dtype=bool))
    arg = lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1), jnp.argmax(x))  # noqa: E731
    add("argmax", arg, spec(7, 9))
    add("argmax_ties", arg, spec(7, 9, dtype=S32))
    add("logsumexp", lambda x: jax.nn.logsumexp(x, axis=1), spec(5, 20))
    add("softmax", lambda x: jax.nn.softmax(x, axis=-1), spec(5, 20))
    add("sum_long", jnp.sum, spec(100003))
    scans = lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 0))  # noqa: E731
    add("scans", scans, spec(9, 33))
    add("associative_scan", lambda x: lax.associative_scan(jnp.maximum, x, axis=1), spec(4, 33))


def windows():
    x = spec(2, 3, 9, 8)
    square, step, one = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (2, 0))

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, square, step, "SAME")

    add("max_pool", pool, x)
    add("average_pool", lambda x: lax.reduce_window(x, 0.0, lax.add, square, step, one), x)
    dilated = dict(base_dilation=(2, 1), window_dilation=(1, 2))
    padding = ((0, 0), (1, 1))
    add(
        "pool_dilated",
        lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 1), padding, **dilated),
        spec(9, 8),
    )
    add("max_pool_gradient", jax.grad(lambda x: (pool(x) ** 2).sum()), x)


def indexing():
    x, i = spec(9, 5), spec(12, dtype=S32)
    add("take", lambda x, i: (x[i], jnp.take(x, i[:4], axis=1)), x, i)
    pair = (spec(6, dtype=S32), spec(6, dtype=S32))
    add("gather_pairs", lambda x, i, j: x[i, :, j], spec(9, 5, 8), *pair)
    along = spec(9, 3, dtype=S32)
    add("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), spec(9, 8), along)
    add("scatter_add", lambda x, i, u: x.at[i].add(u), x, i, spec(12, 5))
    add("scatter_set", lambda x, u: x.at[np.array([3, 1, 7])].set(u), x, spec(3, 5))
    add("scatter_max", lambda x, i, u: x.at[i].max(u), x, i, spec(12, 5))
    add("scatter_multiply", lambda x, i, u: x.at[:, i].multiply(u), spec(5, 9), i, spec(5, 12))
    add("scatter_pairs", lambda x, i, j, u: x.at[i, j].add(u), spec(9, 8), *pair, spec(6))
    integers = (spec(9, dtype=S32), spec(30, dtype=S32), spec(30, dtype=S32))
    add("scatter_integers", lambda x, i, u: x.at[i].add(u), *integers)
    rows = spec(3, 4, dtype=S32)
    add("embedding_gradient", jax.grad(lambda w, i: (w[i] ** 2).sum()), spec(9, 5), rows)
    add("one_hot", lambda i: jax.nn.one_hot(i, 8), i)


def sorting():
    x = spec(4, 33)
    add("sort", lambda x: (jnp.sort(x, 1), jnp.sort(x, 0), -jnp.sort(-x, 1)), x)
    add("argsort", lambda x: jnp.argsort(x, 1), x)
    add("argsort_ties", lambda x: jnp.argsort(x, 1, stable=True), spec(4, 33, dtype=S32))
    add("sort_booleans", jnp.sort, spec(33, dtype=bool))
    add("search_sorted", lambda x, v: jnp.searchsorted(jnp.sort(x), v), spec(50), spec(7))


def linear_algebra():
    eye = jnp.eye(6, dtype=F32)
    solve = lax.linalg.triangular_solve
    lower = lambda a, b: solve(jnp.tril(a) + 3 * eye, b, left_side=True, lower=True)  # noqa: E731
    upper = lambda a, b: solve(jnp.triu(a) + 3 * eye, b, transpose_a=True)  # noqa: E731
    add("cholesky", lambda x: lax.linalg.cholesky(x @ x.T + 6 * eye), spec(6, 6))
    add("triangular_solve", lower, spec(6, 6), spec(6, 4))
    add("triangular_solve_right", upper, spec(6, 6), spec(4, 6))
    for dtype in (np.complex64, np.complex128):
        transforms = lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x), jnp.fft.fft2(x))  # noqa: E731
        add(f"fft_{name_of(dtype)}", transforms, spec(4, 15, dtype=dtype))
    add(
        "fft_real",
        lambda x: jnp.fft.irfft(jnp.fft.rfft(x)) + jnp.fft.rfft(x).real.sum(),
        spec(4, 16),
    )
    for name, words in (("THREE_FRY", 2), ("PHILOX", 2)):
        algorithm = getattr(lax.RandomAlgorithm, f"RNG_{name}")
        for dtype in (np.uint32, np.uint64):
            bits = lambda s, a=algorithm, d=dtype: lax.rng_bit_generator(s, (37,), d, a)  # noqa: E731
            state = spec(words, dtype=np.uint64)
            add(f"random_bits_{name.lower()}_{name_of(dtype)}", bits, state)


def control():
    x = spec(5)
    add("loop", lambda x: lax.fori_loop(0, 7, lambda i, c: c * 0.9 + i, x), x)
    grow = lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: c * 1.5 + 1, x)  # noqa: E731
    add("loop_until", grow, x)
    inner = lambda i, c: lax.fori_loop(0, i + 1, lambda j, d: d + j * i, c)  # noqa: E731
    add("loop_nested", lambda x: lax.fori_loop(0, 3, inner, x), x)
    step = lambda h, t, w: (jnp.tanh(h @ w + t), h)  # noqa: E731
    scan = lambda x, w: lax.scan(lambda h, t: step(h, t, w), jnp.zeros(6, F32), x)  # noqa: E731
    add("scan", scan, spec(9, 6), spec(6, 6))
    choose = lambda p, x: lax.cond(p, lambda y: y + 1, lambda y: y * 2, x)  # noqa: E731
    add("cond", choose, spec(dtype=bool), x)
    branches = [lambda y: y + 1, lambda y: y * 2, lambda y: -y]
    add("switch", lambda i, x: lax.switch(i, branches, x), spec(dtype=S32), x)
    key = spec(2, dtype=np.uint32)
    add("random_uniform", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (65,)), key)


def networks():
    def mlp(weights, x):
        for w, b in weights:
            x = jax.nn.gelu(x @ w + b)
        return x

    def mlp_loss(w1, b1, w2, b2, x):
        return (mlp([(w1, b1), (w2, b2)], x) ** 2).mean()

    shapes = (spec(8, 16), spec(16), spec(16, 4), spec(4), spec(10, 8))
    add("mlp_gradient", jax.grad(mlp_loss, argnums=(0, 1, 2, 3)), *shapes)

    def attention(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / F32(np.sqrt(8))
        scores = jnp.where(jnp.tril(jnp.ones((7, 7), bool)), scores, F32(-1e9))
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)

    heads = (spec(2, 3, 7, 8),) * 3
    add("attention", attention, *heads)
    gradient = jax.grad(lambda *a: attention(*a).sum(), argnums=(0, 1, 2))
    add("attention_gradient", gradient, *heads)

    def layer_norm(x, g, b):
        centered = x - x.mean(-1, keepdims=True)
        variance = (centered * centered).mean(-1, keepdims=True)
        return centered / jnp.sqrt(variance + 1e-5) * g + b

    norm_loss = lambda *a: (layer_norm(*a) ** 3).sum()  # noqa: E731
    norm_shapes = (spec(5, 40), spec(40), spec(40))
    add("layer_norm_gradient", jax.value_and_grad(norm_loss, argnums=(0, 1, 2)), *norm_shapes)

    def cross_entropy(logits, labels):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -chosen.mean()

    labels = spec(10, dtype=S32)
    add("cross_entropy_gradient", jax.value_and_grad(cross_entropy), spec(10, 8), labels)

    def lstm(x, w, u, b):
        def step(carry, t):
            h, c = carry
            i, f, g, o = jnp.split(t @ w + h @ u + b, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((3, 5), F32)
        return lax.scan(step, (zero, zero), x)[1]

    gates = (spec(7, 3, 4), spec(4, 20), spec(5, 20), spec(20))
    add("lstm", lstm, *gates)
    lstm_gradient = jax.grad(lambda *a: lstm(*a).sum(), argnums=(0, 1, 2, 3))
    add("lstm_gradient", lstm_gradient, *gates)


def main():
    families = (elementwise, shapes, products, convolutions, reductions, windows, indexing, sorting)
    for family in (*families, linear_algebra, control, networks):
        family()
    folder = Path(__file__).parent
    for name in sys.argv[1:] or PROGRAMS:
        function, specs = PROGRAMS[name]
        # For "tpu" no op becomes a call of a CPU library.
        lowered = jax.jit(function).trace(*specs).lower(lowering_platforms=("tpu",))
        (folder / f"{name}.mlir").write_text(lowered.as_text())
    print(f"{len(sys.argv[1:] or PROGRAMS)} programs written")


if __name__ == "__main__":
    main()
