"""Bug reports about views and aliasing."""

import pytest
import torch
from oracle import check, compiles


def test_up_001_a_data_swap_leaves_views_alone_and_in_place_data_writes_do_not():
    def program(device):
        x = torch.zeros(10, device=device)
        y = x.view(2, 5)
        seen = []
        x.data.add_(1)
        seen.append(y.clone())
        x.data += 1
        seen.append(y.clone())
        x.data = x.data + 1
        return *seen, x, y

    check(program)


@pytest.mark.parametrize("force", ["nothing", "print", "synchronize", "read"])
def test_up_002_the_base_sees_writes_through_chained_selects(force):
    def program(device):
        t = torch.zeros(1, 10, device=device)
        v = t.view(10, 1)
        if force == "print":
            repr(t), repr(v)
        elif force == "synchronize" and device == "tpu":
            torch.tpu.synchronize()
        elif force == "read":
            t.cpu()
        v[0][0] = 1
        return t, v

    check(program)


def test_up_004_writing_a_flattened_slice_in_a_loop_is_constant_work():
    def program(device):
        x = torch.zeros(3, 3, device=device)
        v = x.flatten()[2:6]
        counts = []
        for i in range(50):
            v.add_(i)
            x.sum().item()
            if device == "tpu":
                counts.append((compiles(), torch.tpu.memory_allocated()))
        assert len(set(counts[5:])) <= 1
        return x, v

    check(program)


def test_up_005_views_of_slices_feed_products(highest):
    def program(device):
        q, k = torch.randn(10, 2, 4).to(device), torch.randn(12, 2, 4).to(device)
        return torch.bmm(q[3:8].permute(1, 0, 2), k[1:9].permute(1, 0, 2).transpose(1, 2))

    check(program)


def test_up_007_views_and_their_base_are_one_storage():
    def program(device):
        t = torch.arange(16.0).reshape(4, 4).to(device)
        b = t.view(2, 8)
        b += 1
        s = torch.as_strided(t, (3, 2), (5, 2), 1)
        s *= 2
        same = t.data_ptr() == b.data_ptr() and s.data_ptr() == t.data_ptr() + 4
        storage = t.untyped_storage().data_ptr() == s.untyped_storage().data_ptr()
        return t, b, s, same, storage, t.clone().data_ptr() == t.data_ptr()

    assert check(program)[3:] == (True, True, False)
