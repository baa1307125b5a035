"""Bug reports about reductions, NaN, infinities, integer arithmetic."""

import pytest
import torch
from oracle import check

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_up_071_argmax_of_softmax(dtype):
    x = torch.tensor([[0.1, 0.9], [2.0, -1.0], [-3.0, -2.5], [0.0, 4.0]]).to(dtype)

    def program(device):
        y = x.to(device)
        return torch.argmax(torch.softmax(y, 1), 1), torch.softmax(y, 1).max(1), y.argmax(1)

    assert check(program)[0].tolist() == [1, 0, 1, 1]


# The gradient is mask * (grad / count), infinity where the extreme is NaN.
CHOICE = pytest.mark.vtpu("XLA makes mask * x a choice between x and 0: no NaN from 0 * infinity")
PLAIN = ["max", "min", "maximum", "sum", "logsumexp"]


@pytest.mark.parametrize("name", [pytest.param(n, marks=CHOICE) for n in ("amax", "amin")] + PLAIN)
def test_up_073_gradients_with_nan(name):
    def program(device):
        data = torch.tensor([[1.0, NAN, 3.0], [2.0, 2.0, -INF], [NAN, NAN, 0.0]])
        x = data.to(device).requires_grad_()
        args = {"amax": (1,), "amin": (1,), "logsumexp": (1,), "maximum": (x.detach() * 0 + 2,)}
        out = getattr(torch, name)(x, *args.get(name, ()))
        return out, torch.autograd.grad(out.sum(), x)

    check(program)


def test_up_073_gradients_of_max_along_a_dimension_with_nan():
    def program(device):
        x = torch.tensor([[1.0, NAN, 3.0], [2.0, 2.0, -1.0]]).to(device).requires_grad_()
        values, indices = x.max(1)
        return values, indices, torch.autograd.grad(values.nansum(), x)

    check(program)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_up_074_infinite_replacements(dtype):
    def program(device):
        x = torch.tensor([[0.0, NAN, INF], [-INF, 1.0, -1.0]]).to(dtype).to(device)
        zeros = torch.zeros(3, 3, dtype=dtype, device=device)
        kinds = dict(nan=-INF, posinf=INF, neginf=-INF)
        return torch.nan_to_num(zeros, **kinds), torch.nan_to_num(x, **kinds), torch.nan_to_num(x)

    check(program)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_up_076_nan_in_extremes(dtype):
    values = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 1.0]).to(dtype)

    def program(device):
        a, b = (t.to(device) for t in torch.meshgrid(values, values, indexing="ij"))
        names = ("maximum", "minimum", "fmax", "fmin")
        out = [getattr(torch, n)(a, b) for n in names]
        return out, a.amax(1), a.t().amin(1), a.clamp(-1, 2), a.max(), a.t().cummax(1)

    check(program)


def test_up_077_ties_take_the_first_index():
    def program(device):
        x = torch.tensor([[3, 1, 3, 3], [NAN, 1, NAN, 5], [0, 0, 0, 0], [-INF, -INF, -INF, -INF]])
        y = x.to(device)
        return [
            y.argmax(1), y.argmin(1), y.argmax(), y.argmax(0), y.max(1), y.min(1),
            y.long().argmax(1), (y > 1).int().argmax(1), y.bfloat16().argmin(0),
        ]  # fmt: skip

    check(program)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("mode", ["trunc", "floor", None])
def test_up_079_integer_division_is_exact(dtype, mode):
    def program(device):
        values = torch.arange(-50, 51, dtype=dtype)
        a = values[:, None].to(device)
        b = values[values != 0].to(device)
        return torch.div(a, b, rounding_mode=mode), a % b, torch.fmod(a, b)

    check(program)


def test_up_080_negative_integer_exponents():
    x = torch.arange(-3, 2)
    assert check(lambda device: x.to(device).pow(-1)) is None
    assert check(lambda device: x.to(device) ** -2) is None
    check(lambda device: torch.pow(x.to(device), torch.tensor([-1, -2, 3, 0, -1]).to(device)))
    check(lambda device: (torch.pow(2, x.to(device)), torch.pow(2.0, x.to(device))))
    check(lambda device: x.to(device).pow(-1.0))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.bool])
@pytest.mark.parametrize("name", ["sign", "abs", "sgn", "neg", "square", "bitwise_not"])
def test_up_082_signs_of_small_integers(dtype, name):
    x = torch.tensor([0, 1, 127, 255, -128]).to(dtype)
    check(lambda device: getattr(torch, name)(x.to(device)))


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool]
)
def test_up_083_integer_scans_are_exact(dtype):
    def program(device):
        out = []
        for n in (1, 2, 31, 32, 33, 127, 128, 255, 257, 1023, 1024, 1025):
            x = (torch.arange(n) % 3 - 1).abs().to(dtype).to(device)
            ones = torch.ones(n, dtype=dtype, device=device)
            out += [x.cumsum(0), ones.cumsum(0), x.sum(), torch.zeros_like(x).cumsum(0)]
            out += [ones.cumprod(0), x.cumsum(0, dtype=torch.int32)]
        return out

    check(program)


def test_up_083_reductions_of_nothing():
    def program(device):
        x = torch.zeros(0, 3, device=device)
        out = [x.sum(), x.prod(), x.sum(0), x.prod(1), x.mean(), x.mean(0), x.std(0), x.any(0)]
        return out + [x.all(0), x.logsumexp(0), x.cumsum(0), x.amax(1), x.norm(), x.var()]

    check(program)


@pytest.mark.parametrize("name", ["amax", "max", "argmax", "median", "min", "argmin"])
def test_up_083_extremes_of_nothing_are_errors(name):
    def program(device):
        return getattr(torch.zeros(0, 3, device=device), name)(0)

    assert check(program) is None
