"""Compiles tell their reasons, and a guard makes them errors."""

import pytest
import torch
from torch import nn


def reasons(run):
    """(op, reason) of what `run` compiles."""
    count = len(torch.tpu.counters()["recent_compiles"])
    if count > 200:
        torch.tpu.reset_counters()
        count = 0
    run()
    return [(c["op"], c["reason"]) for c in torch.tpu.counters()["recent_compiles"][count:]]


def test_new_sizes_name_the_nearest_call_and_the_line():
    x = torch.ones(31, 4, device="tpu")
    y = torch.ones(31, 5, device="tpu")
    x + x
    ((op, reason),) = reasons(lambda: y + y)
    assert op == "add.Tensor"
    assert "new sizes (31, 5), was (31, 4)" in reason
    line = test_new_sizes_name_the_nearest_call_and_the_line.__code__.co_firstlineno + 4
    assert reason.endswith(f"in {__file__}:{line}")


CHANGES = {
    "dtype": (lambda x: x + x, lambda x: x.half() + x.half(), "new dtype f16, was f32"),
    "strides": (lambda x: x * x, lambda x: x.t() * x.t(), "new strides (1, 37), was (37, 1)"),
    "dim": (lambda x: x.sum(0), lambda x: x.sum(1), "new values (1,), was (0,), of argument dim"),
    "form": (lambda x: x - x, lambda x: x.sub_(x), "new form in-place, was functional"),
    "optional": (lambda x: x.clamp(0), lambda x: x.clamp(0, 1), "of argument max"),
    "text": (
        lambda x: nn.functional.gelu(x),
        lambda x: nn.functional.gelu(x, approximate="tanh"),
        'new text "tanh", was "none"',
    ),
    "list": (
        lambda x: torch.cat([x] * 28),
        lambda x: torch.cat([x] * 29),
        "new length 29, was 28, of argument tensors",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_reason_is_the_first_difference(name):
    before, after, wanted = CHANGES[name]
    x = torch.zeros(37, 37, device="tpu")
    before(x)
    found = reasons(lambda: after(x))
    assert any(wanted in reason for _, reason in found), found


def test_precision_is_a_reason():
    x = torch.ones(19, 19, device="tpu")
    x @ x

    def precise():
        with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
            x @ x

    ((_, reason),) = reasons(precise)
    assert "new precision highest, was default" in reason


def test_entries_say_what_a_compile_cost():
    torch.tpu.reset_counters()
    x = torch.ones(23, 3, device="tpu")
    x.sigmoid()
    last = torch.tpu.counters()["recent_compiles"][-1]
    assert last["op"] == "sigmoid"
    assert last["seconds"] > 0
    assert last["program_size"] > 100
    assert last["device"] == 0
    torch.tpu.reset_counters()
    assert torch.tpu.counters()["recent_compiles"] == []


def test_guard_raises_and_loses_nothing():
    x = torch.arange(29.0).to("tpu")
    y = x.clone()
    x.add_(0)
    refused = pytest.raises(RuntimeError, match=r"compile_guard: aten::add\.Tensor.*new sizes")
    with refused as error, torch.tpu.compile_guard():
        x[:28].add_(1)
    assert __file__ in str(error.value)
    assert torch.equal(x.cpu(), y.cpu())
    x[:28].add_(1)
    with torch.tpu.compile_guard():
        x[:28].add_(1)
        x[1:].add_(3)  # starts are run-time numbers
    assert x[0].item() == 2


def test_guard_lets_a_warm_training_step_through():
    model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2)).to("tpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(rate):
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(
            model(torch.randn(4, 6).to("tpu")), torch.tensor([0, 1, 0, 1]).to("tpu")
        )
        loss.backward()
        optimizer.step()
        return loss.item()

    for i in range(3):
        step(0.01 * i)

    @torch.tpu.compile_guard()
    def guarded():
        return [step(0.1 / (i + 1)) for i in range(5)]

    guarded()
    # Another batch size is a compile: in the forward or on autograd's thread.
    with pytest.raises(RuntimeError, match="compile_guard"), torch.tpu.compile_guard():
        model(torch.randn(3, 6).to("tpu")).sum().backward()


def test_guard_sees_autograd_threads():
    x = torch.ones(37, 2, device="tpu", requires_grad=True)
    y = x.tanh()
    grad = torch.ones(37, 2, device="tpu")
    refused = pytest.raises(RuntimeError, match="compile_guard.*the backward of TanhBackward0")
    with refused, torch.tpu.compile_guard():
        y.backward(grad, retain_graph=True)
    y.backward(grad)
    assert x.grad.shape == (37, 2)


def test_guard_in_fused_mode_keeps_the_window():
    with torch.tpu.set_eager_mode(torch.tpu.EagerMode.DEFER_AND_FUSE):
        x = torch.ones(41, 3, device="tpu")
        y = (x + x) * 3
        with pytest.raises(RuntimeError, match="compile_guard"), torch.tpu.compile_guard():
            y.sum().item()
        assert y.sum().item() == 41 * 3 * 6
