"""Checks that each header compiles alone: as C11, and as C++17 those that C++ code reads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sources import ROOT, c_files, name, report

FLAGS = [
    "-fsyntax-only",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-variable",
    "-Wno-unused-function",
    "-D_GNU_SOURCE",
    f"-I{ROOT}/include",
    f"-I{ROOT}/src",
]


def include_name(path: Path) -> str:
    return name(path).split("/", 1)[1]


def read_by_cxx(headers: list[Path]) -> set[Path]:
    """Headers of include/, those that the adapter includes, and all that these include in turn."""
    by_name = {include_name(path): path for path in headers}
    pending = [path for path in headers if name(path).startswith("include/")]
    for path in c_files():
        if name(path).startswith("adapter/"):
            pending += included(path, by_name)
    found: set[Path] = set()
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending += included(path, by_name)
    return found


def included(path: Path, by_name: dict[str, Path]) -> list[Path]:
    return [
        by_name[target]
        for target in re.findall(r'#\s*include\s+"([^"]+)"', path.read_text())
        if target in by_name
    ]


def compile_alone(path: Path, compiler: str, standard: str, suffix: str, folder: str) -> str | None:
    source = Path(folder) / (include_name(path).replace("/", "_") + suffix)
    line = f'#include "{include_name(path)}"\n'
    source.write_text(line * 2 + "int header_check_unit;\n")  # twice: the guard works
    run = subprocess.run(
        [*compiler.split(), standard, *FLAGS, str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 0:
        return None
    first = next((text for text in run.stderr.splitlines() if "error" in text), run.stderr.strip())
    return f"{name(path)}:1: does not compile alone with {compiler} {standard}: {first}"


def main() -> int:
    headers = [
        path
        for path in c_files()
        if path.suffix == ".h" and name(path).split("/")[0] in {"include", "src"}
    ]
    cc, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    for compiler in (cc, cxx):
        if not shutil.which(compiler.split()[0]):
            return report([f"tools/check_headers.py:1: no compiler {compiler}; set CC and CXX"], "")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compile_alone, path, cc, "-std=c11", ".c", folder) for path in headers]
        shared = sorted(read_by_cxx(headers))
        jobs += [
            pool.submit(compile_alone, path, cxx, "-std=c++17", ".cc", folder) for path in shared
        ]
        failures = [problem for problem in (job.result() for job in jobs) if problem]
    return report(
        failures, f"headers: {len(headers)} compile alone, {len(shared)} of them as C++17 too"
    )


if __name__ == "__main__":
    sys.exit(main())
