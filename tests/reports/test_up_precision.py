"""Bug reports about the precision of products and sums."""

import math

import pytest
import torch
import torch.nn.functional as F
from oracle import check


def test_up_055_small_float32_products(highest):
    a = torch.tensor([[0.3744, 0.1656], [0.4707, 0.1663]])
    b = torch.tensor([[0.3946, 0.1186], [0.1569, 0.3145]])
    check(lambda device: a.to(device) @ b.to(device), tolerance=(1e-6, 1e-6))


@pytest.mark.vtpu("XLA:CPU multiplies float32 as float32 whatever precision is asked for")
def test_up_055_the_default_is_one_bfloat16_pass_as_documented():
    # What docs/differences.md says of float32 products: rounded operands, float32 sums.
    a, b = torch.randn(8, 16), torch.randn(16, 4)
    expected = a.bfloat16().float() @ b.bfloat16().float()
    torch.testing.assert_close((a.to("tpu") @ b.to("tpu")).cpu(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("level", ["DEFAULT", "HIGH", "HIGHEST"])
def test_up_056_products_do_not_depend_on_batching(level):
    x, w = torch.randn(1, 2, 4).to("tpu"), torch.randn(4, 2).to("tpu")
    with torch.tpu.precision(torch.tpu.Precision[level]):
        whole = (x @ w).cpu()
        rows = torch.stack([(x[0, i] @ w).cpu() for i in range(2)])[None]
        each = torch.stack([(x[:, i] @ w).cpu() for i in range(2)], 1)
    torch.testing.assert_close(whole, rows, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(whole, each, rtol=1e-6, atol=1e-6)


def test_up_058_attention_at_highest(highest):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 16, 32) for _ in range(3))
    expected = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    actual = F.scaled_dot_product_attention(q.to("tpu"), k.to("tpu"), v.to("tpu"))
    assert (actual.cpu().double() - expected).abs().max() < 1e-5


def test_up_059_scalars_are_not_rounded_to_the_tensors_dtype():
    def program(device):
        q, k = (
            torch.randn(100, 100).bfloat16().to(device),
            torch.randn(100, 100).bfloat16().to(device),
        )
        return k.T / math.sqrt(128), k * 0.1, k + 1e-3, q @ (k.T / math.sqrt(128))

    check(program, tolerance=(1e-2, 1e-2))
    k = torch.randn(100, 100).bfloat16()
    exact = (k.double() / math.sqrt(128)).bfloat16()
    assert ((k.to("tpu") / math.sqrt(128)).cpu() != exact).float().mean() < 1e-3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_up_061_small_float_products_accumulate_in_float32(dtype):
    torch.manual_seed(0)
    for rows in (1, 4):
        a, b = torch.randn(rows, 700).to(dtype), torch.randn(700, 30).to(dtype)
        exact = a.double() @ b.double()
        actual = (a.to("tpu") @ b.to("tpu")).cpu().double()
        ulp = torch.finfo(dtype).eps * exact.abs().clamp_min(0.1)
        assert ((actual - exact).abs() <= 0.51 * ulp + 1e-4).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_up_062_long_sums(dtype):
    torch.manual_seed(0)
    x = torch.rand(1, 1, 2048, 1024).to(dtype)
    exact = x.double().sum(dim=(2, 3))
    for total in (x.to("tpu").sum(dim=(2, 3)), x.to("tpu").mean(dim=(2, 3)) * 2048 * 1024):
        relative = (total.cpu().double() - exact).abs() / exact
        assert relative.item() < (1e-6 if dtype == torch.float32 else 8e-3)
