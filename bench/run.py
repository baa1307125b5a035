"""Times the same work on CPU PyTorch, tputorch and JAX, in turn, and prints one table.

    python bench/run.py [part ...] [--rounds 3] [--sides SIDE ...] [--cores N]
                        [--json FILE] [--plot FILE]

TorchTPU takes part when TORCHTPU_PYTHON names the interpreter of an environment that has it (and
TPU_LIBRARY_PATH the PJRT plugin it shall drive).

Each round runs every side once, in fresh processes, one after the other. A figure is the best over
rounds; the spread is (worst - best) / best. Only ratios within one run mean anything: absolute
times are this machine's mood. On a shared machine --cores 1 --cpu-time is fairest: threads that
wait for each other suffer most from neighbours. Sides that are not installed here are left out.
"""

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys

from tqdm import tqdm

FOLDER = os.path.dirname(os.path.abspath(__file__))
TPU = ["workloads.py", "tpu"]
SIDES = {
    "cpu": ["workloads.py", "cpu"],
    "aot_eager": ["workloads.py", "cpu", "--mode", "aot_eager"],
    "inductor": ["workloads.py", "cpu", "--mode", "compile"],
    "tpu": TPU,
    "tpu highest": [*TPU, "--precision", "highest"],
    "tpu fused": [*TPU, "--mode", "fused"],
    "tpu compiled": [*TPU, "--mode", "compile"],
    "tpu compiled highest": [*TPU, "--mode", "compile", "--precision", "highest"],
    "torchtpu": [*TPU, "--torchtpu"],
    "torchtpu fused": [*TPU, "--torchtpu", "--mode", "fused"],
    "torchtpu compiled": [*TPU, "--torchtpu", "--mode", "compile"],
    "jax": ["jax_models.py"],
}


def missing(side: str) -> str:
    """Why a side cannot run here, or nothing."""
    if side == "inductor" and not (shutil.which("g++") or shutil.which("clang++")):
        return "no C++ compiler"
    if side == "jax" and not importlib.util.find_spec("jax"):
        return "jax is not installed"
    if side.startswith("torchtpu") and not os.environ.get("TORCHTPU_PYTHON"):
        return "TORCHTPU_PYTHON is not set"
    if side.startswith("tpu compiled"):
        code = "import torch; exit('tpu' not in torch._dynamo.list_backends(exclude_tags=()))"
        if subprocess.run([sys.executable, "-c", code], capture_output=True).returncode != 0:
            return "no torch.compile backend"
    return ""


def run_process(arguments: list) -> list:
    environment = {
        **os.environ,
        "TPUTORCH_OPTIONS": os.environ.get("TPUTORCH_OPTIONS", "quiet=1"),
        "JAX_PLATFORMS": "cpu",
    }
    interpreter = sys.executable
    if "--torchtpu" in arguments:
        interpreter = os.environ["TORCHTPU_PYTHON"]
        environment.pop("PYTHONPATH", None)  # of this project
        environment["TORCH_TPU_DEFER_AND_FUSE"] = str(int("fused" in arguments))
    command = [interpreter, os.path.join(FOLDER, arguments[0]), *arguments[1:]]
    out = subprocess.run(command, env=environment, capture_output=True, text=True)
    if out.returncode != 0:
        print(f"{' '.join(arguments)} failed:\n{out.stderr[-1500:]}", file=sys.stderr)
    return [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]


def run_side(side: str, parts: list, extra: list) -> list:
    if side == "jax":
        models = [part for part in parts if part != "kernels"]
        lines = run_process(["jax_models.py", *models, *extra]) if models or not parts else []
        if not parts or "kernels" in parts:
            lines += run_process(["jax_kernels.py", *extra])
        return lines
    script, device, *options = SIDES[side]
    return run_process([script, device, *parts, *options, *extra])


def is_rate(unit: str) -> bool:
    return unit.endswith("/s")


def collect(sides: list, parts: list, rounds: int, extra: list) -> tuple:
    """Rows {name, unit, side: values} and the machine's peaks {unit: value}."""
    rows: dict = {}
    peaks: dict = {}
    with tqdm(total=rounds * (len(sides) + 1), unit="run", file=sys.stderr) as bar:
        for _ in range(rounds):
            for line in run_process(["peaks.py", *extra]):
                peaks[line["unit"]] = max(peaks.get(line["unit"], 0), line["value"])
            bar.update()
            for side in sides:
                for line in run_side(side, parts, extra):
                    row = rows.setdefault(line["name"], {"unit": line["unit"], "values": {}})
                    row["values"].setdefault(side, []).append(line["value"])
                bar.update()
    return rows, peaks


def summarise(rows: dict, peaks: dict) -> list:
    table = []
    for name, row in rows.items():
        best = max if is_rate(row["unit"]) else min
        figures = {}
        for side, values in row["values"].items():
            value = best(values)
            spread = abs(max(values) - min(values)) / value if value else 0
            figures[side] = {"value": value, "spread": spread}
        base = figures.get("cpu")
        for figure in figures.values():
            if base and base["value"] and figure["value"]:
                ratio = figure["value"] / base["value"]
                figure["time over cpu"] = 1 / ratio if is_rate(row["unit"]) else ratio
            if row["unit"] in peaks:
                figure["of peak"] = figure["value"] / peaks[row["unit"]]
        table.append({"name": name, "unit": row["unit"], "sides": figures})
    return table


def show(table: list, sides: list, peaks: dict) -> None:
    print(", ".join(f"peak {value:.1f} {unit}" for unit, value in peaks.items()))
    print("value, time over the CPU's (under 1: faster), spread over rounds; of rates: % of peak")
    width = max(len(row["name"]) for row in table)
    print(" " * (width + 9) + "".join(f"{side:>26}" for side in sides))
    for row in table:
        cells = []
        for side in sides:
            figure = row["sides"].get(side)
            if not figure:
                cells.append(f"{'-':>26}")
                continue
            ratio = figure.get("time over cpu")
            text = f"{figure['value']:.2f} {'-' if ratio is None else f'{ratio:.2f}'}"
            if "of peak" in figure:
                text += f" {figure['of peak'] * 100:.0f}%"
            text += f" +{figure['spread'] * 100:.0f}"
            cells.append(f"{text:>26}")
        print(f"{row['name']:<{width}}  {row['unit']:<7}" + "".join(cells))


def plot(table: list, sides: list, path: str) -> None:
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("--plot needs matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [row for row in table if "cpu" in row["sides"]]
    shown = [side for side in sides if side != "cpu"]
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.45 * len(rows)))
    height = 0.8 / max(1, len(shown))
    for i, side in enumerate(shown):
        at = [r + i * height for r, row in enumerate(rows) if side in row["sides"]]
        ratios = [row["sides"][side]["time over cpu"] for row in rows if side in row["sides"]]
        axes.barh(at, ratios, height=height, label=side)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks([r + 0.4 for r in range(len(rows))], [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("time over CPU PyTorch's (less is faster)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--cores", type=int, help="keeps every side on that many cores")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time of all threads")
    parser.add_argument("--json", metavar="FILE", help="writes all figures; - for standard output")
    parser.add_argument("--plot", metavar="FILE", help="draws the ratios (needs matplotlib)")
    args = parser.parse_args()
    if args.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-args.cores :])
    sides = []
    for side in args.sides:
        reason = missing(side)
        if reason:
            print(f"without {side}: {reason}", file=sys.stderr)
        else:
            sides.append(side)
    rows, peaks = collect(sides, args.parts, args.rounds, ["--cpu-time"] if args.cpu_time else [])
    table = summarise(rows, peaks)
    if args.json:
        text = json.dumps({"peaks": peaks, "rounds": args.rounds, "rows": table}, indent=1)
        if args.json == "-":
            print(text)
        else:
            with open(args.json, "w") as file:
                file.write(text + "\n")
    if args.json != "-" and table:
        show(table, sides, peaks)
    if args.plot:
        plot(table, sides, args.plot)


if __name__ == "__main__":
    main()
