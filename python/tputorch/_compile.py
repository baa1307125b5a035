"""``torch.compile`` on tpu: the Dynamo backend ``tpu``, and how plain ``torch.compile`` finds it.

Dynamo's graph goes through AOTAutograd (functionalised, cut into forward and backward by
min-cut), and each graph that comes out becomes a CompiledGraph. This module owns options and
PyTorch's settings for that; it knows nothing of programs. Imported when something is compiled.
"""

import functools
import itertools
import logging
import os
import sys
import types
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module

import torch
import torch._functorch.config as functorch_config
import torch.compiler.config as compiler_config
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.schemas import SerializableAOTDispatchCompiler
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._inductor.output_code import OutputCode
from torch.utils.checkpoint import CheckpointPolicy

from tputorch import _C, _control, _graph, _recompute, _tape
from tputorch._version import __version__

log = logging.getLogger(__name__)

_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def _is_precision(value):
    return value in ("default", "high", "highest")


def _is_bool(value):
    return isinstance(value, bool)


def _is_share(value):
    return isinstance(value, (int, float)) and 0 <= value <= 1


# name -> (check, what it must be)
_OPTIONS = {
    "precision": (_is_precision, '"default", "high" or "highest"'),
    "whole": (_is_bool, "True or False"),
    "memory_budget": (_is_share, "a number from 0 to 1"),
}
_numbers = itertools.count()


def _check_options(mode, options):
    if mode is not None and mode not in _MODES:
        raise RuntimeError(
            f"unknown mode {mode!r} of torch.compile on tpu; it has {', '.join(_MODES)}"
        )
    for name, value in (options or {}).items():
        if name not in _OPTIONS:
            raise RuntimeError(
                f"unknown option {name!r} of torch.compile on tpu; it has "
                f"{', '.join(sorted(_OPTIONS))} (docs/compile.md)"
            )
        check, wanted = _OPTIONS[name]
        if not check(value):
            raise RuntimeError(f"option {name!r} of torch.compile must be {wanted}, got {value!r}")


@functools.cache
def _decompositions() -> dict:
    """PyTorch's decompositions of operators that the device has no kernel for."""
    from torch._decomp import global_decomposition_table

    return {
        op: fn
        for op, fn in global_decomposition_table["post_autograd"].items()
        if isinstance(op, torch._ops.OpOverload)
        and not op._schema.is_mutable
        and not _tape.has_kernel(op)
    }


def touches_tpu(gm: torch.fx.GraphModule, example_inputs) -> bool:
    """Whether a graph has to do with tensors on tpu."""
    if any(isinstance(t, torch.Tensor) and t.device.type == "tpu" for t in example_inputs):
        return True
    for node in gm.graph.nodes:
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor) and value.device.type == "tpu":
            return True
        device = node.kwargs.get("device")
        if device is not None and torch.device(device).type == "tpu":
            return True
    return False


def _name_of(gm: torch.fx.GraphModule) -> str:
    """The name of the user's function, for messages."""
    for node in gm.graph.nodes:
        trace = node.meta.get("stack_trace")
        if trace:
            name = trace.splitlines()[0].rpartition(", in ")[2].strip()
            if name:
                return f"{name}#{next(_numbers)}"
    return f"graph#{next(_numbers)}"


def _compiler(name, part, settings):
    def compile_part(gm, example_inputs):
        if part == "inference":
            gm = _recompute.recomputing(gm)
        log.debug("%s %s:\n%s", name, part, gm.graph)
        return _graph.compile_graph(gm, f"{name} {part}", settings)

    return SerializableAOTDispatchCompiler(OutputCode, compile_part)


@contextmanager
def _light_cache_keys():
    """AOTAutograd's cache makes keys with Inductor's helpers. Two of them take over a second and
    say nothing about our graphs: the import of Inductor's code generators, and a hash of PyTorch's
    source files, for which the build's revision stands."""
    from torch._inductor import codecache

    key = f"{torch.__version__} {torch.version.git_version}".encode()
    changed = {"init_backend_registration": lambda: None, "torch_key": lambda: key}
    before = {name: getattr(codecache, name) for name in changed}
    for name, value in changed.items():
        setattr(codecache, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(codecache, name, value)


class _StandIn(types.ModuleType):
    """A module that gives one attribute and leaves sys.modules with that; others are those of the
    real module, which is imported then."""

    def __init__(self, name, attribute, value):
        super().__init__(name)
        self.given = attribute, value

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        attribute, value = self.given
        return value if name == attribute else getattr(import_module(self.__name__), name)


@contextmanager
def _light_imports():
    """AOTAutograd and its cache import all of Inductor for two functions: a context manager that
    does nothing unless Inductor is debugged, and the source text of Triton kernels, of which a
    graph on tpu has none. Stand-ins give them, unless the modules are there."""
    wanted = [
        _StandIn("torch._inductor.debug", "enable_aot_logging", nullcontext),
        _StandIn(
            "torch._inductor.codegen.wrapper",
            "user_defined_triton_kernel_transitive_closure_source_code",
            None,
        ),
    ]
    if os.environ.get("TORCH_COMPILE_DEBUG", "0") == "1":
        wanted = []
    wanted = [module for module in wanted if module.__name__ not in sys.modules]
    sys.modules.update({module.__name__: module for module in wanted})
    try:
        yield
    finally:
        for module in wanted:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]


def _cut(joint_module, joint_inputs, **kwargs):
    """Cuts a joint graph in two. Below the full memory budget the partitioner recomputes random
    draws like anything else; marked as checkpointed, they get the state that the forward had."""
    if functorch_config.activation_memory_budget < 1:
        for node in joint_module.graph.nodes:
            if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
                node.meta.setdefault("recompute", CheckpointPolicy.PREFER_RECOMPUTE)
                node.meta.setdefault("ac_graph_id", 0)
    return min_cut_rematerialization_partition(
        joint_module, joint_inputs, compiler="inductor", **kwargs
    )


@functools.cache
def _build_tag() -> str:
    """Tells this build from others: kept graphs say which operators a program can hold."""
    marks = []
    for path in (__file__, *(m.__file__ for m in (_graph, _tape, _control, _recompute, _C))):
        status = os.stat(path)
        marks.append(f"{status.st_mtime_ns:x}.{status.st_size:x}")
    return f"tputorch-{__version__}-{'-'.join(marks)}"


def _cache_tag(options) -> str:
    return f"{compiler_config.cache_key_tag}{_build_tag()}{sorted(options.items())}"


def backend(gm: torch.fx.GraphModule, example_inputs, *, mode=None, options=None):
    """The backend ``tpu`` of ``torch.compile``.

    ``mode`` is accepted and changes nothing: there is one way to run a program. ``options``:
    "precision" of float32 products in the compiled function, "whole" (an error instead of running
    an operator outside a program), "memory_budget" (share of the activation memory that the
    backward pass may keep; less means more recomputation).
    """
    _check_options(mode, options)
    if not touches_tpu(gm, example_inputs):
        return gm.forward  # CPU work between graph breaks: nothing to compile
    options = dict(options or {})
    budget = options.pop("memory_budget", None)
    name = _name_of(gm)
    with ExitStack() as stack:
        stack.enter_context(_light_cache_keys())
        stack.enter_context(_light_imports())
        stack.enter_context(compiler_config.patch(cache_key_tag=_cache_tag(options)))
        stack.enter_context(
            functorch_config.patch(
                # Our graphs pickle as they are, both of them when the function is compiled.
                bundled_autograd_cache=True,
                force_non_lazy_backward_lowering=True,
                unlift_effect_tokens=True,
                # PyTorch's pass of this name cannot recompute random draws (_recompute.py).
                remat_using_tags_for_fwd_loss_bwd_graph=False,
            )
        )
        if budget is not None:
            stack.enter_context(functorch_config.patch(activation_memory_budget=float(budget)))
        return aot_autograd(
            fw_compiler=_compiler(name, "forward", options),
            bw_compiler=_compiler(name, "backward", options),
            inference_compiler=_compiler(name, "inference", options),
            decompositions=_decompositions(),
            partition_fn=_cut,
            keep_inference_input_mutations=True,
        )(gm, example_inputs)


backend._tags = ()
