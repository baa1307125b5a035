"""Writes that share memory with what is read: errors and results as on the CPU."""

from itertools import product

import pytest
import torch

SHARED = "refers? to a single memory location"


def base(device):
    return torch.arange(1.0, 13.0).to(device)


def expanded(device):
    return torch.ones(3, 1).to(device).expand(3, 4)


def ids(device, *values):
    return torch.tensor(values).to(device)


def ran(function, tensor, result=None):
    function(tensor)
    return tensor if result is None else result


REFUSED = {
    "add_": lambda d: ran(lambda x: x[1:].add_(x[:-1]), base(d)),
    "transposed": lambda d: ran(lambda x: x.add_(x.t()), base(d)[:9].view(3, 3)),
    "copy_": lambda d: ran(lambda x: x[1:].copy_(x[:-1]), base(d)),
    "copy_transposed": lambda d: ran(lambda x: x.copy_(x.t()), base(d)[:9].view(3, 3)),
    "setitem": lambda d: ran(lambda x: x.__setitem__(slice(1, None), x[:-1]), base(d)),
    "out": lambda d: ran(lambda x: torch.add(x[:-1], 1, out=x[1:]), base(d)),
    "pow_out": lambda d: ran(lambda x: torch.pow(x[1:], 2, out=x[:-1]), base(d)),
    "where_out": lambda d: ran(lambda x: torch.where(x[1:] > 0, x[1:], x[1:], out=x[:-1]), base(d)),
    "addcmul_": lambda d: ran(lambda x: x[1:].addcmul_(x[:-1], x[:-1]), base(d)),
    "clamp_": lambda d: ran(lambda x: x[1:].clamp_(x[:-1]), base(d)),
    "lerp_": lambda d: ran(lambda x: x[1:].lerp_(x[:-1], 0.5), base(d)),
    "masked_fill_": lambda d: ran(
        lambda m: m[1:].masked_fill_(m[:-1], True), (base(d) > 3).clone()
    ),
    "index_put_": lambda d: ran(lambda x: x.index_put_((ids(d, 0),), x[1]), base(d)),
    "scatter_": lambda d: ran(lambda x: x.scatter_(0, ids(d, 0, 1), x[:2]), base(d)),
    "index_add_": lambda d: ran(lambda x: x.index_add_(0, ids(d, 0, 1), x[1:3]), base(d)),
    "index_copy_": lambda d: ran(lambda x: x.index_copy_(0, ids(d, 0, 1), x[1:3]), base(d)),
    "gather_out": lambda d: ran(lambda x: torch.gather(x, 0, ids(d, *range(12)), out=x), base(d)),
    "take_out": lambda d: ran(lambda x: torch.take(x, ids(d, *range(12)), out=x), base(d)),
    "foreach": lambda d: ran(lambda x: torch._foreach_add_([x[1:]], [x[:-1]]), base(d)),
    "add_expanded": lambda d: ran(lambda x: x.add_(1), expanded(d)),
    "mul_expanded": lambda d: ran(lambda x: x.mul_(2), expanded(d)),
    "copy_expanded": lambda d: ran(lambda x: x.copy_(torch.ones(3, 4).to(d)), expanded(d)),
    "out_expanded": lambda d: ran(
        lambda x: torch.add(torch.ones(3, 4).to(d), 1, out=x), expanded(d)
    ),
    "uniform_expanded": lambda d: ran(lambda x: x.uniform_(), expanded(d)),
}


@pytest.mark.parametrize(("name", "device"), product(REFUSED, ["cpu", "tpu"]))
def test_shared_memory_is_refused(name, device):
    with pytest.raises(RuntimeError, match=SHARED):
        REFUSED[name](device)


ALLOWED = {
    "same": lambda d: ran(lambda x: x.add_(x), base(d)),
    "apart": lambda d: ran(lambda x: x[:6].add_(x[6:]), base(d)),
    "interleaved": lambda d: ran(lambda x: x[::2].add_(x[1::2]), base(d)),
    "out_same": lambda d: ran(lambda x: torch.add(x, 1, out=x), base(d)),
    "copy_same": lambda d: ran(lambda x: x.copy_(x), base(d)),
    "fill_expanded": lambda d: ran(lambda x: x.fill_(2), expanded(d)),
    "zero_expanded": lambda d: ran(lambda x: x.zero_(), expanded(d)),
    "fill_overlapping": lambda d: ran(lambda x: x.unfold(0, 3, 1).fill_(1.5), base(d)),
    "foreach_apart": lambda d: ran(
        lambda x: torch._foreach_add_([x[:6], x[6:]], [x[:6], x[6:]]), base(d)
    ),
    "foreach_same_twice": lambda d: ran(lambda x: torch._foreach_add_([x, x], 1.0), base(d)),
    "foreach_in_order": lambda d: ran(
        lambda x: torch._foreach_mul_([x[:6], x[6:]], [x[6:], x[:6]]), base(d)
    ),
    "foreach_chain": lambda d: ran(
        lambda x: torch._foreach_add_([x[:4], x[4:8], x[8:]], [x[4:8], x[8:], x[:4]]), base(d)
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_the_cpu_allows_gives_its_results(name):
    assert torch.equal(ALLOWED[name]("tpu").cpu(), ALLOWED[name]("cpu"))


def test_a_refused_write_changes_nothing():
    x = base("tpu")
    for run in (lambda: x[1:].add_(x[:-1]), lambda: x[1:].copy_(x[:-1])):
        with pytest.raises(RuntimeError, match=SHARED):
            run()
    assert torch.equal(x.cpu(), base("cpu"))


LAZY = {
    "add_": lambda y: y.add_(1 + 2j),
    "mul_": lambda y: y.mul_(y.clone()),
    "zero_": lambda y: y.zero_(),
    "fill_": lambda y: y.fill_(2 - 1j),
    "index_put_": lambda y: y.index_put_((ids(y.device, 1),), torch.tensor(5j).to(y.device)),
    "masked_fill_": lambda y: y.masked_fill_(torch.tensor([True, False, True]).to(y.device), 1j),
    "sub_": lambda y: y.sub_(y),
    "exp_": lambda y: y.exp_(),
}


@pytest.mark.parametrize(("name", "kind"), product(LAZY, ["conj", "neg", "both"]))
def test_in_place_through_conjugate_and_negative_views(name, kind, no_fallback):
    results = []
    for device in ("cpu", "tpu"):
        x = torch.tensor([1 + 2j, 3 - 1j, -2j]).to(device)
        view = x.conj() if kind != "neg" else x
        view = view if kind == "conj" else torch._neg_view(view)
        returned = LAZY[name](view)
        assert returned is view
        results += [x.cpu(), view.cpu().resolve_conj().resolve_neg()]
    torch.testing.assert_close(results[2], results[0])
    torch.testing.assert_close(results[3], results[1])
