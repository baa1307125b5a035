"""Compiles StableHLO files for a TPU that is not there: one JSON line for each on standard output.

Run as a child process (libtpu reads the environment once, and may end its process): arguments are
the files, or @FILE that lists them. A line has the file's name, `error` (null: it compiled) and
`peak`, the compiler's own bound on the device memory that the program takes, arguments included.
"""

import ctypes
import json
import os
import sys
from pathlib import Path

TOPOLOGY = "v5e:2x2"
OPTIONS = bytes.fromhex("1a0420012801")  # one replica, one partition
ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_LOG_DIR": "disabled",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
}


class Compiler:
    def __init__(self, library: str):
        os.environ.update(ENVIRONMENT)
        from pypjrt._loader import Plugin
        from pypjrt.topology import Topology

        self.plugin = Plugin(library)
        self.plugin.initialize()
        self.topology = Topology.create(self.plugin, TOPOLOGY)

    def call(self, name: str, **fields):
        args = self.plugin.args(f"PJRT_{name}_Args", **fields)
        self.plugin.call(f"PJRT_{name}", args)
        return args

    def peak(self, text: bytes) -> int:
        kept = [ctypes.create_string_buffer(b, len(b)) for b in (text, b"mlir", OPTIONS)]
        code, form, options = (ctypes.cast(b, ctypes.c_void_p) for b in kept)
        program = self.plugin.args(
            "PJRT_Program", code=code, code_size=len(text), format=form, format_size=4
        )
        executable = self.call(
            "Compile",
            topology=self.topology._ptr,
            program=ctypes.addressof(program),
            compile_options=options,
            compile_options_size=len(OPTIONS),
        ).executable
        try:
            stats = self.call("Executable_GetCompiledMemoryStats", executable=executable)
            return int(stats.peak_memory_in_bytes)
        finally:
            self.call("Executable_Destroy", executable=executable)


def main(names: list[str]) -> None:
    import libtpu

    compiler = Compiler(os.environ.get("TPU_LIBRARY_PATH") or libtpu.get_library_path())
    for name in names:
        line = {"file": name, "error": None, "peak": None}
        try:
            line["peak"] = compiler.peak(Path(name).read_bytes())
        except Exception as error:  # noqa: BLE001
            line["error"] = str(error)[:2000]
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0][1:]).read_text().split("\n") if given[0].startswith("@") else given)
