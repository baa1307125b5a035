"""Bug reports about dynamic shapes and recompilation, eagerly."""

import pytest
import torch
from oracle import check, compiles


def test_up_154_printing_changes_nothing():
    def run(device, is_printed):
        x = torch.tensor([[1.0, 2.0], [-3.0, 0.0], [5.0, 6.0]]).to(device)
        kept = x[x[:, 0] > 0]
        if is_printed:
            str(kept)
        return torch.nn.functional.pad(kept, (0, 0, 0, 10 - kept.shape[0])).sum(1)

    check(lambda device: (run(device, True), run(device, False)))


def test_up_155_a_ragged_merge_settles():
    table, images = torch.randn(50, 8).to("tpu"), torch.randn(64, 8).to("tpu")
    generator = torch.Generator().manual_seed(0)

    def merge(length, count):
        tokens = torch.randint(1, 50, (length,), generator=generator).to("tpu")
        place = torch.randperm(length, generator=generator)[:count].sort().values.to("tpu")
        out = table[tokens]
        out[place] = images[:count]
        return out.sum(1)

    sizes = [(12, 3), (16, 5), (20, 2)]
    for length, count in sizes:
        merge(length, count)
    before = compiles()
    for _ in range(5):
        for length, count in sizes:
            merge(length, count)
    assert compiles() == before


@pytest.mark.parametrize("name", ["__floordiv__", "__mod__", "__mul__", "__add__", "__truediv__"])
def test_up_161_numbers_are_operands(name):
    x = torch.arange(-20, 20, dtype=torch.int32)
    y = x.to("tpu")
    getattr(y, name)(2)
    before = compiles()
    for n in (3, 4, 5, 7, -3, 100):
        actual, expected = getattr(y, name)(n), getattr(x, name)(n)
        assert actual.dtype == expected.dtype
        torch.testing.assert_close(actual.cpu(), expected)
    assert compiles() == before


def test_up_161_windows_learning_rates_and_seeds_are_operands():
    x = torch.arange(100.0, device="tpu")
    cache = torch.zeros(40, 8, device="tpu")

    def step(i):
        torch.manual_seed(i)
        y = x[i : i + 10] * (0.1 / (i + 1)) + torch.rand(10, device="tpu")
        cache[i].copy_(y[:8])
        cache[i : i + 2].mul_(i)
        torch.nn.functional.dropout(y, 0.1 + i / 100)
        return cache.narrow(0, i, 4).clamp(-i, i).sum()

    step(1), step(2)
    before = compiles()
    for i in range(3, 33):
        step(i)
    assert compiles() == before
