"""The tests marked portable also pass on a plugin that nobody here wrote: XLA's own for CPUs."""

import os
import re
import subprocess
import sys

import pytest


def test_portable_tests_pass_on_xla_cpu():
    package = pytest.importorskip("lammps_jax_pjrt_cpu", reason="carries XLA:CPU as a PJRT plugin")
    plugin = os.path.join(os.path.dirname(package.__file__), "pjrt_c_api_cpu_plugin.so")
    out = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "portable", "-p", "no:cacheprovider"]
        + [os.path.dirname(os.path.abspath(__file__))],
        env={**os.environ, "TPUTORCH_OPTIONS": f"plugin={plugin} quiet=1 cache=off"},
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert out.returncode == 0, out.stdout[-4000:] + out.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", out.stdout).group(1)) >= 40
