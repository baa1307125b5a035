"""Compiled graphs: a tape cut into steps, each a recorded program or calls made one by one.

Whatever a program can hold is recorded at the first run with inputs of some sizes, strides and
dtypes, and runs as one program from then on. A call that refuses to be recorded (it reads a value,
it runs on the CPU) splits its step. Invariant: steps make the tape's calls in an order that keeps
uses after definitions, and writes and random draws in their places.
"""

import logging
import time
from contextlib import contextmanager

import torch
from torch._inductor.output_code import OutputCode
from torch.utils._python_dispatch import _disable_current_modes

from tputorch import _C, _tape

log = logging.getLogger(__name__)
_PRECISIONS = {"default": 0, "high": 1, "highest": 2}


@contextmanager
def _plain_calls():
    """Operator calls that are only what they say: no autograd, autocast or modes."""
    with torch.no_grad(), torch._C._DisableAutocast(), _disable_current_modes():
        yield


@contextmanager
def _precision(name):
    if name is None:
        yield
        return
    before = _C.precision()
    _C.set_precision(_PRECISIONS[name])
    try:
        yield
    finally:
        _C.set_precision(before)


class _RefusedError(Exception):
    """A call cannot be recorded."""

    def __init__(self, entry, reason):
        super().__init__(reason)
        self.entry = entry


# --- steps ------------------------------------------------------------------------------


class EagerStep:
    """Calls that are made one by one."""

    def __init__(self, tape, entries):
        self.tape = tape
        self.entries = entries

    def run(self, values):
        with _plain_calls():
            for entry in self.entries:
                values[entry.index] = self.tape.execute(entry, values)


class ProgramStep:
    """Calls that are recorded into one program per kind of inputs.

    ``inputs``: numbers of entries; ``outputs``: templates of what the program returns.
    """

    def __init__(self, tape, entries, inputs, outputs):
        self.tape = tape
        self.entries = entries
        self.inputs = inputs
        self.outputs = outputs
        self.programs = _C.Programs()

    def run(self, values):
        """Runs and stores the outputs, which are single references, as values."""
        for output, value in zip(self.outputs, self.call(values), strict=True):
            if type(output) is _tape.Ref:
                values[output.index] = value

    def call(self, values) -> list:
        inputs = [values[i] for i in self.inputs]
        outputs = self.programs.run(inputs)
        if outputs is not None:
            return outputs
        if _C.capture_is_active() or not self.programs.accepts(inputs):
            EagerStep(self.tape, self.entries).run(values)
            return [_tape.fill(output, values) for output in self.outputs]
        self.record(inputs, values)
        outputs = self.programs.run(inputs)
        if log.isEnabledFor(logging.INFO):
            self.tell_compile()
        return outputs

    def tell_compile(self):
        """What the first run of a program cost, and why it had to be compiled."""
        made = torch.tpu.counters()["recent_compiles"]
        if made and self.tape.name.startswith(made[-1]["op"]):  # names are cut in the list
            last = made[-1]
            log.info(
                "%s: compiled %d characters in %.1f ms: %s",
                self.tape.name, last["program_size"], 1e3 * last["seconds"], last["reason"],
            )  # fmt: skip

    def record(self, inputs, values):
        start = time.perf_counter()
        device = next(
            (t.device.index for t in inputs if isinstance(t, torch.Tensor) and t.is_tpu),
            _C.current_device(),
        )
        values = list(values)
        _C.capture_begin(device)
        try:
            with _plain_calls():
                stand_ins = self.place_inputs(device, inputs, values)
                for entry in self.entries:
                    try:
                        values[entry.index] = self.tape.execute(entry, values)
                    except Exception as error:
                        reason = str(error)
                        if "has no kernel on device tpu" in reason:
                            reason = "it has no kernel on device tpu and runs on the CPU"
                        raise _RefusedError(entry, reason) from error
                results = _Results(stand_ins, inputs)
                outputs = [results.describe(_tape.fill(o, values)) for o in self.outputs]
        except BaseException:
            _C.capture_cancel(device)
            raise
        program = _C.capture_end(device, results.tensors, self.tape.name)
        self.programs.add(inputs, program, outputs)
        log.info(
            "%s: recorded %d calls in %.1f ms for inputs %s",
            self.tape.name,
            len(self.entries),
            1e3 * (time.perf_counter() - start),
            [tuple(v.shape) if isinstance(v, torch.Tensor) else v for v in inputs],
        )

    def place_inputs(self, device, inputs, values):
        stand_ins = []
        for index, value in zip(self.inputs, inputs, strict=True):
            if isinstance(value, torch.Tensor):
                value = _C.capture_input(device, value)
            values[index] = value
            stand_ins.append(value)
        return stand_ins


def _storage(tensor) -> int:
    return tensor.untyped_storage()._cdata


class _Results:
    """What a recording returns: the program's results; outputs in terms of them and of inputs."""

    def __init__(self, stand_ins, inputs):
        self.inputs = {}
        self.exact = {}
        for index, (stand_in, value) in enumerate(zip(stand_ins, inputs, strict=True)):
            if isinstance(value, torch.Tensor) and value.is_tpu:
                self.inputs[_storage(stand_in)] = index, stand_in
                self.exact[id(stand_in)] = index
        self.tensors = []
        self.by_storage = {}

    def describe(self, value):
        if not isinstance(value, torch.Tensor):
            if isinstance(value, (list, tuple)):
                raise TypeError("a list of results leaves a program only by its items")
            return ("value", value)
        if id(value) in self.exact:
            return ("input", self.exact[id(value)])
        value = value.resolve_conj().resolve_neg()
        found = self.inputs.get(_storage(value))
        if found and found[1].dtype == value.dtype:
            return _view("input", found[0], value, value.storage_offset())
        return self.result(value)

    def result(self, value):
        known = self.by_storage.setdefault(_storage(value), [])
        for index, base in known:
            if base.dtype != value.dtype:
                continue
            offset = value.storage_offset() - base.storage_offset()
            if offset == 0 and (base.shape, base.stride()) == (value.shape, value.stride()):
                return ("result", index)
            last = offset + sum(
                (n - 1) * s for n, s in zip(value.shape, value.stride(), strict=True)
            )
            dense = torch.ops.aten.is_non_overlapping_and_dense(base)
            if dense and value.numel() and offset >= 0 and last < base.numel():
                return _view("result", index, value, offset)
        known.append((len(self.tensors), value))
        self.tensors.append(value)
        return ("result", len(self.tensors) - 1)


def _view(kind, index, value, offset):
    return (f"{kind}_view", index, tuple(value.shape), tuple(value.stride()), offset)


# --- plans ------------------------------------------------------------------------------


def _fold_constants(tape):
    """Makes calls on CPU constants once, now, where only recorded calls use the result."""
    outputs, users = set(tape.output_indexes()), {}
    for entry in tape.entries:
        for index in entry.uses:
            users.setdefault(index, []).append(entry)
    foldable = {}
    for entry in tape.entries:
        if entry.kind == "constant" and isinstance(entry.value, torch.Tensor):
            foldable[entry.index] = entry.on_host
        elif entry.kind == "call":
            foldable[entry.index] = (
                bool(entry.uses)
                and entry.eager
                and not entry.ordered
                and all(foldable.get(i) for i in entry.uses)
            )
    for entry in reversed(tape.entries):
        if entry.kind == "call" and foldable.get(entry.index):
            foldable[entry.index] = entry.index not in outputs and all(
                not user.eager or foldable.get(user.index) for user in users.get(entry.index, ())
            )
    values = [entry.value for entry in tape.entries]
    with _plain_calls():
        for entry in tape.entries:
            if entry.kind != "call" or not foldable.get(entry.index):
                continue
            if all(tape.entries[i].kind == "constant" for i in entry.uses):
                values[entry.index] = entry.value = tape.execute(entry, values)
                entry.kind, entry.uses = "constant", ()


def _dependencies(tape) -> dict:
    """Entry number -> numbers that must come before it."""
    before, last_ordered, earlier = {}, None, set()
    for entry in tape.entries:
        if entry.kind != "call":
            continue
        needs = {i for i in entry.uses if tape.entries[i].kind == "call"}
        if entry.writes:
            needs |= earlier
        elif entry.ordered and last_ordered is not None:
            needs.add(last_ordered)
        if entry.ordered:
            last_ordered = entry.index
        earlier.add(entry.index)
        before[entry.index] = needs
    return before


def _schedule(tape) -> list:
    """Groups of entries, in order: (eager, entries)."""
    before = _dependencies(tape)
    waiting = [entry for entry in tape.entries if entry.kind == "call"]
    done, groups, eager = set(), [], True
    while waiting:
        group, rest = [], []
        for entry in waiting:
            # Numbers (sizes) go wherever they come first.
            fits = entry.eager == eager or (entry.on_host and not entry.eager)
            if fits and before[entry.index] <= done:
                group.append(entry)
                done.add(entry.index)
            else:
                rest.append(entry)
        if group:
            groups.append((eager, group))
        waiting, eager = rest, not eager
    return groups


def _program_step(tape, entries, needed_later) -> ProgramStep:
    made = {entry.index for entry in entries}
    used = {i for entry in entries for i in entry.uses} - made
    inputs = sorted(i for i in used if tape.entries[i].kind != "constant")
    outputs = [_tape.Ref(i) for i in sorted(made & needed_later)]
    return ProgramStep(tape, entries, inputs, outputs)


def _make_steps(tape, groups) -> list:
    if len(groups) == 1 and not groups[0][0]:
        return [ProgramStep(tape, groups[0][1], tape.inputs, list(tape.outputs))]
    steps, needed = [], set(tape.output_indexes())
    for eager, entries in reversed(groups):
        if eager:
            steps.append(EagerStep(tape, entries))
        else:
            steps.append(_program_step(tape, entries, needed))
        for entry in entries:
            needed.update(entry.uses)
    steps.reverse()
    return steps


def _groups_of(steps) -> list:
    return [(isinstance(step, EagerStep), step.entries) for step in steps]


class CompiledGraph(OutputCode):
    """A compiled graph: called with a list of inputs, which it empties, it returns a list.

    ``settings``: "precision" (None: the process's), "whole" (refuse to run anything outside
    programs).
    """

    def __init__(self, tape, settings):
        super().__init__()
        self._boxed_call = True
        self.settings = settings
        self._open(tape)

    def _open(self, tape):
        self.tape = tape
        self.steps = None
        self.programs = None

    # --- AOTAutograd's interface --------------------------------------------------------

    def post_compile(self, example_inputs, constants, graph_kwargs):
        """Nothing is left to do: programs are recorded at the first run."""

    def set_triton_bundle(self, triton_bundle):
        """There is none."""

    def prepare_for_serialization(self):
        """Pickling does everything (see __getstate__)."""

    def __getstate__(self):
        state = dict(self.__dict__, steps=None, programs=None)
        state["tape"] = _tape.dumps(self.tape)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._open(_tape.loads(state["tape"]))

    # --- running ------------------------------------------------------------------------

    def __call__(self, inputs):
        if self.programs is not None:
            outputs = self.programs.run(inputs)
            if outputs is not None:
                inputs.clear()
                return outputs
        if self.steps is None:
            self._plan()
        values = [entry.value for entry in self.tape.entries]
        for index, value in zip(self.tape.inputs, inputs, strict=True):
            values[index] = value
        inputs.clear()
        with _precision(self.settings.get("precision")):
            return self._run(values)

    def _plan(self):
        _fold_constants(self.tape)
        self._adopt(_make_steps(self.tape, _schedule(self.tape)))

    def _adopt(self, steps, cause=None):
        self.steps = steps
        whole = len(steps) == 1 and isinstance(steps[0], ProgramStep)
        plain = whole and self.settings.get("precision") is None
        # The whole graph is one program, in the order of inputs and outputs.
        self.programs = steps[0].programs if plain else None
        if self.settings.get("whole"):
            self._demand_whole(cause)

    def _run(self, values):
        steps, at = self.steps, 0
        while at < len(steps):
            try:
                if len(steps) == 1 and isinstance(steps[0], ProgramStep):
                    return steps[0].call(values)
                steps[at].run(values)
            except _RefusedError as refused:
                steps = self._split(steps, at, refused)
                continue
            at += 1
        return list(_tape.fill(self.tape.outputs, values))

    def _split(self, steps, at, refused):
        entry, entries = refused.entry, steps[at].entries
        place = entries.index(entry)
        log.info("%s: %s runs by itself: %s", self.tape.name, entry.name, refused)
        groups = _groups_of(steps)
        parts = [(False, entries[:place]), (True, [entry]), (False, entries[place + 1 :])]
        groups[at : at + 1] = [part for part in parts if part[1]]
        entry.eager = True
        fresh = _make_steps(self.tape, groups)
        grown = len(groups) - len(steps)
        fresh[:at] = steps[:at]
        fresh[at + grown + 1 :] = steps[at + 1 :]
        self._adopt(fresh, refused)
        return fresh

    def _demand_whole(self, cause):
        for step in self.steps:
            if isinstance(step, EagerStep):
                entry = step.entries[0]
                raise RuntimeError(
                    f"{self.tape.name}: {_tape.operator_name(entry.target)} cannot be part of a "
                    f"program ({cause or 'it works on the CPU or reads values'}), and the option "
                    f"'whole' forbids to run it by itself\n{entry.trace}"
                )


class Subgraph:
    """A branch, a loop body or another function that a call is given."""

    def __init__(self, tape, settings):
        self.tape = tape
        self.single = isinstance(tape.outputs, _tape.Ref)
        outputs = (tape.outputs,) if self.single else tape.outputs
        self.graph = CompiledGraph(
            _tape.Tape(tape.name, tape.entries, tape.inputs, outputs), settings
        )

    def __call__(self, *args):
        return self.tape(*args)

    def compiled(self, *args):
        """The same as programs of its own, unless a recording is going on."""
        if _tape.recording():
            return self.tape(*args)
        outputs = self.graph(list(args))
        return outputs[0] if self.single else tuple(outputs)


def compile_graph(gm: torch.fx.GraphModule, name: str, settings: dict) -> CompiledGraph:
    """Compiles an FX graph of ATen calls."""

    def subgraph(inner, inner_name):
        return Subgraph(_tape.build(inner, inner_name, subgraph), settings)

    return CompiledGraph(_tape.build(gm, name, subgraph), settings)
