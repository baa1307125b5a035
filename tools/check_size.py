"""Checks the size limits: lines of a file, lines of a function, parameters of a function.

C and C++ go through a small scanner (macro bodies are skipped), Python through ast.
Table files (.def) have no limit. A function that must be longer stands in EXEMPT with its reason.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from sources import blank, blank_directives, files, line_of, name, report

FILE_LINES = {".c": 800, ".cc": 800, ".py": 800, ".h": 400}
FUNCTION_LINES = 80
PARAMETERS = 6
EXEMPT = {  # "path:function" -> reason
    "adapter/attention.cc:choose_fused_rows": "PyTorch calls it with this signature",
    "adapter/rnn.cc:lstm": "PyTorch calls it with this signature",
    "tests/row_calls.py:conv_backward": "the arguments of ATen's schema, in its order",
}

NOT_A_NAME = {
    "__attribute__",
    "__attribute",
    "__declspec",
    "alignas",
    "_Alignas",
    "decltype",
    "noexcept",
    "requires",
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "defined",
    "_Static_assert",
    "static_assert",
}
GROUP = re.compile(r"([~\w]+|operator\s*[^\s\w(]+|operator\s*\(\s*\))\s*\(")
LEAD = re.compile(r"\s*((public|private|protected)\s*:\s*)*")


def matching(text: str, start: int, open_: str = "(", close: str = ")") -> int:
    """Offset of the bracket that closes the one at `start`, or the end of the text."""
    depth = 0
    for offset in range(start, len(text)):
        if text[offset] == open_:
            depth += 1
        elif text[offset] == close:
            depth -= 1
            if depth == 0:
                return offset
    return len(text)


def top_level(text: str) -> str:
    """Text outside parentheses and square brackets."""
    out, depth = [], 0
    for char in text:
        depth += char in "(["
        if depth == 0:
            out.append(char)
        depth -= char in ")]"
    return "".join(out)


def signature(statement: str) -> tuple[str, int] | None:
    """Name and parameter count of a function head, None when the statement is none."""
    at = 0
    while match := GROUP.search(statement, at):
        start = match.end() - 1
        end = matching(statement, start)
        word = match.group(1)
        macro = len(word) > 2 and word.isupper() and GROUP.search(statement, end)
        if word in NOT_A_NAME or macro:
            at = end + 1
            continue
        inside = statement[start + 1 : end].strip()
        if not inside or inside == "void":
            return word, 0
        plain = re.sub(r"<[^<>()]*>", "", re.sub(r"<[^<>()]*>", "", inside))
        return word, top_level(plain).count(",") + 1
    return None


def classify(statement: str) -> str:
    """What a brace opens: "scope" (looked into), "function", or "other" (skipped)."""
    outside = top_level(statement)
    if re.search(r"\bnamespace\b", outside) or re.search(r'\bextern\s*"[^"]*"\s*$', outside):
        return "scope"
    if (
        "(" in statement
        and re.search(r"[)\w]\s*$|&&?\s*$|>\s*$", statement)
        and not re.search(r"(?<![=!<>])=(?!=)", re.sub(r"operator\s*\S+?\s*(?=\()", "", outside))
    ):
        return "function" if signature(statement) else "other"
    is_class = re.search(r"\b(struct|class)\b", outside) and "=" not in outside
    return "scope" if is_class else "other"


def scan(text: str):
    """Yields (name, parameters, first offset, last or None) of definitions and prototypes."""
    start = offset = 0
    while offset < len(text):
        char = text[offset]
        if char == "(":
            offset = matching(text, offset)
        elif char == "{":
            statement = text[start:offset]
            kind = classify(statement)
            end = matching(text, offset, "{", "}")
            if kind == "function":
                yield (*signature(statement), start + LEAD.match(statement).end(), end)
            if kind != "scope":
                offset = end
            start = offset + 1
        elif char in "};":
            statement = text[start:offset]
            if char == ";" and not re.search(r"\btypedef\b|\breturn\b|=", statement):
                found = signature(statement)
                if found and re.search(r"[\w*&>]\s+[*&\s]*~?\w+\s*\(", statement):
                    yield (*found, start + LEAD.match(statement).end(), None)
            start = offset + 1
        offset += 1


def check_c(path: Path, text: str) -> list[str]:
    failures = []
    plain = blank_directives(blank(text))
    for function, parameters, first, last in scan(plain):
        where = f"{name(path)}:{line_of(plain, first)}"
        if f"{name(path)}:{function}" in EXEMPT:
            continue
        if parameters > PARAMETERS:
            failures.append(
                f"{where}: {function} has {parameters} parameters; at most {PARAMETERS}"
            )
        lines = plain.count("\n", first, last) + 1 if last else 0
        if lines > FUNCTION_LINES:
            failures.append(f"{where}: {function} has {lines} lines; at most {FUNCTION_LINES}")
    return failures


def check_python(path: Path, text: str) -> list[str]:
    """Keyword-only parameters are free: each stands under its name at the call."""
    failures = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        where = f"{name(path)}:{node.lineno}"
        lines = node.end_lineno - node.lineno + 1
        parameters = [arg.arg for arg in node.args.posonlyargs + node.args.args]
        count = len(parameters) - (parameters[:1] in (["self"], ["cls"]))
        if f"{name(path)}:{node.name}" in EXEMPT:
            continue
        if lines > FUNCTION_LINES:
            failures.append(f"{where}: {node.name} has {lines} lines; at most {FUNCTION_LINES}")
        if count > PARAMETERS:
            failures.append(f"{where}: {node.name} has {count} parameters; at most {PARAMETERS}")
    return failures


def main() -> int:
    failures, count = [], 0
    for path in files():
        limit = FILE_LINES.get(path.suffix)
        if limit is None:
            continue
        count += 1
        text = path.read_text()
        lines = len(text.splitlines())
        if lines > limit:
            failures.append(
                f"{name(path)}:{limit + 1}: the file has {lines} lines; at most {limit}"
            )
        failures += check_python(path, text) if path.suffix == ".py" else check_c(path, text)
    return report(failures, f"size: {count} files within the limits")


if __name__ == "__main__":
    sys.exit(main())
