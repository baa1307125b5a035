"""A graph of ATen calls as a tape: what the compiler keeps of an FX graph, and pickles.

A tape is a list of entries in program order; an entry is an input, a constant or a call whose
arguments refer to earlier entries by number. It knows which calls a program can hold (``eager`` is
false) and what strides the traced graph promised, but nothing about programs. Invariant: executing
a tape on real tensors gives what the FX graph would give.
"""

import io
import operator
import pickle
from dataclasses import dataclass, field

import torch
from torch._higher_order_ops.map import map_impl
from torch._higher_order_ops.scan import scan_op
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from tputorch import _C, _control


@dataclass(frozen=True)
class Ref:
    """The value of an earlier entry."""

    index: int


@dataclass(eq=False)
class Entry:
    """One line of a tape."""

    index: int
    name: str
    kind: str  # "input", "constant" or "call"
    target: object = None
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    eager: bool = False  # no program can hold it
    ordered: bool = False  # draws random numbers or writes: keeps its place among such entries
    writes: bool = False
    on_host: bool = False  # its tensors, in and out, are on the CPU or it has none
    strides: tuple | None = None  # the strides that later entries rely on
    static: bool = True  # ... hold as they are; else only their order does
    value: object = None  # of a constant
    uses: tuple = ()  # numbers of the entries that the arguments refer to
    trace: str = ""  # the Python line that asked for it


def fill(template, values):
    """The arguments of a call, with references replaced."""
    kind = type(template)
    if kind is Ref:
        return values[template.index]
    if kind is list:
        return [fill(item, values) for item in template]
    if kind is tuple:
        return tuple(fill(item, values) for item in template)
    if kind is dict:
        return {key: fill(item, values) for key, item in template.items()}
    if kind is slice:
        return slice(*(fill(i, values) for i in (template.start, template.stop, template.step)))
    return template


# --- single calls -----------------------------------------------------------------------


def _device_of(args, kwargs) -> torch.device:
    for leaf in pytree.arg_tree_leaves(*args, **kwargs):
        if isinstance(leaf, torch.Tensor):
            return leaf.device
        if isinstance(leaf, torch.device):
            return leaf
    return torch.device("cpu")


def _generator(device: torch.device) -> torch.Generator:
    if device.type == "tpu":
        return torch.tpu.default_generators[_index_of(device)]
    return torch.default_generator


def _index_of(device: torch.device) -> int:
    return torch.tpu.current_device() if device.index is None else device.index


def _run_and_save_rng_state(op, *args, **kwargs):
    """A draw and the state it began with, which on tpu is a value of the device like others."""
    device = _device_of(args, kwargs)
    if device.type == "tpu":
        state = _C.random_state(_index_of(device))
    else:
        state = _generator(device).get_state()
    return state, op(*args, **kwargs)


def _run_with_rng_state(state, op, *args, **kwargs):
    """The draw that began with ``state`` again; the generator stays as it is."""
    device = _device_of(args, kwargs)
    if device.type == "tpu" and recording():
        _C.capture_draw_from(_index_of(device), state)
        try:
            return op(*args, **kwargs)
        finally:
            _C.capture_draw_from(_index_of(device), None)
    generator = _generator(device)
    before = generator.get_state()
    if device.type == "tpu":
        low_seed, high_seed, low, high = state.tolist()
        generator.manual_seed(high_seed << 32 | low_seed)
        generator.set_offset(high << 32 | low)
    else:
        generator.set_state(state)
    try:
        return op(*args, **kwargs)
    finally:
        generator.set_state(before)


def barrier(*tensors):
    """The same tensors, behind an optimization barrier of the program that is recorded."""
    if not recording() or not all(t.is_tpu and t.layout == torch.strided for t in tensors):
        return tensors
    return tuple(_C.barrier(list(tensors)))


def _or_by_hand(control, by_hand):
    """One call for the whole control flow; else Python's own, unless a recording is going on."""
    try:
        return control()
    except _control.Refused:
        if recording():
            raise
        return by_hand()


def _cond(pred, true_fn, false_fn, operands=()):
    return _or_by_hand(
        lambda: _control.cond(pred, true_fn, false_fn, operands),
        lambda: _cond_by_hand(pred, true_fn, false_fn, operands),
    )


def _while_loop(cond_fn, body_fn, carried, additional=()):
    return _or_by_hand(
        lambda: _control.while_loop(cond_fn, body_fn, carried, additional),
        lambda: _while_by_hand(cond_fn, body_fn, carried, additional),
    )


def _scan(combine_fn, init, xs, additional=()):
    try:
        return _control.scan(combine_fn, init, xs, additional)
    except _control.Refused:  # row by row
        return scan_op(combine_fn, init, xs, additional)


def _map(function, xs, additional=()):
    try:
        return _control.map_rows(function, xs, additional)
    except _control.Refused:
        return map_impl(function, xs, additional)


def _cond_by_hand(pred, true_fn, false_fn, operands):
    return (true_fn if pred else false_fn).compiled(*operands)


def _while_by_hand(cond_fn, body_fn, carried, additional):
    carried = [v.clone() if isinstance(v, torch.Tensor) else v for v in carried]
    while _first(cond_fn.compiled(*carried, *additional)):
        carried = list(body_fn.compiled(*carried, *additional))
    return tuple(carried)


def _first(value):
    return value[0] if isinstance(value, (list, tuple)) else value


# Calls that the tape makes in its own way instead of asking the operator.
_OWN_WAY = {
    "run_and_save_rng_state": _run_and_save_rng_state,
    "run_with_rng_state": _run_with_rng_state,
    "cond": _cond,
    "while_loop": _while_loop,
    "scan": _scan,
    "map_impl": _map,
}
# Operators that read values or change what a tensor is: no program can hold them.
_NEVER_RECORDED = {
    "aten::_local_scalar_dense",
    "aten::equal",
    "aten::nonzero",
    "aten::set_",
    "aten::resize_",
    "inductor::resize_storage_bytes_",
}
# Operators that rely on how their operand lies in memory.
_READS_LAYOUT = {"aten::as_strided", "aten::as_strided_copy", "aten::as_strided_scatter"}
_KERNEL_KEYS = (
    "PrivateUse1",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
)


def operator_name(target) -> str:
    """ "aten::add", "cond", or the name of a Python function."""
    if isinstance(target, OpOverload):
        return target._schema.name
    if isinstance(target, HigherOrderOperator):
        return target._name
    return getattr(target, "__name__", str(target))


def has_kernel(op: OpOverload) -> bool:
    """Whether the device, or PyTorch in terms of other operators, can run ``op``."""
    name = op.name()
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, k) for k in _KERNEL_KEYS)


def _callable_of(target):
    if isinstance(target, HigherOrderOperator):
        return _OWN_WAY.get(target._name, target)
    if target is torch.ops.aten.view.default:
        return torch.ops.aten.reshape.default  # strides may differ from the traced ones
    return target


def restrided(value: torch.Tensor, entry: Entry) -> torch.Tensor:
    """``value`` with the strides that the traced graph promised."""
    wanted, sizes = entry.strides, value.shape
    if value.dim() != len(wanted) or value.numel() <= 1:
        return value
    if not entry.static:
        wanted = _dense_in_order(sizes, wanted)
    if all(n == 1 or a == b for n, a, b in zip(sizes, value.stride(), wanted, strict=True)):
        return value
    for dim, stride in enumerate(wanted):
        if stride == 0 and sizes[dim] > 1:
            narrow = Entry(entry.index, entry.name, "call", strides=wanted)
            return restrided(value.narrow(dim, 0, 1), narrow).expand(sizes)
    return torch.empty_strided(sizes, wanted, dtype=value.dtype, device=value.device).copy_(value)


def _dense_in_order(sizes, hint) -> tuple:
    strides, step = [0] * len(sizes), 1
    for dim in sorted(range(len(sizes)), key=lambda d: (hint[d], -d)):
        if hint[dim] == 0 and sizes[dim] > 1:
            continue
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(strides)


# --- tapes ------------------------------------------------------------------------------


class Tape:
    """Entries, inputs first, and what of them is returned."""

    def __init__(self, name: str, entries: list, inputs: list, outputs):
        self.name = name
        self.entries = entries
        self.inputs = inputs
        self.outputs = outputs

    def output_indexes(self) -> list:
        return [leaf.index for leaf in pytree.tree_leaves(self.outputs) if isinstance(leaf, Ref)]

    def execute(self, entry: Entry, values):
        """Makes one call."""
        args, kwargs = fill(entry.args, values), fill(entry.kwargs, values)
        value = _callable_of(entry.target)(*args, **kwargs)
        if entry.strides is not None and isinstance(value, torch.Tensor):
            value = restrided(value, entry)
        return value

    def __call__(self, *args):
        """Makes all calls, one by one."""
        values = [entry.value for entry in self.entries]
        for index, value in zip(self.inputs, args, strict=True):
            values[index] = value
        for entry in self.entries:
            if entry.kind == "call":
                values[entry.index] = self.execute(entry, values)
        return fill(self.outputs, values)


def _leaves(value):
    return [v for v in pytree.tree_leaves(value) if isinstance(v, torch.Tensor)]


class _Builder:
    """Turns one FX graph into a tape."""

    def __init__(self, gm: torch.fx.GraphModule, name: str, make_subgraph):
        self.gm = gm
        self.name = name
        self.make_subgraph = make_subgraph
        self.numbers = {}
        self.nodes = []
        self.entries = []
        self.saves_state = set()  # nodes: a draw on tpu with the state that it began with

    def template(self, arg):
        if isinstance(arg, torch.fx.Node):
            return Ref(self.numbers[arg])
        if isinstance(arg, dict):
            return {key: self.template(item) for key, item in arg.items()}
        if isinstance(arg, list):
            return [self.template(item) for item in arg]
        if isinstance(arg, tuple):
            return tuple(self.template(item) for item in arg)
        if isinstance(arg, slice):
            return slice(*(self.template(i) for i in (arg.start, arg.stop, arg.step)))
        if isinstance(arg, torch.SymInt):
            return int(arg)
        return arg

    def build(self) -> Tape:
        inputs, outputs = [], ()
        for node in self.gm.graph.nodes:
            if node.op == "output":
                outputs = self.template(node.args[0])
                continue
            entry = Entry(len(self.entries), node.name, "call")
            entry.uses = tuple({self.numbers[n] for n in node.all_input_nodes})
            if node.op == "placeholder":
                entry.kind = "input"
                inputs.append(entry.index)
            elif node.op == "get_attr":
                self.constant(node, entry)
            else:
                self.call(node, entry)
            self.numbers[node] = entry.index
            self.nodes.append(node)
            self.entries.append(entry)
        tape = Tape(self.name, self.entries, inputs, outputs)
        self.promise_strides(tape)
        return tape

    def constant(self, node, entry):
        value = operator.attrgetter(node.target)(self.gm)
        entry.kind = "constant"
        if isinstance(value, torch.fx.GraphModule):
            value = self.make_subgraph(value, f"{self.name}.{node.target}")
        entry.value = value
        entry.on_host = isinstance(value, torch.Tensor) and value.device.type != "tpu"

    def call(self, node, entry):
        if node.op == "call_function":
            entry.target = node.target
        else:
            raise NotImplementedError(f"{node.op} {node.target} in a compiled graph")
        entry.args, entry.kwargs = self.template(node.args), self.template(dict(node.kwargs))
        entry.trace = (node.meta.get("stack_trace") or "").strip()
        target, name = node.target, operator_name(node.target)
        tags = getattr(target, "tags", ())
        entry.writes = isinstance(target, OpOverload) and target._schema.is_mutable
        entry.ordered = (
            entry.writes
            or torch.Tag.nondeterministic_seeded in tags
            or isinstance(target, HigherOrderOperator)
        )
        if self.keeps_state(node, entry):
            return
        made = _leaves(node.meta.get("val"))
        given = [t for n in node.all_input_nodes for t in _leaves(n.meta.get("val"))]
        given += [
            self.entries[i].value
            for i in entry.uses
            if isinstance(self.entries[i].value, torch.Tensor)
        ]
        entry.on_host = all(t.device.type != "tpu" for t in (*made, *given))
        entry.eager = (
            name in _NEVER_RECORDED
            or any(t.device.type != "tpu" for t in made)
            or (entry.on_host and bool(given))
            or any(t.device.type != "tpu" and t.dim() > 0 for t in given)
            or (isinstance(target, OpOverload) and not has_kernel(target))
            or (name in ("aten::_to_copy", "aten::copy_") and _crosses(made, given))
        )

    def keeps_state(self, node, entry) -> bool:
        """Draws of checkpoints on tpu and the states of theirs, which the traced graph takes for
        the CPU's: all of them are the device's."""
        name = operator_name(node.target)
        if name == "run_and_save_rng_state":
            device = self.device_of(node.args[1:], node.kwargs)
        elif name == "run_with_rng_state":
            device = self.device_of(node.args[2:], node.kwargs)
        else:
            return node.target is operator.getitem and node.args[0] in self.saves_state
        if device.type != "tpu":
            entry.on_host = entry.eager = True
            return True
        if name == "run_and_save_rng_state":
            self.saves_state.add(node)
        return True

    def device_of(self, args, kwargs) -> torch.device:
        values = [a.meta.get("val") if isinstance(a, torch.fx.Node) else a for a in args]
        return _device_of(values, kwargs)

    def promise_strides(self, tape):
        """Notes the traced strides of what is returned and of what is read by layout."""
        relied = {i for i in tape.output_indexes()}
        for entry in tape.entries:
            if entry.kind == "call" and operator_name(entry.target) in _READS_LAYOUT:
                relied.update(entry.uses[:1] if len(entry.uses) == 1 else entry.uses)
        for index in relied:
            value, entry = self.nodes[index].meta.get("val"), tape.entries[index]
            if entry.kind != "call" or not isinstance(value, torch.Tensor):
                continue
            if value.device.type != "tpu" or value.layout != torch.strided:
                continue
            strides = [_hint(stride) for stride in value.stride()]
            if None in strides:
                continue
            entry.strides = tuple(strides)
            entry.static = all(isinstance(n, int) for n in (*value.stride(), *value.shape))


def _hint(number):
    if isinstance(number, int):
        return number
    return number.node.hint if number.node.has_hint() else None


def _crosses(made, given) -> bool:
    return len({t.device.type for t in (*made, *given)}) > 1


def build(gm: torch.fx.GraphModule, name: str, make_subgraph) -> Tape:
    """The tape of an FX graph; graphs in it (branches, loop bodies) become what ``make_subgraph``
    makes of them."""
    return _Builder(gm, name, make_subgraph).build()


# --- pickling ---------------------------------------------------------------------------


def _find_overload(name: str, overload: str) -> OpOverload:
    namespace, _, base = name.partition("::")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload)


def _find_higher_order(name: str) -> HigherOrderOperator:
    return getattr(torch.ops.higher_order, name)


def _find_packet(name: str) -> OpOverloadPacket:
    namespace, _, base = name.partition("::")
    return getattr(getattr(torch.ops, namespace), base)


class _Pickler(pickle.Pickler):
    def reducer_override(self, value):
        if isinstance(value, OpOverload):
            return _find_overload, (value._schema.name, value._overloadname)
        if isinstance(value, OpOverloadPacket):
            return _find_packet, (value._qualified_op_name,)
        if isinstance(value, HigherOrderOperator):
            return _find_higher_order, (value._name,)
        return NotImplemented


def dumps(value) -> bytes:
    """Pickles a tape (or what holds some), operators by name."""
    buffer = io.BytesIO()
    with _disable_current_modes():  # constants are real tensors
        _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def loads(data: bytes):
    """The inverse of :func:`dumps`."""
    with _disable_current_modes():
        return pickle.loads(data)


def recording() -> bool:
    """Whether this thread's calls are being recorded."""
    return _C.capture_is_active()
