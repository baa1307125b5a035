"""Compiled programs on disk: a second process starts warm, and no folder makes a program fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from built import xla_cpu

PROGRAM = """
import json, torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).to("tpu")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.arange(32.0).reshape(4, 8).to("tpu") / 32
for _ in range(3):
    optimizer.zero_grad()
    loss = (model(x) ** 2).mean() + torch.rand(4, device="tpu").sum()
    loss.backward()
    optimizer.step()
counters = torch.tpu.counters()
keys = ["compiles", "compile_seconds", "disk_hits", "disk_misses", "disk_errors", "disk_error"]
print(json.dumps({"loss": loss.item(), **{key: counters[key] for key in keys}}))
"""


def plugin_options(plugin):
    if plugin == "vtpu":
        return "cache=on quiet=1"
    path = xla_cpu() or pytest.skip("no XLA:CPU plugin")
    return f"plugin={path} quiet=1"


def start(options, folder, program=PROGRAM, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "XDG_CACHE_HOME": str(folder),
            "TPUTORCH_OPTIONS": options,
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err[-2000:]
    return json.loads(out.splitlines()[-1])


def run(options, folder, **environment):
    return finish(start(options, folder, **environment))


def entries(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("plugin", ["vtpu", "xla"])
def test_second_process_starts_warm(plugin, tmp_path):
    options = plugin_options(plugin)
    cold = run(options, tmp_path)
    assert cold["disk_hits"] == 0 and cold["disk_misses"] == cold["compiles"] > 10
    assert len(entries(tmp_path / "tputorch")) == cold["compiles"]
    warm = run(options, tmp_path)
    assert warm["disk_hits"] == warm["compiles"] == cold["compiles"]
    assert warm["disk_misses"] == warm["disk_errors"] == 0
    assert warm["loss"] == cold["loss"]
    if plugin == "xla":
        assert warm["compile_seconds"] < cold["compile_seconds"] / 2


GUARDED = """
import json, torch
x = torch.arange(6.0).to("tpu")
with torch.tpu.compile_guard():
    y = (x * 2 + 1).tolist()
last = torch.tpu.counters()["recent_compiles"][-1]
print(json.dumps({"loss": y, "from_disk": last["from_disk"], "reason": last["reason"]}))
"""


def test_a_guard_lets_a_warm_second_process_load(tmp_path):
    options = plugin_options("vtpu")
    cold = start(options, tmp_path, program=GUARDED)
    assert "compile_guard: aten::mul" in cold.communicate(timeout=300)[1]
    assert cold.returncode != 0
    unguarded = GUARDED.replace("torch.tpu.compile_guard()", "torch.no_grad()")
    finish(start(options, tmp_path, program=unguarded))
    warm = finish(start(options, tmp_path, program=GUARDED))
    assert warm["from_disk"] and warm["loss"] == [1, 3, 5, 7, 9, 11]
    assert "in <string>:5" in warm["reason"]


def test_flags_of_the_compiler_are_part_of_the_key(tmp_path):
    options = plugin_options("vtpu")
    cold = run(options, tmp_path)
    other = run(options, tmp_path, LIBTPU_INIT_ARGS="--some_flag=1")
    assert other["disk_hits"] == 0 and other["loss"] == cold["loss"]


def test_vtpu_compiles_faster_than_a_file_is_read(tmp_path):
    result = run("quiet=1", tmp_path)
    assert result["disk_hits"] == result["disk_misses"] == 0
    assert not entries(tmp_path)


@pytest.mark.parametrize("options", ["cache=off", "cache=on cache_size=0"])
def test_off_means_no_files(options, tmp_path):
    result = run(f"quiet=1 {options}", tmp_path)
    assert result["disk_misses"] == 0 and not entries(tmp_path)


def test_size_is_bounded(tmp_path):
    result = run("quiet=1 cache=on cache_size=64K", tmp_path)
    assert result["disk_errors"] == 0
    assert 0 < sum(path.stat().st_size for path in entries(tmp_path)) <= 64 * 1024


def test_damaged_entries_are_rebuilt(tmp_path):
    options = plugin_options("vtpu")
    cold = run(options, tmp_path)
    for i, path in enumerate(entries(tmp_path)):
        data = path.read_bytes()
        path.write_bytes([b"", data[: len(data) // 2], b"x" * len(data), data[:-1] + b"?"][i % 4])
    second = run(options, tmp_path)
    assert second["loss"] == cold["loss"] and second["disk_hits"] == 0
    assert second["disk_errors"] == second["compiles"]
    assert str(tmp_path) in second["disk_error"]
    assert run(options, tmp_path)["disk_misses"] == 0


def test_unusable_folders_cost_nothing_but_the_cache(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in ["/proc/1/none", str(tmp_path / "file"), "/dev/full"]:
        result = run(f'quiet=1 cache=on cache_dir="{folder}"', tmp_path)
        assert result["disk_misses"] == result["compiles"] and result["disk_hits"] == 0
        assert folder in result["disk_error"]


def test_processes_at_once_share_a_folder(tmp_path):
    options = plugin_options("vtpu")
    results = [finish(process) for process in [start(options, tmp_path) for _ in range(3)]]
    assert len({result["loss"] for result in results}) == 1
    assert all(result["disk_errors"] == 0 for result in results)
    assert len(entries(tmp_path)) == results[0]["compiles"]
