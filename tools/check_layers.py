"""Checks that folders include only folders below them, and PyTorch's headers only the adapter."""

from __future__ import annotations

import re
import sys

from sources import ROOT, blank, c_files, is_test, line_of, name, report

# Folder -> folders whose headers it may include besides its own and include/tputorch.
ALLOWED = {
    "include/tputorch": set(),
    "src/base": set(),
    "src/hlo": {"base"},
    "src/aten": {"base", "hlo"},
    "src/pjrt": {"base", "hlo"},
    "src/eager": {"base", "hlo", "aten", "pjrt"},
    "src/vtpu": {"base", "hlo"},
    "src/tools": {"base", "hlo", "aten", "pjrt", "eager"},
    "adapter": set(),
}
# Tests of these folders also run programs on the virtual TPU.
TEST_ALLOWED = {"src/aten": {"vtpu"}, "src/eager": {"vtpu"}}
# The virtual TPU is a plugin: it knows the ABI, and nothing else of the client.
ABI = re.compile(r"pjrt/pjrt_(abi\w*\.h|slots\.def)$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
TORCH = re.compile(r"^(torch|ATen|c10|pybind11)/|^Python\.h$")


def folder_of(path) -> str | None:
    text = name(path)
    return next((folder for folder in ALLOWED if text.startswith(folder + "/")), None)


def check_include(path, folder: str, quote: str, target: str) -> str | None:
    if TORCH.search(target):
        return None if folder == "adapter" else f"{target} belongs to the adapter only"
    if quote == "<":
        return None
    head = target.split("/")[0] if "/" in target else ""
    if head in {"tputorch", folder.split("/")[-1]}:
        return None
    if folder == "adapter" and not head:
        return None
    if folder == "src/vtpu" and ABI.match(target):
        return None
    if head in ALLOWED[folder] or is_test(path) and head in TEST_ALLOWED.get(folder, set()):
        return None
    if not head:
        return f'"{target}" has no folder; write "<folder>/{target}"'
    allowed = ", ".join(sorted(ALLOWED[folder])) or "no other folder"
    return f"{folder} includes {target}; it may include {allowed}"


def main() -> int:
    failures, count = [], 0
    for path in c_files():
        folder = folder_of(path)
        if folder is None:
            continue
        text = blank(path.read_text(), keep_strings=True)
        for match in INCLUDE.finditer(text):
            count += 1
            problem = check_include(path, folder, match.group(1), match.group(2))
            if problem:
                failures.append(f"{name(path)}:{line_of(text, match.start())}: {problem}")
    if not count:
        failures.append(f"{ROOT}: no include found")
    return report(failures, f"layers: {count} includes, all downwards")


if __name__ == "__main__":
    sys.exit(main())
