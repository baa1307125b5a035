"""Random draws: distributions, seeds, generators. Seeds are fixed: every run sees the same draws.

Bounds are five standard errors of the statistic (Kolmogorov-Smirnov: 2 / sqrt(n)).
"""

import math
import os
import subprocess
import sys

import pytest
import torch
from built import xla_cpu

N = 40_000


def empty(n: int = N, dtype=torch.float32) -> torch.Tensor:
    torch.manual_seed(17)
    return torch.empty(n, dtype=dtype, device="tpu")


def drawn(x: torch.Tensor) -> torch.Tensor:
    return x.cpu().double()


def check_moments(x: torch.Tensor, mean: float, variance: float, kurtosis: float) -> None:
    n = x.numel()
    assert abs(x.mean().item() - mean) < 5 * math.sqrt(variance / n)
    error = variance * math.sqrt((kurtosis - 1) / n)
    assert abs(x.var().item() - variance) < 5 * error


def check_distribution(x: torch.Tensor, cumulative) -> None:
    """The largest distance between the empirical and the wanted cumulative distribution."""
    x = x.sort().values
    n = x.numel()
    steps = torch.arange(1, n + 1, dtype=torch.float64) / n
    wanted = cumulative(x)
    distance = torch.maximum((steps - wanted).abs(), (steps - 1 / n - wanted).abs()).max()
    assert distance < 2 / math.sqrt(n), distance


def normal_cumulative(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


@pytest.mark.portable
def test_uniform():
    x = drawn(empty().uniform_(-1, 3))
    assert x.min() >= -1 and x.max() < 3
    check_moments(x, 1, 16 / 12, 1.8)
    check_distribution(x, lambda t: (t + 1) / 4)


@pytest.mark.portable
def test_normal():
    x = drawn(empty().normal_(2, 3))
    check_moments(x, 2, 9, 3)
    check_distribution(x, lambda t: normal_cumulative((t - 2) / 3))
    assert (x - 2).abs().max() > 3 * 3.5, "no tails"


def test_pairs_of_normal_numbers_are_independent():
    x = drawn(empty().normal_())
    half = x[: N // 2], x[N // 2 :]
    for a, b in (half, (x[:-1], x[1:]), (half[0] ** 2, half[1] ** 2)):
        r = torch.corrcoef(torch.stack([a, b]))[0, 1]
        assert abs(r) < 5 / math.sqrt(a.numel())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_dtypes(dtype):
    x = drawn(empty(dtype=dtype).uniform_())
    # A draw just below one rounds up to it, and one is not in [0, 1).
    assert x.min() >= 0 and x.max() < 1
    check_moments(x, 0.5, 1 / 12, 1.8)
    check_moments(drawn(empty(dtype=dtype).normal_()), 0, 1, 3)


def test_exponential():
    x = drawn(empty().exponential_(2.0))
    assert x.min() >= 0 and torch.isfinite(x).all()
    check_moments(x, 0.5, 0.25, 9)
    check_distribution(x, lambda t: 1 - torch.exp(-2 * t))


def test_cauchy():
    x = drawn(empty().cauchy_(1.0, 2.0))
    check_distribution(x, lambda t: torch.atan((t - 1) / 2) / math.pi + 0.5)
    assert abs(x.median().item() - 1) < 5 * math.pi / math.sqrt(N)


def test_log_normal():
    x = drawn(empty().log_normal_(0.5, 0.25))
    check_distribution(x, lambda t: normal_cumulative((t.log() - 0.5) / 0.25))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_geometric(dtype):
    p = 0.3
    x = drawn(empty(dtype=dtype).geometric_(p))
    assert x.min() == 1 and (x == x.round()).all()
    check_moments(x, 1 / p, (1 - p) / p**2, 9 + p * p / (1 - p))


@pytest.mark.portable
def test_bernoulli():
    for p in (0.0, 0.001, 0.5, 1.0):
        share = drawn(empty(dtype=torch.bool).bernoulli_(p)).mean().item()
        assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / N)
    levels = torch.tensor([0.0, 0.25, 1.0], device="tpu").repeat_interleave(4000)
    torch.manual_seed(3)
    shares = drawn(torch.bernoulli(levels)).reshape(3, -1).mean(1)
    assert shares[0] == 0 and shares[2] == 1
    assert abs(shares[1] - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 4000)


def test_randint_is_uniform_within_its_bounds():
    torch.manual_seed(1)
    x = torch.randint(-3, 7, (N,), device="tpu").cpu()
    counts = torch.bincount(x + 3, minlength=10)
    assert x.min() == -3 and x.max() == 6 and counts.numel() == 10
    chi_square = ((counts - N / 10) ** 2 / (N / 10)).sum().item()
    assert chi_square < 33.7  # nine degrees of freedom, one in ten thousand
    wide = torch.randint(0, 2**40, (1000,), device="tpu").cpu()
    assert wide.min() >= 0 and wide.max() < 2**40 and wide.max() > 2**39
    assert torch.randint(5, 6, (3,), device="tpu").tolist() == [5, 5, 5]


def test_random_covers_what_a_dtype_counts():
    for dtype, top in ((torch.uint8, 255), (torch.int8, 127), (torch.bfloat16, 256)):
        x = empty(dtype=dtype).random_().cpu().long()
        assert x.min() == 0 and x.max() == top
    x = empty(dtype=torch.int64).random_().cpu()
    assert x.min() >= 0 and x.max() > 2**62


@pytest.mark.portable
def test_randperm_is_a_permutation():
    torch.manual_seed(4)
    first = torch.randperm(1000, device="tpu").cpu()
    assert torch.equal(first.sort().values, torch.arange(1000))
    second = torch.randperm(1000, device="tpu").cpu()
    assert (first == second).sum() < 12  # one is expected to stay in place
    assert torch.randperm(0, device="tpu").numel() == 0


def test_every_order_of_three_is_as_likely():
    torch.manual_seed(5)
    orders = [tuple(torch.randperm(3, device="tpu").tolist()) for _ in range(600)]
    counts = torch.tensor([float(orders.count(o)) for o in set(orders)])
    assert counts.numel() == 6
    assert ((counts - 100) ** 2 / 100).sum() < 25.7  # five degrees of freedom, one in ten thousand


def test_multinomial_with_replacement():
    weights = torch.tensor([0.0, 1.0, 3.0, 0.0, 4.0, 0.0], device="tpu")
    torch.manual_seed(6)
    x = torch.multinomial(weights, 20_000, replacement=True).cpu()
    shares = torch.bincount(x, minlength=6) / 20_000
    for share, weight in zip(shares.tolist(), (0, 1, 3, 0, 4, 0), strict=True):
        p = weight / 8
        assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / 20_000)


def test_multinomial_without_replacement():
    weights = torch.tensor([1.0, 2.0, 5.0, 2.0], device="tpu").expand(5000, 4)
    torch.manual_seed(7)
    x = torch.multinomial(weights, 2).cpu()
    assert (x[:, 0] != x[:, 1]).all()
    first = torch.bincount(x[:, 0], minlength=4) / 5000
    # Second place: the sum over what went first of p(first) * w / (1 - p(first)).
    w = torch.tensor([0.1, 0.2, 0.5, 0.2])
    odds = (w / (1 - w)).sum() - w / (1 - w)
    second = torch.bincount(x[:, 1], minlength=4) / 5000
    for share, p in zip((*first, *second), (*w, *(w * odds)), strict=True):
        assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / 5000)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_keeps_a_small_rate(dtype):
    """bf16 numbers are too coarse to draw p = 0.001 from; the draws have 32 bits in every dtype."""
    n, p = 400_000, 0.001
    torch.manual_seed(8)
    y = torch.nn.functional.dropout(torch.ones(n, dtype=dtype, device="tpu"), p)
    dropped = (y == 0).sum().item()
    assert abs(dropped - n * p) < 5 * math.sqrt(n * p)
    kept = y.float().max().item()
    assert abs(kept - 1 / (1 - p)) < (1e-6 if dtype == torch.float32 else 4e-3)


@pytest.mark.portable
def test_a_seed_repeats_its_numbers():
    runs = []
    for seed in (9, 9, 10):
        torch.manual_seed(seed)
        runs.append([torch.randn(50, device="tpu").cpu() for _ in range(2)])
    assert torch.equal(runs[0][0], runs[1][0]) and torch.equal(runs[0][1], runs[1][1])
    assert not torch.equal(runs[0][0], runs[2][0])
    assert not torch.equal(runs[0][0], runs[0][1])


def test_a_generator_is_honoured_and_alone():
    torch.manual_seed(11)
    expected = torch.randn(20, device="tpu").cpu()
    torch.manual_seed(11)
    generator = torch.Generator("tpu").manual_seed(5)
    first = torch.randn(20, device="tpu", generator=generator).cpu()
    assert torch.equal(torch.randn(20, device="tpu").cpu(), expected)
    generator.manual_seed(5)
    assert torch.equal(torch.randn(20, device="tpu", generator=generator).cpu(), first)
    state = generator.get_state()
    second = torch.empty(20, device="tpu").uniform_(generator=generator).cpu()
    generator.set_state(state)
    again = torch.empty(20, device="tpu").uniform_(generator=generator).cpu()
    assert torch.equal(second, again)


def test_states_of_all_devices():
    states = torch.tpu.get_rng_state_all()
    assert len(states) == torch.tpu.device_count()
    first = torch.rand(5, device="tpu").cpu()
    assert not torch.equal(torch.tpu.get_rng_state(), states[0])
    torch.tpu.set_rng_state_all(states)
    assert torch.equal(torch.rand(5, device="tpu").cpu(), first)
    torch.tpu.set_rng_state_all(states)
    with torch.random.fork_rng(device_type="tpu"):
        torch.tpu.manual_seed_all(99)
        torch.rand(3, device="tpu")
    assert torch.equal(torch.rand(5, device="tpu").cpu(), first)


def test_a_generator_of_another_device_is_refused():
    with pytest.raises(RuntimeError, match="(?i)generator"):
        torch.empty(3, device="tpu").normal_(generator=torch.Generator("cpu"))


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x.uniform_(1, 0),
        lambda x: x.normal_(0, -1),
        lambda x: x.exponential_(0),
        lambda x: x.geometric_(1.5),
        lambda x: x.bernoulli_(1.5),
        lambda x: x.random_(3, 3),
        lambda x: torch.multinomial(x, 9),
    ],
)
def test_parameters_are_checked_as_on_the_cpu(draw):
    with pytest.raises(RuntimeError):
        draw(torch.ones(4))
    with pytest.raises(RuntimeError):
        draw(torch.ones(4, device="tpu"))


def check_counts(x: torch.Tensor, log_mass) -> None:
    """Chi-square of whole numbers against their probabilities, cells of at least five expected."""
    n, top = x.numel(), int(x.max()) + 2
    expected = n * torch.exp(log_mass(torch.arange(top, dtype=torch.float64)))
    counts = torch.bincount(x.long(), minlength=top).double()
    is_kept = expected >= 5
    cells = int(is_kept.sum())
    rest = torch.stack([counts[~is_kept].sum(), n - expected[is_kept].sum()])
    chi_square = ((counts - expected) ** 2 / expected)[is_kept].sum()
    if rest[1] > 1:
        chi_square += (rest[0] - rest[1]) ** 2 / rest[1]
    assert chi_square < cells + 5 * math.sqrt(2 * cells), (chi_square, cells)


@pytest.mark.parametrize("rate", [0.3, 4.0, 10.0, 200.0])
def test_poisson(rate):
    torch.manual_seed(18)
    x = drawn(torch.poisson(torch.full((N,), rate, device="tpu")))
    check_moments(x, rate, rate, 3 + 1 / rate)
    check_counts(x, lambda k: k * math.log(rate) - rate - torch.lgamma(k + 1))


def test_poisson_of_mixed_rates():
    rates = torch.tensor([0.0, 0.5, 1e5], device="tpu", dtype=torch.bfloat16)
    torch.manual_seed(19)
    x = torch.poisson(rates.expand(500, 3)).float().cpu().mean(0)
    assert x[0] == 0 and abs(x[1] - 0.5) < 0.2 and abs(x[2] / 1e5 - 1) < 0.01


@pytest.mark.parametrize("n, p", [(10, 0.2), (7, 0.9), (100, 0.5), (1000, 0.03)])
def test_binomial(n, p):
    torch.manual_seed(20)
    count, chance = torch.full((N,), float(n)), torch.full((N,), p)
    x = drawn(torch.binomial(count.tpu(), chance.tpu()))
    assert x.min() >= 0 and x.max() <= n
    logs = math.lgamma(n + 1), math.log(chance[0]), math.log1p(-chance[0])
    check_counts(
        x[x <= n],
        lambda k: torch.where(
            k <= n,
            logs[0]
            - torch.lgamma(k + 1)
            - torch.lgamma((n - k).clamp(min=0) + 1)
            + k * logs[1]
            + (n - k) * logs[2],
            -math.inf,
        ),
    )


def test_binomial_at_its_ends():
    count = torch.tensor([5.0, 5.0, 0.0, -2.0], device="tpu")
    chance = torch.tensor([0.0, 1.0, 0.5, 0.5], device="tpu")
    assert torch.binomial(count, chance).tolist() == [0, 5, 0, 0]


@pytest.mark.parametrize("alpha", [0.2, 1.0, 3.5, 80.0])
def test_gamma(alpha):
    torch.manual_seed(21)
    x = drawn(torch._standard_gamma(torch.full((N,), alpha, device="tpu")))
    a = torch.tensor(alpha, dtype=torch.float64)
    check_distribution(x, lambda t: torch.special.gammainc(a, t))


def test_dirichlet():
    torch.manual_seed(22)
    alpha = torch.tensor([0.5, 1.0, 2.5])
    x = drawn(torch.distributions.Dirichlet(alpha.tpu()).sample((10_000,)))
    assert (x.sum(1) - 1).abs().max() < 1e-6
    for mean, p in zip(x.mean(0).tolist(), (alpha / 4).tolist(), strict=True):
        assert abs(mean - p) < 5 * math.sqrt(p * (1 - p) / 5 / 10_000)


def test_rrelu():
    torch.manual_seed(23)
    x = torch.full((N,), -2.0, device="tpu", requires_grad=True)
    y = torch.nn.functional.rrelu(x, 0.1, 0.4, training=True)
    check_distribution(drawn(y.detach()), lambda t: (t + 0.8) / 0.6)
    y.sum().backward()
    torch.testing.assert_close(x.grad * x, y)
    z = torch.nn.functional.rrelu(x, 0.1, 0.4)
    torch.testing.assert_close(z.cpu(), torch.full((N,), -0.5))


def test_a_rare_event_keeps_its_rate():
    """Three in ten million are finer than the 24 bits of a float32 draw."""
    torch.manual_seed(24)
    p = 3e-7
    hits = sum(torch.empty(10_000_000, device="tpu").bernoulli_(p).sum().item() for _ in range(2))
    assert 0 < hits < 6 + 5 * math.sqrt(6)


# Places of the stream, found by search: (seed, block of four words, place in it, the word).
HIGHEST_WORD = (5, 2009190, 1, 2**32 - 9)  # as a float32 fraction of 2^32 it is one
LOWEST_WORD = (6, 2977858, 3, 12)


def stand_at(place) -> None:
    seed, block = (n.to_bytes(8, "little") for n in place[:2])
    torch.tpu.set_rng_state(torch.tensor(list(seed + block), dtype=torch.uint8))


def drawn_at(place, draw):
    stand_at(place)
    return draw(torch.empty(4, device="tpu")).cpu()[place[2]].item()


@pytest.mark.portable
@pytest.mark.parametrize("place", [HIGHEST_WORD, LOWEST_WORD])
def test_the_ends_of_the_stream(place):
    """The words nearest to 0 and 2^32 of some hundred million: every sampler is in range."""
    assert drawn_at(place, lambda x: x.long().random_(0, 2**32)) == place[3]
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        stand_at(place)
        x = torch.empty(4, dtype=dtype, device="tpu").uniform_().cpu()
        assert (x >= 0).all() and (x < 1).all()
        stand_at(place)
        x = torch.empty(4, dtype=dtype, device="tpu").exponential_().cpu()
        assert (x > 0).all() and x.isfinite().all()
        for draw in (torch.Tensor.normal_, torch.Tensor.cauchy_, torch.Tensor.log_normal_):
            stand_at(place)
            x = draw(torch.empty(8, dtype=dtype, device="tpu"))
            is_beyond = draw is torch.Tensor.cauchy_ and dtype == torch.float16  # 5e6 is
            assert is_beyond or x.isfinite().all()
    assert drawn_at(place, lambda x: x.uniform_(-3, 5)) < 5
    stand_at(place)
    assert torch.nn.functional.gumbel_softmax(torch.zeros(4, device="tpu")).isfinite().all()
    for p in (0.3, 1e-7, 1 - 1e-7):
        assert 1 <= drawn_at(place, lambda x, p=p: x.geometric_(p)) < math.inf
    assert drawn_at(place, lambda x: x.bernoulli_(1.0)) == 1
    assert drawn_at(place, lambda x: x.bernoulli_(0.0)) == 0
    assert drawn_at(place, lambda x: torch.nn.functional.dropout(x.fill_(1), 0.0)) == 1
    stand_at(place)
    weights = torch.tensor([0.0, 1.0, 1.0, 0.0], device="tpu")
    assert set(torch.multinomial(weights, 4, replacement=True).tolist()) <= {1, 2}
    stand_at(place)
    assert sorted(torch.multinomial(weights, 2).tolist()) == [1, 2]


@pytest.mark.portable
def test_tails_are_finer_than_24_bits():
    """A draw of 24 bits ends at -log(2^-24) = 16.6; these have 32 behind them."""
    near_zero = (LOWEST_WORD[3] + 1) / 2**32
    assert drawn_at(LOWEST_WORD, lambda x: x.exponential_()) == pytest.approx(-math.log(near_zero))
    assert drawn_at(LOWEST_WORD, lambda x: x.geometric_(0.5)) == 29
    assert drawn_at(LOWEST_WORD, lambda x: x.bernoulli_(4e-9)) == 1
    assert drawn_at(LOWEST_WORD, lambda x: x.bernoulli_(2e-9)) == 0
    stand_at(LOWEST_WORD)
    x = torch.empty(8, device="tpu").normal_().cpu()
    radius = math.hypot(x[LOWEST_WORD[2]], x[LOWEST_WORD[2] + 4])
    assert radius == pytest.approx(math.sqrt(-2 * math.log(near_zero)), rel=1e-5)
    assert drawn_at(LOWEST_WORD, lambda x: x.uniform_()) == 0  # 24 bits, as on the CPU
    wide = drawn_at(LOWEST_WORD, lambda x: x.double().uniform_())
    assert wide * 2**32 == pytest.approx(LOWEST_WORD[3], abs=1)


DRAWS = """
import sys, torch
torch.manual_seed(5)
t = lambda x: x.cpu().double().flatten()[:64]
e = lambda **k: torch.empty(64, device="tpu", **k)
p = torch.full((64,), 0.4, device="tpu")
out = {
    "uniform": e().uniform_(-1, 3), "half": e(dtype=torch.bfloat16).uniform_(),
    "wide": e(dtype=torch.float64).uniform_(), "bernoulli": torch.bernoulli(p),
    "randint": torch.randint(-5, 1000, (64,), device="tpu"),
    "long": torch.randint(0, 2**45, (64,), device="tpu"),
    "randperm": torch.randperm(64, device="tpu"), "random": e(dtype=torch.uint8).random_(),
    "dropout": torch.nn.functional.dropout(p, 0.3), "normal": e().normal_(1, 2),
    "exponential": e().exponential_(2), "log_normal": e().log_normal_(0.1, 0.5),
    "cauchy": e().cauchy_(), "geometric": e().geometric_(0.2),
    "multinomial": torch.multinomial(p, 20), "poisson": torch.poisson(p * 10),
    "gamma": torch._standard_gamma(p), "like": torch.rand_like(p),
}
torch.save({k: t(v) for k, v in out.items()}, sys.argv[1])
"""


def test_the_stream_is_the_same_on_xla_cpu(tmp_path):
    plugin = xla_cpu()
    if plugin is None:
        pytest.skip("no XLA:CPU plugin is installed")
    kept = []
    for k, options in enumerate(("quiet=1", f"quiet=1 cache=off plugin={plugin}")):
        path = tmp_path / f"{k}.pt"
        env = {**os.environ, "TPUTORCH_OPTIONS": options}
        subprocess.run([sys.executable, "-c", DRAWS, str(path)], env=env, check=True, timeout=900)
        kept.append(torch.load(path))
    # A logarithm, a sine or a tangent may differ in its last digits; all else may not.
    rounded = ("normal", "exponential", "log_normal", "cauchy", "gamma")
    for name, x in kept[0].items():
        if name in rounded:
            torch.testing.assert_close(kept[1][name], x, rtol=2e-6, atol=2e-6, msg=name)
        else:
            assert torch.equal(kept[1][name], x), name
