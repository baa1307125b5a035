"""Bug reports about normalisation and variance."""

import copy

import pytest
import torch
import torch.nn.functional as F
from oracle import check
from torch import nn

pytestmark = pytest.mark.usefixtures("highest")


def test_up_106_batch_norm_far_from_zero():
    torch.manual_seed(0)
    x = (torch.randn(8, 16, 8, 8) + 1e4).to(memory_format=torch.channels_last)
    exact = F.batch_norm(x.double(), None, None, training=True)
    for y in (x, x.contiguous()):
        out = nn.BatchNorm2d(16).to("tpu")(y.to("tpu"))
        assert out.stride() == y.stride()
        # Inputs are multiples of 2^-10 there: two of these are what float32 can tell apart.
        assert (out.cpu().double() - exact).abs().max() < 2e-3
        assert out.mean().abs().item() < 1e-3


def test_up_107_batch_norm_in_training_and_evaluation():
    def model():
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
            nn.Linear(16 * 16, 10),
        )  # fmt: skip

    def program(device):
        net = copy.deepcopy(model()).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        losses = []
        for _ in range(10):
            x, y = torch.randn(16, 1, 8, 8).to(device), torch.randint(10, (16,)).to(device)
            loss = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        net.eval()
        stats = [b for b in net.buffers()]
        return losses, stats, net(x)

    check(program, tolerance=(2e-3, 2e-3), strides=False)


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "layer_norm", "group_norm"])
def test_up_109_variance_far_from_zero(name):
    torch.manual_seed(0)
    x = 1e6 + torch.randn(4, 512)
    ops = {
        "layer_norm": lambda t: F.layer_norm(t, (512,)),
        "group_norm": lambda t: F.group_norm(t.view(4, 8, 64), 2),
        "var_mean": lambda t: torch.var_mean(t, 1),
    }
    op = ops.get(name, lambda t: getattr(torch, name)(t, 1))
    actual, exact = op(x.to("tpu")), op(x.double())
    # XLA:CPU adds numbers one after another, so that the mean is off by two units more.
    slack = 1 if "vtpu" in torch.tpu.get_device_properties().platform else 3
    if name == "var_mean":
        torch.testing.assert_close(actual[1].cpu().double(), exact[1], rtol=1e-7 * slack, atol=0)
        actual, exact = actual[0], exact[0]
    two_units = 0.13  # of float32 at 1e6
    torch.testing.assert_close(actual.cpu().double(), exact, rtol=0, atol=two_units * slack)
    if name in ("var", "std"):
        torch.testing.assert_close(actual.cpu().double(), exact, rtol=1e-4, atol=0)
