"""Bug reports about random numbers and dropout."""

import pytest
import torch
from torch import nn
from torch.distributions import Categorical
from torch.utils.checkpoint import checkpoint

WEIGHTS = torch.rand(2, 16, generator=torch.Generator().manual_seed(1)) + 0.1


def samplers():
    def empty(n=8):
        return torch.empty(n, device="tpu")

    w = WEIGHTS.to("tpu")
    return {
        "multinomial": lambda g: torch.multinomial(w, 4, generator=g),
        "bernoulli": lambda g: torch.bernoulli(w.clamp(0, 1), generator=g),
        "randperm": lambda g: torch.randperm(50, device="tpu", generator=g),
        "normal": lambda g: torch.normal(torch.zeros(8, device="tpu"), 1.0, generator=g),
        "normal_": lambda g: empty().normal_(generator=g),
        "exponential_": lambda g: empty().exponential_(generator=g),
        "geometric_": lambda g: empty().geometric_(0.3, generator=g),
        "cauchy_": lambda g: empty().cauchy_(generator=g),
        "log_normal_": lambda g: empty().log_normal_(generator=g),
        "uniform_": lambda g: empty().uniform_(generator=g),
        "random_": lambda g: empty().random_(generator=g),
        "rand": lambda g: torch.rand(8, device="tpu", generator=g),
        "randint": lambda g: torch.randint(1000, (8,), device="tpu", generator=g),
    }


@pytest.mark.parametrize("name", samplers())
def test_up_064_seeds_and_generators_decide_every_draw(name):
    draw = samplers()[name]
    torch.manual_seed(0)
    first, second = draw(None), draw(None)
    torch.manual_seed(0)
    again = draw(None)
    assert torch.equal(first.cpu(), again.cpu())
    assert not torch.equal(first.cpu(), second.cpu())
    generator = torch.Generator("tpu").manual_seed(5)
    torch.manual_seed(1)
    first = draw(generator)
    torch.manual_seed(2)
    assert torch.equal(first.cpu(), draw(generator.manual_seed(5)).cpu())


def test_up_064_distributions():
    for _ in range(2):
        torch.manual_seed(0)
        drawn = Categorical(WEIGHTS.to("tpu")).sample((5,)).cpu()
        torch.manual_seed(0)
        assert torch.equal(drawn, Categorical(WEIGHTS.to("tpu")).sample((5,)).cpu())
        assert drawn.shape == (5, 2) and drawn.min() >= 0 and drawn.max() < 16


def test_up_065_dropout_draws_anew_in_each_call():
    x = torch.ones(200, device="tpu")
    torch.manual_seed(0)
    masks = [nn.functional.dropout(x, 0.5) for _ in range(2)]
    torch.manual_seed(0)
    assert torch.equal(nn.functional.dropout(x, 0.5).cpu(), masks[0].cpu())
    assert not torch.equal(masks[0].cpu(), masks[1].cpu())


def test_up_067_the_gradient_of_dropout_has_the_mask_of_its_output():
    x = torch.ones(500, device="tpu", requires_grad=True)
    for run in (
        nn.functional.dropout,
        lambda t: checkpoint(nn.functional.dropout, t, use_reentrant=False),
    ):
        out = run(x)
        (grad,) = torch.autograd.grad(out.sum(), x)
        assert torch.equal(grad.cpu() == 0, out.detach().cpu() == 0)
        assert 0 < (grad == 0).sum().item() < 500


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_up_068_checkpoints_replay_their_dropout(use_reentrant):
    masks = []

    class Noted(nn.Dropout):
        def forward(self, x):
            out = super().forward(x)
            masks.append((out == 0).detach().cpu())
            return out

    model = nn.Sequential(nn.Linear(128, 128), Noted(0.1), nn.Tanh()).to("tpu")
    x = torch.randn(4, 128).to("tpu").requires_grad_()
    checkpoint(model, x, use_reentrant=use_reentrant, preserve_rng_state=True).sum().backward()
    assert len(masks) == 2
    assert torch.equal(*masks)


def test_up_070_an_unrelated_draw_changes_only_later_ones():
    x = torch.ones(300, device="tpu")

    def three(extra_after: int):
        torch.manual_seed(0)
        masks = []
        for i in range(3):
            masks.append(nn.functional.dropout(x, 0.5).cpu())
            if i == extra_after:
                torch.rand(7, device="tpu")
        return masks

    plain = three(extra_after=9)
    for after in range(3):
        changed = three(after)
        for i in range(3):
            assert torch.equal(plain[i], changed[i]) == (i <= after)
