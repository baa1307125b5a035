"""Indices out of range raise IndexError that names the operator and the bound."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("highest")


def ids(*values):
    return torch.tensor(values, device="tpu")


def matrix():
    return torch.arange(12.0).reshape(4, 3).to("tpu")


def put(x):
    x[ids(7)] = 1.0


OUT_OF_RANGE = {
    "index": (lambda: matrix()[ids(1, 4)], 4),
    "index_negative": (lambda: matrix()[ids(-5)], 4),
    "gather": (lambda: matrix().gather(1, ids(3).reshape(1, 1)), 3),
    "index_select": (lambda: matrix().index_select(0, ids(4)), 4),
    "index_select_negative": (lambda: matrix().index_select(0, ids(-1)), 4),
    "index_add_negative": (lambda: matrix().index_add(0, ids(-1), torch.ones(1, 3).tpu()), 4),
    "index_copy_negative": (lambda: matrix().index_copy(0, ids(-1), torch.ones(1, 3).tpu()), 4),
    "embedding": (lambda: torch.nn.functional.embedding(ids(0, 4), matrix()), 4),
    "scatter": (lambda: matrix().scatter(0, ids(4).reshape(1, 1), 1.0), 4),
    "scatter_add": (lambda: matrix().scatter_add(0, ids(4).reshape(1, 1), matrix()), 4),
    "take": (lambda: matrix().take(ids(12)), 12),
    "index_put": (lambda: put(matrix()), 4),
    "nll_loss": (lambda: torch.nn.functional.nll_loss(matrix(), ids(0, 1, 2, 3)), 3),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_index_out_of_range_names_op_and_bound(name):
    run, bound = OUT_OF_RANGE[name]
    with pytest.raises(IndexError) as error:
        result = run()
        torch.tpu.synchronize()
        if result is not None:
            result.cpu()
    text = str(error.value)
    assert name.removesuffix("_negative") in text, text
    assert str(bound) in text, text
    # The device goes on.
    assert matrix().sum().item() == 66


@pytest.mark.parametrize("index", [-13, -(2**62)])
def test_the_index_is_named_as_it_was_given(index):
    for run in (
        lambda: matrix()[ids(index)],
        lambda: matrix().take(ids(index)),
        lambda: matrix().put_(ids(index), torch.ones(1).tpu()),
        lambda: matrix().index_fill(0, ids(index), 2.0),
        lambda: matrix().gather(0, ids(index)[None]),
    ):
        with pytest.raises(IndexError, match=f"index {index} is out of bounds"):
            run().cpu()


def test_index_fill_counts_from_the_end():
    assert matrix().index_fill(0, ids(-1), 5.0)[3].tolist() == [5, 5, 5]
