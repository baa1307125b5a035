"""Control flow in compiled functions is one program: StableHLO's if and while."""

import pytest
import torch
from torch._higher_order_ops.map import map as map_
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop


def launches(function, *args):
    before = torch.tpu.counters()
    result = function(*args)
    after = torch.tpu.counters()
    return result, after["launches"] - before["launches"], after["compiles"] - before["compiles"]


def branches(x):
    y = x * 2
    return torch.cond(y.sum() > 0, lambda y: (y.sin() + 1).t(), lambda y: y.cos().t(), (y,)) * 3


def newton(x):
    def body(i, guess, x):
        return i + 1, (guess + x / guess) / 2, x.clone()

    start = torch.zeros((), dtype=torch.long, device=x.device)
    return while_loop(lambda i, guess, x: (guess * guess - x).abs().max() > 1e-3, body,
                      (start, x + 1, x))  # fmt: skip


def recurrence(x):
    weight = torch.linspace(-1, 1, 9, device=x.device).reshape(3, 3)

    def step(state, row):
        state = torch.tanh(state @ weight + row)
        return state, (state * 2).sum()

    return scan(step, torch.zeros(3, device=x.device), x)


def rows(x):
    return map_(lambda row, scale: row.softmax(0) * scale, x, x[0].clone())


CASES = {
    "cond, true": (branches, torch.rand(3, 2)),
    "cond, false": (branches, -torch.rand(3, 2)),
    "while_loop": (newton, torch.rand(5) + 1),
    "scan": (recurrence, torch.randn(12, 3, generator=torch.Generator().manual_seed(0))),
    "scan of few rows": (recurrence, torch.randn(2, 3, generator=torch.Generator().manual_seed(1))),
    "map": (rows, torch.randn(11, 4, generator=torch.Generator().manual_seed(2))),
}


def leaves(value):
    return value if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("name", CASES)
def test_compiled_control_flow_is_one_launch(name, highest):
    function, x = CASES[name]
    compiled = torch.compile(function, fullgraph=True)
    on_tpu = x.to("tpu")
    compiled(on_tpu)
    got, launched, compiles = launches(compiled, on_tpu)
    assert (launched, compiles) == (1, 0)
    for a, b in zip(leaves(got), leaves(function(x)), strict=True):
        assert a.stride() == b.stride()
        torch.testing.assert_close(a.cpu(), b, rtol=1e-4, atol=1e-5)


def test_the_branch_is_chosen_on_the_device(highest):
    compiled = torch.compile(branches, fullgraph=True)
    for sign in (1.0, -1.0, 2.0):
        x = torch.full((3, 2), sign)
        torch.testing.assert_close(compiled(x.to("tpu")).cpu(), branches(x))


def test_a_branch_that_draws_numbers_is_chosen_by_python():
    def drop(x):
        return torch.nn.functional.dropout(x, 0.5)

    def f(x):
        return torch.cond(x.sum() > 0, drop, torch.cos, (x,))

    x = torch.ones(1000, device="tpu")
    y = torch.compile(f)(x).cpu()
    assert 350 < (y == 0).sum() < 650
    torch.testing.assert_close(torch.compile(f)(-x).cpu(), f(-x.cpu()))


def test_gradients_pass_through_cond(highest):
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x**2, (x,)).sum()

    for sign in (1.0, -1.0):
        x = torch.full((4,), sign)
        a, b = x.to("tpu").requires_grad_(), x.clone().requires_grad_()
        torch.compile(f)(a).backward()
        f(b).backward()
        torch.testing.assert_close(a.grad.cpu(), b.grad)
