"""PyTorch's own operator samples (op_db), run on tpu and on the CPU and compared."""

import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map_only

warnings.filterwarnings("ignore")

SAMPLES = 6

# Largest difference allowed, relative and absolute. float32 products run at HIGHEST.
TOLERANCE = {
    torch.float32: (2e-5, 2e-5),
    torch.bfloat16: (1.6e-2, 1e-2),
    torch.float16: (2e-3, 2e-3),
    torch.float64: (1e-9, 1e-9),
    torch.complex64: (1e-4, 1e-4),
}

# Values differ by nature (random draws, uninitialised memory): dtype, shape and strides are compared.
VALUES_DIFFER = {
    "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential",
    "geometric", "log_normal", "multinomial", "new_empty", "new_empty_strided", "nn.functional.alpha_dropout",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d", "nn.functional.multi_head_attention_forward",
    "nn.functional.rrelu", "normal", "pca_lowrank", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "svd_lowrank", "uniform", "bernoulli", "nn.functional.scaled_dot_product_attention",
}  # fmt: skip


def entries(dtype: torch.dtype) -> list:
    """The op_db entries that CPU PyTorch supports for a dtype."""
    return [op for op in op_db if dtype in op.dtypes and "sparse" not in op.name]


def samples(op, dtype: torch.dtype, requires_grad: bool = False) -> list:
    """Up to SAMPLES samples, spread over all that the entry has, the same in every run."""
    torch.manual_seed(0)
    made = list(op.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    step = max(1, len(made) // SAMPLES)
    return made[::step][:SAMPLES]


def to_tpu(tree):
    """Tensors moved, generators and devices replaced; leaves that need gradients stay leaves."""

    def move(t):
        moved = t.detach().to("tpu")
        return moved.requires_grad_(t.requires_grad)

    tree = tree_map_only(torch.Tensor, move, tree)
    tree = tree_map_only(torch.device, lambda d: torch.device("tpu"), tree)
    if isinstance(tree, dict) and tree.get("device") == "cpu":
        tree["device"] = "tpu"
    return tree


def to_cpu(tree):
    return tree_map_only(torch.Tensor, lambda t: t.detach().cpu(), tree)


def strides_matter(tensor: torch.Tensor) -> list:
    """Strides of dimensions that have more than one element: the only ones with a meaning."""
    if tensor.numel() == 0:
        return []
    return [s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1]


def compare(actual, expected, op_name: str, rtol: float, atol: float) -> None:
    """Asserts equal structure, dtype, shape, strides, and values within tolerance."""
    if isinstance(expected, torch.Tensor):
        assert actual.dtype == expected.dtype, f"dtype {actual.dtype}, CPU has {expected.dtype}"
        assert actual.shape == expected.shape, f"shape {actual.shape}, CPU has {expected.shape}"
        mine, theirs = strides_matter(actual), strides_matter(expected)
        assert mine == theirs, f"strides {actual.stride()}, CPU has {expected.stride()}"
        if op_name not in VALUES_DIFFER:
            torch.testing.assert_close(
                actual.detach().cpu().resolve_conj().resolve_neg(),
                expected.detach().resolve_conj().resolve_neg(),
                rtol=rtol,
                atol=atol,
                equal_nan=True,
            )
        return
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            compare(a, e, op_name, rtol, atol)
        return
    if isinstance(expected, float):
        torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
        return
    if isinstance(expected, (int, bool, str, type(None))):
        assert actual == expected
