"""Bug reports about type promotion."""

import itertools

import pytest
import torch
from oracle import check
from torch import nn


def test_up_034_cat_promotes():
    def program(device):
        a, b = torch.randint(9, (14, 512)).to(device), torch.randn(14, 49).to(device)
        return torch.cat([a, b], dim=1), torch.stack([a[:2, :2], b[:2, :2]]), torch.hstack([b, a])

    check(program)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_up_035_powers_of_small_floats(dtype):
    def program(device):
        x = torch.arange(10, dtype=dtype).to(device)
        return x.pow(3.0), x**2, x.pow(0.5), torch.pow(2.0, x[:5]), x.pow(torch.tensor(3.0))

    expected = check(program)
    assert expected[0].dtype == dtype
    if dtype == torch.bfloat16:
        assert expected[0][7:].tolist() == [344, 512, 728]


def test_up_037_zero_dimensional_integers_do_not_widen():
    def program(device):
        x = torch.arange(10, dtype=torch.int32).view(1, 10).to(device)
        s = torch.tensor(5).to(device)
        return s + x, x + s, (s + x).long(), torch.tensor(5) + x, s * x.to(torch.int8)

    check(program)


@pytest.mark.parametrize("name", ["addcdiv", "addcmul"])
def test_up_038_three_operands_of_mixed_types(name):
    dtypes = [torch.float32, torch.float64, torch.complex64, torch.int32]

    def program(device):
        out = []
        for a, b, c in itertools.product(dtypes, repeat=3):
            x, y, z = ((torch.rand(3) * 4 + 1).to(t).to(device) for t in (a, b, c))
            try:
                out.append(getattr(torch, name)(x, y, z))
            except RuntimeError:
                out.append("RuntimeError")
        return out

    check(program, tolerance=(1e-5, 1e-5))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_up_040_modules_of_small_floats_keep_their_dtype(dtype):
    def program(device):
        x = torch.randn(2, 4).to(dtype).to(device)
        layers = [nn.ReLU(), nn.GELU(), nn.SiLU(), nn.LayerNorm(4), nn.Softmax(-1), nn.Dropout(0.0)]
        return [layer.to(dtype).to(device)(x) for layer in layers]

    check(program)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_up_041_cast_and_move_in_any_order(dtype, highest):
    def model():
        torch.manual_seed(0)
        return nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 3))

    index = torch.tensor([0, 3, 1])
    first = model().to(dtype).to("tpu")(index.to("tpu"))
    second = model().to("tpu").to(dtype)(index.to("tpu"))
    third = model().to("tpu", dtype)(index.to("tpu"))
    assert first.dtype == second.dtype == third.dtype == dtype
    assert torch.equal(first.cpu(), second.cpu())
    assert torch.equal(first.cpu(), third.cpu())
    expected = model().to(dtype)(index)
    torch.testing.assert_close(first.cpu(), expected, rtol=1e-2, atol=1e-2)
