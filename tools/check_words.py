"""Checks for words and calls that must not be in the project.

Text rules read every text file; call rules read C code with comments and literals blanked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sources import blank, files, is_test, line_of, name, report

THIS = "tools/check_words.py"


class Rule(NamedTuple):
    pattern: re.Pattern
    applies: Callable[[str, Path], bool]
    message: str


def anywhere(text_name: str, path: Path) -> bool:
    return text_name != THIS


def outside_tests(text_name: str, path: Path) -> bool:
    return anywhere(text_name, path) and not is_test(path)


def in_core(text_name: str, path: Path) -> bool:
    return (
        text_name.startswith("src/")
        and not text_name.startswith("src/tools/")
        and not is_test(path)
    )


TEXT_RULES = [
    Rule(re.compile(r"(?<![\w./-])/(home|root|work|Users)/\w"), anywhere, "a path of one machine"),
    Rule(re.compile(r"(?<![\w./-])/tmp/\w"), outside_tests, "a path of one machine"),
    Rule(
        re.compile(
            r"extra-index-url|--index-url|--trusted-host|pythonhosted|artifactory|/simple/\b", re.I
        ),
        anywhere,
        "the address of a package registry belongs to the user's own configuration",
    ),
    Rule(
        re.compile(r"\b(localhost|127\.0\.0\.1):\d+|\b(10|192\.168|172\.16)\.\d+\.\d+\.\d+\b"),
        outside_tests,
        "the address of one machine",
    ),
    Rule(
        re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"),
        anywhere,
        "an open end; finish it or file an issue",
    ),
    Rule(
        re.compile(r"\b(claude|anthropic|openai|chatgpt|copilot|language model)\b", re.I),
        anywhere,
        "says how or by whom something was made",
    ),
]

CALL = r"(?<![\w.>:])"
CALL_RULES = [
    Rule(
        re.compile(CALL + r"(secure_)?getenv\s*\("),
        lambda text_name, path: text_name != "src/base/options.c" and not is_test(path),
        "reads the environment; only src/base/options.c does",
    ),
    Rule(
        re.compile(CALL + r"(abort|exit|_exit|_Exit|quick_exit|__builtin_trap)\s*\("),
        in_core,
        "ends the process; return a status",
    ),
    Rule(
        re.compile(CALL + r"(v?f?printf|puts|fputs|putchar|perror)\s*\("),
        in_core,
        "prints; return a status or append to a tpt_str_t",
    ),
    Rule(
        re.compile(CALL + r"(malloc|calloc|realloc|free|strn?dup|v?asprintf)\s*\("),
        lambda text_name, path: in_core(text_name, path) and text_name != "src/base/allocator.c",
        "bypasses base/allocator.h",
    ),
    Rule(
        re.compile(CALL + r"(gets|strcat|sprintf|vsprintf|strtok|alloca)\s*\("),
        in_core,
        "has no bound, or hidden state",
    ),
]


def find(rules: list[Rule], path: Path, text: str) -> list[str]:
    failures = []
    for rule in rules:
        if rule.applies(name(path), path):
            for match in rule.pattern.finditer(text):
                word = match.group().strip().rstrip("(").strip()
                failures.append(
                    f'{name(path)}:{line_of(text, match.start())}: "{word}" {rule.message}'
                )
    return failures


def main() -> int:
    failures, count = [], 0
    for path in files():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # data, not text
        count += 1
        failures += find(TEXT_RULES, path, text)
        if path.suffix in {".c", ".h", ".cc"}:
            failures += find(CALL_RULES, path, blank(text))
    return report(failures, f"words: {count} files, nothing forbidden")


if __name__ == "__main__":
    sys.exit(main())
