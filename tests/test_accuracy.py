"""f32 functions over all magnitudes: how far from the exact value, in units of the last place."""

import pytest
import torch

ULPS = {
    torch.exp: 2,
    torch.log: 2,
    torch.tanh: 2,
    torch.erf: 2,
    torch.sin: 2,
    torch.cos: 2,
    torch.log1p: 2,
    torch.expm1: 2,
    torch.sigmoid: 3,
}


def arguments():
    """Positive and negative numbers of every exponent, and many where functions bend."""
    bits = torch.arange(0, 2**31, 2**12 - 37, dtype=torch.int64).to(torch.int32)
    x = bits.view(torch.float32)
    x = x[torch.isfinite(x)]
    return torch.cat([x, -x, torch.linspace(-12, 12, 400001)])


@pytest.mark.parametrize("function", ULPS, ids=lambda f: f.__name__)
def test_distance_from_the_exact_value(function):
    x = arguments()
    got = function(x.to("tpu")).cpu()
    exact = function(x.double())
    near = exact.float()
    assert torch.equal(got.isnan(), near.isnan())
    finite = near.isfinite() & got.isfinite()
    beyond = ~finite & ~near.isnan()
    assert torch.equal(got[beyond], near[beyond])
    step = torch.exp2(exact[finite].abs().log2().floor().clamp(min=-126) - 23)
    error = (got[finite].double() - exact[finite]).abs() / step
    worst = error.nan_to_num().argmax()
    assert error.nan_to_num()[worst] <= ULPS[function], (x[finite][worst], got[finite][worst])
