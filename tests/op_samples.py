"""PyTorch's own operator samples (op_db), run on tpu and on the CPU and compared.

The tolerance is that of a result's dtype. For bf16 and f16 there are two right answers: the
CPU's, which rounds after each step inside an operator, and the CPU's for the same inputs in
float32, rounded once, which is how the lowerings compute. Where equal elements may come in any
order (sort and its kin) the indices are held to what they point at.
"""

import warnings

import torch
from op_exceptions import OTHER_STRIDES
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

warnings.filterwarnings("ignore")

SAMPLES = 4

# Largest difference allowed in a result of the dtype, relative and absolute. float32 products
# run at HIGHEST. Dtypes that are not here are compared exactly.
TOLERANCE = {
    torch.float32: (2e-5, 2e-5),
    torch.bfloat16: (1.6e-2, 1e-2),
    torch.float16: (2e-3, 2e-3),
    torch.float64: (1e-9, 1e-9),
    torch.complex64: (1e-4, 1e-4),
    torch.complex128: (1e-9, 1e-9),
}

# Values differ by nature (random draws, uninitialised memory): dtype, shape and strides are
# compared.
VALUES_DIFFER = {
    "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential",
    "geometric", "log_normal", "multinomial", "new_empty", "new_empty_strided",
    "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.rrelu", "normal", "pca_lowrank",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "svd_lowrank", "uniform",
}  # fmt: skip

# (values, indices) or indices alone, where equal elements may come in any order: the position
# of `dim` among the arguments after the tensor.
ORDERS = {"argsort": 0, "sort": 0, "topk": 1, "kthvalue": 1, "median": 0, "nanmedian": 0, "mode": 0}

# Arguments after the first that PyTorch wants on the CPU.
HOST_ARGUMENTS = {"tensor_split"}

# Saved statistics of normalisation: float32 on tpu for 16-bit inputs, as on CUDA, so that the
# backward pass does not start from rounded numbers; the CPU rounds them to the input's dtype.
FLOAT32_STATISTICS = {
    "native_layer_norm", "native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update",
}  # fmt: skip


def entries(dtype: torch.dtype) -> list:
    """The op_db entries that CPU PyTorch has for a dtype; jiterator ones are for CUDA only."""
    skipped = ("sparse", "jiterator")
    return [op for op in op_db if dtype in op.dtypes and not any(s in op.name for s in skipped)]


def samples(op, dtype: torch.dtype, requires_grad: bool = False, count: int = SAMPLES) -> list:
    """Up to `count` samples, spread over all that the entry has, the same in every run."""
    torch.manual_seed(0)
    made = list(op.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    step = max(1, len(made) // count)
    return made[::step][:count]


def call(op, operands):
    first, args, kwargs = operands
    return op(first, *args, **kwargs)


def operands_of(sample):
    return sample.input, list(sample.args), dict(sample.kwargs)


def to_tpu(operands, op_name: str = ""):
    """Tensors moved, devices replaced; leaves that need gradients stay leaves."""

    def move(t):
        moved = t.detach().to("tpu")
        return moved.requires_grad_(t.requires_grad)

    first, args, kwargs = operands
    if op_name not in HOST_ARGUMENTS:
        args, kwargs = tree_map_only(torch.Tensor, move, (args, kwargs))
    moved = tree_map_only(torch.Tensor, move, first), args, kwargs
    moved = tree_map_only(torch.device, lambda d: torch.device("tpu"), moved)
    if moved[2].get("device") == "cpu":
        moved[2]["device"] = "tpu"
    return moved


def is_random(op, operands) -> bool:
    _, args, kwargs = operands
    if op.name == "nn.functional.multi_head_attention_forward":
        return args[9] > 0 and kwargs.get("training", True)
    return op.name in VALUES_DIFFER or kwargs.get("dropout_p", 0) > 0


def rounded_once(op, operands, expected):
    """The CPU's answer to the operands in float32, rounded as `expected`; None without one."""
    low = (torch.bfloat16, torch.float16)
    tree = tree_leaves((operands, expected))
    if not any(isinstance(t, torch.Tensor) and t.dtype in low for t in tree):
        return None
    wide = tree_map_only(torch.Tensor, lambda t: t.float() if t.dtype in low else t, operands)
    try:
        answer = call(op, wide)
        return tree_map(as_dtype_of, answer, expected)
    except Exception:  # noqa: BLE001
        return None


def as_dtype_of(t, like):
    return t.to(like.dtype) if isinstance(like, torch.Tensor) else t


def strides_matter(tensor: torch.Tensor) -> list:
    """Strides of dimensions that have more than one element: the only ones with a meaning."""
    if tensor.numel() == 0:
        return []
    return [s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1]


def compare_layout(actual, expected, op_name: str = "") -> None:
    assert actual.dtype == expected.dtype, f"dtype {actual.dtype}, CPU has {expected.dtype}"
    assert actual.shape == expected.shape, f"shape {actual.shape}, CPU has {expected.shape}"
    if op_name in OTHER_STRIDES:
        return
    mine, theirs = strides_matter(actual), strides_matter(expected)
    assert mine == theirs, f"strides {actual.stride()}, CPU has {expected.stride()}"


def compare_values(actual, expected, also=None, tolerance=None) -> None:
    """Within tolerance of `expected`, or of `also` where there is one."""
    rtol, atol = tolerance or TOLERANCE.get(expected.dtype, (0, 0))
    plain = actual.detach().cpu().resolve_conj().resolve_neg()
    options = dict(rtol=rtol, atol=atol, equal_nan=True)
    try:
        torch.testing.assert_close(plain, expected.detach().resolve_conj().resolve_neg(), **options)
    except AssertionError:
        if also is None:
            raise
        torch.testing.assert_close(plain, also.detach().resolve_conj().resolve_neg(), **options)


def compare(actual, expected, op_name: str, also=None, values: bool = True) -> None:
    """Asserts equal structure, dtype, shape, strides, and (`values`) values within tolerance."""
    if isinstance(expected, torch.Tensor):
        compare_layout(actual, expected, op_name)
        if values:
            compare_values(actual, expected, also)
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        others = also if also is not None else [None] * len(expected)
        for i, (a, e, o) in enumerate(zip(actual, expected, others, strict=True)):
            if i > 0 and op_name in FLOAT32_STATISTICS and e.dtype != a.dtype == torch.float32:
                a = a.to(e.dtype)
            compare(a, e, op_name, o, values)
    elif isinstance(expected, float) and values:
        torch.testing.assert_close(actual, expected, rtol=2e-5, atol=2e-5, equal_nan=True)
    elif values:
        assert actual == expected


def compare_order(actual, expected, op_name: str, operands) -> None:
    """For ORDERS: the values agree and the indices point at them, each element used once."""
    first, args, kwargs = operands
    if (
        isinstance(expected, torch.Tensor)
        and expected.dtype == first.dtype
        and op_name != "argsort"
    ):
        compare(actual, expected, op_name)  # of all elements: no indices
        return
    place = ORDERS[op_name]
    dim = kwargs.get("dim", args[place] if len(args) > place else -1)
    pair = (None, actual) if op_name == "argsort" else actual
    wanted = (None, expected) if op_name == "argsort" else expected
    compare_layout(pair[1], wanted[1])
    if op_name != "argsort":
        compare(pair[0], wanted[0], op_name)
    if first.dim() == 0:
        return
    mine, theirs = pair[1].cpu(), wanted[1]
    if mine.dim() < first.dim():
        mine, theirs = mine.unsqueeze(dim), theirs.unsqueeze(dim)
    compare_values(first.gather(dim, mine), first.gather(dim, theirs), tolerance=(0, 0))
    if mine.numel():
        ranked = mine.sort(dim).values
        assert (ranked.diff(dim=dim) > 0).all(), "an index comes twice"
