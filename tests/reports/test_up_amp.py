"""Bug reports about autocast and gradient scaling."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

LOW = {
    "mm": lambda a, b: a @ b,
    "matmul": torch.matmul,
    "linear": F.linear,
    "bmm": lambda a, b: torch.bmm(a[None], b[None]),
    "addmm": lambda a, b: torch.addmm(a, a, b),
    "baddbmm": lambda a, b: torch.baddbmm(a[None], a[None], b[None]),
    "conv1d": lambda a, b: F.conv1d(a[None], b[:, :, None]),
    "conv2d": lambda a, b: F.conv2d(a[None, None], b[None, None]),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "attention": lambda a, b: F.scaled_dot_product_attention(a[None], b[None], b[None]),
}
HIGH = {
    "softmax": lambda a, b: a.softmax(-1),
    "log_softmax": lambda a, b: a.log_softmax(-1),
    "layer_norm": lambda a, b: F.layer_norm(a, (8,)),
    "norm": lambda a, b: torch.norm(a, p=2, dim=1),
    "mse_loss": lambda a, b: F.mse_loss(a, b),
    "exp": lambda a, b: a.exp(),
    "log": lambda a, b: a.abs().log(),
    "pow": lambda a, b: a.pow(2),
    "sum": lambda a, b: a.sum(),
    "prod": lambda a, b: a.prod(),
    "cumsum": lambda a, b: a.cumsum(0),
    "cross_entropy": lambda a, b: F.cross_entropy(a, b.argmax(1)),
}


def operands(dtype):
    torch.manual_seed(0)
    return [torch.randn(8, 8).to(dtype).to("tpu") for _ in range(2)]


def test_up_124_norms_are_float32_under_autocast():
    (x, _) = operands(torch.float16)
    with torch.autocast("tpu", dtype=torch.float16):
        out = torch.norm(x, p=2, dim=1)
    assert out.dtype == torch.float32
    torch.testing.assert_close(out.cpu(), x.cpu().float().norm(dim=1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", LOW)
def test_up_125_products_are_low_under_autocast(name, dtype):
    a, b = operands(torch.float32)
    with torch.autocast("tpu", dtype=dtype):
        out = LOW[name](a, b)
    assert out.dtype == dtype
    torch.testing.assert_close(out.cpu().float(), LOW[name](a.cpu(), b.cpu()), rtol=0.1, atol=0.1)
    with torch.autocast("tpu", enabled=False):
        assert LOW[name](a, b).dtype == torch.float32


@pytest.mark.parametrize("name", HIGH)
def test_up_125_sums_and_losses_are_float32_under_autocast(name):
    a, b = operands(torch.bfloat16)
    with torch.autocast("tpu"):
        assert HIGH[name](a, b).dtype == torch.float32


def test_up_125_autocast_promotes_mixed_operands():
    a, b = operands(torch.float32)
    with torch.autocast("tpu"):
        low = a @ b
        assert torch.cat([low, a]).dtype == torch.float32
        assert torch.stack([low, a]).dtype == torch.float32
        assert (low + a).dtype == torch.float32
        assert torch.addcmul(a, low, low).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_up_128_training_with_scaled_gradients(dtype):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to("tpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("tpu")
    x, y = torch.randn(32, 4).to("tpu"), torch.randint(2, (32,)).to("tpu")
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        with torch.autocast("tpu", dtype=dtype):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.05
    assert scaler.get_scale() > 0


def unscale(grads):
    found = torch.zeros(1, device="tpu")
    torch._amp_foreach_non_finite_check_and_unscale_(
        grads, found, torch.full((1,), 0.5, device="tpu")
    )
    return found.item()


def test_up_130_unscaling_lists_of_gradients():
    good = torch.ones(2, 3, device="tpu")
    strided = torch.ones(4, 6, device="tpu")[:, ::2].t()
    bad = torch.tensor([1.0, float("inf")], device="tpu")
    assert unscale([good, strided]) == 0
    assert good.eq(0.5).all().item() and strided.eq(0.5).all().item()
    assert strided._base[:, 1::2].eq(1).all().item()
    assert unscale([good, bad]) == 1
    assert unscale([torch.tensor([float("nan")], device="tpu")]) == 1
    assert unscale([]) == 0


def test_up_131_the_scale_stays_finite():
    top = torch.finfo(torch.float32).max
    scale = torch.full((1,), top, device="tpu")
    growth = torch.zeros(1, dtype=torch.int32, device="tpu")
    no, yes = torch.zeros(1, device="tpu"), torch.ones(1, device="tpu")
    torch._amp_update_scale_(scale, growth, no, 2.0, 0.5, 1)
    assert scale.item() == top
    torch._amp_update_scale_(scale, growth, yes, 2.0, 0.5, 1)
    assert scale.item() == top * 0.5
