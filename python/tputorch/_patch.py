"""The few places where PyTorch has no hook for a device of its own, and what we change there.

Each patch keeps the original's signature and does nothing for tensors and modules that have to do
with no tpu.
"""

import functools

import torch

from tputorch import _C

_PRECISIONS = {"medium": 0, "high": 1, "highest": 2}


def _precision_setter(original):
    @functools.wraps(original)
    def set_float32_matmul_precision(precision: str) -> None:
        original(precision)
        _C.set_precision(_PRECISIONS[precision])

    return set_float32_matmul_precision


def _prints_on_cpu(original):
    @functools.wraps(original)
    def _tensor_str(self, indent):
        # Formatting runs a dozen small operators and reads: one copy instead.
        return original(self.cpu() if self.device.type == "tpu" else self, indent)

    return _tensor_str


def _touches_tpu(module: torch.nn.Module, target) -> bool:
    if target is not None and torch.device(target).type == "tpu":
        return True
    return any(t.device.type == "tpu" for t in (*module.parameters(), *module.buffers()))


def _swapping(original, target_of):
    """Moves to and from tpu swap the contents of parameters: shared weights stay shared, and an
    optimizer made before the move keeps the parameters that it was given."""

    @functools.wraps(original)
    def move(self, *args, **kwargs):
        future = torch.__future__
        if future.get_swap_module_params_on_conversion() or not _touches_tpu(
            self, target_of(args, kwargs)
        ):
            return original(self, *args, **kwargs)
        future.set_swap_module_params_on_conversion(True)
        try:
            return original(self, *args, **kwargs)
        except RuntimeError as error:
            # A parameter that something else holds (a graph, a script) cannot be swapped: it is
            # replaced, as PyTorch itself does between devices. What was swapped already stays.
            if "Couldn't swap" not in str(error):
                raise
        finally:
            future.set_swap_module_params_on_conversion(False)
        return original(self, *args, **kwargs)

    return move


def _target_of_to(args, kwargs):
    return torch._C._nn._parse_to(*args, **kwargs)[0]


def install() -> None:
    """Installs every patch; called once at load."""
    torch.set_float32_matmul_precision = _precision_setter(torch.set_float32_matmul_precision)
    torch._tensor_str._tensor_str = _prints_on_cpu(torch._tensor_str._tensor_str)
    module = torch.nn.Module
    module.to = _swapping(module.to, _target_of_to)
    module.cpu = _swapping(module.cpu, lambda args, kwargs: None)
    module.tpu = _swapping(module.tpu, lambda args, kwargs: "tpu")
