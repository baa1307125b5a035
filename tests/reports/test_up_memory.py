"""Bug reports about leaks and running out of memory, eagerly."""

import gc
import os
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

MIB = 2**20


def resident() -> int:
    gc.collect()
    torch.tpu.synchronize()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_up_164_moved_blocks_leave_no_copy_on_the_host():
    def blocks(count):
        for i in range(count):
            x = torch.full((8 * MIB // 4,), float(i)).to("tpu")
            assert x[0].item() == i

    blocks(4)
    before, allocated = resident(), torch.tpu.memory_allocated()
    blocks(64)
    assert resident() - before < 64 * MIB
    assert torch.tpu.memory_allocated() == allocated


def test_up_167_per_sample_gradients_are_flat():
    model = nn.Linear(64, 32).to("tpu")

    def step():
        x = torch.randn(16, 64).to("tpu")
        out = model(x)
        grads = torch.einsum("ni,nj->nij", out - 1, x)
        norms = grads.flatten(1).norm(dim=1)
        model.weight.grad = (grads / norms[:, None, None].clamp_min(1)).sum(0)
        with torch.no_grad():
            model.weight -= 0.01 * model.weight.grad

    for _ in range(5):
        step()
    gc.collect()
    torch.tpu.synchronize()
    device, host = torch.tpu.memory_allocated(), resident()
    for _ in range(300):
        step()
    torch.tpu.synchronize()
    assert torch.tpu.memory_allocated() == device
    assert resident() - host < 8 * MIB


def peak_of_training(is_checkpointed: bool) -> int:
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Tanh()) for _ in range(8)]
    model = nn.ModuleList(layers).to("tpu")
    x = torch.randn(2048, 256).to("tpu")
    gc.collect()
    torch.tpu.synchronize()
    torch.tpu.reset_peak_memory_stats()
    base = torch.tpu.memory_allocated()
    out = x
    for layer in model:
        out = checkpoint(layer, out, use_reentrant=False) if is_checkpointed else layer(out)
    out.sum().backward()
    torch.tpu.synchronize()
    return torch.tpu.max_memory_allocated() - base


def test_up_169_checkpoints_save_memory():
    assert peak_of_training(True) < 0.7 * peak_of_training(False)


def test_up_170_the_peak_does_not_depend_on_the_length_of_a_loop():
    def peak(count):
        gc.collect()
        torch.tpu.synchronize()
        torch.tpu.reset_peak_memory_stats()
        base = torch.tpu.memory_allocated()
        x = torch.ones(256, 256, device="tpu")
        for i in range(count):
            x = (x * 0.5 + i).tanh()
        x.sum().item()
        return torch.tpu.max_memory_allocated() - base

    peak(3)
    assert peak(500) <= peak(20)


@pytest.mark.vtpu("XLA:CPU does not tell how much memory it has, and takes the host's")
def test_up_172_running_out_of_memory_is_an_error_that_explains_itself():
    free, total = torch.tpu.mem_get_info()
    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.ones(2 * total, dtype=torch.uint8, device="tpu").cpu()
    assert "memory" in str(caught.value)
    assert (torch.ones(3, device="tpu") + 1).tolist() == [2, 2, 2]
