"""Writes that share memory with what is read: errors and results as on the CPU."""

from itertools import product

import pytest
import torch

SHARED = "refers? to a single memory location"


def base(device):
    return torch.arange(1.0, 13.0).to(device)


def expanded(device):
    return torch.ones(3, 1).to(device).expand(3, 4)


def ran(function, tensor, result=None):
    function(tensor)
    return tensor if result is None else result


REFUSED = {
    "copy_": lambda d: ran(lambda x: x[1:].copy_(x[:-1]), base(d)),
    "copy_transposed": lambda d: ran(lambda x: x.copy_(x.t()), base(d)[:9].view(3, 3)),
    "setitem": lambda d: ran(lambda x: x.__setitem__(slice(1, None), x[:-1]), base(d)),
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
    "foreach_apart": lambda d: ran(
        lambda x: torch._foreach_add_([x[:6], x[6:]], [x[:6], x[6:]]), base(d)
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_the_cpu_allows_gives_its_results(name):
    assert torch.equal(ALLOWED[name]("tpu").cpu(), ALLOWED[name]("cpu"))


def test_a_refused_write_changes_nothing():
    x = base("tpu")
    with pytest.raises(RuntimeError, match=SHARED):
        x[1:].copy_(x[:-1])
    assert torch.equal(x.cpu(), base("cpu"))
