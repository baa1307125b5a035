"""Control flow in compiled graphs: ``cond``, ``while_loop``, ``scan`` and ``map`` as StableHLO.

Branches and loop bodies are recorded as programs of their own, per sizes, strides and dtypes of
their operands, and the StableHLO ``if`` or ``while`` over them is one call, which runs or is
recorded like any other. What cannot be so (a body that writes its operands, draws random numbers,
or reads values) is left to the caller: Python's own control flow over compiled branches.
"""

import weakref

import torch

from tputorch import _C

_IF, _WHILE = 0, 1
_UNROLLED = 4  # a shorter scan or map is its calls, one after the other

# Function -> programs of it, by kind of operands.
_programs = weakref.WeakKeyDictionary()


class Refused(Exception):  # noqa: N818 (no error: another way is taken)
    """These branches or this loop cannot become one program."""


def _is_plain(value) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.is_tpu
        and value.layout == torch.strided
        and not value.is_conj()
        and not value.is_neg()
    )


def _key(operands) -> tuple:
    signs = [
        (t.dtype, t.shape, t.stride(), t.device) if isinstance(t, torch.Tensor) else t
        for t in operands
    ]
    return (*signs, _C.precision(), torch.get_default_dtype())


def _record(function, operands, name):
    """The program of ``function`` on operands like these: tensors are inputs, numbers are fixed."""
    tensors = [t for t in operands if isinstance(t, torch.Tensor)]
    device = tensors[0].device.index
    _C.capture_begin(device)
    try:
        stand_ins = [
            _C.capture_input(device, t) if isinstance(t, torch.Tensor) else t for t in operands
        ]
        results = function(*stand_ins)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        if not all(map(_is_plain, results)):
            raise Refused("a result is no plain tensor of the device")
    except BaseException:
        _C.capture_cancel(device)
        raise
    return _C.capture_end(device, results, name)


def _program_of(owner, function, role, operands):
    """As ``_record``, once per kind of operands for ``owner``, whose calls ``function`` makes."""
    programs = _programs.setdefault(owner, {})
    key = (role, _key(operands))
    if key not in programs:
        try:
            programs[key] = _record(function, operands, f"{owner.tape.name} ({role})")
        except Exception as error:
            programs[key] = str(error)
    if isinstance(programs[key], str):
        raise Refused(programs[key])
    return programs[key]


def _run(kind, first, second, operands) -> list:
    try:
        return _C.control(kind, first, second, operands)
    except NotImplementedError as error:
        raise Refused(str(error)) from error


def cond(pred, true_fn, false_fn, operands) -> tuple:
    """``true_fn`` or ``false_fn`` of the operands, by the value of a bool tensor of one element."""
    if not (_is_plain(pred) and pred.dtype == torch.bool and pred.numel() == 1):
        raise Refused("the predicate is no bool tensor of the device")
    tensors = [t for t in operands if isinstance(t, torch.Tensor)]
    if not tensors or not all(map(_is_plain, tensors)):
        raise Refused("an operand is no plain tensor of the device")
    branches = [_program_of(f, f, "branch", operands) for f in (true_fn, false_fn)]
    return tuple(_run(_IF, *branches, [pred.reshape(()), *tensors]))


def _while(condition, body, carried, additional) -> list:
    """``condition`` and ``body``: (owner, function of all operands)."""
    operands = [*carried, *additional]
    if not operands or not all(map(_is_plain, operands)):
        raise Refused("an operand is no plain tensor of the device")
    first = _program_of(*condition, "condition", operands)
    return _run(_WHILE, first, _program_of(*body, "body", operands), operands)


def while_loop(cond_fn, body_fn, carried, additional) -> tuple:
    """``carried`` after ``body_fn`` ran on it as long as ``cond_fn`` of it is true."""

    def condition(*values):
        result = cond_fn(*values)
        return (result[0] if isinstance(result, (list, tuple)) else result).reshape(())

    return tuple(_while((cond_fn, condition), (body_fn, body_fn), carried, additional))


def _results_of(function, operands) -> list:
    """What ``function`` returns for operands like these: tensors without values."""
    device = operands[0].device.index
    _C.capture_begin(device)
    try:
        return list(function(*[_C.capture_input(device, t) for t in operands]))
    except Exception as error:
        raise Refused(str(error)) from error
    finally:
        _C.capture_cancel(device)


def scan(combine_fn, init, xs, additional=()) -> tuple:
    """Carries after ``combine_fn(*carries, *x, *additional)`` ran on each row of ``xs``, and the
    stacks of its other results."""
    carries, xs, additional = list(init), list(xs), list(additional)
    operands = [*carries, *xs, *additional]
    if not xs or not all(map(_is_plain, operands)):
        raise Refused("an operand is no plain tensor of the device")
    count, n, m = xs[0].shape[0], len(carries), len(xs)
    if count <= _UNROLLED:
        raise Refused("so few rows are better made one after the other")
    # Which results are stacked, and what they look like, shows in the first row.
    like = _results_of(combine_fn, [*carries, *(x.select(0, 0) for x in xs), *additional])[n:]
    if not all(map(_is_plain, like)):
        raise Refused("a result is no plain tensor of the device")
    index = torch.zeros((), dtype=torch.long, device=xs[0].device)
    stacks = [torch.empty((count, *y.shape), dtype=y.dtype, device=y.device) for y in like]

    def condition(index, *_):
        return index < count

    def body(index, *rest):
        place = index.reshape(1)
        rows = [x.index_select(0, place).squeeze(0) for x in rest[n + len(like) :][:m]]
        results = combine_fn(*rest[:n], *rows, *rest[n + len(like) + m :])
        made = zip(rest[n : n + len(like)], results[n:], strict=True)
        stacked = [stack.index_copy(0, place, y.unsqueeze(0)) for stack, y in made]
        return index + 1, *results[:n], *stacked

    functions = (combine_fn, condition), (combine_fn, body)
    results = _while(*functions, [index, *carries, *stacks], [*xs, *additional])
    return tuple(results[1:])


def map_rows(function, xs, additional=()) -> tuple:
    """The stacks of what ``function`` gives for each row of ``xs``."""
    return scan(function, [], xs, additional)
