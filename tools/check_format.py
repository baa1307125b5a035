"""Checks the format of every C and C++ file with one pinned clang-format; --fix rewrites them.

The version is the one of the PyPI wheel that requirements.txt pins. Table files (.def) keep their
columns.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from sources import ROOT, c_files, name, report

VERSION = re.search(r"^clang-format==(\S+)", (ROOT / "requirements.txt").read_text(), re.M).group(1)
BATCH = 64


def find_formatter() -> str | None:
    beside = Path(sysconfig.get_path("scripts")) / "clang-format"
    for candidate in (str(beside), shutil.which("clang-format")):
        if candidate and Path(candidate).exists():
            output = subprocess.run(
                [candidate, "--version"], capture_output=True, text=True, check=False
            )
            if re.search(rf"\b{re.escape(VERSION)}\b", output.stdout):
                return candidate
    return None


def main() -> int:
    formatter = find_formatter()
    if formatter is None:
        return report(
            [
                f"tools/check_format.py:1: needs clang-format {VERSION}: "
                f"{sys.executable} -m pip install clang-format=={VERSION}"
            ],
            "",
        )
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    paths, failures = [name(path) for path in c_files()], []
    for start in range(0, len(paths), BATCH):
        run = subprocess.run(
            [formatter, *mode, "--style=file", *paths[start : start + BATCH]],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        lines: dict[str, str] = {}  # the first bad line of each file
        for path, line in re.findall(r"^(\S+?):(\d+):\d+: error: ", run.stderr, re.M):
            lines.setdefault(path, line)
        failures += [
            f"{path}:{line}: not formatted; run tools/check_format.py --fix"
            for path, line in sorted(lines.items())
        ]
        if run.returncode and not lines:
            failures.append(f"tools/check_format.py:1: clang-format failed: {run.stderr.strip()}")
    return report(failures, f"format: {len(paths)} files, clang-format {VERSION}")


if __name__ == "__main__":
    sys.exit(main())
