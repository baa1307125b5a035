"""Console commands that are C programs inside the wheel."""

import os
import sys


def run() -> None:
    """``tputorch-run FILE.mlir``: replaces this process by the C program."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tputorch-run")
    os.execv(program, [program, *sys.argv[1:]])
