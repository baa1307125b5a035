"""The work that is timed: dispatch, models, first calls at new shapes, single kernels.

One process runs one side and prints one JSON line per figure: {"name", "unit", "value"}. Rates of
single kernels count what the work needs at least, not what was done.

    python bench/workloads.py cpu|tpu [part ...] [--mode eager|fused|compile|aot_eager]
                              [--precision highest] [--torchtpu]
"""

import argparse
import sys

import kernels
import models
import torch
import torch.nn.functional as F
from timer import Timer, emit
from torch import nn


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

    emit("add 4x4, chain of 1000, per op", t.best(chain, 15) * 1e3, "us")
    emit("add_ 4x4, chain of 1000, per op", t.best(in_place, 15) * 1e3, "us")
    emit("(a + b).cpu()", t.best(lambda: (a + b).cpu(), 300) * 1e6, "us")
    emit("sum().item()", t.best(lambda: a.sum().item(), 300) * 1e6, "us")
    host = torch.randn(1024, 1024)
    big = host.to(t.device)
    emit("host to device, 4 MiB", t.best(lambda: host.to(t.device, copy=True), 20) * 1e3, "ms")
    emit("device to host, 4 MiB", t.best(lambda: big.to("cpu", copy=True), 20) * 1e3, "ms")
    emit("matmul 1024", t.best(lambda: big @ big, 20) * 1e3, "ms")


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
        model = t.compiled(model)

        def step(model=model, optimizer=optimizer):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()

        emit(f"MLP step, {name}, first", t.once(step) * 1e3, "ms")
        emit(f"MLP step, {name}", t.best(step, 50, warmup=5) * 1e3, "ms")


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
        emit(f"new shape, {name}", sorted(seconds)[len(seconds) // 2] * 1e3, "ms")
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).to(t.device)
    inputs = [torch.randn(i, 64).to(t.device) for i in range(1, 21)]
    emit(
        "MLP forward, 20 batch sizes", sum(t.once(lambda x=x: model(x)) for x in inputs) * 1e3, "ms"
    )


def gpt(t: Timer) -> None:
    torch.manual_seed(0)
    model = t.compiled(models.Gpt().to(t.device))
    tokens = torch.randint(0, 1024, (4, 128)).to(t.device)
    labels = torch.randint(0, 1024, (4 * 128,)).to(t.device)

    def step():
        model.zero_grad(set_to_none=True)
        F.cross_entropy(model(tokens).flatten(0, 1), labels).backward()

    emit("small GPT forward + backward, first", t.once(step) * 1e3, "ms")
    emit("small GPT forward + backward", t.best(step, 10, warmup=2) * 1e3, "ms")


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
    model = t.compiled(model)
    x, y = torch.randn(64, 1, 8, 8).to(t.device), torch.randint(0, 10, (64,)).to(t.device)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    emit("digits step, first", t.once(step) * 1e3, "ms")
    emit("digits step", t.best(step, 40, warmup=5) * 1e3, "ms")


MODES = ("eager", "fused", "compile", "aot_eager")
PARTS = {
    "dispatch": dispatch,
    "shapes": shapes,
    "mlp": mlp,
    "gpt": gpt,
    "digits": digits,
    "resnet": models.resnet,
    "minilm": models.minilm,
    "lstm": models.lstm,
    "decode": models.decode,
    "kernels": kernels.all_kernels,
}
# What a compiler has no part in.
EAGER_ONLY = ("dispatch", "shapes")


def start_torchtpu() -> None:
    """Google's TorchTPU instead of tputorch, in an environment of its own."""
    from torch_tpu import _loader

    _loader._init_device("tpu")


def run_part(part: str, timer: Timer, may_fail: bool) -> None:
    try:
        PARTS[part](timer)
    except Exception as error:
        if not may_fail:
            raise
        print(f"{part}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", choices=["cpu", "tpu"])
    parser.add_argument("parts", nargs="*", default=[], help=f"of {', '.join(PARTS)}; all if none")
    parser.add_argument("--mode", default="eager", choices=MODES)
    parser.add_argument("--precision", default="default", choices=["default", "high", "highest"])
    parser.add_argument("--cpu-time", action="store_true", help="of all threads, not of the wall")
    parser.add_argument("--torchtpu", action="store_true", help="the device is TorchTPU's")
    args = parser.parse_args()
    if args.torchtpu:
        start_torchtpu()
    torch.manual_seed(0)
    if args.device == "tpu" and args.precision != "default":
        torch.set_float32_matmul_precision(args.precision)
    if args.mode == "fused" and not args.torchtpu:
        torch.tpu.set_eager_mode(torch.tpu.EagerMode.DEFER_AND_FUSE)
    for part in args.parts or PARTS:
        if args.mode in ("eager", "fused") or part not in EAGER_ONLY:
            run_part(part, Timer(args.device, args.mode, args.cpu_time), args.torchtpu)


if __name__ == "__main__":
    main()
