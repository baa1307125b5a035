"""Eager modes: when an operator that was called runs. Re-exported by ``torch.tpu``."""

import enum

from tputorch import _C


class EagerMode(enum.Enum):
    """What a call of an operator does.

    ``DEFER_NEVER`` (strict, the default): it is launched at once and runs asynchronously.
    ``DEFER_NEVER_AND_LAUNCH_BLOCKING`` (debug): it is launched and awaited, so that an error is
    raised at its line.
    ``DEFER_AND_FUSE`` (fused): it waits in a window of calls that runs as one program when a value
    is needed, when the window is long, or when it begins to repeat itself. Results are those of the
    strict mode; values that nobody keeps are never computed.
    """

    DEFER_NEVER = 0
    DEFER_NEVER_AND_LAUNCH_BLOCKING = 1
    DEFER_AND_FUSE = 2


def eager_mode() -> EagerMode:
    """The present mode of this process."""
    return EagerMode(_C.eager_mode())


class set_eager_mode:  # noqa: N801 (a function and a context manager in one)
    """``set_eager_mode(mode)`` for good, or ``with set_eager_mode(mode):`` for a block.

    Leaving the fused mode runs what waits, and raises its first error.
    """

    def __init__(self, mode: EagerMode):
        if not isinstance(mode, EagerMode):
            raise TypeError(
                f"mode must be a torch.tpu.EagerMode ({', '.join(m.name for m in EagerMode)}), "
                f"got {mode!r}"
            )
        self._previous = eager_mode()
        _C.set_eager_mode(mode.value)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            _C.set_eager_mode(self._previous.value)
        except RuntimeError:
            if error is None:
                raise
