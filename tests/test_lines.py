"""Errors that show late name the operator, the bound and the Python line that issued the call."""

import inspect

import pytest
import torch
from torch import nn

here = __file__


@pytest.fixture(autouse=True)
def settled():
    """Values made of a failed one fail, too: none is left for the next test to find."""
    yield
    for _ in range(10):
        try:
            torch.tpu.synchronize()
            break
        except IndexError:
            continue


def line_of(function, marker):
    lines, first = inspect.getsourcelines(function)
    return next(first + i for i, text in enumerate(lines) if marker in text)


def table():
    return torch.arange(12.0).reshape(4, 3).to("tpu")


def late(value):
    """An index tensor whose value is known only after long work."""
    x = torch.randn(1500, 1500, device="tpu")
    for _ in range(3):
        x = x @ x * 1e-3
    return (x[0, :2] * 0 + value).long()


def expect(error, function, marker, op, bound):
    text = str(error.value)
    assert f"aten::{op}" in text, text
    assert f"size {bound}" in text, text
    assert f"{here}:{line_of(function, marker)}" in text, text


def test_late_error_names_the_line_of_the_call():
    x, index = table(), late(4)

    def work():
        y = x[index]  # the call
        return y + 1, y * 2

    with pytest.raises(IndexError) as error:
        for result in work():
            result.cpu()
    expect(error, work, "the call", "index.Tensor", 4)


def test_lines_inside_torch_are_passed_over():
    model = nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 2)).to("tpu")
    index = late(9)

    def work():
        return model(index)  # the call

    with pytest.raises(IndexError) as error:
        work().sum().item()
    expect(error, work, "the call", "embedding", 4)


def test_synchronize_names_the_line_too():
    x, index = table(), late(5)

    def work():
        x.index_select(0, index)  # the call

    with pytest.raises(IndexError) as error:
        work()
        torch.tpu.synchronize()
    expect(error, work, "the call", "index_select", 4)
    torch.tpu.synchronize()  # told once


def test_python_code_on_an_autograd_thread_has_lines():
    index = late(7)

    class Pick(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad + table()[index][:1]  # the call

    x = torch.ones(4, 3, device="tpu", requires_grad=True)
    with pytest.raises(IndexError) as error:
        Pick.apply(x).sum().backward()
        x.grad.cpu()
    expect(error, Pick, "the call", "index.Tensor", 4)


def test_same_line_in_code_that_was_made_anew():
    x = table()
    for count in range(40):
        scope = {"x": x, "index": torch.tensor([8], device="tpu")}
        code = compile("\n" * count + "y = x[index]", f"made_{count % 7}.py", "exec")
        with pytest.raises(IndexError, match=rf"made_{count % 7}\.py:{count + 1}$"):
            exec(code, scope)  # noqa: S102
            scope["y"].cpu()
