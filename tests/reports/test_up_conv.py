"""Bug reports about convolution, pooling and upsampling."""

import pytest
import torch
import torch.nn.functional as F
from oracle import check
from torch import nn

pytestmark = pytest.mark.usefixtures("highest")


def test_up_097_convolution_gradients_with_odd_strides():
    def program(device):
        x = torch.randn(1, 1, 3, 3).to(device).requires_grad_()
        w = torch.randn(1, 1, 2, 2).to(device).requires_grad_()
        grad = torch.randn(4).to(device).as_strided((1, 1, 2, 2), (4, 1, 2, 1))
        return torch.autograd.grad(F.conv2d(x, w), (x, w), grad)

    check(program)


@pytest.mark.parametrize("channels", [*range(1, 18), 32])
def test_up_098_channels_of_convolutions(channels):
    def program(device):
        x, w = torch.randn(2, channels, 6, 5).to(device), torch.randn(4, channels, 3, 3).to(device)
        return F.conv2d(x, w, padding=1), F.conv2d(x, w[:, :, :1, :1], stride=2)

    check(program, tolerance=(1e-4, 1e-4))


@pytest.mark.parametrize("groups", [1, 2, 16])
@pytest.mark.parametrize("kernel", [1, 3, 7, 128])
def test_up_098_groups_and_long_kernels(groups, kernel):
    def program(device):
        x, w = torch.randn(1, 16, 140).to(device), torch.randn(32, 16 // groups, kernel).to(device)
        x.requires_grad_(), w.requires_grad_()
        out = F.conv1d(x, w, groups=groups, padding=kernel // 2)
        return out, torch.autograd.grad(out.square().mean(), (x, w))

    check(program, tolerance=(1e-4, 1e-3))


def test_up_100_max_pool_edges():
    def program(device):
        out = F.max_pool2d(torch.ones(1, 32, 9, 9, device=device), 3, stride=1, padding=1)
        return out, bool((out == 1).all())

    assert check(program)[1]


@pytest.mark.parametrize("channels", [*range(1, 71)])
def test_up_101_channels_of_pools(channels):
    def program(device):
        x = torch.randn(1, channels, 5, 6).to(device)
        return F.max_pool2d(x, 2), F.max_pool2d(x, 3, 1, 1), F.avg_pool2d(x, 2, 1)

    check(program)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
def test_up_103_antialiased_resizing(mode, antialias):
    def program(device):
        x = torch.randn(1, 3, 64, 64).to(device).requires_grad_()
        out = F.interpolate(x, (32, 32), mode=mode, antialias=antialias)
        up = F.interpolate(x[..., :20, :20], (33, 47), mode=mode, antialias=antialias)
        return out, up, torch.autograd.grad(out.square().sum() + up.sum(), x)

    check(program, tolerance=(1e-4, 1e-4))


@pytest.mark.parametrize("mode", ["linear", "nearest", "nearest-exact"])
def test_up_104_gradients_of_linear_resizing(mode):
    def program(device):
        x = torch.randn(2, 3, 10).to(device).requires_grad_()
        out = F.interpolate(x, 17, mode=mode)
        return out, torch.autograd.grad(out.square().sum(), x)

    check(program, tolerance=(1e-4, 1e-4))


def test_up_104_gradients_of_weight_norm():
    def program(device):
        layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)).to(device)
        layer(torch.randn(5, 4).to(device)).square().sum().backward()
        return [p.grad for p in layer.parameters()]

    check(program, tolerance=(1e-4, 1e-4))
