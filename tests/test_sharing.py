"""Storages that others hold too: capsules, swapped tensors, readers in flight."""

import threading

import numpy as np
import pytest
import torch


def test_a_dlpack_capsule_is_an_alias_that_outlives_its_tensor():
    x = torch.arange(6.0, device="tpu")
    capsule = torch.utils.dlpack.to_dlpack(x[2:])
    x.add_(1)  # the old buffer may go: an alias holds the storage, not the buffer
    y = torch.utils.dlpack.from_dlpack(capsule)
    assert y.device == x.device and y.tolist() == [3, 4, 5, 6]
    y.mul_(2)
    assert x.tolist() == [1, 2, 6, 8, 10, 12]
    del x
    y[0] = 7
    assert y.tolist() == [7, 8, 10, 12]


def test_an_unused_capsule_frees_its_storage():
    before = torch.tpu.memory_allocated()
    capsule = torch.utils.dlpack.to_dlpack(torch.ones(1 << 20, device="tpu"))
    assert torch.tpu.memory_allocated() - before >= 4 << 20
    del capsule
    assert torch.tpu.memory_allocated() == before


@pytest.mark.parametrize("export", [np.asarray, torch.Tensor.numpy, np.from_dlpack])
def test_the_host_gets_copies_only(export):
    with pytest.raises((TypeError, RuntimeError, BufferError)):
        export(torch.ones(3, device="tpu"))


def test_swapped_tensors_take_their_contents_along():
    a, b = torch.ones(3, device="tpu"), torch.zeros(2, 2, dtype=torch.int64, device="tpu")
    view = a[1:]
    del view
    torch.utils.swap_tensors(a, b)
    a.add_(5)
    b[0] = 9
    assert a.tolist() == [[5, 5], [5, 5]] and b.tolist() == [9, 1, 1]


def test_a_swap_of_parameters_keeps_the_optimizer():
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    layer.to("tpu")
    before = layer.weight.detach().cpu()
    layer(torch.ones(1, 2, device="tpu")).sum().backward()
    optimizer.step()
    assert torch.equal(layer.weight.detach().cpu(), before - 1)


def test_a_storage_under_another_tensor():
    x = torch.arange(8, dtype=torch.int32, device="tpu")
    y = torch.empty(0, dtype=torch.int32, device="tpu").set_(x.untyped_storage(), 2, (2, 3), (3, 1))
    y.mul_(10)
    x[7] = -1
    assert x.tolist() == [0, 1, 20, 30, 40, 50, 60, -1]
    assert y.tolist() == [[20, 30, 40], [50, 60, -1]]
    x.data = torch.zeros(2, device="tpu", dtype=torch.int32)
    assert y.tolist() == [[20, 30, 40], [50, 60, -1]] and x.tolist() == [0, 0]


def test_a_reader_in_flight_sees_one_value():
    """Reads run outside the device's lock: a write may not take the memory that is being read."""
    x = torch.zeros(1 << 20, device="tpu")
    torn, is_done = [], threading.Event()

    def read():
        while not is_done.is_set():
            y = x.cpu()
            if not (y == y[0]).all():
                torn.append(y)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(200):
        x.add_(1)
    torch.tpu.synchronize()
    is_done.set()
    reader.join()
    assert not torn
    assert x[0].item() == 200
