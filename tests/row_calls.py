"""Calls of the rows that PyTorch's samples do not reach, each held to the CPU's answer.

Every call must raise its row's counter: an operator that took another way (a fallback, a
decomposition) is found here. Where CPU PyTorch has no kernel the reference is the formula in
plain operators.
"""

import torch
from op_samples import compare
from torch.utils._pytree import tree_map_only


def rand(*shape, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + len(shape)))


def on_tpu(tree):
    return tree_map_only(torch.Tensor, lambda t: t.to("tpu"), tree)


def overload(name: str):
    base, _, kind = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), kind or "default")


class Ran:
    """Asserts that the named rows were called inside the block."""

    def __init__(self, *names: str):
        self.names = names

    def __enter__(self):
        from tputorch import _C

        self.before = _C.row_calls()

    def __exit__(self, kind, value, trace):
        from tputorch import _C

        if kind is None:
            after = _C.row_calls()
            idle = [n for n in self.names if after[n] == self.before[n]]
            assert not idle, f"rows that did not run: {idle}"


def check(name: str, *args, reference=None, by: str = "", **kwargs) -> None:
    """Row `name`, reached through operator `by` (else its own), against the CPU."""
    op = overload(by or name)
    cpu = reference or op
    copies = tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
    moved = on_tpu((args, kwargs))
    try:
        with Ran(name):
            actual = op(*moved[0], **moved[1])
        compare(actual, cpu(*copies[0], **copies[1]), name)
    except Exception as error:
        error.add_note(f"row {name}")
        raise


def check_elementwise() -> None:
    ints = torch.tensor([1, 2, 3, -4])
    for name in ("__lshift__", "__rshift__"):
        check(f"{name}.Tensor", ints, torch.tensor([0, 1, 2, 3]))
        check(f"{name}.Scalar", ints, 2)
    check("remainder.Scalar_Tensor", 7, torch.tensor([2.0, -3.0, 0.5]))
    check("clamp_max", rand(5), 0.25)
    check("fill.Tensor", rand(2, 3), torch.tensor(2.5))
    check("copy", rand(2, 3), rand(3))
    mask = torch.tensor([[[True, False], [True, True]], [[False, False], [True, False]]])
    check("any.dims", mask, [0, 2])
    check("all.dims", mask, [0, 2], True)
    check("count_nonzero.dim_IntList", mask, [0, 1])
    check("norm.ScalarOpt_dim_dtype", rand(2, 3), 2, [1], False, dtype=torch.float64)
    check("median.dim", rand(3, 5), 1)
    index = torch.tensor([[0, 1, 1], [2, 0, 2]])
    for reduce in ("add", "multiply"):
        check("scatter.reduce", rand(3, 3), 0, index, rand(2, 3), reduce=reduce)
        check("scatter.value_reduce", rand(3, 3), 0, index, 2.5, reduce=reduce)


def check_matmul() -> None:
    for use_gelu in (False, True):
        check("_addmm_activation", rand(4), rand(3, 2), rand(2, 4), use_gelu=use_gelu)
    a = torch.arange(32 * 16).reshape(32, 16).remainder(251).sub(125).to(torch.int8)
    check("_int_mm", a, a.t().contiguous())
    conv = (rand(2, 3, 5, 5), rand(4, 3, 3, 3), rand(4), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    check("convolution_overrideable", *conv, reference=torch.ops.aten.convolution)

    def conv_backward(
        grad, x, w, stride, padding, dilation, transposed, output_padding, groups, mask
    ):
        sizes = [w.shape[0]]
        rest = (stride, padding, dilation, transposed, output_padding, groups, mask)
        return torch.ops.aten.convolution_backward(grad, x, w, sizes, *rest)

    rest = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True])
    args = (rand(2, 4, 5, 5, seed=1), conv[0], conv[1], *rest)
    check("convolution_backward_overrideable", *args, reference=conv_backward)


def check_norm() -> None:
    x, weight, bias = rand(3, 2, 4), rand(2), rand(2, seed=1)
    mean, var = rand(2, seed=2), rand(2, seed=3).abs()
    check("_native_batch_norm_legit.no_stats", x, weight, bias, True, 0.1, 1e-5)
    for training in (True, False):
        args = (x, weight, bias, mean, var, training, 0.1, 1e-5)
        check("_native_batch_norm_legit_functional", *args)
    for name in (
        "_native_batch_norm_legit_no_training",
        "_batch_norm_with_update_functional",
        "_batch_norm_no_update",
    ):
        check(name, x, weight, bias, mean, var, 0.1, 1e-5)


def check_losses() -> None:
    target = torch.tensor([[[0, 1], [2, 1]]])
    scores = rand(1, 3, 2, 2)
    total = torch.tensor(4.0)
    check("nll_loss2d_backward", torch.tensor(1.5), scores, target, None, 1, -100, total)


def check_windows() -> None:
    small, large = [1, 2, 3, 4, 5], [4, 5, 6]
    for kind in ("reflection", "replication"):
        args = (rand(1, 2, 5, 6, 7), rand(*small), [1] * 6)
        check(f"{kind}_pad3d_backward", *args)
    for kind in ("upsample_nearest3d", "_upsample_nearest_exact3d"):
        check(f"{kind}_backward", rand(1, 2, *large), large, small, None, None, None)
    image = rand(1, 2, 6, 5)
    check("_upsample_bicubic2d_aa", image, [3, 4], False, None, None)
    grad = rand(1, 2, 3, 4)
    check("_upsample_bicubic2d_aa_backward", grad, [3, 4], [1, 2, 6, 5], False, None, None)


def check_attention() -> None:
    x = rand(2, 4, 6)
    mask = torch.tensor([[False, False, True, False], [False, True, True, False]])
    scores, full = rand(2, 2, 4, 4), mask[:, None, None, :].expand(2, 2, 4, 4).contiguous()
    check("_masked_softmax", scores, full, -1, 2)
    check("_masked_softmax_backward", scores, torch.softmax(scores, -1), full, -1)
    weights = (rand(18, 6), rand(18), rand(6, 6), rand(6))
    check("_native_multi_head_attention", x, x, x, 6, 2, *weights)
    norms = (rand(6, seed=1), rand(6, seed=2), rand(6, seed=3), rand(6, seed=4))
    feed = (rand(8, 6), rand(8), rand(6, 8), rand(6))
    encoder = (x, 6, 2, *weights, True, False, 1e-5, *norms, *feed)
    check("_transformer_encoder_layer_fwd", *encoder)
    check_fused_attention()


def check_fused_attention() -> None:
    """The way that scaled_dot_product_attention takes, with gradients."""
    attend = torch.nn.functional.scaled_dot_product_attention
    mask = torch.tensor([[True, False, True, True]])
    for options in (
        {"is_causal": True},
        {"attn_mask": mask},
        {"attn_mask": rand(4, 4)},
        {"scale": 2.0},
    ):
        grads = []
        with Ran(
            "_scaled_dot_product_fused_attention_overrideable",
            "_scaled_dot_product_fused_attention_overrideable_backward",
        ):
            for device in ("cpu", "tpu"):
                moved = tree_map_only(torch.Tensor, lambda t, d=device: t.to(d), options)
                shapes = [rand(1, 2, 4, 8, seed=s).to(device).requires_grad_() for s in range(3)]
                out = attend(*shapes, **moved)
                grads.append([out, *torch.autograd.grad((out * out).sum(), shapes)])
        for theirs, ours in zip(*grads, strict=True):
            torch.testing.assert_close(ours.detach().cpu(), theirs.detach(), rtol=2e-5, atol=2e-5)


def check_cells() -> None:
    for kind, rows in (
        (torch.nn.LSTMCell, ("_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl")),
        (torch.nn.GRUCell, ("_thnn_fused_gru_cell", "_thnn_fused_gru_cell_backward")),
    ):
        torch.manual_seed(0)
        cell, x, grads = kind(3, 4), rand(2, 3), []
        with Ran(*rows):
            for device in ("cpu", "tpu"):
                mine = kind(3, 4).to(device)
                mine.load_state_dict(cell.state_dict())
                leaf = x.to(device).requires_grad_()
                out = mine(leaf)
                out = out if isinstance(out, tuple) else (out,)
                total = sum((o * o).sum() for o in out)
                leaves = [leaf, *mine.parameters()]
                grads.append([total, *out, *torch.autograd.grad(total, leaves)])
        for theirs, ours in zip(*grads, strict=True):
            torch.testing.assert_close(ours.detach().cpu(), theirs.detach(), rtol=2e-5, atol=2e-5)


FOREACH_UNARY = [
    "abs", "ceil", "cos", "exp", "expm1", "floor", "log", "log1p", "neg", "round", "rsqrt",
    "sigmoid", "sin", "sqrt", "tan", "tanh", "acos", "asin", "atan", "cosh", "erf", "erfc",
    "frac", "lgamma", "log10", "log2", "reciprocal", "sign", "sinh", "trunc",
]  # fmt: skip
FOREACH_BINARY = {
    "add": "List Scalar ScalarList Tensor",
    "sub": "List Scalar ScalarList",
    "mul": "List Scalar ScalarList Tensor",
    "div": "List Scalar ScalarList Tensor",
    "clamp_min": "List Scalar ScalarList",
    "clamp_max": "List Scalar ScalarList",
    "maximum": "List Scalar ScalarList",
    "minimum": "List Scalar ScalarList",
    "pow": "List Scalar ScalarList",
}


def check_foreach() -> None:
    xs = [rand(2, 3).abs().clamp(0.1, 0.9), rand(4, seed=1).abs().clamp(0.1, 0.9)]
    ys = [rand(2, 3, seed=2).abs() + 0.5, rand(4, seed=3).abs() + 0.5]
    zs = [rand(2, 3, seed=4).abs() + 0.5, rand(4, seed=5).abs() + 0.5]
    for name in FOREACH_UNARY:
        check(f"_foreach_{name}", xs)
    second = {"List": ys, "Scalar": 1.5, "ScalarList": [1.5, 0.25], "Tensor": torch.tensor(1.5)}
    for name, kinds in FOREACH_BINARY.items():
        for kind in kinds.split():
            check(f"_foreach_{name}.{kind}", xs, second[kind])
    check("_foreach_pow.ScalarAndTensor", 1.5, xs)
    for name in ("addcmul", "addcdiv"):
        check(f"_foreach_{name}.Scalar", xs, ys, zs, 0.5)
        check(f"_foreach_{name}.ScalarList", xs, ys, zs, [0.5, 2.0])
        check(f"_foreach_{name}.Tensor", xs, ys, zs, torch.tensor([0.5, 2.0]))
    check("_foreach_lerp.List", xs, ys, zs)
    check("_foreach_lerp.Scalar", xs, ys, 0.75)
    check("_foreach_lerp.ScalarList", xs, ys, [0.25, 0.75])
    check("_foreach_zero", xs)
    check("_foreach_copy", xs, ys)
    check("_foreach_norm.Scalar", xs, 2)


def check_optimizers() -> None:
    p, g = [rand(3), rand(2, 2)], [rand(3, seed=1), rand(2, 2, seed=1)]
    m, v = [t * 0.1 for t in g], [t * t for t in g]
    steps = [torch.tensor(3.0), torch.tensor(3.0)]
    for kind in ("_fused_adam", "_fused_adamw"):
        options = dict(beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8, maximize=False)
        check(kind, p, g, m, v, v, steps, lr=0.1, amsgrad=True, **options)
        lr = torch.tensor(0.1)
        check(f"{kind}.tensor_lr", p, g, m, v, [], steps, lr=lr, amsgrad=False, **options)
    options = dict(momentum=0.9, dampening=0.0, nesterov=True, maximize=False, is_first_step=False)
    check("_fused_sgd", p, g, m, weight_decay=0.1, lr=0.1, **options)
    check("_fused_sgd.tensor_lr", p, g, m, weight_decay=0.1, lr=torch.tensor(0.1), **options)
    zero, scale = torch.zeros(1), torch.tensor([0.5])
    check("_amp_foreach_non_finite_check_and_unscale", g, zero, scale)
    bad = [g[0], torch.tensor([[1.0, float("inf")], [0.0, 0.0]])]
    check("_amp_foreach_non_finite_check_and_unscale", bad, zero, scale)
    tracker = torch.tensor([3], dtype=torch.int32)
    for found in (torch.zeros(1), torch.ones(1)):
        args = (torch.tensor([8.0]), tracker, found, 2.0, 0.5, 4)
        check("_amp_update_scale", *args)


def check_lookups() -> None:
    edges, values = torch.tensor([0.0, 1.0, 2.5, 4.0]), torch.tensor([1, 2, 3, 2])
    check("bucketize.Scalar", 1.5, edges)
    check("searchsorted.Scalar", edges, 2.5, right=True)
    check("isin.Tensor_Scalar", values, 2)
    check("isin.Scalar_Tensor", 2, values, invert=True)


def check_weight_norm() -> None:
    v, g = rand(4, 3), rand(4, 1).abs()
    check("_weight_norm_interface", v, g, 0)
    _, lengths = torch.ops.aten._weight_norm_interface(v, g, 0)
    check("_weight_norm_interface_backward", rand(4, 3, seed=3), v, g, lengths, 0)


def check_random() -> None:
    x = torch.zeros(100, device="tpu")
    with Ran("random", "random.to", "bernoulli.Tensor", "normal.float_Tensor"):
        assert x.random_().max() > 1000
        assert x.random_(3).min() >= 0 and x.max() == 2
        p = torch.tensor([0.0, 1.0], device="tpu")
        assert torch.empty(2, device="tpu").bernoulli_(p).tolist() == [0, 1]
        assert torch.normal(2.0, torch.zeros(3, device="tpu")).tolist() == [2, 2, 2]
    with Ran("randperm"):
        order = torch.ops.aten.randperm(50, device="tpu", pin_memory=False)
    assert sorted(order.tolist()) == list(range(50))
    with Ran("randperm.generator"):
        order = torch.randperm(50, device="tpu", generator=torch.Generator("tpu"))
    assert sorted(order.tolist()) == list(range(50))


def check_rejection() -> None:
    rates = torch.full((500,), 4.0, device="tpu")
    with Ran("poisson", "binomial", "_standard_gamma", "_sample_dirichlet", "rrelu_with_noise"):
        assert abs(torch.poisson(rates).mean().item() - 4) < 0.5
        assert abs(torch.binomial(rates, rates / 8).mean().item() - 2) < 0.3
        assert abs(torch._standard_gamma(rates).mean().item() - 4) < 0.5
        assert abs(torch._sample_dirichlet(rates).sum().item() - 1) < 1e-4
        assert torch.nn.functional.rrelu(-rates, training=True).max() < 0


def check_sized() -> None:
    x = torch.tensor([[1, 0], [1, 0], [2, 5]])
    with Ran("sized_nonzero", "sized_select", "sized_unique", "sized_unique_rows"):
        compare(x.tpu().nonzero(), x.nonzero(), "nonzero")
        compare(x.tpu()[x.tpu() > 1], x[x > 1], "x[mask]")
        compare(torch.unique(x.tpu()), torch.unique(x), "unique")
        compare(torch.unique(x.tpu(), dim=0), torch.unique(x, dim=0), "unique_dim")
    check("nonzero_static", x, size=2)
    check("masked_scatter", x, x > 0, torch.arange(9))
    check("histc", x.float(), 3, 0, 4)


def check_linalg() -> None:
    spd = torch.tensor([[4.0, 2.0], [2.0, 5.0]])
    check("linalg_cholesky_ex", spd)
    check("linalg_solve_triangular", spd, spd, upper=True)
    check("_cholesky_solve_helper", spd, torch.linalg.cholesky(spd), False)
    check("_fft_r2c", spd, [1], 0, True)
    spectrum = torch.fft.rfft(spd)
    check("_fft_c2c", spectrum, [0], 0, True)
    check("_fft_c2r", spectrum, [1], 2, 2)
    distances = torch.cdist(spd, spd)
    check("_cdist_forward", spd, spd, 2.0, None)
    check("_cdist_backward", distances, spd, spd, 2.0, distances)


CHECKS = [
    check_elementwise, check_matmul, check_norm, check_losses, check_windows, check_attention,
    check_cells, check_foreach, check_optimizers, check_lookups, check_weight_norm, check_random,
    check_rejection, check_sized, check_linalg,
]  # fmt: skip
