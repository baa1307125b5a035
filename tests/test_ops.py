"""Every operator of PyTorch's sample database, on tpu against the CPU, with layouts and gradients.

Ops with a row and ops that fall back are both held to the CPU. test_every_row_has_run is the
gate of the op table: a row that no test ever ran is a defect.
"""

import pytest
import torch
from op_exceptions import EXCEPTIONS, GRADIENT_EXCEPTIONS, GRADIENT_TOLERANCE
from op_samples import (
    ORDERS,
    call,
    compare,
    compare_layout,
    compare_order,
    compare_values,
    entries,
    is_random,
    operands_of,
    rounded_once,
    samples,
    to_tpu,
)
from row_calls import CHECKS
from torch.utils._pytree import tree_leaves

pytestmark = pytest.mark.usefixtures("highest")

DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64]


def name_of(op) -> str:
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def cases(dtypes, exceptions):
    for dtype in dtypes:
        for op in entries(dtype):
            short = str(dtype).removeprefix("torch.")
            reason = exceptions.get((name_of(op), short)) or exceptions.get((name_of(op), "*"))
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            yield pytest.param(op, dtype, id=f"{name_of(op)}-{short}", marks=marks)


@pytest.mark.parametrize(("op", "dtype"), cases(DTYPES, EXCEPTIONS))
def test_op_matches_cpu(op, dtype):
    check_op(op, dtype)


def check_op(op, dtype) -> None:
    ran = 0
    for sample in samples(op, dtype):
        operands = operands_of(sample)
        moved = to_tpu(operands, op.name)
        try:
            expected = call(op, operands)
        except Exception as error:  # noqa: BLE001
            with pytest.raises(type(error)):
                call(op, moved)
            continue
        actual = call(op, moved)
        if op.name in ORDERS:
            compare_order(actual, expected, op.name, operands)
        else:
            also = rounded_once(op, operands, expected)
            compare(actual, expected, op.name, also, values=not is_random(op, operands))
        ran += 1
    assert ran


@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        case
        for case in cases([torch.float32], GRADIENT_EXCEPTIONS)
        if case.values[0].supports_autograd
    ],
)
def test_gradient_matches_cpu(op, dtype):
    check_gradient(op, dtype)


def check_gradient(op, dtype) -> None:
    for sample in samples(op, dtype, requires_grad=True, count=2):
        operands = operands_of(sample)
        expected = gradients(op, operands, sample.output_process_fn_grad)
        if expected is None:
            continue
        actual = gradients(op, to_tpu(operands, op.name), sample.output_process_fn_grad)
        for mine, theirs in zip(actual, expected, strict=True):
            assert (mine is None) == (theirs is None)
            if theirs is None:
                continue
            compare_layout(mine.contiguous(), theirs.contiguous())
            if not is_random(op, operands):
                compare_values(
                    mine, theirs, tolerance=GRADIENT_TOLERANCE.get(op.name, (1e-4, 1e-4))
                )


def gradients(op, operands, choose):
    """The gradients of all leaves; None if nothing depends on them."""
    leaves = [t for t in tensors(operands) if t.requires_grad]
    out = choose(call(op, operands))
    outs = [t for t in tensors(out) if t.requires_grad]
    if not outs or not leaves:
        return None
    return torch.autograd.grad(sum(weighted(t) for t in outs), leaves, allow_unused=True)


def weighted(t: torch.Tensor) -> torch.Tensor:
    """A real number that depends on every element in its own way."""
    weights = torch.linspace(0.5, 1.5, t.numel()).reshape(t.shape).to(t.device)
    value = (t * weights).sum()
    return value.real + value.imag if value.is_complex() else value


def tensors(tree) -> list:
    return [t for t in tree_leaves(tree) if isinstance(t, torch.Tensor)]


def test_sort_is_stable():
    keys = torch.randint(0, 5, (3, 4000), generator=torch.Generator().manual_seed(1))
    for dtype in (torch.int64, torch.float32, torch.bfloat16, torch.bool):
        for descending in (False, True):
            x = keys.to(dtype)
            values, indices = x.to("tpu").sort(dim=1, descending=descending, stable=True)
            expected = x.sort(dim=1, descending=descending, stable=True)
            assert torch.equal(values.cpu(), expected.values)
            assert torch.equal(indices.cpu(), expected.indices)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_rows_without_samples(check):
    check()


def test_every_row_has_run(request):
    from tputorch import _C

    ran = sum("test_ops.py" in item.nodeid for item in request.session.items)
    if ran < 2000:
        pytest.skip("counts the calls of this whole file")
    never = [name for name, count in _C.row_calls().items() if count == 0]
    assert not never, f"{len(never)} rows never ran: {never}"
