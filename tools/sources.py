"""The source files, and C text with comments and literals blanked, for the checks beside this."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
C_SUFFIXES = {".c", ".h", ".cc"}
SKIPPED_FOLDERS = {".git", ".venv", "build", "__pycache__", "dist"}


def files() -> list[Path]:
    """Every file that git tracks or would track; without git, all outside build folders."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"],
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        names = [ROOT / os.fsdecode(name) for name in listing.stdout.split(b"\0") if name]
    else:
        names = [
            Path(folder) / name
            for folder, folders, found in os.walk(ROOT)
            if not folders.sort()
            and not SKIPPED_FOLDERS & set(Path(folder).relative_to(ROOT).parts)
            for name in found
        ]
    return sorted(path for path in set(names) if path.is_file())


def c_files() -> list[Path]:
    return [path for path in files() if path.suffix in C_SUFFIXES]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_test(path: Path) -> bool:
    """True for what never ships: tests, benches, probes and the headers that only they include."""
    return _is_test_name(path) or path in _test_headers()


def _is_test_name(path: Path) -> bool:
    return (
        bool(re.search(r"_(test|bench|fuzz|probe)$", path.stem))
        or "tests" in path.relative_to(ROOT).parts
    )


@functools.cache
def _test_headers() -> frozenset[Path]:
    includers: dict[str, list[Path]] = {}
    for path in c_files():
        for target in re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', path.read_text(), re.M):
            includers.setdefault(target, []).append(path)
    found: set[Path] = set()
    while True:
        more = {
            ROOT / folder / target
            for target, users in includers.items()
            if all(_is_test_name(user) or user in found for user in users)
            for folder in ("src", "include")
        }
        if more <= found:
            return frozenset(path for path in found if path.exists())
        found |= more


_TOKEN = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.S,
)


def blank(text: str, keep_strings: bool = False) -> str:
    """Comments become spaces, and the insides of literals too; offsets and line numbers stay."""

    def replace(match: re.Match) -> str:
        token = match.group()
        if token[0] == "'" and match.start() and text[match.start() - 1].isalnum():
            return token  # a digit separator: 1'000
        if token[0] in "\"'R":
            if keep_strings:
                return token
            return token[0] + re.sub(r"[^\n]", " ", token[1:-1]) + token[-1]
        return re.sub(r"[^\n]", " ", token)

    return _TOKEN.sub(replace, text)


def blank_directives(text: str) -> str:
    """Preprocessor lines, with their continuations, become empty lines."""
    return re.sub(
        r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
        lambda m: re.sub(r"[^\n]", " ", m.group()),
        text,
        flags=re.M,
    )


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def report(failures: list[str], success: str) -> int:
    """Prints the failures, or one line; the exit status."""
    print("\n".join(failures) if failures else success)
    return 1 if failures else 0
