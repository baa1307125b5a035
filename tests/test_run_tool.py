"""tputorch-run: StableHLO files on vtpu and on a foreign plugin, from the command line."""

import json
import re
import subprocess

import built
import numpy as np
import pytest

ADD = """
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<3x2xf32>
}
"""
PLUGINS = {"vtpu": built.vtpu, "XLA:CPU": built.xla_cpu}


@pytest.fixture(params=PLUGINS)
def plugin(request):
    path = PLUGINS[request.param]()
    if path is None:
        pytest.skip(f"{request.param} is not there")
    return path


def run(*arguments):
    tool = built.run_tool()
    if tool is None:
        pytest.skip("tputorch-run is not built")
    return subprocess.run(
        [str(tool), *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )


def program(tmp_path, text=ADD):
    path = tmp_path / "program.mlir"
    path.write_text(text)
    return path


def test_files_go_in_and_out(tmp_path, plugin):
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.asfortranarray(np.full((2, 3), 0.5, np.float64))  # converted, and reordered
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    prefix = tmp_path / "out"
    result = run(
        program(tmp_path),
        *("--input", tmp_path / "a.npy", tmp_path / "b.npy"),
        *("--plugin", plugin, "--save", prefix),
    )
    assert result.returncode == 0, result.stderr
    np.testing.assert_array_equal(np.load(f"{prefix}0.npy"), a + b.astype(np.float32))
    np.testing.assert_array_equal(np.load(f"{prefix}1.npy"), (a + b.astype(np.float32)).T)


def test_results_are_printed(tmp_path, plugin):
    np.save(tmp_path / "a.npy", np.array([[1, 2, 3], [4, 5, np.nan]], np.float32))
    np.save(tmp_path / "b.npy", np.zeros((2, 3), np.float32))
    inputs = ("--input", tmp_path / "a.npy", tmp_path / "b.npy")
    result = run(program(tmp_path), "--plugin", plugin, *inputs, "--repeat", 3)
    assert result.returncode == 0, result.stderr
    assert "result 0: tensor<2x3xf32>  min 1  max 5  nan 1 of 6" in result.stdout
    assert "[1, 2, 3, 4, 5, nan]" in result.stdout
    assert "[1, 4, 2, 5, 3, nan]" in result.stdout
    assert "3 runs:" in result.stdout


def test_random_numbers_depend_on_the_seed_only(tmp_path):
    if built.vtpu() is None:
        pytest.skip("libvtpu.so is not built")
    outputs = []
    for seed, prefix in ((1, "x"), (1, "y"), (2, "z")):
        path = program(tmp_path)
        result = run(path, "--plugin", built.vtpu(), "--seed", seed, "--save", tmp_path / prefix)
        assert result.returncode == 0, result.stderr
        outputs.append(np.load(tmp_path / f"{prefix}0.npy"))
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0], outputs[2])


def test_bf16_is_saved_as_f32(tmp_path, plugin):
    text = "func.func @main(%a: tensor<3xbf16>) -> tensor<3xbf16> { return %a : tensor<3xbf16> }"
    np.save(tmp_path / "a.npy", np.array([1, 1.001, -2.5], np.float32))
    path = program(tmp_path, text)
    files = ("--input", tmp_path / "a.npy", "--save", tmp_path / "o")
    result = run(path, "--plugin", plugin, *files)
    assert result.returncode == 0, result.stderr
    assert "bf16" in result.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "o0.npy"), np.float32([1, 1, -2.5]))


def test_plan_is_explained(tmp_path):
    if built.vtpu() is None:
        pytest.skip("libvtpu.so is not built")
    result = run(program(tmp_path), "--plugin", built.vtpu(), "--explain")
    assert result.returncode == 0, result.stderr
    assert "20 runs:" in result.stdout
    assert re.search(r"loop \S+: add \(", result.stdout)
    result = run(program(tmp_path), "--plugin", built.vtpu(), "--json", "--repeat", 3)
    assert result.returncode == 0, result.stderr
    plan = json.loads(result.stdout)
    assert plan["parameters"] == 2
    assert plan["results"] == 2
    assert all(step["runs"] == 3 and step["best_ns"] > 0 for step in plan["steps"])
    assert sum(step["bytes"] for step in plan["steps"]) >= 4 * 6 * 4


@pytest.mark.parametrize(
    "arguments, status, text",
    [
        ([], 2, "no program"),
        (["{p}", "--sed", "1"], 2, "--sed"),
        (["{p}", "--seed"], 2, "wants a value"),
        (["{p}", "--seed", "x"], 2, "whole number"),
        (["{p}", "--repeat", "0"], 2, "at least 1"),
        (["{p}", "{p}"], 2, "more than one program"),
        (["{p}", "--input"], 2, "at least one file"),
        (["{p}", "--option", "chip"], 2, "NAME=VALUE"),
        (["/nowhere/x.mlir"], 1, "/nowhere/x.mlir"),
        (["{p}", "--plugin", "/nowhere/p.so"], 1, "/nowhere/p.so"),
        (["{p}", "--plugin", "{p}"], 1, "not a shared library"),
        (["{p}", "--input", "/nowhere/a.npy"], 1, "/nowhere/a.npy"),
        (["{p}", "--input", "{p}"], 1, "not a .npy file"),
        (["{p}", "--input", "{n}"], 1, "holds tensor<5xi32>, not tensor<2x3xf32>"),
        (["{p}", "--input", "{n}", "{n}", "{n}"], 1, "3 input files"),
        (["{p}", "--device", "99"], 1, "device 99"),
        (["{p}", "--option", "no_such_option=1"], 1, "no_such_option"),
        (["{n}"], 1, "1:1"),
    ],
)
def test_mistakes_are_named(tmp_path, arguments, status, text):
    names = {"p": program(tmp_path), "n": tmp_path / "n.npy"}
    np.save(names["n"], np.zeros(5, np.int32))
    if built.vtpu() is None:
        pytest.skip("libvtpu.so is not built")
    chosen = [argument.format(**names) for argument in arguments]
    if "--plugin" not in chosen and chosen:
        chosen += ["--plugin", str(built.vtpu())] if status == 1 else []
    result = run(*chosen)
    assert result.returncode == status, result.stdout + result.stderr
    assert text in result.stderr
    assert result.stderr.startswith("tputorch-run: ")
    assert len(result.stderr.splitlines()) == 1


def test_help_tells_the_options():
    result = run("--help")
    assert result.returncode == 0
    assert "--explain" in result.stdout
