"""Where the built files are: the folder in TPUTORCH_BUILD, the installed package, or build/c."""

import importlib.util
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def find(*names):
    """The first existing file among names in the places above, or None."""
    folders = [Path(os.environ["TPUTORCH_BUILD"])] if "TPUTORCH_BUILD" in os.environ else []
    spec = importlib.util.find_spec("tputorch")
    if spec and spec.origin:
        folders.append(Path(spec.origin).parent)
    folders.append(ROOT / "build" / "c")
    paths = [folder / name for folder in folders for name in names]
    return next((path for path in paths if path.exists()), None)


def vtpu():
    return find("libvtpu.so")


def run_tool():
    return find("tputorch-run", "bin/tputorch-run")


def xla_cpu():
    spec = importlib.util.find_spec("lammps_jax_pjrt_cpu")
    path = Path(spec.origin).parent / "pjrt_c_api_cpu_plugin.so" if spec else None
    return path if path and path.exists() else None
