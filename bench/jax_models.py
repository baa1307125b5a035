"""The models of workloads.py and models.py on JAX, jitted, on the CPU. Prints the same figures.

Written as a user of JAX writes them: a step is one jitted function of parameters and data; f32.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from timer import Timer, emit

RANDOM = np.random.default_rng(0)


def made(*shape, scale: float = 1.0):
    return jnp.asarray(RANDOM.standard_normal(shape, np.float32) * np.float32(scale))


def integers(high: int, *shape):
    return jnp.asarray(RANDOM.integers(0, high, shape, np.int32))


def linear(inputs: int, outputs: int) -> dict:
    return {"w": made(inputs, outputs, scale=inputs**-0.5), "b": jnp.zeros(outputs)}


def apply(p: dict, x):
    return x @ p["w"] + p["b"]


def norm_of(width: int) -> dict:
    return {"w": jnp.ones(width), "b": jnp.zeros(width)}


def layer_norm(p: dict, x):
    d = x - x.mean(-1, keepdims=True)
    return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * p["w"] + p["b"]


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def attend(q, k, v, mask, heads: int):
    """q, k, v [batch, length, width]; mask, true where seen, broadcasts to the scores."""

    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    q, k, v = split(q), split(k), split(v)
    scores = q @ k.swapaxes(-2, -1) * q.shape[-1] ** -0.5
    out = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1) @ v
    return out.transpose(0, 2, 1, 3).reshape(out.shape[0], out.shape[2], -1)


class Bench:
    def __init__(self, cpu_time: bool):
        self.timer = Timer("cpu", cpu_time=cpu_time)

    def steps(self, name: str, step, state, count: int) -> None:
        """step(state) -> state: the first call, with its compile, then the best of `count`."""
        holder = {"state": state}

        def run():
            holder["state"] = jax.block_until_ready(step(holder["state"]))

        emit(f"{name}, first", self.timer.once(run) * 1e3, "ms")
        emit(name, self.timer.best(run, count) * 1e3, "ms")

    def calls(self, name: str, fn, count: int) -> None:
        emit(name, self.timer.best(lambda: jax.block_until_ready(fn()), count) * 1e3, "ms")


def mlp(bench: Bench) -> None:
    x, y = made(64, 784), integers(10, 64)

    def loss(p):
        h = jax.nn.relu(apply(p[1], jax.nn.relu(apply(p[0], x))))
        return cross_entropy(apply(p[2], h), y)

    @jax.jit
    def sgd(p):
        return jax.tree.map(lambda a, g: a - 0.01 * g, p, jax.grad(loss)(p))

    @jax.jit
    def adamw(state):
        p, m, v, t = state
        g = jax.grad(loss)(p)
        t = t + 1
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        scale = jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        p = jax.tree.map(
            lambda a, b, c: a * (1 - 1e-5) - 1e-3 * scale * b / (jnp.sqrt(c) + 1e-8), p, m, v
        )
        return p, m, v, t

    p = [linear(784, 512), linear(512, 512), linear(512, 10)]
    zeros = jax.tree.map(jnp.zeros_like, p)
    bench.steps("MLP step, SGD", sgd, p, 50)
    bench.steps("MLP step, AdamW", adamw, (p, zeros, zeros, jnp.float32(0)), 50)


def gpt(bench: Bench) -> None:
    width, heads, length, words = 256, 8, 128, 1024
    tokens, labels = integers(words, 4, length), integers(words, 4 * length)
    mask = jnp.tril(jnp.ones((length, length), bool))

    def block() -> dict:
        parts = {"qkv": (width, 3 * width), "out": (width, width)}
        parts.update({"up": (width, 4 * width), "down": (4 * width, width)})
        made_parts = {name: linear(*sizes) for name, sizes in parts.items()}
        return {**made_parts, "norm1": norm_of(width), "norm2": norm_of(width)}

    def loss(p):
        x = p["tokens"][tokens] + p["positions"]
        for b in p["blocks"]:
            q, k, v = jnp.split(apply(b["qkv"], layer_norm(b["norm1"], x)), 3, -1)
            x = x + apply(b["out"], attend(q, k, v, mask, heads))
            hidden = jax.nn.gelu(apply(b["up"], layer_norm(b["norm2"], x)), approximate=False)
            x = x + apply(b["down"], hidden)
        logits = layer_norm(p["norm"], x) @ p["head"]
        return cross_entropy(logits.reshape(-1, words), labels)

    p = {"tokens": made(words, width), "positions": jnp.zeros((length, width))}
    p.update(blocks=[block() for _ in range(4)], norm=norm_of(width))
    p["head"] = made(width, words, scale=width**-0.5)
    grad = jax.jit(jax.value_and_grad(loss))

    def step(p):
        jax.block_until_ready(grad(p))
        return p

    bench.steps("small GPT forward + backward", step, p, 10)


def conv(x, w, stride: int = 1):
    pad = w.shape[2] // 2
    return jax.lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2)


def conv_of(inputs: int, outputs: int, size: int):
    return made(outputs, inputs, size, size, scale=(2 / (outputs * size * size)) ** 0.5)


def batch_norm(p: dict, x):
    mean = x.mean((0, 2, 3), keepdims=True)
    d = x - mean
    scale = jax.lax.rsqrt((d * d).mean((0, 2, 3), keepdims=True) + 1e-5)
    return d * scale * p["w"][:, None, None] + p["b"][:, None, None]


def resnet(bench: Bench) -> None:
    x, y = made(8, 3, 112, 112), integers(1000, 8)
    plan, width = [], 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        plan += [(width, outputs, stride), (outputs, outputs, 1)]
        width = outputs
    p = {"stem": conv_of(3, 64, 7), "norm": norm_of(64), "head": linear(512, 1000), "blocks": []}
    for inputs, outputs, stride in plan:
        b = {"conv1": conv_of(inputs, outputs, 3), "conv2": conv_of(outputs, outputs, 3)}
        b.update(norm1=norm_of(outputs), norm2=norm_of(outputs))
        if stride != 1 or inputs != outputs:
            b.update(short=conv_of(inputs, outputs, 1), norm3=norm_of(outputs))
        p["blocks"].append(b)

    def loss(p):
        z = jax.nn.relu(batch_norm(p["norm"], conv(x, p["stem"], 2)))
        padding = ((0, 0), (0, 0), (1, 1), (1, 1))
        z = jax.lax.reduce_window(z, -jnp.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), padding)
        for b, (_, _, stride) in zip(p["blocks"], plan, strict=True):
            h = jax.nn.relu(batch_norm(b["norm1"], conv(z, b["conv1"], stride)))
            h = batch_norm(b["norm2"], conv(h, b["conv2"]))
            if "short" in b:
                z = batch_norm(b["norm3"], conv(z, b["short"], stride))
            z = jax.nn.relu(h + z)
        return cross_entropy(apply(p["head"], z.mean((2, 3))), y)

    @jax.jit
    def step(state):
        p, m = state
        m = jax.tree.map(lambda b, g, a: 0.9 * b + g + 1e-4 * a, m, jax.grad(loss)(p), p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, m), m

    bench.steps("ResNet-18 step, 8 x 112 x 112", step, (p, jax.tree.map(jnp.zeros_like, p)), 6)


def minilm(bench: Bench) -> None:
    width, heads, words = 384, 12, 30522
    layers = []
    for _ in range(6):
        parts = {name: linear(width, width) for name in ("query", "key", "value", "out")}
        parts.update(up=linear(width, 4 * width), down=linear(4 * width, width))
        layers.append({**parts, "norm1": norm_of(width), "norm2": norm_of(width)})
    p = {"words": made(words, width), "places": made(512, width), "norm": norm_of(width)}
    p["layers"] = layers

    @jax.jit
    def run(p, tokens, mask):
        x = layer_norm(p["norm"], p["words"][tokens] + p["places"][: tokens.shape[1]])
        wide = mask[:, None, None, :] != 0
        for b in p["layers"]:
            q, k, v = (apply(b[name], x) for name in ("query", "key", "value"))
            x = layer_norm(b["norm1"], x + apply(b["out"], attend(q, k, v, wide, heads)))
            hidden = jax.nn.gelu(apply(b["up"], x), approximate=False)
            x = layer_norm(b["norm2"], x + apply(b["down"], hidden))
        weights = mask[..., None].astype(x.dtype)
        pooled = (x * weights).sum(1) / weights.sum(1)
        return pooled / jnp.linalg.norm(pooled, axis=1, keepdims=True)

    for batch in (1, 32):
        tokens, mask = integers(words, batch, 64), jnp.ones((batch, 64), jnp.int32)
        name = f"MiniLM inference, batch {batch}"
        bench.calls(name, lambda t=tokens, m=mask: run(p, t, m), 12 if batch == 1 else 5)


def lstm(bench: Bench) -> None:
    sizes = [(64, 128), (128, 128)]
    p = [{"x": linear(inputs, 4 * out), "h": linear(out, 4 * out)} for inputs, out in sizes]
    x = made(16, 32, 64)

    def layer(p, x):
        gates = apply(p["x"], x)

        def cell(state, gate):
            h, c = state
            i, f, g, o = jnp.split(gate + apply(p["h"], h), 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], 128))
        return jax.lax.scan(cell, (zero, zero), gates)[1]

    def loss(p):
        y = x.transpose(1, 0, 2)
        for part in p:
            y = layer(part, y)
        return y.sum()

    grad = jax.jit(jax.grad(loss))
    bench.calls("LSTM forward + backward", lambda: grad(p), 15)


def decode(bench: Bench) -> None:
    width, heads, length = 512, 8, 1024
    p = {"qkv": linear(width, 3 * width), "out": linear(width, width)}
    p.update(up=linear(width, 4 * width), down=linear(4 * width, width))
    p.update(norm1=norm_of(width), norm2=norm_of(width))
    places = jnp.arange(length)

    def layer(p, x, keys, values, place):
        q, k, v = jnp.split(apply(p["qkv"], layer_norm(p["norm1"], x)), 3, -1)
        q, k, v = (part.reshape(1, 1, heads, -1).transpose(0, 2, 1, 3) for part in (q, k, v))
        keys = jax.lax.dynamic_update_slice_in_dim(keys, k, place, 2)
        values = jax.lax.dynamic_update_slice_in_dim(values, v, place, 2)
        scores = jnp.where(places <= place, q @ keys.swapaxes(-2, -1) * 64**-0.5, -jnp.inf)
        y = (jax.nn.softmax(scores, -1) @ values).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + apply(p["out"], y)
        hidden = jax.nn.gelu(apply(p["up"], layer_norm(p["norm2"], x)), approximate=False)
        return x + apply(p["down"], hidden), keys, values

    run = jax.jit(layer, donate_argnums=(2, 3))
    x, position = made(1, 1, width), {"next": 0}
    cache = [[jnp.zeros((1, heads, length, 64)) for _ in range(2)] for _ in range(4)]

    def token():
        y, place = x, position["next"] % 8
        position["next"] += 1
        for i in range(4):
            y, *cache[i] = run(p, y, *cache[i], place)
        return y

    bench.calls("decode step, 4 layers, cache of 1024", token, 40)


PARTS = (mlp, gpt, resnet, minilm, lstm, decode)


def main() -> None:
    bench = Bench("--cpu-time" in sys.argv)
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for part in PARTS:
        if not wanted or part.__name__ in wanted:
            part(bench)


if __name__ == "__main__":
    main()
