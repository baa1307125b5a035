"""Bug reports about strides, memory layout and storage offsets."""

import pytest
import torch
import torch.nn.functional as F
from oracle import check
from torch import nn

UNARY = [
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil",
    "conj_physical", "cos", "cosh", "deg2rad", "digamma", "erf", "erfc", "erfinv", "exp", "exp2",
    "expm1", "floor", "frac", "i0", "isneginf", "isposinf", "lgamma", "log", "log10", "log1p",
    "log2", "logical_not", "logit", "nan_to_num", "neg", "positive", "rad2deg", "reciprocal",
    "round", "rsqrt", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh", "sqrt",
    "square", "tan", "tanh", "trunc",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_up_016_out_takes_any_strides(name):
    op = getattr(torch, name)

    def program(device):
        x = (torch.rand(3, 4) * 0.8 + 0.1).to(device)
        if name == "bitwise_not":
            x = (x * 100).long()
        if name == "positive":  # it has no out
            return op(x.t())
        dtype = op(x).dtype
        outs = [
            torch.zeros(4, 3, dtype=dtype, device=device).t(),
            torch.zeros(3, 8, dtype=dtype, device=device)[:, ::2],
            torch.zeros(24, dtype=dtype, device=device)[2:14].view(3, 4),
        ]
        for out in outs:
            assert op(x, out=out) is out
        return outs, [out._base for out in outs]

    check(program, tolerance=(1e-4, 1e-5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16])
def test_up_017_copies_to_host_windows_keep_the_gaps(dtype):
    def program(device):
        parent, grid = torch.zeros(20, dtype=dtype), torch.zeros(5, 4, dtype=dtype)
        parent[::2].copy_(torch.arange(20.0).to(device)[::2])
        grid[:, 2].copy_(torch.arange(10.0).to(device)[1::2])
        grid.t()[0].copy_(torch.arange(5, device=device))
        return parent, grid

    expected = check(program, device="cpu")
    assert expected[0].tolist() == [i if i % 2 == 0 else 0 for i in range(20)]


@pytest.mark.parametrize("name", ["addcdiv_", "addcmul_", "lerp_"])
def test_up_019_pointwise_in_place_on_transposed_tensors(name):
    def program(device):
        x, y, z = (torch.rand(2, 3).to(device).t() for _ in range(3))
        return getattr(x, name)(y, z)

    check(program)


def test_up_020_channels_last_with_an_offset():
    def program(device):
        x = torch.randn(1, 65, 64).to(device)[:, 1:].reshape(1, 8, 8, 64).permute(0, 3, 1, 2)
        assert x.storage_offset() == 64
        norm = nn.BatchNorm2d(64)
        norm.running_mean.uniform_()
        return norm.to(device).eval()(x), F.avg_pool2d(x, 2)

    check(program)


def test_up_022_nonzero_has_the_strides_of_the_cpu():
    def program(device):
        x = torch.tensor([[0, 1, 0], [2, 0, 3]]).to(device)
        return x.nonzero(), x.nonzero().t().contiguous().view(-1), torch.nonzero(x, as_tuple=True)

    check(program)


def test_up_023_losses_of_strided_inputs():
    def program(device):
        x = torch.rand(4, 6).to(device).t().requires_grad_()
        y = torch.rand(6, 8).to(device)[:, ::2]
        out = [F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y)]
        return out, torch.autograd.grad(sum(out), x)

    check(program)


def test_up_025_custom_operators_see_strided_operands():
    @torch.library.custom_op("tputorch_tests::weighted", mutates_args=())
    def weighted(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + 2 * b.contiguous()

    def program(device):
        b = torch.arange(12.0).to(device)[::2]
        return weighted(torch.ones(6, device=device), b), b.contiguous()

    check(program)
