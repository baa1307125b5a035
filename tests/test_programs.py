"""Programs as JAX lowers them, on vtpu and on XLA:CPU: an independent compiler is the oracle.

The files come from data/programs/generate.py. Both plugins run in child processes, as tputorch-run,
with the same random or given inputs.
"""

import subprocess
from pathlib import Path

import built
import numpy as np
import pytest
from random_programs import generate

PROGRAMS = sorted((Path(__file__).parent / "data" / "programs").glob("*.mlir"))
# bf16 results are saved as f32, so programs that compute in bf16 have their own bound.
BOUNDS = {
    "float16": 2e-3,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float64": 1e-12,
    "complex128": 1e-12,
}
BF16_BOUND = 1e-2
MAXIMUM_AND_MINIMUM = (4, 5)  # results of binary_*.mlir
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7]
SPECIAL += [1e-3, -1e-3, 88.0, -88.0, 20.0, -20.0, 1e4, -1e4, 3e-5, 6e4, 0.25, 100.0, -7.0, 8.0]


def run(program, plugin, prefix, *arguments):
    tool = built.run_tool()
    if tool is None or plugin is None:
        pytest.skip("tputorch-run or a plugin is not there")
    command = [tool, program, "--plugin", plugin, "--save", prefix, "--seed", 3, *arguments]
    child = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=60, check=False
    )
    assert child.returncode == 0, child.stderr
    results = []
    while (path := Path(f"{prefix}{len(results)}.npy")).exists():
        results.append(np.load(path))
    return results


def check(program, tmp_path, *arguments, least_bound=0.0, nan_results=(), is_nan=None):
    """`nan_results` must be NaN on vtpu where `is_nan`, and are not held against XLA there."""
    got = run(program, built.vtpu(), tmp_path / "got", *arguments)
    want = run(program, built.xla_cpu(), tmp_path / "want", *arguments)
    narrow = "bf16" in program.read_text()
    assert len(got) == len(want) > 0
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), f"result {number}"
        if number in nan_results:
            assert np.isnan(a[is_nan]).all(), f"result {number}"
            a, b = a[~is_nan], b[~is_nan]
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b, err_msg=f"result {number}")
        else:
            bound = max(least_bound, BF16_BOUND if narrow else BOUNDS[a.dtype.name])
            np.testing.assert_allclose(a, b, rtol=bound, atol=bound, err_msg=f"result {number}")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_results_agree_with_xla(program, tmp_path):
    check(program, tmp_path)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("kind", ["unary", "binary", "compare", "convert"])
def test_special_values_agree_with_xla(kind, dtype, tmp_path):
    """Zeros of both signs, infinities, NaN, halves, large and small numbers, in every pairing."""
    program = next((path for path in PROGRAMS if path.stem == f"{kind}_{dtype}"), None)
    if program is None:
        pytest.skip("no such program")
    values = np.array((SPECIAL * 64)[:64], np.float32)
    shifted = np.array([SPECIAL[(i + i // len(SPECIAL) * 3) % len(SPECIAL)] for i in range(64)])
    kinds = {"bfloat16": np.float32}  # NumPy has no bf16; tputorch-run rounds
    np.save(tmp_path / "a.npy", values.astype(kinds.get(dtype, dtype)))
    np.save(tmp_path / "b.npy", shifted.astype(kinds.get(dtype, dtype)))
    files = [tmp_path / "a.npy", tmp_path / "b.npy"][: 1 if kind in ("unary", "convert") else 2]
    # XLA:CPU drops a NaN in maximum and minimum now and then; StableHLO says that it stays.
    nan_results = MAXIMUM_AND_MINIMUM if kind == "binary" else ()
    is_nan = np.isnan(values) | np.isnan(shifted)
    check(program, tmp_path, "--input", *files, nan_results=nan_results, is_nan=is_nan)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_agree_with_xla(seed, tmp_path):
    program = tmp_path / f"random{seed}.mlir"
    program.write_text(generate(seed, length=24 if seed % 2 else 80))
    check(program, tmp_path, least_bound=1e-4)  # f64 results come from f32 ones
