"""Recomputation where one graph holds forward and backward: a program of a whole training step.

PyTorch's pass copies what a checkpoint marks before the backward nodes that need it. Here copies of
random draws start from the states that the forward's had, and what copies read goes through an
optimization barrier: without it a compiler finds them equal to the forward's nodes, and nothing is
recomputed. Invariant: the values are those of the graph without recomputation.
"""

import operator

import torch
from torch._functorch._activation_checkpointing import (
    remat_using_tags_for_fwd_loss_bwd_graph_pass as remat,
)
from torch._functorch.partitioners import has_recomputable_ops, must_recompute
from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state

from tputorch import _tape

_DRAW = "tputorch_draw"  # of a node's meta: number of the draw that it is, or is part of


def _expose_states(gm) -> None:
    """Draws that are to be recomputed also return the state that they began with."""
    for number, node in enumerate(list(gm.graph.nodes)):
        is_draw = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        if not is_draw or not must_recompute(node):
            continue
        with gm.graph.inserting_before(node):
            both = gm.graph.call_function(
                run_and_save_rng_state, (node.target, *node.args), dict(node.kwargs)
            )
            state = gm.graph.call_function(operator.getitem, (both, 0))
            value = gm.graph.call_function(operator.getitem, (both, 1))
        # Only the value is recomputed; the state is what it is recomputed from.
        value.meta = dict(node.meta)
        both.meta = {k: v for k, v in node.meta.items() if k != "val"} | {_DRAW: number}
        state.meta = {_DRAW: number}
        node.replace_all_uses_with(value)
        gm.graph.erase_node(node)


def _draw_again(gm) -> None:
    """Copies of draws begin with the state of the first."""
    first, states = {}, {}
    for node in list(gm.graph.nodes):
        number = node.meta.get(_DRAW)
        if number is None:
            continue
        if node.target is operator.getitem:
            states.setdefault(number, node)
        elif number not in first:
            first[number] = node
        else:
            _replace_copy(gm, node, first[number], states)


def _replace_copy(gm, copy, original, states) -> None:
    number = copy.meta[_DRAW]
    if number not in states:  # nothing else needs it
        with gm.graph.inserting_after(original):
            states[number] = gm.graph.call_function(operator.getitem, (original, 0))
    with gm.graph.inserting_before(copy):
        again = gm.graph.call_function(
            run_with_rng_state, (states[number], *copy.args), dict(copy.kwargs)
        )
    again.meta = {k: v for k, v in copy.meta.items() if k != _DRAW}
    again.name = f"{copy.name}_again"
    for user in list(copy.users):
        user.replace_all_uses_with(again)
        if "val" in user.meta:
            again.meta["val"] = user.meta["val"]
        gm.graph.erase_node(user)
    gm.graph.erase_node(copy)


def _is_tensor(node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _raise_barriers(gm, before) -> None:
    """What a run of copies reads passes a barrier, together with the gradient that came last: so
    they are neither merged with what they copy nor made before they are needed."""
    run, last_gradient = [], None
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.name not in before:
            run.append(node)
            continue
        if run:
            _raise_barrier(gm, run, last_gradient)
            run = []
        if node.meta.get("autograd_backward") and _is_tensor(node):
            last_gradient = node


def _raise_barrier(gm, run, gradient) -> None:
    inside = set(run)
    read = dict.fromkeys(
        n for node in run for n in node.all_input_nodes if n not in inside and _is_tensor(n)
    )
    if not read:
        return
    given = [*read] + ([gradient] if gradient is not None and gradient not in read else [])
    with gm.graph.inserting_before(run[0]):
        barrier = gm.graph.call_function(_tape.barrier, tuple(given))
        barrier.meta["val"] = tuple(n.meta["val"] for n in given)
        for index, node in enumerate(read):
            behind = gm.graph.call_function(operator.getitem, (barrier, index))
            behind.meta = dict(node.meta)
            for user in run:
                user.replace_input_with(node, behind)


def recomputing(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph with what its checkpoints mark copied before its backward nodes."""
    if not has_recomputable_ops(gm):
        return gm
    _expose_states(gm)
    before = {node.name for node in gm.graph.nodes}
    gm = remat.remat_using_tags_for_fwd_loss_bwd_graph(gm)
    _draw_again(gm)
    _raise_barriers(gm, before)
    gm.graph.lint()
    gm.recompile()
    return gm
