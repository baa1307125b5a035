"""Bug reports about attention, losses, linear algebra."""

import pytest
import torch
import torch.nn.functional as F
from oracle import check
from torch.nn.attention import SDPBackend, sdpa_kernel

pytestmark = pytest.mark.usefixtures("highest")


def test_up_110_a_query_that_sees_nothing_gives_zeros():
    def program(device):
        q, k = torch.randn(1, 1, 2, 8).to(device), torch.randn(1, 1, 4, 8).to(device)
        v = torch.full((1, 1, 4, 8), 1e6, device=device)
        mask = torch.tensor([[False] * 4, [True, False, True, True]]).to(device)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    assert check(program, strides=False)[0, 0, 0].eq(0).all()


def test_up_112_masks_that_need_a_gradient():
    def program(device):
        q, k, v = (torch.randn(1, 2, 6, 8).to(device).requires_grad_() for _ in range(3))
        mask = torch.randn(1, 2, 6, 6).to(device).requires_grad_()
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return out, torch.autograd.grad(out.square().sum(), (q, k, v, mask))

    check(program, tolerance=(1e-4, 1e-4), strides=False)


@pytest.mark.parametrize("fill", [float("-inf"), torch.finfo(torch.float32).min])
def test_up_113_padding_masks_of_models(fill):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 2, 5, 8) for _ in range(3))
    causal = torch.full((5, 5), fill).triu(1)
    padding = torch.zeros(2, 1, 1, 5)
    padding[0, ..., :2] = fill
    mask = (causal + padding).clamp_min(fill)

    def program(device):
        moved = [t.to(device) for t in (q, k, v)]
        fused = F.scaled_dot_product_attention(*moved, attn_mask=mask.to(device))
        with sdpa_kernel(SDPBackend.MATH):
            plain = F.scaled_dot_product_attention(*moved, attn_mask=mask.to(device))
        return fused[1:], plain[1:], fused[0, :, 2:]

    expected = check(program, tolerance=(1e-4, 1e-4), strides=False)
    assert not any(t.isnan().any() for t in expected)


def test_up_115_ctc_loss():
    def program(device):
        x = torch.randn(8, 2, 5).to(device).requires_grad_()
        targets, lengths = torch.tensor([1, 2, 3, 4, 1, 2]).to(device), torch.tensor([8, 8])
        loss = F.ctc_loss(
            x.log_softmax(-1), targets, lengths, torch.tensor([3, 3]), blank=0, reduction="sum"
        )
        return loss, torch.autograd.grad(loss, x)

    check(program, tolerance=(1e-4, 1e-4))


def test_up_116_linear_algebra():
    def program(device):
        a = torch.randn(4, 4).to(device)
        spd = a @ a.mT + 4 * torch.eye(4, device=device)
        q, r = torch.linalg.qr(a)
        return [
            torch.linalg.cholesky_ex(2 * torch.eye(4, device=device)), torch.linalg.cholesky(spd),
            torch.linalg.solve(spd, a), torch.linalg.inv(spd), torch.linalg.det(a), q @ r,
            torch.linalg.eigvalsh(spd), torch.linalg.svdvals(a), torch.linalg.matrix_exp(a / 9),
            torch.logdet(spd), torch.linalg.pinv(a), torch.linalg.lstsq(spd, a).solution,
        ]  # fmt: skip

    check(program, tolerance=(1e-3, 1e-3), strides=False)


def test_up_116_multivariate_normal():
    def program(device):
        mean, covariance = torch.zeros(3, device=device), torch.eye(3, device=device) * 2
        dist = torch.distributions.MultivariateNormal(mean, covariance)
        assert dist.sample((7,)).shape == (7, 3)
        return dist.log_prob(torch.ones(2, 3, device=device)), dist.entropy()

    check(program)
