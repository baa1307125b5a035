"""Times CPU PyTorch and tputorch on the same work, in turn, and prints ratios.

    python bench/run.py [part ...] [--rounds 3] [--json]

Each round runs both in fresh processes, one after the other; a figure is the median over rounds
with its spread. Only ratios within one run mean anything: absolute times are this machine's mood.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from tqdm import tqdm

SIDES = {
    "cpu": ["cpu"],
    "tpu default": ["tpu", "--precision", "default"],
    "tpu highest": ["tpu", "--precision", "highest"],
}


def run_side(arguments: list, parts: list) -> dict:
    workloads = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads.py")
    environment = {**os.environ, "TPUTORCH_OPTIONS": os.environ.get("TPUTORCH_OPTIONS", "quiet=1")}
    out = subprocess.run(
        [sys.executable, workloads, *arguments, *parts],
        env=environment,
        capture_output=True,
        text=True,
    )
    if out.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{out.stderr[-2000:]}")
    lines = [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]
    return {line["name"]: line for line in lines}


def collect(parts: list, rounds: int, quiet: bool) -> list:
    samples: dict = {}
    with tqdm(total=rounds * len(SIDES), unit="run", disable=quiet) as bar:
        for _ in range(rounds):
            for side, arguments in SIDES.items():
                for name, line in run_side(arguments, parts).items():
                    entry = samples.setdefault(name, {"unit": line["unit"]})
                    entry.setdefault(side, []).append(line["value"])
                bar.update()
    rows = []
    for name, entry in samples.items():
        row = {"name": name, "unit": entry["unit"]}
        cpu = statistics.median(entry["cpu"])
        for side in SIDES:
            values = entry[side]
            row[side] = statistics.median(values)
            row[f"{side} spread"] = (max(values) - min(values)) / row[side]
            row[f"{side} ratio"] = row[side] / cpu
        rows.append(row)
    return rows


def show(rows: list) -> None:
    width = max(len(row["name"]) for row in rows)
    heads = f"{'CPU':>10}  {'tpu default':>12} {'ratio':>6}  {'tpu highest':>12} {'ratio':>6}"
    print(f"{'':<{width}}  {heads}")
    for row in rows:
        print(
            f"{row['name']:<{width}}  {row['cpu']:>7.2f} {row['unit']}  "
            f"{row['tpu default']:>9.2f} {row['unit']} {row['tpu default ratio']:>6.2f}  "
            f"{row['tpu highest']:>9.2f} {row['unit']} {row['tpu highest ratio']:>6.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = collect(args.parts, args.rounds, args.json)
    if args.json:
        print(json.dumps(rows, indent=1))
    else:
        show(rows)


if __name__ == "__main__":
    main()
