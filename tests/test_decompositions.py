"""Ops without a row that PyTorch composes of others: recorded per signature, then one program."""

import pytest
import torch

CALLS = {
    "xlogy": lambda x, y: torch.xlogy(x, 2.5) + torch.xlogy(0.5, y.abs()),
    "rot90": lambda x, y: torch.rot90(x, 1, [0, 1]),
    "block_diag": lambda x, y: torch.block_diag(x, y),
    "mvlgamma": lambda x, y: torch.mvlgamma(x.abs() + 2, 2),
    "ldexp": lambda x, y: torch.ldexp(x, y.to(torch.int32)),
    "celu": lambda x, y: torch.celu(x, 0.7),
    "dist": lambda x, y: torch.dist(x, y, 3.0),
    "affine_grid": lambda x, y: torch.nn.functional.affine_grid(
        x[None, :2, :3], [1, 1, 4, 5], align_corners=False
    ),
    "logcumsumexp": lambda x, y: torch.logcumsumexp(x, 1),
    "frexp": lambda x, y: torch.frexp(x)[0],
    "unsafe_index": lambda x, y: torch.ops.aten._unsafe_index(
        x, [torch.tensor([1, 0], device=x.device), None]
    ),
    "chebyshev": lambda x, y: torch.special.chebyshev_polynomial_t(x, 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_recorded_programs_equal_cpu(name, highest):
    call = CALLS[name]
    for seed in range(4):  # op by op, recorded, twice more
        generator = torch.Generator().manual_seed(seed)
        x, y = (torch.randn(4, 4, generator=generator) for _ in range(2))
        got = call(x.to("tpu"), y.to("tpu"))
        want = call(x, y)
        assert got.dtype == want.dtype and got.stride() == want.stride()
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)


def test_from_the_third_call_it_is_one_launch():
    x = torch.rand(4, 6, device="tpu")
    launches = []
    for _ in range(4):
        before = torch.tpu.counters()
        torch.block_diag(x, x)
        after = torch.tpu.counters()
        launches.append(after["launches"] - before["launches"])
    assert launches[2:] == [1, 1], launches


def test_a_number_that_changes_compiles_nothing():
    x = torch.rand(4, 4, device="tpu")
    torch.celu(x, 0.5)
    before = torch.tpu.counters()["compiles"]
    for i in range(20):
        torch.celu(x, 1 + i / 10)
    assert torch.tpu.counters()["compiles"] == before


def test_gradients_pass(highest):
    def gradient(device):
        x = torch.linspace(0.5, 3, 12, device=device).reshape(3, 4).requires_grad_()
        for _ in range(3):
            torch.xlogy(x, 2.0).add(torch.rot90(x, 1).sum() ** 2).sum().backward()
        return x.grad.cpu()

    torch.testing.assert_close(gradient("tpu"), gradient("cpu"), rtol=1e-4, atol=1e-4)
