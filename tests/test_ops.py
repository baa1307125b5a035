"""Every operator of PyTorch's sample database, on tpu against the CPU: values, dtype, shape, strides.

Ops with a row and ops that fall back are both held to the CPU's answer. test_every_row_has_run is the
gate of the op table: a row that no test ever ran is a defect.
"""

import pytest
import torch
from op_exceptions import EXCEPTIONS, GRADIENT_EXCEPTIONS
from op_samples import TOLERANCE, compare, entries, samples, to_tpu

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


def call(op, sample):
    return op(sample.input, *sample.args, **sample.kwargs)


@pytest.mark.parametrize(("op", "dtype"), cases(DTYPES, EXCEPTIONS))
def test_op_matches_cpu(op, dtype):
    rtol, atol = TOLERANCE.get(dtype, (0, 0))
    ran = 0
    for sample in samples(op, dtype):
        moved = to_tpu((sample.input, list(sample.args), dict(sample.kwargs)))
        try:
            expected = call(op, sample)
        except Exception as error:  # noqa: BLE001
            with pytest.raises(type(error)):
                op(moved[0], *moved[1], **moved[2])
            continue
        actual = op(moved[0], *moved[1], **moved[2])
        compare(actual, expected, op.name, rtol, atol)
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
    for sample in samples(op, dtype, requires_grad=True):
        moved = to_tpu((sample.input, list(sample.args), dict(sample.kwargs)))
        gradients = []
        for first, args, kwargs in (
            (sample.input, sample.args, sample.kwargs),
            (moved[0], moved[1], moved[2]),
        ):
            leaves = [t for t in tensors((first, args, kwargs)) if t.requires_grad]
            out = op(first, *args, **kwargs)
            if op.output_process_fn_grad is not None:
                out = op.output_process_fn_grad(out)
            outs = [t for t in tensors(out) if t.requires_grad]
            total = sum(weighted(t) for t in outs)
            if not outs or not leaves:
                break
            grads = torch.autograd.grad(total, leaves, allow_unused=True)
            gradients.append([g for g in grads])
        if len(gradients) == 2:
            for actual, expected in zip(gradients[1], gradients[0], strict=True):
                assert (actual is None) == (expected is None)
                if expected is not None:
                    compare(actual, expected.contiguous(), op.name + "!", 1e-4, 1e-4)


def weighted(t: torch.Tensor) -> torch.Tensor:
    """A real number that depends on every element in its own way."""
    weights = torch.linspace(0.5, 1.5, t.numel()).reshape(t.shape).to(t.device)
    value = (t * weights).sum()
    return value.real + value.imag if value.is_complex() else value


def tensors(tree) -> list:
    return [t for t in torch.utils._pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def test_every_row_has_run():
    from row_calls import run_rows_without_samples
    from tputorch import _C

    run_rows_without_samples()
    never = [name for name, count in _C.row_calls().items() if count == 0]
    assert not never, f"{len(never)} rows never ran: {never}"
