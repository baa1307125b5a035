"""Numbers of a call are inputs of its program: no new value compiles anything."""

import pytest
import torch
import torch.nn.functional as F

FLOATS = (0.11, 0.23, 0.31, 0.47, 0.59)
INTS = (1, 2, 3, 4, 5)


def rows(n: int = 6) -> torch.Tensor:
    return torch.arange(1.0, n * n + 1).reshape(n, n) / 7


def backward(f, x):
    x = x.detach().requires_grad_()
    f(x).sum().backward()
    return x.grad


# name -> (function of a device and a number, numbers). Every call has the same sizes.
VALUES = {
    "arange": (lambda d, v: torch.arange(v, v + 7, device=d), INTS),
    "arange step": (lambda d, v: torch.arange(0, 7 * v, v, device=d), INTS),
    "arange float": (lambda d, v: torch.arange(v, v + 7, device=d, dtype=torch.float64), FLOATS),
    "linspace": (lambda d, v: torch.linspace(v, v + 1, 9, device=d), FLOATS),
    "logspace": (lambda d, v: torch.logspace(v, v + 1, 9, base=2 + v, device=d), FLOATS),
    "full": (lambda d, v: torch.full((3,), v, device=d), FLOATS),
    "roll": (lambda d, v: rows().to(d).roll((v, -v), (0, 1)), INTS),
    "roll flat": (lambda d, v: rows().to(d).roll(7 * v), INTS),
    "tril": (lambda d, v: rows().to(d).tril(v - 3), INTS),
    "triu": (lambda d, v: rows().to(d).triu(v - 3), INTS),
    "diagonal_scatter": (
        lambda d, v: rows().to(d).narrow(1, 0, 3).diagonal_scatter(torch.ones(3, device=d), 1 - v),
        (2, 3, 4),
    ),
    "select_scatter": (
        lambda d, v: rows().to(d).select_scatter(torch.ones(6, device=d), 1, v - 3),
        INTS,
    ),
    "slice_scatter": (
        lambda d, v: rows().to(d).slice_scatter(torch.ones(2, 6, device=d), 0, v - 1, v + 1),
        INTS,
    ),
    "slice_scatter step": (
        lambda d, v: rows(9).to(d).slice_scatter(torch.ones(2, 9, device=d), 0, v - 1, v + 3, 2),
        INTS,
    ),
    "gradient of x[i]": (lambda d, v: backward(lambda x: x[v] ** 2, rows().to(d)), INTS),
    "gradient of x[:, i:j]": (
        lambda d, v: backward(lambda x: x[:, v - 1 : v + 1] ** 2, rows().to(d)),
        INTS,
    ),
    "gradient of x[i::2]": (
        lambda d, v: backward(lambda x: x[v : v + 4 : 2] ** 2, rows(10).to(d)),
        INTS,
    ),
    "gradient of diagonal": (
        lambda d, v: backward(lambda x: x[:, :3].diagonal(1 - v) ** 2, rows().to(d)),
        (2, 3, 4),
    ),
    "pow": (lambda d, v: rows().to(d) ** (3 + v), FLOATS),
    "pow of integers": (lambda d, v: torch.arange(-3, 4, device=d) ** (3 + v), INTS),
    "gradient of pow": (lambda d, v: backward(lambda x: x ** (4 + v), rows().to(d)), FLOATS),
    "vector norm": (lambda d, v: torch.linalg.vector_norm(rows().to(d), 2 + v, dim=1), FLOATS),
    "vector norm below 0": (lambda d, v: torch.linalg.vector_norm(rows().to(d), -v), FLOATS),
    "norm": (lambda d, v: rows().to(d).norm(p=2 + v, dim=0), FLOATS),
    "normalize": (lambda d, v: F.normalize(rows().to(d), p=3 + v, eps=v), FLOATS),
    "kthvalue": (lambda d, v: rows().to(d).flip(0).kthvalue(v, 0)[0], INTS),
    "nll_loss": (
        lambda d, v: F.nll_loss(
            rows().to(d), torch.arange(6, device=d), ignore_index=v, reduction="none"
        ),
        INTS,
    ),
    "cross_entropy": (
        lambda d, v: F.cross_entropy(
            rows().to(d), torch.arange(6, device=d), ignore_index=v, label_smoothing=v / 10
        ),
        INTS,
    ),
    "gradient of embedding": (
        lambda d, v: backward(
            lambda x: F.embedding(torch.arange(6, device=d), x, padding_idx=v), rows().to(d)
        ),
        INTS,
    ),
    "threshold": (lambda d, v: F.threshold(rows().to(d), 2 + v, v), FLOATS),
    "clamp": (lambda d, v: rows().to(d).clamp(v, 3 + v), FLOATS),
    "leaky_relu": (lambda d, v: F.leaky_relu(-rows().to(d), v), FLOATS),
    "elu": (lambda d, v: F.elu(-rows().to(d), v), FLOATS),
    "celu": (lambda d, v: F.celu(-rows().to(d), v), FLOATS),
    "softplus": (lambda d, v: F.softplus(rows().to(d), 1 + v, 2 + v), FLOATS),
    "hardshrink": (lambda d, v: F.hardshrink(rows().to(d), v), FLOATS),
    "softshrink": (lambda d, v: F.softshrink(rows().to(d), v), FLOATS),
    "hardtanh": (lambda d, v: F.hardtanh(rows().to(d), -v, v), FLOATS),
    "logit": (lambda d, v: torch.logit(rows().to(d) / 9, v / 2), FLOATS),
    "nan_to_num": (lambda d, v: rows().to(d).log().nan_to_num(v, v, v), FLOATS),
    "round decimals": (lambda d, v: rows().to(d).round(decimals=v), INTS),
    "layer_norm eps": (lambda d, v: F.layer_norm(rows().to(d), (6,), eps=v), FLOATS),
    "huber": (lambda d, v: F.huber_loss(rows().to(d), rows().to(d) * 2, delta=v), FLOATS),
    "smooth_l1": (lambda d, v: F.smooth_l1_loss(rows().to(d), rows().to(d) * 2, beta=v), FLOATS),
    "lerp": (lambda d, v: rows().to(d).lerp(rows().to(d) * 2, v), FLOATS),
    "addcmul": (
        lambda d, v: torch.addcmul(rows().to(d), rows().to(d), rows().to(d), value=v),
        FLOATS,
    ),
    "addmm": (
        lambda d, v: torch.addmm(
            rows().to(d), torch.eye(6, device=d), torch.eye(6, device=d), beta=v, alpha=v
        ),
        FLOATS,
    ),
    "avg_pool divisor": (
        lambda d, v: F.avg_pool2d(rows().to(d)[None, None], 2, divisor_override=v),
        INTS,
    ),
    "masked_fill": (lambda d, v: rows().to(d).masked_fill(rows().to(d) > 2, v), FLOATS),
    "index_fill": (lambda d, v: rows().to(d).index_fill(0, torch.tensor([1], device=d), v), FLOATS),
    "pad value": (lambda d, v: F.pad(rows().to(d), (1, 1), value=v), FLOATS),
    "x[i]": (lambda d, v: rows().to(d)[v] * 1, INTS),
    "isclose": (lambda d, v: torch.isclose(rows().to(d), rows().to(d) + 0.1, atol=v), FLOATS),
    "cdist": (lambda d, v: torch.cdist(rows().to(d), rows().to(d).flip(0), p=2 + v), FLOATS),
    "std correction": (lambda d, v: rows().to(d).std(dim=1, correction=v - 1), INTS),
    "bincount of values": (
        lambda d, v: torch.bincount(torch.tensor([0, 1, 5], device=d)) * v,
        INTS,
    ),
}
DRAWS = {
    "randint": (lambda d, v: torch.randint(-v, 10 * v, (5,), device=d), INTS),
    "randint long": (lambda d, v: torch.randint(v, v + 2**40, (5,), device=d), INTS),
    "uniform": (lambda d, v: torch.empty(5, device=d).uniform_(v, v + 1), FLOATS),
    "normal": (lambda d, v: torch.empty(5, device=d).normal_(v, v), FLOATS),
    "bernoulli": (lambda d, v: torch.empty(5, device=d).bernoulli_(v), FLOATS),
    "dropout": (lambda d, v: F.dropout(torch.ones(5, device=d), v), FLOATS),
    "feature_dropout": (lambda d, v: F.dropout1d(torch.ones(5, 2, 2, device=d), v), FLOATS),
    "alpha_dropout": (lambda d, v: F.alpha_dropout(torch.ones(5, device=d), v, True), FLOATS),
    "rrelu": (lambda d, v: F.rrelu(-torch.ones(5, device=d), v / 3, v, True), FLOATS),
    "geometric": (lambda d, v: torch.empty(5, device=d).geometric_(v), FLOATS),
    "exponential": (lambda d, v: torch.empty(5, device=d).exponential_(v), FLOATS),
    "cauchy": (lambda d, v: torch.empty(5, device=d).cauchy_(v, v), FLOATS),
    "log_normal": (lambda d, v: torch.empty(5, device=d).log_normal_(v, v), FLOATS),
    "attention dropout": (
        lambda d, v: F.scaled_dot_product_attention(
            *(rows().to(d)[None, None] for _ in range(3)), dropout_p=v
        ),
        FLOATS,
    ),
}


def compiles() -> int:
    return torch.tpu.counters()["compiles"]


@pytest.mark.parametrize("name", VALUES)
def test_a_new_value_compiles_nothing(name, highest):
    call, numbers = VALUES[name]
    for _ in range(3):  # the second call of a composed op records it
        call("tpu", numbers[0])
    before = compiles()
    results = [call("tpu", v) for v in numbers]
    assert compiles() == before
    for result, v in zip(results, numbers, strict=True):
        torch.testing.assert_close(result.cpu(), call("cpu", v))


@pytest.mark.parametrize("name", DRAWS)
def test_a_new_parameter_of_a_draw_compiles_nothing(name):
    call, numbers = DRAWS[name]
    call("tpu", numbers[0])
    before = compiles()
    for v in numbers:
        call("tpu", v)
    assert compiles() == before


def test_special_values_are_exact():
    x = torch.tensor([-2.0, -0.0, 0.5, 3.0, float("inf"), float("nan")])
    for exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, 4, -3, 0.0):
        torch.testing.assert_close(
            (x.to("tpu") ** exponent).cpu(), x**exponent, equal_nan=True, rtol=1e-6, atol=0
        )
    y = torch.tensor([[0.0, -3.0, 4.0], [1.0, 0.0, -0.0]])
    for order in (0, 1, 2, 3, 0.5, -1, float("inf"), -float("inf")):
        torch.testing.assert_close(
            torch.linalg.vector_norm(y.to("tpu"), order, dim=1).cpu(),
            torch.linalg.vector_norm(y, order, dim=1),
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda d: torch.arange(0, 5, 0, device=d),
        lambda d: torch.arange(0, 5, -1, device=d),
        lambda d: torch.arange(0, float("inf"), device=d),
        lambda d: rows().to(d).kthvalue(7, 0),
        lambda d: rows().to(d).kthvalue(0, 0),
        lambda d: rows().to(d).select_scatter(torch.ones(6, device=d), 0, 6),
        lambda d: rows().to(d).slice_scatter(torch.ones(2, 6, device=d), 0, 5, 9),
        lambda d: rows().to(d).diagonal_scatter(torch.ones(6, device=d), 1),
        lambda d: torch.empty(3, dtype=torch.int8, device=d).random_(0, 1000),
        lambda d: torch.empty(3, dtype=torch.uint8, device=d).random_(-1, 10),
        lambda d: torch.empty(3, device=d).random_(4, 4),
        lambda d: F.avg_pool2d(rows().to(d)[None], 2, divisor_override=0),
        lambda d: torch.arange(3, device=d) ** -1,
    ],
)
def test_bad_values_are_refused_on_every_call(call):
    kinds = []
    for device in ("cpu", "tpu", "tpu"):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            call(device)
        kinds.append(type(caught.value))
    assert kinds[0] == kinds[1] == kinds[2]
