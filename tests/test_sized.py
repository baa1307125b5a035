"""Ops whose sizes depend on values run on the device: results, layouts and errors are the CPU's,
nothing falls back, and a new count compiles nothing."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("no_fallback")
G = torch.Generator().manual_seed(0)
X = torch.randn(7, 5, 3, generator=G)
MASK = X > 0.3
ROWS = torch.randn(7, generator=G) > 0
PLANES = torch.randn(7, 5, generator=G) > 0
LONG = torch.randn(70_000, generator=G)
IDS = torch.randint(0, 9, (4000,), generator=G)
PAIRS = torch.randint(0, 2, (50, 3), generator=G)
COUNT = int(MASK.sum())


def put(mask, values, accumulate=False):
    return lambda d: X.to(d).clone().index_put_((mask.to(d),), values.to(d), accumulate)


def assign(where, values):
    def run(d):
        y = X.to(d).clone()
        y[where(d)] = values.to(d)
        return y

    return run


def gradient(f):
    def run(d):
        x = X.clone().to(d).detach().requires_grad_()
        (f(x, d) ** 2).sum().backward()
        return x.grad

    return run


def facts(f):
    return lambda d: f(d, return_inverse=True, return_counts=True)


CASES = {
    "nonzero": lambda d: MASK.to(d).nonzero(),
    "nonzero of numbers": lambda d: (X * MASK).to(d).nonzero(),
    "nonzero of a long vector": lambda d: (LONG.to(d) > 1).nonzero(),
    "nonzero of a transposed": lambda d: MASK.to(d).transpose(0, 2).nonzero(),
    "nonzero of a number": lambda d: torch.tensor(3.0, device=d).nonzero(),
    "nonzero of zeros": lambda d: torch.zeros(3, 2, device=d).nonzero(),
    "nonzero of nothing": lambda d: torch.zeros(0, 2, device=d).nonzero(),
    "where": lambda d: torch.where(MASK.to(d)),
    "argwhere": lambda d: torch.argwhere(MASK.to(d)),
    "nonzero_static": lambda d: torch.nonzero_static(MASK.to(d), size=9),
    "nonzero_static filled": lambda d: torch.nonzero_static(MASK.to(d), size=200, fill_value=-7),
    "x[mask]": lambda d: X.to(d)[MASK.to(d)],
    "x[mask of rows]": lambda d: X.to(d)[ROWS.to(d)],
    "x[mask of planes]": lambda d: X.to(d)[PLANES.to(d)],
    "x[:, mask]": lambda d: X.to(d)[:, PLANES[0].to(d)],
    "x[mask, 0]": lambda d: X.to(d)[ROWS.to(d), 0],
    "x[mask, index]": lambda d: X.to(d)[ROWS.to(d), torch.tensor([2], device=d)],
    "x[nothing]": lambda d: X.to(d)[torch.zeros(7, dtype=torch.bool, device=d)],
    "x[mask of long]": lambda d: LONG.to(d)[LONG.to(d) < 0],
    "put": put(MASK, torch.arange(float(COUNT))),
    "put and add": put(MASK, torch.arange(float(COUNT)), True),
    "put one": put(MASK, torch.ones(1)),
    "put a number": put(MASK, torch.tensor(3)),
    "put rows": put(ROWS, torch.randn(int(ROWS.sum()), 5, 3, generator=G)),
    "put one row": put(ROWS, torch.randn(5, 3, generator=G)),
    "put planes": put(PLANES, torch.randn(1, 3, generator=G)),
    "x[:, mask] =": assign(
        lambda d: (slice(None), PLANES[0].to(d)), torch.ones(7, int(PLANES[0].sum()), 3)
    ),
    "x[mask, 0] =": assign(lambda d: (ROWS.to(d), 0), torch.arange(3.0)),
    "x[mask] = with ones": assign(lambda d: MASK.to(d), torch.arange(float(COUNT))[None]),
    "masked_select": lambda d: X.to(d).masked_select(MASK.to(d)),
    "masked_select broadcast": lambda d: X.to(d).masked_select(PLANES.to(d)[..., None]),
    "masked_scatter": lambda d: X.to(d).masked_scatter(MASK.to(d), torch.arange(200.0).to(d)),
    "masked_scatter broadcast": lambda d: (
        X.to(d).clone().masked_scatter_(PLANES.to(d)[..., None], torch.arange(200.0).to(d))
    ),
    "unique": facts(lambda d, **k: torch.unique(IDS.to(d), **k)),
    "unique alone": lambda d: torch.unique(IDS.to(d)),
    "unique of a matrix": facts(lambda d, **k: torch.unique(IDS.reshape(40, 100).to(d), **k)),
    "unique of floats": facts(lambda d, **k: torch.unique((X * 2).round().to(d), **k)),
    "unique of bools": facts(lambda d, **k: torch.unique(MASK.to(d), **k)),
    "unique of bytes": facts(lambda d, **k: torch.unique(IDS.to(torch.uint8).to(d), **k)),
    "unique of large": facts(lambda d, **k: torch.unique((IDS * 2**40).to(d), **k)),
    "unique of nothing": facts(lambda d, **k: torch.unique(torch.ones(0, device=d), **k)),
    "unique rows": facts(lambda d, **k: torch.unique(PAIRS.to(d), dim=0, **k)),
    "unique columns": facts(lambda d, **k: torch.unique(PAIRS.t().to(d), dim=1, **k)),
    "consecutive": facts(lambda d, **k: torch.unique_consecutive((IDS // 3).to(d), **k)),
    "consecutive rows": facts(lambda d, **k: torch.unique_consecutive(PAIRS.to(d), dim=0, **k)),
    "bincount": lambda d: torch.bincount(IDS.to(d)),
    "bincount at least": lambda d: torch.bincount(IDS.to(d), minlength=30),
    "bincount weighted": lambda d: torch.bincount(IDS.to(d), weights=torch.ones(4000, device=d)),
    "bincount of nothing": lambda d: torch.bincount(
        torch.zeros(0, dtype=torch.long, device=d), minlength=3
    ),
    "histc": lambda d: torch.histc(X.to(d), 10),
    "histc between": lambda d: torch.histc(X.to(d), 7, -1, 1),
    "histc of one value": lambda d: torch.histc(torch.ones(5, device=d), 4),
    "histc of bfloat16": lambda d: torch.histc(X.bfloat16().to(d), 4, -1, 1),
    "repeat_interleave": lambda d: torch.repeat_interleave(torch.tensor([2, 0, 3], device=d)),
    "repeat_interleave rows": lambda d: X.to(d).repeat_interleave(
        torch.tensor([2, 0, 3, 1, 1, 0, 4], device=d), dim=0
    ),
    "gradient of x[mask]": gradient(lambda x, d: x[MASK.to(d)]),
    "gradient of masked_select": gradient(lambda x, d: x.masked_select(MASK.to(d))),
    "gradient of masked_scatter": gradient(
        lambda x, d: x.masked_scatter(MASK.to(d), torch.arange(200.0, device=d))
    ),
}


def as_list(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


PORTABLE = ("nonzero", "x[mask of rows]", "put rows", "unique", "bincount", "histc between")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.portable if n in PORTABLE else ()) for n in CASES],
)
def test_as_on_the_cpu(name):
    wanted, found = as_list(CASES[name]("cpu")), as_list(CASES[name]("tpu"))
    assert len(wanted) == len(found)
    for a, b in zip(wanted, found, strict=True):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        torch.testing.assert_close(b.cpu(), a, rtol=1e-6, atol=1e-6)


def test_every_nan_is_unique():
    x = torch.tensor([0.0, float("nan"), -0.0, 1.0, float("nan")])
    for a, b in zip(
        torch.unique(x, return_counts=True), torch.unique(x.tpu(), return_counts=True), strict=True
    ):
        torch.testing.assert_close(b.cpu(), a, equal_nan=True)


def test_experts_are_counted_in_integers():
    """CPU has no histc of integers; routers of mixtures call it so on every other device."""
    x = torch.randint(0, 8, (64,), generator=G)
    counts = torch.histc(x.int().tpu(), 8, 0, 7)
    assert counts.dtype == torch.int32
    assert counts.tolist() == torch.bincount(x, minlength=8).tolist()


@pytest.mark.parametrize(
    "call",
    [
        put(MASK, torch.ones(COUNT - 1)),
        put(MASK, torch.ones(COUNT + 1)),
        lambda d: X.to(d)[torch.ones(3, dtype=torch.bool, device=d)],
        lambda d: X.to(d).masked_scatter(MASK.to(d), torch.ones(2, device=d)),
        lambda d: torch.bincount(torch.tensor([-1], device=d)),
        lambda d: torch.repeat_interleave(torch.tensor([2, -1], device=d)),
        lambda d: torch.histc(X.to(d), 4, 3, 1),
        lambda d: torch.histc(torch.tensor([1, float("nan")], device=d), 4),
    ],
)
def test_what_cpu_refuses_is_refused(call):
    with pytest.raises((RuntimeError, IndexError)) as wanted:
        call("cpu")
    with pytest.raises(wanted.type):
        call("tpu").cpu()


def test_a_new_count_compiles_nothing():
    def run(n):
        x = torch.zeros(300, dtype=torch.long)
        x[:n] = torch.arange(n)
        y = x.tpu()
        return y.nonzero(), y[y > 2], torch.unique(y), y.bincount(), torch.repeat_interleave(y[:20])

    run(30)
    torch.tpu.synchronize()
    before = torch.tpu.counters()["compiles"]
    for n in (31, 29, 25, 28):
        run(n)
    assert torch.tpu.counters()["compiles"] == before
    assert torch.equal(run(27)[2].cpu(), torch.arange(27))


def test_a_selected_part_is_a_tensor_like_any_other():
    x = LONG.tpu()
    part = x[x > 0.5]
    want = LONG[LONG > 0.5]
    part.mul_(2)
    torch.testing.assert_close(part.cpu(), want * 2)
    torch.testing.assert_close(part[3:9].flip(0).cpu(), (want * 2)[3:9].flip(0))
    assert part.is_contiguous() and torch.equal(x.cpu(), LONG)
    torch.testing.assert_close(part.clone().sum(), (want * 2).sum().tpu(), rtol=1e-4, atol=1e-3)
