"""``torch.tpu``: the device module of PyTorch's ``tpu`` device.

Devices are opened at first use. Sizes are in bytes. Every function that takes ``device`` accepts an
index, a :class:`torch.device`, a string such as ``"tpu:0"``, or ``None`` for the current device.
"""

import enum
import functools
from collections import namedtuple
from contextlib import contextmanager

import torch

from tputorch import _C
from tputorch._mode import EagerMode, eager_mode, set_eager_mode

__all__ = [
    "DeviceProperties",
    "EagerMode",
    "Event",
    "Precision",
    "Stream",
    "compile_guard",
    "counters",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "eager_mode",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "mem_get_info",
    "memory_allocated",
    "memory_snapshot",
    "memory_stats",
    "memory_summary",
    "precision",
    "reset_counters",
    "reset_peak_memory_stats",
    "seed",
    "set_device",
    "set_eager_mode",
    "set_rng_state",
    "set_rng_state_all",
    "synchronize",
]


class Precision(enum.Enum):
    """How float32 matrix products and convolutions are computed.

    ``DEFAULT``: operands rounded to bfloat16, one pass, float32 accumulation (the native pass).
    ``HIGH``: three bfloat16 passes. ``HIGHEST``: float32 (six passes on a chip).
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


DeviceProperties = namedtuple(
    "DeviceProperties",
    ["name", "platform", "platform_version", "plugin", "total_memory", "multi_processor_count"],
)


def _index(device) -> int:
    if device is None:
        return _C.current_device()
    if isinstance(device, int):
        return device
    device = torch.device(device)
    if device.type != "tpu":
        raise ValueError(f"expected a tpu device, got {device}")
    return _C.current_device() if device.index is None else device.index


def __getattr__(name: str):
    # torch.utils.checkpoint and fork_rng save the state of devices that are initialized.
    if name == "_initialized":
        return _C.is_open()
    raise AttributeError(f"module 'torch.tpu' has no attribute {name!r}")


# --- devices ----------------------------------------------------------------------------


def is_available() -> bool:
    """True when at least one tpu device (a chip or the virtual TPU) can be used. Opens nothing."""
    return _C.device_count() > 0


def device_count() -> int:
    """Number of tpu devices. Opens nothing."""
    return _C.device_count()


def is_initialized() -> bool:
    """True once a device has been opened in this process."""
    return _C.is_open()


def init() -> None:
    """Opens the device now instead of at the first tensor."""
    _C.open()


def _lazy_init() -> None:
    _C.open()


def _is_in_bad_fork() -> bool:
    return _C.is_bad_fork()


def current_device() -> int:
    """Index of the calling thread's current device."""
    return _C.current_device()


def set_device(device) -> None:
    """Makes ``device`` the calling thread's current device."""
    _C.set_device(_index(device))


def _exchange_device(device: int) -> int:
    previous = _C.current_device()
    if device >= 0:
        _C.set_device(device)
    return previous


def _maybe_exchange_device(device: int) -> int:
    return _exchange_device(device)


class device:  # noqa: N801  (PyTorch's name)
    """Context manager that changes the current device. ``torch.tpu.device(1)``."""

    def __init__(self, device):
        self.idx = _index(device)
        self.prev_idx = -1

    def __enter__(self):
        self.prev_idx = _exchange_device(self.idx)

    def __exit__(self, *_):
        _exchange_device(self.prev_idx)
        return False


class device_of(device):  # noqa: N801  (PyTorch's name)
    """Context manager that makes the device of ``obj`` current; no change for tensors elsewhere."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.device.type == "tpu" else _C.current_device())


def get_device_name(device=None) -> str:
    """The chip's name, for example ``"TPU v5e"``."""
    return _C.device_info(_index(device))["kind"]


def get_device_properties(device=None) -> DeviceProperties:
    """Name, platform (``"vtpu"`` for the virtual TPU), plugin and HBM size of a device."""
    info = _C.device_info(_index(device))
    return DeviceProperties(
        info["kind"],
        info["platform"],
        info["platform_version"],
        info["plugin"],
        info["memory_size"],
        1,
    )


def get_device_capability(device=None):
    """Not meaningful on TPUs: (0, 0)."""
    _index(device)
    return (0, 0)


def synchronize(device=None) -> None:
    """Waits for all work of the device; raises the first error that nobody has seen yet."""
    _C.synchronize(_index(device))


Stream = torch.Stream


# An event of the tpu device: Event(enable_timing=True). record waits for the work before it, so
# times are true.
Event = functools.partial(torch.Event, "tpu")


def current_stream(device=None) -> torch.Stream:
    """The one stream of a device: work runs in program order."""
    return torch.accelerator.current_stream(torch.device("tpu", _index(device)))


def default_stream(device=None) -> torch.Stream:
    """The same as :func:`current_stream`."""
    return current_stream(device)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """bfloat16 is the native type of the matrix unit."""
    return True


def get_amp_supported_dtype() -> list:
    """Dtypes that ``torch.autocast("tpu")`` accepts; bfloat16 is its default."""
    return [torch.bfloat16, torch.float16]


# --- random numbers ---------------------------------------------------------------------


class _Generators:
    """The devices' default generators, made when first asked for."""

    def __init__(self):
        self._made = {}

    def __len__(self):
        return _C.device_count()

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"tpu:{index} does not exist: there are {len(self)} tpu devices")
        index %= len(self)
        if index not in self._made:
            self._made[index] = _C.default_generator(index)
        return self._made[index]


default_generators = _Generators()


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator."""
    if not _C.is_bad_fork():
        default_generators[_C.current_device()].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds every device's generator; ``torch.manual_seed`` calls this."""
    if not _C.is_bad_fork():
        for index in range(_C.device_count()):
            default_generators[index].manual_seed(int(seed))


def seed() -> None:
    """Seeds the current device's generator with a random number."""
    default_generators[_C.current_device()].seed()


def initial_seed() -> int:
    """The current device's seed."""
    return default_generators[_C.current_device()].initial_seed()


def get_rng_state(device=None) -> torch.Tensor:
    """State of a device's generator: 16 bytes (seed, offset), on the CPU."""
    return default_generators[_index(device)].get_state()


def set_rng_state(new_state: torch.Tensor, device=None) -> None:
    """Restores a state that :func:`get_rng_state` gave."""
    default_generators[_index(device)].set_state(new_state)


def get_rng_state_all() -> list:
    """States of all devices."""
    return [get_rng_state(index) for index in range(_C.device_count())]


def set_rng_state_all(new_states) -> None:
    """Restores the states of all devices."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


# --- memory -----------------------------------------------------------------------------


def memory_allocated(device=None) -> int:
    """Bytes that live tensors hold on the device."""
    return _C.memory(_index(device))["allocated"] if _C.is_open() else 0


def max_memory_allocated(device=None) -> int:
    """The most bytes that live tensors held since the start or the last reset."""
    return _C.memory(_index(device))["peak_allocated"] if _C.is_open() else 0


def memory_reserved(device=None) -> int:
    """The same as :func:`memory_allocated`: nothing is held back for later."""
    return memory_allocated(device)


def reset_peak_memory_stats(device=None) -> None:
    """Makes the present use the peak."""
    if _C.is_open():
        _C.reset_peak_memory(_index(device))


def memory_stats(device=None) -> dict:
    """All memory figures, under the names that other PyTorch devices use."""
    if not _C.is_open():
        return {}
    memory = _C.memory(_index(device))
    return {
        "allocated_bytes.all.current": memory["allocated"],
        "allocated_bytes.all.peak": memory["peak_allocated"],
        "allocation.all.allocated": memory["allocation_count"],
        "allocation.all.current": memory["storage_count"],
        "limit_bytes": memory["limit"],
    }


def mem_get_info(device=None) -> tuple:
    """(free, total) bytes of the device's memory; an error if the plugin does not tell."""
    memory = _C.memory(_index(device))
    if not memory["limit"]:
        raise NotImplementedError("the plugin does not tell how much memory its devices have")
    return max(memory["limit"] - memory["in_use"], 0), memory["limit"]


def memory_snapshot(device=None) -> list:
    """The live tensors of the device, largest first, one dict for each value.

    ``size`` in bytes; ``dtype`` and ``shape`` as it lies in memory (``None`` while nothing is
    written); ``has_value`` is false for ``torch.empty`` before the first write, which takes no
    memory yet; ``storages`` how many share it; ``op``, ``file`` and ``line`` say what made it
    (``op`` is ``None`` for a copy from the host).
    """
    return _C.live_tensors(_index(device)) if _C.is_open() else []


def _size(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"


def _describe(tensor: dict) -> str:
    dtype = str(tensor["dtype"]).removeprefix("torch.")
    kind = f"{dtype} {tensor['shape']}" if tensor["dtype"] else "no dtype yet"
    made = f"aten::{tensor['op']}" if tensor["op"] else "from the host"
    if not tensor["has_value"]:
        made = "no value yet"
    place = f", {tensor['file']}" if tensor["file"] else ""
    if tensor["line"]:
        place = f" at {tensor['file']}:{tensor['line']}"
    return f"{_size(tensor['size']):>12}  {kind}  {made}{place}"


def memory_summary(device=None, abbreviated: bool = False) -> str:
    """A readable report of the device's memory and, unless ``abbreviated``, its largest tensors."""
    index = _index(device)
    if not _C.is_open():
        return f"tpu:{index}: not opened yet, no memory is used"
    memory = _C.memory(index)
    peak = _size(memory["peak_allocated"])
    lines = [
        f"tpu:{index} memory",
        f"{_size(memory['allocated']):>12}  in live tensors (peak {peak})",
        f"{_size(memory['in_use']):>12}  in use on the device",
        f"{_size(memory['limit']) if memory['limit'] else 'unknown':>12}  in total",
        f"{memory['allocation_count']:>12}  buffers made so far",
        f"{memory['storage_count']:>12}  storages alive",
    ]
    if not abbreviated:
        tensors = memory_snapshot(index)
        lines += ["largest live tensors:", *map(_describe, tensors[:20])]
        if len(tensors) > 20:
            lines.append(f"and {len(tensors) - 20} more (torch.tpu.memory_snapshot() has all)")
    return "\n".join(lines)


def empty_cache() -> None:
    """Drops device memory that is kept only for speed."""
    if _C.is_open():
        _C.empty_cache(_C.current_device())


# --- precision, counters, modes ---------------------------------------------------------


@contextmanager
def precision(value: Precision):
    """Within the block, float32 products and convolutions run at ``value``.

    ``with torch.tpu.precision(torch.tpu.Precision.HIGHEST): ...``; the setting is process-wide, and
    ``torch.set_float32_matmul_precision`` ("medium", "high", "highest") changes it for good.
    """
    if not isinstance(value, Precision):
        raise TypeError(
            f"expected a torch.tpu.Precision ({', '.join(p.name for p in Precision)}), "
            f"got {value!r}"
        )
    before = _C.precision()
    _C.set_precision(value.value)
    try:
        yield
    finally:
        _C.set_precision(before)


def get_precision() -> Precision:
    """The precision that float32 products have now."""
    return Precision(_C.precision())


def counters() -> dict:
    """Calls, cache hits, compiles, launches, transfers, donations and CPU fallbacks so far.

    ``fallback_ops`` maps each operator that ran on the CPU to how often it did. Of the compiles,
    ``disk_hits`` were loaded from the folder of kept programs and ``disk_misses`` looked for there
    in vain; ``disk_errors`` and ``disk_error`` (the first one's words) say what is wrong with that
    folder.
    ``recent_compiles`` tells the last 256 compiles of each device, oldest first: the operator, the
    reason ("new sizes (3, 5), was (3, 4), of argument self, in model.py:12"), the seconds it took,
    the size of the program as text, and whether it came from the folder of kept programs.
    """
    return _C.counters()


def reset_counters() -> None:
    """Sets the counters to zero (``fallback_ops`` keeps its names) and forgets recent compiles."""
    _C.counters_reset()


@contextmanager
def compile_guard():
    """Within the block (or the decorated function) a call that needs a new program raises.

    ``with torch.tpu.compile_guard(): step()`` after warm-up makes sure that nothing is compiled any
    more: a :class:`RuntimeError` names the operator and what is new about the call. The call does
    not run, and every tensor stays as it was. A program that an earlier process left on disk is
    loaded, which takes milliseconds, and told in ``counters()["recent_compiles"]``: a second run of
    a script may begin inside the guard. The guard is process-wide (backward passes run on threads
    of their own).
    """
    _C.hold_compile_guard()
    try:
        yield
    finally:
        _C.drop_compile_guard()
