"""The work that is timed: dispatch, an MLP, first calls at new shapes, a small GPT, digits.

One process runs one device and prints one JSON line per figure: {"name", "unit", "value"}.

    python bench/workloads.py cpu|tpu [part ...] [--precision highest]
"""

import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn


def emit(name: str, value: float, unit: str) -> None:
    print(json.dumps({"name": name, "value": value, "unit": unit}), flush=True)


class Timer:
    """Medians of repeated calls, each waited for."""

    def __init__(self, device: str):
        self.device = device

    def wait(self) -> None:
        if self.device != "cpu":
            torch.accelerator.synchronize()

    def median(self, fn, count: int, warmup: int = 3) -> float:
        for _ in range(warmup):
            fn()
        self.wait()
        seconds = []
        for _ in range(count):
            start = time.perf_counter()
            fn()
            self.wait()
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds)

    def once(self, fn) -> float:
        self.wait()
        start = time.perf_counter()
        fn()
        self.wait()
        return time.perf_counter() - start


@torch.no_grad()
def dispatch(t: Timer) -> None:
    a, b = torch.randn(4, 4).to(t.device), torch.randn(4, 4).to(t.device)

    def chain():
        x = a
        for _ in range(1000):
            x = x + b
        return x

    def in_place():
        x = a.clone()
        for _ in range(1000):
            x.add_(b)

    emit("add 4x4, chain of 1000, per op", t.median(chain, 15) * 1e3, "us")
    emit("add_ 4x4, chain of 1000, per op", t.median(in_place, 15) * 1e3, "us")
    emit("(a + b).cpu()", t.median(lambda: (a + b).cpu(), 300) * 1e6, "us")
    emit("sum().item()", t.median(lambda: a.sum().item(), 300) * 1e6, "us")
    host = torch.randn(1024, 1024)
    big = host.to(t.device)
    emit("host to device, 4 MiB", t.median(lambda: host.to(t.device, copy=True), 20) * 1e3, "ms")
    emit("device to host, 4 MiB", t.median(lambda: big.to("cpu", copy=True), 20) * 1e3, "ms")
    emit("matmul 1024", t.median(lambda: big @ big, 20) * 1e3, "ms")


def mlp(t: Timer) -> None:
    x, y = torch.randn(64, 784).to(t.device), torch.randint(0, 10, (64,)).to(t.device)
    for name, make in (
        ("SGD", lambda p: torch.optim.SGD(p, lr=0.01)),
        ("AdamW", lambda p: torch.optim.AdamW(p, lr=1e-3)),
    ):
        torch.manual_seed(0)
        layers = (
            nn.Linear(784, 512),
            nn.ReLU(),
            nn.Linear(512, 512),
            nn.ReLU(),
            nn.Linear(512, 10),
        )
        model = nn.Sequential(*layers).to(t.device)
        optimizer = make(model.parameters())

        def step(model=model, optimizer=optimizer):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()

        emit(f"MLP step, {name}, first", t.once(step) * 1e3, "ms")
        emit(f"MLP step, {name}", t.median(step, 50, warmup=5) * 1e3, "ms")


@torch.no_grad()
def shapes(t: Timer) -> None:
    ops = {
        "add": lambda a: a + a,
        "matmul": lambda a: a @ a.t(),
        "softmax": lambda a: a.softmax(-1),
        "layer_norm": lambda a: F.layer_norm(a, a.shape[-1:]),
        "sum": lambda a: a.sum(0),
    }
    for name, op in ops.items():
        inputs = [torch.randn(9 + i, 17 + 3 * i).to(t.device) for i in range(20)]
        seconds = [t.once(lambda x=x, op=op: op(x)) for x in inputs]
        emit(f"new shape, {name}", statistics.median(seconds) * 1e3, "ms")
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).to(t.device)
    inputs = [torch.randn(i, 64).to(t.device) for i in range(1, 21)]
    emit(
        "MLP forward, 20 batch sizes", sum(t.once(lambda x=x: model(x)) for x in inputs) * 1e3, "ms"
    )


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(width, dim=2)
        )
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, width=256, heads=8, length=128, vocabulary=1024, layers=4):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("mask", torch.triu(torch.ones(length, length, dtype=torch.bool), 1))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


def gpt(t: Timer) -> None:
    torch.manual_seed(0)
    model = Gpt().to(t.device)
    tokens = torch.randint(0, 1024, (4, 128)).to(t.device)
    labels = torch.randint(0, 1024, (4 * 128,)).to(t.device)

    def step():
        model.zero_grad(set_to_none=True)
        F.cross_entropy(model(tokens).flatten(0, 1), labels).backward()

    emit("small GPT forward + backward, first", t.once(step) * 1e3, "ms")
    emit("small GPT forward + backward", t.median(step, 10, warmup=2) * 1e3, "ms")


def digits(t: Timer) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(64 * 16, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    ).to(t.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    x, y = torch.randn(64, 1, 8, 8).to(t.device), torch.randint(0, 10, (64,)).to(t.device)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    emit("digits step, first", t.once(step) * 1e3, "ms")
    emit("digits step", t.median(step, 40, warmup=5) * 1e3, "ms")


PARTS = {"dispatch": dispatch, "mlp": mlp, "shapes": shapes, "gpt": gpt, "digits": digits}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", choices=["cpu", "tpu"])
    parser.add_argument("parts", nargs="*", default=[], help=f"of {', '.join(PARTS)}; all if none")
    parser.add_argument("--precision", default="default", choices=["default", "high", "highest"])
    args = parser.parse_args()
    torch.manual_seed(0)
    if args.device == "tpu" and args.precision != "default":
        torch.set_float32_matmul_precision(args.precision)
    for part in args.parts or PARTS:
        PARTS[part](Timer(args.device))


if __name__ == "__main__":
    main()
