"""The virtual TPU against pypjrt.conform, an independent client that walks the PJRT C API."""

import json
import subprocess
import sys

import built
import pytest


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The suite runs in a child: a crash of the plugin must fail the test, not end the run."""
    plugin = built.vtpu()
    if plugin is None:
        pytest.skip("libvtpu.so is not built")
    pytest.importorskip("pypjrt")
    path = tmp_path_factory.mktemp("conform") / "report.json"
    child = subprocess.run(
        [sys.executable, "-m", "pypjrt.conform", str(plugin), "--json", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return child, json.loads(path.read_text()) if path.exists() else None


def test_no_check_fails(report):
    child, results = report
    assert results is not None, child.stdout + child.stderr
    failed = [check for check in results["checks"] if check["result"] == "fail"]
    assert failed == []
    assert child.returncode == 0, child.stdout + child.stderr


def test_what_a_client_needs_is_there(report):
    """Answering "unsupported" everywhere would not count as a failure; these must really work."""
    _, results = report
    passed = {check["id"] for check in results["checks"] if check["result"] == "pass"}
    wanted = {
        "client.create",
        "device.memory_stats",
        "errors.error_code_reported",
        "compile.stablehlo_text",
        "compile.num_outputs",
        "compile.output_element_types",
        "compile.output_dimensions",
        "compile.serialize",
        "compile.deserialize_and_load",
        "buffer.from_host",
        "buffer.ready_event",
        "execute.single_device",
        "execute.device_complete_events",
    }
    assert wanted <= passed, wanted - passed
