"""A quiet end of the process.

PyTorch runs backward passes of a device on a thread of the device. That thread drops the last
references to Python objects a moment after ``backward()`` has returned; when the interpreter is
being torn down by then, taking the GIL ends the thread inside a destructor and with it the process
("terminate called without an active exception"). At exit, those threads first get time to rest.
"""

import atexit
import os
import time

_TASKS = "/proc/self/task"


def _busy_autograd_threads() -> bool:
    """True while a thread of PyTorch's autograd is running or runnable."""
    for task in os.listdir(_TASKS):
        try:
            with open(f"{_TASKS}/{task}/stat") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has just ended
        if name.startswith("pt_autograd") and not rest.startswith(" S"):
            return True
    return False


def _settle(limit: float = 1.0) -> None:
    end = time.monotonic() + limit
    quiet = 0
    while quiet < 3 and time.monotonic() < end:
        time.sleep(0.001)  # without the GIL: they may need it
        quiet = 0 if _busy_autograd_threads() else quiet + 1


def install() -> None:
    """Registers the wait; it costs a few milliseconds at exit."""
    if os.path.isdir(_TASKS):
        atexit.register(_settle)
