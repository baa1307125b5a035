"""The few places where PyTorch has no hook for a device of its own, and what we change there.

Each patch keeps the original's signature and does nothing for tensors and modules that have to do
with no tpu.
"""

import functools
import importlib.util
import sys

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


def _compiles_tpu(original):
    """Plain torch.compile (the backend "inductor") takes graphs on tpu to the backend "tpu"."""

    @functools.wraps(original)
    def compile_graph(self, model_, inputs_, *, config_patches=None):
        from tputorch import _compile  # imports Dynamo, which is there by now

        if _compile.touches_tpu(model_, inputs_):
            return _compile.backend(model_, inputs_)
        return original(self, model_, inputs_, config_patches=config_patches)

    return compile_graph


def _light_compiler_config(original):
    """torch.compile asks for Inductor's settings by way of its compiler, whose import takes longer
    than all else that a warm process does: the settings alone are the same."""

    @functools.wraps(original)
    def get_compiler_config(self):
        if "torch._inductor.compile_fx" in sys.modules:
            return original(self)
        from torch._inductor import config

        with config.patch(self.config):
            return config.get_config_copy()

    return get_compiler_config


def _flex_attention(module):
    """flex_attention's list of devices is closed: tpu joins it."""
    check = module._validate_device

    def _validate_device(query, key, value):
        if query.device.type != "tpu":
            check(query, key, value)

    module._validate_device = _validate_device


def _compiled_optimizers(module):
    """A compiled step keeps its counters on the device, as Dynamo does it for CUDA."""
    original = module.OptimizerVariable._set_capturable

    @functools.wraps(original)
    def _set_capturable(self, tx):
        for group in self.value.param_groups:
            parameters = group.get("params", [])
            fresh = all(p.is_tpu and p not in self.value.state for p in parameters)
            if "capturable" in group and fresh:
                group["capturable"] = True
        return original(self, tx)

    module.OptimizerVariable._set_capturable = _set_capturable


def _recurrent_modules(module):
    """Dynamo leaves nn.LSTM, nn.GRU and nn.RNN out unless told otherwise; those on tpu it takes."""
    original = module.VariableBuilder.wrap_module

    @functools.wraps(original)
    def wrap_module(self, value):
        config = module.config
        if (
            config.allow_rnn
            or not isinstance(value, torch.nn.RNNBase)
            or not any(p.is_tpu for p in value.parameters())
        ):
            return original(self, value)
        config.allow_rnn = True
        try:
            return original(self, value)
        finally:
            config.allow_rnn = False

    module.VariableBuilder.wrap_module = wrap_module


def _recurrent_dropout(module):
    """PyTorch's decomposition of recurrent layers forgets the dropout between them."""
    original = module._rnn_helper

    @functools.wraps(original)
    def _rnn_helper(input, hidden, params, has_biases, *rest):
        num_layers, dropout, train, bidirectional, batch_first, layer_fn = rest
        if not (train and dropout and num_layers > 1 and input.device.type == "tpu"):
            return original(input, hidden, params, has_biases, *rest)
        sequence, finals = input.transpose(0, 1) if batch_first else input, []
        directions = 2 if bidirectional else 1
        one_layer = (1, 0.0, train, bidirectional, False, layer_fn)
        for layer in range(num_layers):
            part = slice(layer * directions, (layer + 1) * directions)
            if layer:
                sequence = torch.dropout(sequence, dropout, train=True)
            sequence, last = original(sequence, hidden[part], params[part], has_biases, *one_layer)
            finals += last
        return sequence.transpose(0, 1) if batch_first else sequence, finals

    module._rnn_helper = _rnn_helper


class _LatePatches:
    """Changes modules when they are first imported, not before: importing them takes long."""

    def __init__(self, patches):
        self.patches = patches

    def find_spec(self, name, path=None, target=None):
        patch = self.patches.pop(name, None)
        if patch is None:
            return None
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            patch(module)

        spec.loader.exec_module = exec_module
        return spec


def _target_of_to(args, kwargs):
    return torch._C._nn._parse_to(*args, **kwargs)[0]


def install() -> None:
    """Installs every patch; called once at load."""
    torch.set_float32_matmul_precision = _precision_setter(torch.set_float32_matmul_precision)
    torch._tensor_str._tensor_str = _prints_on_cpu(torch._tensor_str._tensor_str)
    patches = {
        "torch.nn.attention.flex_attention": _flex_attention,
        "torch._dynamo.variables.optimizer": _compiled_optimizers,
        "torch._dynamo.variables.builder": _recurrent_modules,
        "torch._decomp.decompositions": _recurrent_dropout,
    }
    for name in [name for name in patches if name in sys.modules]:
        patches.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _LatePatches(patches))
    inductor = torch._TorchCompileInductorWrapper
    inductor.__call__ = _compiles_tpu(inductor.__call__)
    inductor.get_compiler_config = _light_compiler_config(inductor.get_compiler_config)
    module = torch.nn.Module
    module.to = _swapping(module.to, _target_of_to)
    module.cpu = _swapping(module.cpu, lambda args, kwargs: None)
    module.tpu = _swapping(module.tpu, lambda args, kwargs: "tpu")
