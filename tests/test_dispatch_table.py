"""PyTorch's dispatch table as we leave it: nothing is missing, nothing cuts an autograd formula,
and the public functions arrive as the rows that compute them whole."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from tputorch import _C

has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
ROWS = {row["name"]: row for row in _C.rows()}


def registered():
    names = torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1")
    return {name.removeprefix("aten::") for name in names if name.startswith("aten::")}


# Composite-implicit ops: PyTorch differentiates through them, so a kernel cuts their autograd
# unless PyTorch reaches them only from formulas of its own, or a backward row goes with them.
COMPOSITE = {
    "mish_backward": "a formula's own; double backward takes another way",
    "silu_backward": "a formula's own; double backward takes another way",
    "lstm.input": "made of mkldnn_rnn_layer, which has a formula and a backward row",
    "_fused_rms_norm": "has a formula of its own, and _fused_rms_norm_backward is a row",
}


def test_no_kernel_cuts_an_autograd_formula():
    found = {n for n in registered() if has_kernel(f"aten::{n}", "CompositeImplicitAutograd")}
    assert found == set(COMPOSITE)
    assert {"_fused_rms_norm_backward", "mkldnn_rnn_layer_backward"} <= set(ROWS)


@pytest.mark.parametrize("function", [F.silu, F.mish, lambda x: F.rms_norm(x, (3,))])
def test_gradients_through_composite_rows(function):
    x = torch.randn(4, 3)
    grads = []
    for device in ("cpu", "tpu"):
        y = x.to(device).requires_grad_()
        (first,) = torch.autograd.grad(function(y).square().sum(), y, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), y)
        grads += [first.detach().cpu(), second.cpu()]
    torch.testing.assert_close(grads[2], grads[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(grads[3], grads[1], rtol=1e-4, atol=1e-4)


def test_every_row_is_registered():
    names, known = registered(), set(torch._C._dispatch_get_all_op_names())
    lists_only = {  # several result lists: the functional form cannot tell their lengths
        name for name in ROWS if ROWS[name]["schema"].rsplit("->", 1)[1].count("Tensor[]") > 1
    }
    atens = [name for name in ROWS if f"aten::{name}" in known]
    assert len(atens) > len(ROWS) - 10  # the rest are programs of our own, called by name
    assert [name for name in atens if name not in names and name not in lists_only] == []


def forms(name):
    """In-place and out= overloads of a row, by PyTorch's naming."""
    base, _, overload = name.partition(".")
    wanted = {f"{base}_" + (f".{overload}" if overload else "")}
    wanted.add(f"{base}.{overload}_out" if overload else f"{base}.out")
    known = set(torch._C._dispatch_get_all_op_names())
    return [form for form in wanted if f"aten::{form}" in known]


def test_forms_of_rows_are_served():
    """An in-place or out= form runs as the row or through PyTorch's own steps, not on the CPU."""
    names, missing = registered(), []
    for name, row in ROWS.items():
        if row["functional_only"]:
            continue
        for form in forms(name):
            composite = any(
                has_kernel(f"aten::{form}", key)
                for key in ("CompositeImplicitAutograd", "CompositeExplicitAutograd",
                            "CompositeExplicitAutogradNonFunctional")
            )  # fmt: skip
            if form not in names and not composite:
                missing.append(form)
    assert missing == []


def test_differentiable_rows_have_their_backward():
    """A row whose formula calls a backward op of its own needs that op as a row, too."""
    known = {n.removeprefix("aten::") for n in torch._C._dispatch_get_all_op_names()}
    missing = []
    for name in ROWS:
        base = name.partition(".")[0]
        for backward in (f"{base}_backward", f"{base.removesuffix('_forward')}_backward"):
            if backward not in known or base.endswith("_backward"):
                continue
            composite = has_kernel(f"aten::{backward}", "CompositeImplicitAutograd") or has_kernel(
                f"aten::{backward}", "CompositeExplicitAutograd"
            )
            if backward not in ROWS and not composite:
                missing.append((name, backward))
    assert missing == []


def x(*sizes):
    return torch.randn(*sizes, device="tpu")


def gate(cell):
    return lambda: cell(x(2, 3))


ARRIVES = {
    "native_layer_norm": lambda: F.layer_norm(x(2, 3), (3,)),
    "native_group_norm": lambda: F.group_norm(x(2, 4, 3), 2),
    "_fused_rms_norm": lambda: F.rms_norm(x(2, 3), (3,)),
    "_softmax": lambda: F.softmax(x(2, 3), -1),
    "_log_softmax": lambda: F.log_softmax(x(2, 3), -1),
    "convolution": lambda: F.conv2d(x(1, 2, 5, 5), x(3, 2, 3, 3)),
    "embedding": lambda: F.embedding(torch.tensor([1, 0], device="tpu"), x(3, 2)),
    "_scaled_dot_product_fused_attention_overrideable": lambda: F.scaled_dot_product_attention(
        x(1, 2, 4, 8), x(1, 2, 4, 8), x(1, 2, 4, 8)
    ),
    "_thnn_fused_lstm_cell": gate(nn.LSTMCell(3, 4).to("tpu")),
    "_thnn_fused_gru_cell": gate(nn.GRUCell(3, 4).to("tpu")),
    "_foreach_add.List": lambda: torch._foreach_add([x(2)], [x(2)]),
    "addmm": lambda: F.linear(x(2, 3), x(4, 3), x(4)),
    "bmm": lambda: x(2, 3, 4) @ x(2, 4, 5),
    "nll_loss_forward": lambda: F.cross_entropy(x(2, 3), torch.tensor([0, 1], device="tpu")),
    "gelu": lambda: F.gelu(x(3)),
    "index.Tensor": lambda: x(3)[torch.tensor([0], device="tpu")],
    "_index_put_impl": lambda: x(3).index_put_((torch.tensor([0], device="tpu"),), x(1)),
    "cat": lambda: torch.cat([x(2), x(3)]),
    "native_dropout": lambda: F.dropout(x(100), 0.5),
}


@pytest.mark.parametrize("row", ARRIVES)
def test_public_functions_arrive_whole(row, no_fallback):
    before = _C.row_calls()[row]
    ARRIVES[row]()
    assert _C.row_calls()[row] > before


OPTIMIZERS = {"_fused_adamw_": torch.optim.AdamW, "_fused_sgd_": torch.optim.SGD}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fused_optimizers_are_one_call(name, no_fallback):
    weight = x(3, 2).requires_grad_()
    optimizer = OPTIMIZERS[name]([weight], lr=0.1, fused=True)
    weight.grad = x(3, 2)
    optimizer.step()
    before = torch.tpu.counters()["launches"]
    optimizer.step()
    assert torch.tpu.counters()["launches"] - before <= 3
