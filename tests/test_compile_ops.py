"""PyTorch's operator samples (op_db), each compiled whole on tpu and compared with the CPU."""

import op_samples
import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map_only

COUNT = 200
# Dynamo cannot trace these whole (their results' sizes depend on values, or they take lists apart).
NOT_WHOLE = {
    "allclose", "argwhere", "combinations", "equal", "histogramdd", "item", "masked_select",
    "nonzero", "nonzero_static", "unique", "unique_consecutive", "tensor_split", "corrcoef",
    "nn.functional.ctc_loss", "linalg.lstsq",
}  # fmt: skip


def chosen() -> list:
    """Entries whose operator is a row of the table, spread over all. Entries of random operators
    save and restore the generator's state, which Dynamo does not trace."""
    rows = {row["name"].partition(".")[0] for row in torch.tpu._C.rows()}
    fit = [
        op
        for op in op_samples.entries(torch.float32)
        if op.name not in (NOT_WHOLE | op_samples.VALUES_DIFFER) and not op.variant_test_name
    ]
    common = [op for op in fit if op.aten_name in rows]
    step = len(common) / COUNT
    return [common[int(i * step)] for i in range(min(COUNT, len(common)))]


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("op", chosen(), ids=lambda op: op.name)
def test_operator_compiles_whole(op, highest):
    (sample,) = op_samples.samples(op, torch.float32, count=1)[:1]
    operands = op_samples.operands_of(sample)
    there = op_samples.to_tpu(operands, op.name)

    def call(first, args, kwargs):
        return op.op(first, *args, **kwargs)

    with torch.no_grad():
        actual = torch.compile(call, fullgraph=True)(*there)
        expected = call(*tree_map_only(torch.Tensor, torch.clone, operands))
    for mine, theirs in zip(tree_leaves(actual), tree_leaves(expected), strict=True):
        if not isinstance(theirs, torch.Tensor):
            assert mine == theirs
            continue
        op_samples.compare_layout(mine, theirs, op.name)
        op_samples.compare_values(mine, theirs)
