"""Bug reports about float64 and about dtypes that change on the way."""

import pytest
import torch
from oracle import check


def test_up_050_double_tables_move_and_compute():
    def program(device):
        grid = torch.zeros(8, 3, dtype=torch.float64).to(device)
        angles = torch.outer(torch.arange(5.0, dtype=torch.float64), torch.rand(3).double())
        table = torch.polar(torch.ones_like(angles), angles).to(device)
        x = torch.randn(5, 3, dtype=torch.complex128).to(device)
        return grid + 1, table, table * x, torch.view_as_real(table * x)

    check(program)


def test_up_052_double_is_not_float():
    def program(device):
        x = torch.tensor(2147483647).to(device).double()
        return x < 2147483647 + 0.9, x + 2**-20, torch.tensor(1e300).double().to(device) * 1e5

    assert check(program)[0].item()


@pytest.mark.parametrize(
    "dtype",
    [torch.uint8, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16]
    + [torch.float64, torch.bool, torch.complex64],
)
def test_up_053_data_movement_keeps_the_dtype(dtype):
    def program(device):
        x = torch.arange(6).to(dtype).reshape(2, 3).to(device)
        index = torch.tensor([0, 5, 2]).to(device)
        return [
            x.take(index), x.flip(0), x.roll(1), x.repeat(2, 1), x.tril(), x.diag(),
            x.t().clone(), torch.cat([x, x]), torch.where(x == x, x, x),
            x.masked_fill(x == x, 1), x.unfold(1, 2, 1), torch.nn.functional.pad(x, (1, 1)),
            x.repeat_interleave(2, 0), x.expand(2, 2, 3).clone(), x.new_zeros(2),
            torch.full_like(x, 1), x.scatter(0, index[:1, None] * 0, x[:1, :1]),
        ]  # fmt: skip

    check(program)
