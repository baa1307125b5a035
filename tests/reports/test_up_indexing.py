"""Bug reports about indexing."""

import pytest
import torch
from oracle import check


def masks():
    one = torch.zeros(7, 7, dtype=torch.bool)
    one[2, 3] = True
    return {"one": one, "none": torch.zeros_like(one), "all": torch.ones_like(one)}


@pytest.mark.parametrize("kind", masks())
def test_up_026_masks_over_some_dimensions(kind):
    mask = masks()[kind]

    def program(device):
        x, m = torch.randn(2, 3, 7, 7).to(device), mask.to(device)
        y = x.permute(2, 3, 0, 1)
        return (
            x[:, :, m],
            y[m],
            x[:, :, m[0]],
            x[..., m.any(0)],
            x[:, torch.tensor(1).to(device), m],
        )

    check(program)


def test_up_026_two_masks():
    def program(device):
        x = torch.randn(4, 5, 3).to(device)
        rows = torch.tensor([True, False, True, False]).to(device)
        columns = torch.tensor([False, True, False, True, False]).to(device)
        return x[rows, columns], x[rows][:, columns], x[rows, :, columns[:3]]

    check(program)


def test_up_028_empty_indices():
    def program(device):
        x = torch.zeros(0, 1, 2, 0, device=device)
        empty = torch.zeros(0, dtype=torch.int64, device=device)
        out = [torch.index_select(x, dim, empty) for dim in range(4)]
        index = torch.zeros(0, 1, 2, 0, dtype=torch.int64, device=device)
        out += [x.gather(dim, index) for dim in range(4)]
        out += [torch.ones(3, 2, device=device).index_select(0, empty)]
        return out, [tuple(t.stride()) for t in out], x[empty], x[:, :, empty]

    check(program)


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.bool, torch.float16]
)
def test_up_029_indexing_keeps_the_dtype(dtype):
    def program(device):
        x = torch.arange(6).to(dtype).to(device)
        index = torch.tensor([0, 1, 2, 3]).to(device)
        return x[index], x.index_select(0, index), x.take(index), x.gather(0, index), x[x > 1]

    check(program)


@pytest.mark.parametrize("accumulate", [False, True])
def test_up_031_index_put_broadcasts_its_values(accumulate):
    def program(device):
        index = torch.tensor([[0, 4], [2, 3]]).to(device)
        out = []
        for shape in ((3,), (4, 3), (2, 1, 1), (1,), ()):
            x = torch.ones(5, 4, 3, device=device)
            if shape == (2, 1, 1):
                shape = (2, 2, 1, 1)
            values = torch.randn(shape).to(device)
            out.append(torch.index_put(x, [index], values, accumulate=accumulate))
        return out

    check(program)


def test_up_032_unique_rows():
    def program(device):
        x = torch.tensor([[1, 2], [0, 3], [1, 2], [0, 1]]).to(device)
        return (
            torch.unique(x, dim=0),
            torch.unique(x, dim=0, return_inverse=True, return_counts=True),
            torch.unique(x, dim=1, return_counts=True),
            torch.unique_consecutive(x, dim=0, return_inverse=True),
        )

    check(program)
