"""Runs a sample of each n-th operator that PyTorch's database has, forward and backward.

Child of test_libtpu.py, with option dump=FOLDER: the programs of the op rows land there.
"""

import contextlib
import sys

import torch
from op_samples import call, entries, operands_of, samples, to_tpu
from torch.utils._pytree import tree_leaves


def run(op, dtype, requires_grad: bool) -> None:
    for sample in samples(op, dtype, requires_grad=requires_grad, count=1):
        out = call(op, to_tpu(operands_of(sample), op.name))
        outs = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad]
        if outs:
            torch.autograd.backward(outs, [torch.ones_like(t) for t in outs])


def main(step: int) -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        for op in entries(dtype)[::step]:
            with contextlib.suppress(Exception):  # test_ops.py says what must work
                run(op, dtype, dtype.is_floating_point and op.supports_autograd)
    torch.tpu.synchronize()


if __name__ == "__main__":
    main(int(sys.argv[1]))
