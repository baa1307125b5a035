"""Bug reports about scatter and gather."""

import pytest
import torch
from oracle import check


def test_up_091_adding_rows_with_repeated_indices():
    def program(device):
        tokens = torch.arange(8).repeat(4)[torch.randperm(32)].to(device)
        rows = torch.randn(32, 16).to(device)
        index = tokens[:, None].expand(32, 16)
        zeros = torch.zeros(8, 16, device=device)
        return [
            zeros.clone().index_add_(0, tokens, rows), zeros.index_add(0, tokens, rows, alpha=2),
            zeros.clone().scatter_add_(0, index, rows), zeros.scatter_add(0, index, rows),
            zeros.index_put((tokens,), rows, accumulate=True),
            zeros.scatter_reduce(0, index, rows, "mean", include_self=False),
        ]  # fmt: skip

    check(program)


def test_up_092_scattering_nothing_copies_the_input():
    def program(device):
        x = torch.randn(3, 4).to(device)
        index = torch.zeros(0, 4, dtype=torch.int64, device=device)
        source = torch.zeros(0, 4, device=device)
        out = x.scatter(0, index, source), x.scatter_add(0, index, source), x.scatter(0, index, 2.0)
        rest = x.index_add(0, index[:, 0], source), x.index_copy(0, index[:, 0], source)
        return *out, *rest, x.index_fill(0, index[:, 0], 1.0), x.gather(0, index)

    check(program)


@pytest.mark.parametrize("n", [k + d for k in (32, 64, 128, 256) for d in (-1, 0, 1)])
def test_up_094_gather_is_exact(n):
    def program(device):
        x = torch.randn(n, 7).to(device)
        rows, columns = torch.randint(n, (n, 7)).to(device), torch.randint(7, (n, 7)).to(device)
        y = torch.randn(3, n).to(device)
        index = torch.randint(n, (3, 2 * n)).to(device)
        return x.gather(0, rows), x.gather(1, columns), y.gather(1, index), y[:, index[0]]

    check(program, tolerance=(0, 0))


@pytest.mark.parametrize("accumulate", [False, True])
def test_up_095_boolean_targets(accumulate):
    def program(device):
        x = torch.tensor([True, False, False, True, False]).to(device)
        index = torch.tensor([0, 1, 1, 4]).to(device)
        values = torch.tensor([False, True, True, True]).to(device)
        put = torch.index_put(x, (index,), values, accumulate=accumulate)
        return put, x.index_copy(0, index[2:], values[2:]), x.index_fill(0, index, True)

    check(program)


def test_up_095_index_add_of_booleans():
    def program(device):
        x = torch.tensor([True, False, False]).to(device)
        return x.index_add(
            0, torch.tensor([0, 1]).to(device), torch.tensor([True, True]).to(device)
        )

    check(program)
