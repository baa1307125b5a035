"""Trains a small convolutional network on scikit-learn's digits, on a TPU or on the virtual one.

    python examples/digits.py                  # device tpu
    python examples/digits.py --device cpu     # the same program on the CPU
    python examples/digits.py --precision highest --json

1,797 grey images of 8 x 8 pixels, 80 % for training. Ends with a table of what matters: accuracy,
time a step, compiles, peak memory, precision, CPU fallbacks.
"""

import argparse
import json
import statistics
import time

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from tqdm import tqdm


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="tpu", help="tpu (default) or cpu")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--precision", default="default", choices=["default", "high", "highest"])
    parser.add_argument("--json", action="store_true", help="print the closing table as JSON")
    return parser.parse_args()


def load(device: str) -> tuple:
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    train, test = train_test_split(
        torch.arange(len(labels)), test_size=0.2, random_state=0, stratify=digits.target
    )
    return tuple(t.to(device) for t in (images[train], labels[train], images[test], labels[test]))


def make_model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(64 * 4 * 4, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def train(model, images, labels, args) -> list:
    """Seconds of each step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    steps_per_epoch = len(labels) // args.batch
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * steps_per_epoch)
    loss_fn = nn.CrossEntropyLoss()
    seconds = []
    model.train()
    bar = tqdm(total=args.epochs * steps_per_epoch, unit="step", disable=args.json)
    for epoch in range(args.epochs):
        order = torch.randperm(len(labels)).to(args.device)
        for step in range(steps_per_epoch):
            start = time.perf_counter()
            batch = order[step * args.batch : (step + 1) * args.batch]
            optimizer.zero_grad()
            loss = loss_fn(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            schedule.step()
            value = loss.item()
            seconds.append(time.perf_counter() - start)
            bar.set_description(f"epoch {epoch + 1}/{args.epochs} loss {value:.3f}", refresh=False)
            bar.update()
    bar.close()
    return seconds


def accuracy(model, images, labels) -> float:
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def report(args, score: float, seconds: list) -> dict:
    table = {
        "device": args.device,
        "test accuracy": round(score, 4),
        "first step (ms)": round(seconds[0] * 1e3, 1),
        "median step (ms)": round(statistics.median(seconds) * 1e3, 2),
        "steps": len(seconds),
    }
    if args.device.startswith("tpu"):
        counters = torch.tpu.counters()
        table["chip"] = torch.tpu.get_device_name()
        table["platform"] = torch.tpu.get_device_properties().platform
        table["compiles"] = counters["compiles"]
        table["compile time (ms)"] = round(counters["compile_seconds"] * 1e3, 1)
        table["peak memory (MiB)"] = round(torch.tpu.max_memory_allocated() / 2**20, 2)
        table["fallbacks"] = counters["fallbacks"]
    table["matrix precision"] = args.precision if args.device.startswith("tpu") else "float32"
    return table


def main() -> None:
    args = parse_arguments()
    torch.manual_seed(0)
    if args.precision != "default":
        torch.set_float32_matmul_precision(args.precision)
    train_images, train_labels, test_images, test_labels = load(args.device)
    model = make_model().to(args.device)
    seconds = train(model, train_images, train_labels, args)
    table = report(args, accuracy(model, test_images, test_labels), seconds)
    if args.json:
        print(json.dumps(table))
        return
    width = max(map(len, table))
    print("\n".join(f"  {name:<{width}}  {value}" for name, value in table.items()))


if __name__ == "__main__":
    main()
