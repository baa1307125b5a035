"""Bug reports about sorting and its ties."""

import pytest
import torch
from oracle import check


@pytest.mark.parametrize("width", [1, 2, 3, 31, 33, 64, 100, 127, 129, 1000])
@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.bfloat16])
def test_up_085_sorting_ties_gives_a_permutation(width, dtype):
    torch.manual_seed(0)
    x = torch.randint(0, 4, (3, width)).to(dtype)
    for descending in (False, True):
        values, indices = x.to("tpu").sort(descending=descending)
        assert torch.equal(values.cpu(), x.sort(descending=descending).values)
        assert torch.equal(indices.cpu().sort().values, torch.arange(width).expand(3, width))
        assert torch.equal(x.gather(1, indices.cpu()), values.cpu())


def test_up_086_sorting_along_a_dimension_that_is_not_the_last():
    def program(device):
        x = torch.randn(3, 2**12 + 1).to(device)
        return x.argsort(dim=0), x.sort(dim=0), x.t().sort(dim=1), x.topk(2, dim=0)

    check(program)


def test_up_088_topk_ties_repeat():
    x = torch.randint(0, 3, (4, 50), generator=torch.Generator().manual_seed(0)).float()
    torch.use_deterministic_algorithms(True)
    try:
        runs = [x.to("tpu").topk(20) for _ in range(3)]
    finally:
        torch.use_deterministic_algorithms(False)
    first = x.sort(dim=1, descending=True, stable=True).indices[:, :20]
    for values, indices in runs:
        assert torch.equal(indices.cpu(), first)
        assert torch.equal(values.cpu(), x.topk(20).values)


def test_up_089_stable_argsort_is_exact():
    x = torch.tensor([5, 1, 2, 6, 5, -2, 2, 0, 0, 1, 0, 4])

    def program(device):
        y = x.to(device)
        return [
            torch.argsort(t, stable=True, descending=d)
            for t in (y, y.float(), y.bfloat16(), y.to(torch.int8))
            for d in (False, True)
        ]

    check(program)
