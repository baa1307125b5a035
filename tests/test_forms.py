"""out= and in-place forms equal the CPU's: values, what they return, resizing, and their errors."""

import warnings

import pytest
import torch

pytestmark = pytest.mark.usefixtures("highest")


def rand(*shape, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


A, B = rand(3, 4), rand(3, 4, seed=1)
INDEX = torch.tensor([[0, 2, 1, 0]])

# name: arguments after self
INPLACE = {
    "abs_": (), "add_": (B,), "addcmul_": (B, B), "addmm_": (rand(3, 2), rand(2, 4)), "ceil_": (),
    "clamp_": (-0.5, 0.5), "copy_": (B,), "cumsum_": (1,), "div_": (B,), "eq_": (B,), "exp_": (),
    "fill_": (2.5,), "floor_": (), "gt_": (0,), "index_add_": (0, torch.tensor([1]), B[:1]),
    "index_fill_": (0, torch.tensor([1]), 3.0), "lerp_": (B, 0.25), "masked_fill_": (B > 0, 1.0),
    "mul_": (2.5,), "neg_": (), "pow_": (2,), "relu_": (), "remainder_": (0.7,), "round_": (),
    "scatter_": (0, INDEX, B), "scatter_add_": (0, INDEX, B), "sigmoid_": (), "sub_": (B,),
    "tanh_": (), "tril_": (), "zero_": (),
}  # fmt: skip

# name: all arguments
OUT = {
    "abs": (A,), "add": (A, B), "addmm": (A, rand(3, 2), rand(2, 4)), "amax": (A, 1),
    "argmax": (A, 1), "bmm": (rand(2, 3, 4), rand(2, 4, 5)), "cat": ([A, B], 1),
    "clamp": (A, 0.0, 1.0), "cos": (A,), "cumsum": (A, 0), "div": (A, B), "eq": (A, B),
    "exp": (A,), "gather": (A, 0, INDEX), "index_select": (A, 1, torch.tensor([0, 3])),
    "logical_and": (A, B), "matmul": (A, B.T), "max": (A, B), "mean": (A, 1), "mm": (A, B.T),
    "mul": (A, B), "prod": (A, 1), "pow": (A.abs(), 2.5), "sqrt": (A.abs(),), "stack": ([A, B],),
    "sub": (A, B), "sum": (A, 1), "tril": (A,), "var": (A, 1), "where": (A > 0, A, B),
}  # fmt: skip


def moved(tree):
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.to("tpu"), tree)


def close(actual, expected):
    assert actual.dtype == expected.dtype
    torch.testing.assert_close(actual.cpu(), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", list(INPLACE))
@pytest.mark.parametrize("view", [False, True])
def test_inplace_form(name, view):
    """Also through a transposed view, whose base must change with it."""
    base = A.T.contiguous() if view else A.clone()
    device = base.to("tpu")
    expected = base.T if view else base
    actual = device.T if view else device
    getattr(expected, name)(*INPLACE[name])
    assert getattr(actual, name)(*moved(INPLACE[name])) is actual
    close(actual, expected)
    close(device, base)


@pytest.mark.parametrize("name", list(OUT))
def test_out_form(name):
    function, args = getattr(torch, name), OUT[name]
    expected = function(*args)
    out = torch.empty_like(expected, device="tpu")
    assert function(*moved(args), out=out) is out
    close(out, expected)
    strided = torch.empty(*expected.shape, 2, dtype=expected.dtype, device="tpu")[..., 0]
    function(*moved(args), out=strided)
    close(strided, expected)


@pytest.mark.parametrize("name", ["add", "mm", "sum", "cat", "gather", "exp"])
def test_out_of_no_elements_is_resized_without_a_word(name):
    function, args = getattr(torch, name), OUT[name]
    out = torch.empty(0, device="tpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(*moved(args), out=out)
    close(out, function(*args))


@pytest.mark.parametrize("name", ["add", "exp", "sum"])
def test_out_of_another_shape_is_resized_with_a_warning(name):
    function, args = getattr(torch, name), OUT[name]
    out = torch.empty(7, device="tpu")
    with pytest.warns(UserWarning, match="was resized"):
        function(*moved(args), out=out)
    close(out, function(*args))


def test_results_that_do_not_fit_a_dtype_are_refused():
    ints = torch.ones(3, 4, dtype=torch.int64)
    for act in (
        lambda x, i: i.add_(x),
        lambda x, i: i.div_(2),
        lambda x, i: i.mul_(0.5),
        lambda x, i: torch.add(x, x, out=i),
        lambda x, i: torch.exp(x, out=i),
    ):
        with pytest.raises(
            RuntimeError, match="can't be cast to the desired output type Long"
        ) as cpu:
            act(A, ints.clone())
        with pytest.raises(
            RuntimeError, match="can't be cast to the desired output type Long"
        ) as tpu:
            act(A.to("tpu"), ints.to("tpu"))
        assert str(cpu.value).split(";")[0] in str(tpu.value)


def test_a_wider_out_takes_the_result():
    out = torch.empty(3, 4, dtype=torch.float64, device="tpu")
    torch.add(A.to("tpu"), B.to("tpu"), out=out)
    close(out, (A + B).double())


def test_an_inplace_result_of_another_shape_is_refused():
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.ones(4, device="tpu").add_(torch.ones(3, 4, device="tpu"))
