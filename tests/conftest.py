"""Fixtures and helpers of the Python tests. The oracle is CPU PyTorch; the device string is "tpu".

By default the device is vtpu; TPUTORCH_OPTIONS="plugin=..." runs the same tests on another plugin
(tests marked portable must pass there, see test_portable.py).
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TPUTORCH_OPTIONS", "quiet=1")

import pytest
import torch
import vision_models

vision_models.declare_operators()


def pytest_collection_modifyitems(items):
    options = os.environ["TPUTORCH_OPTIONS"]
    if "plugin=" not in options or "plugin=vtpu" in options:
        return
    for item in items:
        for mark in item.iter_markers("vtpu"):
            item.add_marker(pytest.mark.skip(reason=f"on this plugin: {mark.args[0]}"))


@pytest.fixture
def highest():
    """float32 products at float32, so that results can be held against the CPU's."""
    with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        yield


@pytest.fixture
def no_fallback():
    """Fails the test if an operator ran on the CPU."""
    before = dict(torch.tpu.counters()["fallback_ops"])
    yield
    after = torch.tpu.counters()["fallback_ops"]
    ran = {name: count - before.get(name, 0) for name, count in after.items()}
    ran = {name: count for name, count in ran.items() if count}
    assert not ran, f"ops ran on the CPU: {ran}"
