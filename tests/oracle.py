"""A program run on the CPU and on tpu: equal values, dtypes, shapes, strides, or the same error."""

import pytest
import torch
from op_samples import TOLERANCE, compare_layout
from torch.utils._pytree import tree_flatten, tree_map_only


def settled(tree):
    """Waits for every tensor of a result, so that late errors surface."""
    return tree_map_only(torch.Tensor, lambda t: (t.cpu(), t)[1], tree)


def check_tensor(actual, expected, tolerance=None, strides=True, device="tpu") -> None:
    assert actual.device.type == device
    if strides:
        compare_layout(actual, expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    rtol, atol = tolerance or TOLERANCE.get(expected.dtype, (0, 0))
    plain = [t.detach().cpu().resolve_conj().resolve_neg() for t in (actual, expected)]
    torch.testing.assert_close(*plain, rtol=rtol, atol=atol, equal_nan=True)


def check(program, tolerance=None, strides=True, device="tpu"):
    """Compares program("cpu") with program("tpu"); returns the CPU's answer (None: it raised).

    A program takes a device and returns tensors and plain values in any nesting. Random inputs
    are drawn on the CPU inside it, from the same seed in both runs.
    """
    torch.manual_seed(0)
    try:
        expected = program("cpu")
    except Exception as error:  # noqa: BLE001
        torch.manual_seed(0)
        with pytest.raises(type(error)):
            settled(program("tpu"))
        return None
    torch.manual_seed(0)
    mine, shape = tree_flatten(program("tpu"))
    theirs, wanted = tree_flatten(expected)
    assert shape == wanted
    for a, e in zip(mine, theirs, strict=True):
        if isinstance(e, torch.Tensor):
            check_tensor(a, e, tolerance, strides, device)
        else:
            assert a == e
    return expected


def compiles() -> int:
    return torch.tpu.counters()["compiles"]
