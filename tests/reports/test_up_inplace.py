"""Bug reports about in-place writes and autograd."""

import pytest
import torch
from oracle import check
from torch import nn

pytestmark = pytest.mark.usefixtures("highest")


def test_up_008_gradients_behind_a_write_to_a_slice():
    def program(device):
        model = nn.Linear(512, 1024).to(device)
        y = model(torch.randn(16, 512).to(device))
        y[:, :768] = 0
        y.sum().backward()
        grad = model.weight.grad
        return grad, grad.norm(), bool((grad[:768] == 0).all())

    assert check(program, tolerance=(1e-4, 1e-4))[2]


def test_up_008_the_norm_of_a_large_tensor():
    x = torch.randn(1000, 1001) * 3
    torch.testing.assert_close(
        x.to("tpu").norm().cpu().double(), x.double().norm(), rtol=1e-6, atol=0
    )


@pytest.mark.parametrize("as_view", [False, True])
def test_up_010_a_bucket_written_in_parts_is_current_for_the_next_op(as_view):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.detach().mul_(0.5)  # not an aten view of the bucket: autograd's own

        @staticmethod
        def backward(ctx, grad):
            return grad * 0.5

    def program(device):
        model = nn.Linear(4, 3).to(device)
        bucket = torch.zeros(15, device=device)
        views = [bucket[:12].view(3, 4), bucket[12:]]
        if as_view:
            for p, v in zip(model.parameters(), views, strict=True):
                p.grad = v
        model(torch.randn(5, 4).to(device)).square().sum().backward()
        if not as_view:
            for p, v in zip(model.parameters(), views, strict=True):
                v.copy_(p.grad)
        Scale.apply(bucket)
        if not as_view:
            for p, v in zip(model.parameters(), views, strict=True):
                p.grad.copy_(v)
        return bucket, [p.grad for p in model.parameters()]

    check(program)


def test_up_011_a_masked_write_of_flipped_rows():
    def program(device):
        stored = torch.randn(20, 6).to(device)
        index = torch.tensor([3, 1, 17, 3, 8, 0, 19]).to(device)
        e = stored[index]
        mask = e.sum(1) > 0
        e[mask] = e[mask].flip(-1)
        return e, stored

    check(program)
