"""Bug reports about pinned memory and data loaders."""

import subprocess
import sys

import pytest
import torch


def test_up_142_pinning_for_a_device():
    for pinned in (torch.ones(2, 2).pin_memory("tpu"), torch.ones(2, 2).pin_memory()):
        assert pinned.device.type == "cpu"
        assert pinned.is_pinned()
        assert pinned.to("tpu", non_blocking=True).tolist() == [[1, 1], [1, 1]]


def test_up_143_pinned_factories_stay_on_the_cpu():
    for make in (torch.empty, torch.zeros, torch.ones):
        x = make((1, 1), device="cpu", pin_memory=True)
        assert x.device.type == "cpu" and x.is_pinned()
    assert torch.empty((1, 1), pin_memory=True).device.type == "cpu"


LOADERS = """
import threading, torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

class Stream(IterableDataset):
    def __iter__(self):
        return iter([torch.full((3,), float(i)) for i in range(20)])

torch.ones(1, device="tpu").cpu()
loader = DataLoader(Stream(), batch_size=2, num_workers=1, pin_memory=True)
total = sum(batch.to("tpu", non_blocking=True).sum() for batch in loader).item()
assert total == 3 * sum(range(20)), total
for _ in range(ROUNDS):
    data = TensorDataset(torch.arange(4.0))
    two = [DataLoader(data, batch_size=2, num_workers=1, pin_memory=True) for _ in range(2)]
    for (a,), (b,) in zip(*two):
        assert torch.equal((a.to("tpu") + b.to("tpu")).cpu(), 2 * a)
    del two
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join(20)  # a queue's feeder may still be on its way out
assert threading.active_count() == 1, threading.enumerate()
print("done")
"""


@pytest.mark.parametrize(("up", "rounds"), [("145", 0), ("146", 50)])
def test_up_145_146_workers_and_pinning_threads_end(up, rounds):
    program = LOADERS.replace("ROUNDS", str(rounds))
    child = [sys.executable, "-W", "ignore", "-c", program]
    out = subprocess.run(child, capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stderr
    assert out.stdout.strip() == "done"
