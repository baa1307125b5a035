"""Bug reports about errors, fallbacks and unusual types."""

import pytest
import torch
import torch.nn.functional as F
from oracle import check


def test_up_193_trace_of_a_cube_wants_a_matrix():
    with pytest.raises(RuntimeError, match="matrix"):
        torch.trace(torch.rand(2, 2, 2).to("tpu"))


@pytest.mark.parametrize(
    "program",
    [
        lambda a, b: a + b,
        lambda a, b: b * a,
        lambda a, b: torch.mm(a, b),
        lambda a, b: F.linear(a, b),
        lambda a, b: torch.cat([a, b]),
        lambda a, b: torch.where(a > 0, a, b),
        lambda a, b: torch.addmm(a, a, b),
        lambda a, b: F.conv1d(a[None], b[:, :, None]),
        lambda a, b: F.embedding(b.long(), a),
        lambda a, b: a.index_add(0, b[0].long(), a),
    ],
)
def test_up_194_operands_on_two_devices(program):
    a, b = torch.ones(2, 2, device="tpu"), torch.ones(2, 2)
    with pytest.raises(RuntimeError, match="on the same device|on tpu|tpu:0"):
        program(a, b).cpu()


def test_up_194_cpu_numbers_go_with_device_tensors():
    def program(device):
        x, s = torch.arange(3.0).to(device), torch.tensor(2.0)
        index = torch.tensor(1)
        return s * x, x * s, s - x, torch.maximum(x, s), torch.where(x > 0, x, s), s**x, x[index]

    check(program)


def test_up_196_softplus_out():
    def program(device):
        x = torch.linspace(-30, 30, 31).to(device)
        out, strided = torch.zeros(31, device=device), torch.zeros(31, 2, device=device)[:, 1]
        torch._C._nn.softplus(x, out=out)
        torch._C._nn.softplus(x, 2.0, 5.0, out=strided)
        return out, strided, strided._base

    check(program)


def test_up_197_new_tensors_like_this_one():
    x = torch.ones(2, dtype=torch.float64, device="tpu")
    for made in (
        x.new(3),
        x.new_tensor([1, 2]),
        x.new_zeros(2),
        x.new_empty(1),
        x.new_full((2,), 3),
    ):
        assert (made.dtype, made.device) == (x.dtype, x.device)
    assert x.new([1.0, 2.0, 3.0]).tolist() == [1, 2, 3]


def test_up_199_types_we_lack_are_refused_only_in_use():
    for dtype in (torch.complex32, torch.float8_e4m3fn, torch.bits8):
        with pytest.raises((RuntimeError, NotImplementedError, TypeError)) as caught:
            torch.zeros(2, dtype=dtype, device="tpu").cpu()
        assert str(caught.value)
    assert torch.ones(2, device="tpu").tolist() == [1, 1]


@pytest.mark.vtpu("XLA clamps indices and tells nobody; docs/differences.md says so")
def test_up_200_late_errors_say_which_operator_failed():
    table = torch.ones(3, 2, device="tpu")
    bad = torch.tensor([0, 7], device="tpu")
    with pytest.raises((RuntimeError, IndexError), match="7|out of (range|bounds)") as caught:
        out = table[bad]
        (out + 1).sum().cpu()
    assert "index" in str(caught.value)
