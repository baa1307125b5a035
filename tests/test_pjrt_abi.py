"""Our PJRT ABI header against independent tables: pypjrt's, made by libclang from OpenXLA's header.

A generated C program prints offset and size of every field, every struct size, slot number and
enumerator of pjrt_abi.h; this test compares each of them, and that nothing of the table is missing.
"""

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLAIN_STRUCTS = [
    "PJRT_Extension_Base",
    "PJRT_Api_Version",
    "PJRT_NamedValue",
    "PJRT_Program",
    "PJRT_Buffer_MemoryLayout_Tiled",
    "PJRT_Buffer_MemoryLayout_Strides",
    "PJRT_Buffer_MemoryLayout",
    "PJRT_ShapeSpec",
    "PJRT_Chunk",
    "PJRT_LogicalDeviceIds",
    "PJRT_ProcessInfo",
    "PJRT_LoadOptions",
    "PJRT_ExecuteOptions",
    "PJRT_KeyValueGetCallback_Args",
    "PJRT_KeyValueTryGetCallback_Args",
    "PJRT_KeyValuePutCallback_Args",
    "PJRT_Buffer_CopyRawToHostFuture_Callback_Args",
    "PJRT_Buffer_DonateWithControlDependency_Callback_Args",
    "PJRT_Error_FunctionTable",
    "PJRT_Memory_FunctionTable",
]
ENUMS = [
    "PJRT_Error_Code",
    "PJRT_Buffer_Type",
    "PJRT_HostBufferSemantics",
    "PJRT_NamedValue_Type",
    "PJRT_Buffer_MemoryLayout_Type",
    "PJRT_ProcessState",
]


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.find_spec("pypjrt")
    if spec is None:
        pytest.skip("pypjrt is not installed")
    path = Path(spec.origin).parent / "_abi" / "pjrt_0_114.py"
    module_spec = importlib.util.spec_from_file_location("pjrt_0_114", path)
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module, path.read_text()


def structs_of(module):
    return PLAIN_STRUCTS + [f"{slot}_Args" for slot in module.SLOT]


def fields_of(struct):
    """Leaf fields as (name, offset, size); members of an unnamed union count as the struct's."""
    for name, kind in struct._fields_:
        if name in getattr(struct, "_anonymous_", ()):
            for inner, inner_kind in kind._fields_:
                yield inner, getattr(struct, name).offset, ctypes.sizeof(inner_kind)
        else:
            yield name, getattr(struct, name).offset, ctypes.sizeof(kind)


def enumerators(text, enum):
    block = re.search(rf"^# enum {enum}\n((?:\w+ = -?\d+\n)+)", text, re.M)
    return re.findall(r"(\w+) = (-?\d+)", block.group(1))


def c_source(module, text):
    lines = ["#include <stdio.h>", '#include "pjrt/pjrt_abi.h"', "int main(void) {"]

    def show(label, expression):
        lines.append(f'  printf("{label} %lld\\n", (long long)({expression}));')

    for name in structs_of(module):
        show(f"size:{name}", f"sizeof({name})")
        if hasattr(module, f"{name}_STRUCT_SIZE"):
            show(f"end:{name}", f"{name}_STRUCT_SIZE")
        for field, _, _ in fields_of(getattr(module, name)):
            show(f"offset:{name}.{field}", f"offsetof({name}, {field})")
            show(f"width:{name}.{field}", f"sizeof((({name}*)0)->{field})")
    for slot in module.SLOT:
        show(f"slot:{slot}", f"PJRT_SLOT_{slot[5:]}")
        show(f"entry:{slot}", f"offsetof(PJRT_Api, {slot})")
    for enum in ENUMS:
        for name, _ in enumerators(text, enum):
            show(f"enum:{name}", name)
    show("slots", "PJRT_SLOT_COUNT")
    show("api", "PJRT_Api_STRUCT_SIZE")
    show("minor", "PJRT_ABI_MINOR")
    return "\n".join(lines + ["  return 0;", "}"]) + "\n"


def expected(module, text):
    want = {
        "slots": len(module.SLOT),
        "api": module.PJRT_Api_STRUCT_SIZE,
        "minor": module.PJRT_API_MINOR,
    }
    for name in structs_of(module):
        struct = getattr(module, name)
        want[f"size:{name}"] = ctypes.sizeof(struct)
        if hasattr(module, f"{name}_STRUCT_SIZE"):
            want[f"end:{name}"] = getattr(module, f"{name}_STRUCT_SIZE")
        for field, offset, size in fields_of(struct):
            want[f"offset:{name}.{field}"] = offset
            want[f"width:{name}.{field}"] = size
    for slot, number in module.SLOT.items():
        want[f"slot:{slot}"] = number
        want[f"entry:{slot}"] = getattr(module.PJRT_Api, slot).offset
    for enum in ENUMS:
        want.update({f"enum:{name}": int(value) for name, value in enumerators(text, enum)})
    return want


@pytest.mark.parametrize("language", ["c", "c++"])
def test_header_matches_the_independent_tables(tables, tmp_path, language):
    module, text = tables
    compiler = os.environ.get("CC", "cc") if language == "c" else os.environ.get("CXX", "c++")
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"no compiler {compiler}")
    source = tmp_path / ("abi.c" if language == "c" else "abi.cc")
    source.write_text(c_source(module, text))
    standard = "-std=c11" if language == "c" else "-std=c++17"
    program = tmp_path / "abi"
    subprocess.run(
        [
            *compiler.split(),
            standard,
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ROOT}/src",
            str(source),
            "-o",
            str(program),
        ],
        check=True,
    )
    output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    got = {
        label: int(value) for label, value in (line.rsplit(" ", 1) for line in output.splitlines())
    }
    want = expected(module, text)
    assert len(want) > 1000
    assert got == want


def test_header_has_no_struct_beyond_the_tables(tables):
    """Every struct body in the header is one that the comparison above reads."""
    module, _ = tables
    text = "".join(
        (ROOT / "src/pjrt" / name).read_text() for name in ("pjrt_abi.h", "pjrt_abi_api.h")
    )
    bodies = set(re.findall(r"^typedef struct (PJRT_\w+) \{", text, re.M)) - {"PJRT_Api"}
    assert bodies == set(PLAIN_STRUCTS)
