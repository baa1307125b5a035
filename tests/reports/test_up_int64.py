"""Bug reports about wide and unsigned integers."""

import itertools

import pytest
import torch
from oracle import check

INTS = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.uint16, torch.uint32, torch.uint64,
]  # fmt: skip


def test_up_043_values_beyond_32_bits_are_exact():
    def program(device):
        x = torch.tensor([2**32, 2**53 + 1, -(2**63), 2**63 - 1]).to(device)
        one = torch.ones(1, dtype=torch.int64, device=device)
        return x + 0, x // 3, x * 1, x.view(torch.int32), one * (1 << 32), one + (1 << 62), x.sum()

    check(program)


def test_up_043_a_scalar_beyond_64_bits_is_an_error():
    with pytest.raises((RuntimeError, OverflowError)):
        torch.ones(1, dtype=torch.int64, device="tpu") + (1 << 70)


def test_up_044_unique_of_large_keys():
    def program(device):
        keys = torch.tensor([2**24 + 1, 2**53 + 1, 2**24, 2**53, 450_000_001, 2**24 + 1, 2**53 + 1])
        x = keys.to(device)
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        assert torch.equal(values[inverse].cpu(), keys)
        return values, inverse, counts

    check(program)


def test_up_046_fill_out_of_range_is_an_error():
    x = torch.zeros(2, dtype=torch.int64, device="tpu")
    for value in (float(2**63), float("inf"), float("nan")):
        with pytest.raises(RuntimeError, match="overflow"):
            x.fill_(value)
    assert x.tolist() == [0, 0]


def test_up_047_all_integer_conversions():
    def program(device):
        values = torch.tensor([0, 1, 127, 128, 255, 256, 65535, 2**31, 2**32 + 5, -1, -129])
        out = []
        for a, b in itertools.permutations(INTS, 2):
            out.append(values.to(a).to(device).to(b))
        return out

    check(program)


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_up_049_wide_unsigned_integers(dtype):
    def program(device):
        x = torch.tensor([1, 2, 65535]).to(dtype).to(device)
        y = x.clone()
        y.fill_(7)
        zeros = torch.zeros(2, dtype=dtype, device=device)
        bits = x & y, x | y, x ^ y
        return x, y, zeros, bits, x == y, x.cpu().tolist(), x[1:]

    check(program)

    x = torch.tensor([1, 2, 65535]).to(dtype).to("tpu")  # the CPU cannot add these
    assert (x + x).tolist() == [2, 4, 131070 % 2 ** (8 * dtype.itemsize)]
