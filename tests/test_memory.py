"""Memory: accounting, reports, running out of it and going on, loops that stay flat."""

import gc
import os
import subprocess
import sys
import textwrap

import torch

MIB = 1 << 18  # float32 elements


def small_device(program, hbm="64M"):
    """Runs a program on a vtpu with little memory; its output."""
    env = {**os.environ, "TPUTORCH_OPTIONS": f"quiet=1 plugin=vtpu hbm={hbm}"}
    program = "import torch, pytest\nMIB = 1 << 18\n" + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=env
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_out_of_memory_tells_and_the_device_goes_on():
    out = small_device("""
        a = torch.ones(16 * MIB, device="tpu")
        b = torch.ones(16, MIB, device="tpu")
        c = torch.zeros(4 * MIB).to("tpu")
        before = torch.tpu.memory_allocated()
        with pytest.raises(torch.OutOfMemoryError) as error:
            kept = [b + 1, b + 2]
        print(error.value)
        a.mul_(3)
        assert a.sum().item() == 3 * 16 * MIB
        del error
        assert torch.tpu.memory_allocated() == before
        x = torch.ones(16 * MIB, device="tpu", requires_grad=True)
        with pytest.raises(torch.OutOfMemoryError) as error:
            (x * x * x).sum().backward()
        del error, x
        assert torch.tpu.memory_allocated() == before
        assert (a + b.flatten()).sum().item() == 4 * 16 * MIB
    """)
    assert "Tried to allocate 16.00 MiB. Of 64.00 MiB of device memory 12.00 MiB is free" in out
    assert "Live tensors take 52.00 MiB (peak 52.00 MiB)" in out
    assert "tensor<4194304xf32> 16.00 MiB (aten::fill.Scalar, <string>:4)" in out
    assert "tensor<16x262144xf32> 16.00 MiB (aten::fill.Scalar, <string>:5)" in out
    assert "tensor<1048576xf32> 4.00 MiB (copied from the host, <string>:6)" in out
    assert "aten::add.Tensor called at <string>:9" in out


def test_failed_in_place_write_leaves_its_tensor():
    small_device("""
        a = torch.ones(24 * MIB, device="tpu")
        b = torch.ones(1, device="tpu").expand(24 * MIB)
        keep = a[:4]
        held = a.detach().clone()
        with pytest.raises(torch.OutOfMemoryError):
            a.index_put_((torch.arange(24 * MIB, device="tpu"),), b, accumulate=True)
        del held
        assert a.sum().item() == 24 * MIB
        a.add_(1)
        assert keep.tolist() == [2] * 4
    """)


def test_empty_tensors_that_cannot_fit_are_refused_at_once():
    small_device("""
        with pytest.raises(torch.OutOfMemoryError, match="80.00 MiB"):
            torch.empty(80 * MIB, device="tpu")
        with pytest.raises(torch.OutOfMemoryError, match="4.00 TiB"):
            torch.empty(1 << 40, device="tpu")
        kept = [torch.empty(16 * MIB, device="tpu") for _ in range(3)]
        with pytest.raises(torch.OutOfMemoryError, match="without a value .* will take 48.00 MiB"):
            torch.empty(20 * MIB, device="tpu")
        for x in kept:
            x.fill_(1)
        del kept[2], x
        assert torch.empty(20 * MIB, device="tpu").fill_(2).sum().item() == 40 * MIB
    """)


def test_mem_get_info_and_the_accelerator_agree_with_the_device():
    free, total = torch.tpu.mem_get_info()
    x = torch.ones(8 * MIB, device="tpu")
    torch.tpu.synchronize()
    now, same = torch.tpu.mem_get_info()
    assert same == total == torch.tpu.get_device_properties().total_memory
    assert abs((free - now) - 8 * 2**20) < 2**20
    assert torch.accelerator.memory_allocated() == torch.tpu.memory_allocated()
    del x
    torch.tpu.empty_cache()
    assert torch.tpu.mem_get_info()[0] >= now + 7 * 2**20


def test_snapshot_names_shape_dtype_and_line():
    x = torch.ones(37, 3 * MIB, dtype=torch.bfloat16, device="tpu")  # made here
    line = test_snapshot_names_shape_dtype_and_line.__code__.co_firstlineno + 1
    view = x[1:]
    first = torch.tpu.memory_snapshot()[0]
    assert first["size"] == x.nbytes
    assert first["shape"] == (37, 3 * MIB)
    assert first["dtype"] == torch.bfloat16
    assert first["has_value"]
    assert first["op"] == "fill.Scalar"
    assert (first["file"], first["line"]) == (__file__, line)
    summary = torch.tpu.memory_summary()
    assert f"bfloat16 (37, {3 * MIB})  aten::fill.Scalar at {__file__}:{line}" in summary
    assert "peak" in summary
    assert "largest" not in torch.tpu.memory_summary(abbreviated=True)
    del x, view
    assert all(t["shape"] != (37, 3 * MIB) for t in torch.tpu.memory_snapshot())


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def slope(step, count, warm_up):
    """Bytes of host memory per step, from the least seen in each of two halves."""
    for _ in range(warm_up):
        step()
    seen = []
    for _ in range(count):
        step()
        seen.append(resident())
    half = count // 2
    return (min(seen[half:]) - min(seen[:half])) / half


def test_training_loop_is_flat_in_host_and_device_memory():
    model = torch.nn.Sequential(
        torch.nn.Embedding(50, 16), torch.nn.Flatten(), torch.nn.Linear(64, 32), torch.nn.ReLU(),
        torch.nn.Dropout(0.1), torch.nn.Linear(32, 10),
    ).to("tpu")  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
    tokens, labels = torch.randint(50, (8, 4)), torch.randint(10, (8,))

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(tokens.tpu()), labels.tpu())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        return loss.item()

    for _ in range(2500):  # until the cache of run-time numbers and the heap have their size
        step()
    gc.collect()
    device, compiles = torch.tpu.memory_allocated(), torch.tpu.counters()["compiles"]
    storages = torch.tpu.memory_stats()["allocation.all.current"]
    grown = slope(step, 300, 60)
    gc.collect()
    assert torch.tpu.memory_allocated() <= device
    assert torch.tpu.memory_stats()["allocation.all.current"] <= storages
    assert torch.tpu.counters()["compiles"] == compiles
    assert grown < 400, f"{grown:.0f} bytes of host memory a step"
