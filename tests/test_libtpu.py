"""Programs compiled for a real TPU by libtpu, without one: every kind of window, and op rows.

libtpu is no requirement of ours (a wheel of 300 MB under its own licence): where it is absent these
tests are skipped. A compile on a chip's compiler finds what no other plugin does: lowerings that it
refuses, and layouts that blow a weight up.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WEIGHT = 2048 * 4096 * 4
STEP = 1 if "TPUTORCH_EXAMPLES" in os.environ else 8  # of PyTorch's operators, each so many-th

pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("libtpu", "pypjrt")),
    reason="libtpu and pypjrt are not installed",
)

# The most device memory that a program may take, in weights. One is the weight itself: an update in
# place adds a row. A read counts as another by the compiler's bound, though it returns a few rows.
PEAKS = {
    "whole": 1.1,
    "box": 1.1,
    "box rows read": 2.1,
    "box split read": 2.1,
    "flat": 3.1,  # the way to a flat array and back is a copy each
    "flat diagonal write": 4.4,
    "flat diagonal read": 4.4,
    "gather": 3.1,
    "bits": 1.1,
    "narrow": 1.1,
    "narrow int": 2.6,  # int64 is two arrays on a chip
    "wide": 1.1,
    "bool": 2.1,
    "complex": 2.6,  # and so is complex64
}


def bound_of(name: str) -> float:
    words = name.split()
    known = (" ".join(words[:n]) for n in range(len(words), 0, -1))
    return next(PEAKS[key] for key in known if key in PEAKS)


def child(*command: str, timeout: int, dump: str = "") -> str:
    options = f"quiet=1 fallback=quiet plugin=vtpu dump={dump}" if dump else "quiet=1"
    out = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "TPUTORCH_OPTIONS": options},
    )
    assert out.returncode == 0, out.stderr[-3000:]
    return out.stdout


def compiled(files: list, folder: Path) -> dict:
    """What libtpu makes of the files: {name: its line}, see libtpu_compile.py."""
    (folder / "list").write_text("\n".join(str(file) for file in files))
    lines = child(str(HERE / "libtpu_compile.py"), f"@{folder / 'list'}", timeout=600).splitlines()
    return {Path(line["file"]).name: line for line in map(json.loads, lines)}


@pytest.fixture(scope="module")
def windows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    took = child(str(HERE / "libtpu_windows.py"), str(folder), timeout=300, dump=str(folder))
    return json.loads(took), compiled(sorted(folder.glob("*.mlir")), folder)


def test_every_kind_of_window_compiles_within_its_bound(windows):
    took, lines = windows
    programs = {name: files for name, files in took.items() if files}
    assert len(programs) >= 28
    wrong = []
    for name, files in programs.items():
        for file in files:
            error, peak = lines[file]["error"], lines[file]["peak"]
            if error:
                wrong.append(f"{name}: {error}")
            elif peak > bound_of(name) * WEIGHT:
                wrong.append(f"{name}: peak {peak / WEIGHT:.2f} of {bound_of(name)} weights")
    assert not wrong, "\n".join(wrong)


def test_op_rows_compile(tmp_path):
    child(str(HERE / "libtpu_rows.py"), str(STEP), timeout=600, dump=str(tmp_path))
    first = {}
    for path in sorted(tmp_path.glob("*.mlir")):
        first.setdefault(path.stem.split("-", 2)[2], path)
    assert len(first) > 300 // STEP
    lines = compiled(list(first.values()), tmp_path)
    refused = {
        label: lines[path.name]["error"]
        for label, path in first.items()
        if lines[path.name]["error"]
    }
    assert not refused, "\n".join(f"{label}: {why}" for label, why in refused.items())
