"""Control flow in compiled functions is one program: StableHLO's if and while."""

import pytest
import torch
import torch.nn.functional as F
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


def noisy_branch(x):
    noise = torch.rand_like(x)
    if isinstance(x, torch.Tensor) and torch.compiler.is_compiling():
        y = torch.cond(x.sum() > 0, lambda x: F.dropout(x, 0.5), lambda x: x.cos(), (x,))
    else:
        y = F.dropout(x, 0.5) if x.sum() > 0 else x.cos()
    return y + noise, torch.rand_like(x)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_branch_draws_what_its_calls_would(sign):
    """Only the branch that is taken moves the stream, within the program and after it."""
    x = torch.full((3, 7), sign, device="tpu")
    compiled = torch.compile(noisy_branch, fullgraph=True)
    compiled(x)
    for _ in range(2):
        torch.manual_seed(4)
        first, launched, _ = launches(compiled, x)
        got = [*first, *compiled(x), torch.rand(5, device="tpu")]
        assert launched == 1
        torch.manual_seed(4)
        wanted = [*noisy_branch(x), *noisy_branch(x), torch.rand(5, device="tpu")]
        for a, b in zip(got, wanted, strict=True):
            assert torch.equal(a.cpu(), b.cpu())


def test_a_loop_draws_what_its_calls_would():
    def walk(x):
        def body(i, x):
            return i + 1, x + torch.rand_like(x)

        start = torch.zeros((), dtype=torch.long, device=x.device)
        return while_loop(lambda i, x: x.sum() < 8, body, (start, x))

    def by_hand(x):
        count = 0
        while x.sum() < 8:
            x, count = x + torch.rand_like(x), count + 1
        return count, x

    x = torch.zeros(3, device="tpu")
    compiled = torch.compile(walk, fullgraph=True)
    compiled(x)
    torch.manual_seed(9)
    (count, got), launched, _ = launches(compiled, x)
    after = torch.rand(4, device="tpu").cpu()
    torch.manual_seed(9)
    wanted_count, wanted = by_hand(x)
    assert launched == 1 and count.item() == wanted_count > 1
    assert torch.equal(got.cpu(), wanted.cpu())
    assert torch.equal(after, torch.rand(4, device="tpu").cpu())


def test_rows_of_a_scan_draw_one_after_the_other():
    def f(x):
        return scan(lambda s, row: (s + row, F.dropout(row, 0.5)), torch.zeros_like(x[0]), x)[1]

    x = torch.ones(9, 5, device="tpu")
    compiled = torch.compile(f, fullgraph=True)
    compiled(x)
    torch.manual_seed(2)
    got, launched, _ = launches(compiled, x)
    torch.manual_seed(2)
    wanted = torch.stack([F.dropout(row, 0.5) for row in x])
    assert launched == 1 and torch.equal(got.cpu(), wanted.cpu())


def test_a_condition_that_draws_is_asked_by_python():
    def f(x):
        return while_loop(lambda x: x.sum() + torch.rand((), device=x.device) < 8,
                          lambda x: (x + 1,), (x,))[0]  # fmt: skip

    assert torch.compile(f)(torch.zeros(2, device="tpu")).cpu().sum() >= 7


def test_gradients_pass_through_cond(highest):
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x**2, (x,)).sum()

    for sign in (1.0, -1.0):
        x = torch.full((4,), sign)
        a, b = x.to("tpu").requires_grad_(), x.clone().requires_grad_()
        torch.compile(f)(a).backward()
        f(b).backward()
        torch.testing.assert_close(a.grad.cpu(), b.grad)
