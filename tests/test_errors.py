"""Values out of range raise CPU's kind of error, which names the operator and the bound."""

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
    kind = RuntimeError if name in ("gather", "scatter", "scatter_add") else IndexError
    with pytest.raises(kind) as error:
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
        # gather raises RuntimeError, as on the CPU
        with pytest.raises((IndexError, RuntimeError), match=f"index {index} is out of bounds"):
            run().cpu()


def test_index_fill_counts_from_the_end():
    assert matrix().index_fill(0, ids(-1), 5.0)[3].tolist() == [5, 5, 5]


def t(device, *values, dtype=None):
    return torch.tensor(values, device=device, dtype=dtype)


INF, NAN = float("inf"), float("nan")
BAD_VALUES = {
    "floor_divide": lambda d: t(d, 7, 2) // t(d, 2, 0),
    "floor_divide 0-d": lambda d: t(d, 7, 2) // torch.tensor(0, device=d),
    "floor_divide uint8": lambda d: t(d, 7, dtype=torch.uint8) // t(d, 0, dtype=torch.uint8),
    "divide and truncate": lambda d: torch.div(t(d, 7, 2), t(d, 0, 2), rounding_mode="trunc"),
    "remainder": lambda d: t(d, 7, 2) % t(d, 2, 0),
    "remainder of a number": lambda d: 5 % t(d, 2, 0),
    "fmod": lambda d: torch.fmod(t(d, 7, 2), t(d, 2, 0)),
    "multinomial below 0": lambda d: torch.multinomial(t(d, 1.0, -1.0), 1),
    "multinomial inf": lambda d: torch.multinomial(t(d, 1.0, INF), 1),
    "multinomial nan": lambda d: torch.multinomial(t(d, 1.0, NAN), 1),
    "multinomial of nothing": lambda d: torch.multinomial(torch.zeros(2, 3, device=d), 1),
    "multinomial table below 0": lambda d: torch.multinomial(t(d, 2.0, -1.0), 3, True),
    "multinomial table inf": lambda d: torch.multinomial(t(d, 2.0, INF), 3, True),
    "multinomial table of nothing": lambda d: torch.multinomial(torch.zeros(3, device=d), 3, True),
    "bernoulli above 1": lambda d: torch.bernoulli(t(d, 0.5, 1.5)),
    "bernoulli nan": lambda d: torch.bernoulli(t(d, NAN)),
    "bernoulli_": lambda d: torch.ones(2, device=d).bernoulli_(t(d, 0.5, -0.5)),
    "normal": lambda d: torch.normal(torch.zeros(2, device=d), t(d, 1.0, -1.0)),
    "normal of a number": lambda d: torch.normal(torch.zeros(2, device=d), -1.0),
    "binary_cross_entropy": lambda d: torch.nn.functional.binary_cross_entropy(
        t(d, 1.5), t(d, 1.0)
    ),
    "one_hot": lambda d: torch.nn.functional.one_hot(t(d, 0, 5), 3),
    "gather": lambda d: t(d, 1.0, 2.0).gather(0, t(d, 2)),
    "embedding": lambda d: torch.nn.functional.embedding(t(d, -1), torch.ones(2, 2, device=d)),
    "cross_entropy": lambda d: torch.nn.functional.cross_entropy(
        torch.ones(1, 3, device=d), t(d, 3)
    ),
}
OWN_WORDS = ("one_hot", "gather", "embedding", "cross_entropy")  # name operator and index


@pytest.mark.parametrize("name", BAD_VALUES)
def test_bad_values_raise_what_cpu_raises(name):
    call = BAD_VALUES[name]
    with pytest.raises((RuntimeError, IndexError)) as wanted:
        call("cpu")
    for _ in range(2):  # compiled, then found
        with pytest.raises(wanted.type) as error:
            call("tpu").cpu()
        words = str(wanted.value).split("\n")[0].split("(Could")[0].strip()
        assert name in OWN_WORDS or words in str(error.value)
    assert matrix().sum().item() == 66


def test_a_refused_division_in_place_leaves_its_tensor():
    x = torch.arange(5, device="tpu")
    y = x.view(5)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        x //= x
    assert y.tolist() == [0, 1, 2, 3, 4]
    assert (x // (x + 1)).tolist() == [0, 0, 0, 0, 0]
    assert (x[:0] // x[:0]).tolist() == []


LAYOUTS = {
    "sparse": lambda: torch.eye(3, device="tpu").to_sparse(),
    "sparse_move": lambda: torch.eye(3).to_sparse().to("tpu"),
    "sparse_product": lambda: torch.mm(torch.eye(3).to_sparse(), torch.ones(3, 3, device="tpu")),
    "sparse_gradient": lambda: (
        torch.nn.functional.embedding(
            ids(0), matrix().requires_grad_(), sparse=True
        ).sum().backward()
    ),  # fmt: skip
    "quantized": lambda: torch.quantize_per_tensor(matrix(), 0.1, 0, torch.quint8),
    "quantized_move": lambda: torch.quantize_per_tensor(
        torch.ones(3), 0.1, 0, torch.quint8
    ).to("tpu"),  # fmt: skip
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]).to("tpu"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_that_do_not_exist_say_so(name):
    with pytest.raises(NotImplementedError) as error:
        LAYOUTS[name]()
    text = str(error.value)
    assert f"{name.split('_')[0]}" in text, text
    assert "not supported on device tpu; " in text, text
    assert "Facebook" not in text
