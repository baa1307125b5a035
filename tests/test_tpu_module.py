"""torch.tpu and torch.accelerator: devices, memory, random state, precision, counters."""

import gc

import pytest
import torch


def test_devices():
    assert torch.tpu.is_available()
    assert torch.tpu.device_count() >= 1
    assert torch.tpu.current_device() == 0
    assert torch.accelerator.current_accelerator().type == "tpu"
    assert torch.accelerator.device_count() == torch.tpu.device_count()
    properties = torch.tpu.get_device_properties()
    assert properties.name == torch.tpu.get_device_name()
    assert properties.total_memory > 0
    x = torch.ones(2).tpu()
    assert x.is_tpu
    assert x.device == torch.device("tpu:0")
    torch.tpu.synchronize()
    torch.accelerator.synchronize()


def test_a_device_that_does_not_exist_is_an_error():
    count = torch.tpu.device_count()
    for make in (
        lambda: torch.ones(2, device=f"tpu:{count}"),
        lambda: torch.ones(2).to(f"tpu:{count}"),
        lambda: torch.tpu.set_device(count),
    ):
        with pytest.raises(RuntimeError, match="does not exist"):
            make()


def test_memory_is_accounted():
    gc.collect()
    torch.tpu.synchronize()
    base = torch.tpu.memory_allocated()
    x = torch.ones(1024, 1024, device="tpu")
    y = x + 1
    assert torch.tpu.memory_allocated() - base == 2 * 4 * 2**20
    assert torch.tpu.max_memory_allocated() >= base + 2 * 4 * 2**20
    del x, y
    assert torch.tpu.memory_allocated() == base
    torch.tpu.reset_peak_memory_stats()
    assert torch.tpu.max_memory_allocated() == base
    stats = torch.tpu.memory_stats()
    assert stats["allocated_bytes.all.current"] == base
    free, total = torch.tpu.mem_get_info()
    assert 0 < free <= total


def test_views_and_in_place_take_no_memory():
    x = torch.zeros(256, 256, device="tpu")
    torch.tpu.synchronize()
    base = torch.tpu.memory_allocated()
    x.t()[1:].add_(1)
    x.mul_(2)
    assert torch.tpu.memory_allocated() == base


def test_synchronize_waits_for_results_that_were_dropped():
    import time

    x = torch.randn(1500, 1500, device="tpu")
    torch.tpu.synchronize()

    def timed(read):
        start = time.perf_counter()
        for _ in range(3):
            y = x @ x
            if not read:
                del y
        torch.tpu.synchronize()
        return time.perf_counter() - start

    timed(True)
    assert timed(False) > timed(True) / 4


def test_gradient_steps_after_unread_losses():
    # A value that may still fail is donated by the optimizer; waiting must not trip over it.
    weight = torch.randn(10, 4, device="tpu", requires_grad=True)
    x, y = torch.randn(8, 4, device="tpu"), torch.arange(8, device="tpu")
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(x @ weight.t(), y).backward()
        optimizer.step()
    torch.tpu.synchronize()


def test_a_loop_that_never_synchronizes_keeps_nothing():
    table = torch.randn(1000, 64, device="tpu")
    weight = torch.randn(64, 64, device="tpu", requires_grad=True)
    index = torch.arange(900, device="tpu")
    sizes = []
    for _ in range(30):
        weight.grad = None
        (table[index] @ weight).relu().square().mean().backward()
        weight.grad.sum().item()  # reads one value; nothing waits for the rest
        sizes.append(torch.tpu.memory_allocated())
    assert max(sizes) < 10 * min(sizes)


def test_random_state():
    torch.manual_seed(3)
    a = torch.rand(5, device="tpu")
    state = torch.tpu.get_rng_state()
    b = torch.rand(5, device="tpu")
    torch.tpu.set_rng_state(state)
    assert torch.equal(torch.rand(5, device="tpu").cpu(), b.cpu())
    torch.tpu.manual_seed(3)
    assert torch.equal(torch.rand(5, device="tpu").cpu(), a.cpu())
    assert torch.tpu.initial_seed() == 3
    with torch.random.fork_rng(device_type="tpu"):
        torch.rand(3, device="tpu")
    assert torch.equal(torch.rand(5, device="tpu").cpu(), b.cpu())


def test_precision_changes_products():
    torch.manual_seed(0)
    a, b = torch.randn(64, 64), torch.randn(64, 64)
    x, y = a.to("tpu"), b.to("tpu")
    exact = a.double() @ b.double()
    errors = {}
    for precision in torch.tpu.Precision:
        with torch.tpu.precision(precision):
            errors[precision.name] = ((x @ y).cpu().double() - exact).abs().max().item()
    assert errors["HIGHEST"] < 1e-4
    assert errors["HIGH"] < 1e-3
    assert 1e-3 < errors["DEFAULT"] < 0.5
    # DEFAULT is exactly one bf16 pass.
    with torch.tpu.precision(torch.tpu.Precision.DEFAULT):
        one = (x @ y).cpu()
    rounded = a.bfloat16().float() @ b.bfloat16().float()
    torch.testing.assert_close(one, rounded, rtol=1e-6, atol=1e-5)


def test_set_float32_matmul_precision():
    before = torch.get_float32_matmul_precision()
    mode = torch.tpu.get_precision()
    try:
        for name, value in (("highest", "HIGHEST"), ("high", "HIGH"), ("medium", "DEFAULT")):
            torch.set_float32_matmul_precision(name)
            assert torch.tpu.get_precision().name == value
            assert torch.get_float32_matmul_precision() == name
    finally:
        torch.set_float32_matmul_precision(before)
        from tputorch import _C

        _C.set_precision(mode.value)


def test_default_precision_is_the_native_pass():
    import subprocess
    import sys

    program = "import torch; print(torch.tpu.get_precision().name)"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert out.stdout.strip() == "DEFAULT"


def test_counters():
    x = torch.ones(3, 5, device="tpu")
    x + 2.5
    before = torch.tpu.counters()
    for i in range(10):
        x + float(i)
    after = torch.tpu.counters()
    assert after["calls"] - before["calls"] == 10
    assert after["hits"] - before["hits"] == 10
    assert after["compiles"] == before["compiles"]
    assert after["launches"] - before["launches"] == 10


def test_events_of_the_module():
    start, end = torch.tpu.Event(enable_timing=True), torch.tpu.Event(enable_timing=True)
    start.record()
    torch.ones(64, 64, device="tpu") @ torch.ones(64, 64, device="tpu")
    end.record()
    assert start.elapsed_time(end) >= 0
    assert torch.tpu.current_stream() == torch.tpu.default_stream()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_recomputes_the_same_dropout(use_reentrant):
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(2000, device="tpu", requires_grad=True)
    outs = []

    def block(x):
        y = torch.nn.functional.dropout(x, 0.5)
        outs.append(y.detach().cpu())
        return y * 1.0

    checkpoint(block, x, use_reentrant=use_reentrant).sum().backward()
    # (The other kind stops as soon as it has what backward needs.)
    assert len(outs) == 2 or not use_reentrant
    assert torch.equal(outs[0], outs[-1])
    assert torch.equal(x.grad.cpu(), outs[0])


def test_events_and_streams():
    start, end = torch.Event("tpu", enable_timing=True), torch.Event("tpu", enable_timing=True)
    start.record()
    x = torch.ones(512, 512, device="tpu")
    for _ in range(5):
        x = x @ x * 1e-3
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) > 0
    assert torch.accelerator.current_stream().device.type == "tpu"
