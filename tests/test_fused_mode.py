"""Fused mode: calls gather in windows that run as one program.

Results, errors and random numbers are those of the strict mode; the portable tests run in it whole.
"""

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

TESTS = Path(__file__).parent


@pytest.fixture
def fused():
    with torch.tpu.set_eager_mode(torch.tpu.EagerMode.DEFER_AND_FUSE):
        yield


def counters(name):
    return torch.tpu.counters()[name]


def test_mode_is_set_for_a_block():
    assert torch.tpu.eager_mode() is torch.tpu.EagerMode.DEFER_NEVER
    with torch.tpu.set_eager_mode(torch.tpu.EagerMode.DEFER_AND_FUSE):
        assert torch.tpu.eager_mode() is torch.tpu.EagerMode.DEFER_AND_FUSE
    assert torch.tpu.eager_mode() is torch.tpu.EagerMode.DEFER_NEVER
    with pytest.raises(TypeError, match="EagerMode"):
        torch.tpu.set_eager_mode("fused")


def test_a_chain_is_one_launch(fused):
    x = torch.arange(12.0, device="tpu").reshape(3, 4)
    torch.tpu.synchronize()
    before = counters("launches")
    y = ((x + 1) * 2 - x.sum(1, keepdim=True)).relu()
    y.mul_(0.5)[0].zero_()
    assert counters("launches") == before
    z = torch.arange(12.0).reshape(3, 4)
    want = ((z + 1) * 2 - z.sum(1, keepdim=True)).relu()
    want.mul_(0.5)[0].zero_()
    torch.testing.assert_close(y.cpu(), want)
    assert counters("launches") == before + 1


def test_views_share_their_storage(fused):
    x = torch.zeros(4, 6, device="tpu")
    rows, flat = x[1:3], x.view(-1)
    rows.t().add_(1)
    flat[::5] = 7
    x.diagonal().mul_(3)
    y = torch.zeros(4, 6)
    y[1:3].t().add_(1)
    y.view(-1)[::5] = 7
    y.diagonal().mul_(3)
    torch.testing.assert_close(x.cpu(), y)
    torch.testing.assert_close(rows.cpu(), y[1:3])


def test_random_numbers_are_those_of_strict_mode():
    def draw():
        torch.manual_seed(3)
        x = torch.rand(5, device="tpu")
        return [x, torch.nn.functional.dropout(x, 0.5), torch.randn(4, device="tpu")]

    want = [t.cpu() for t in draw()]
    with torch.tpu.set_eager_mode(torch.tpu.EagerMode.DEFER_AND_FUSE):
        got = draw()
        state = torch.tpu.get_rng_state()
        got = [t.cpu() for t in got]
        assert torch.equal(state, torch.tpu.get_rng_state())
    for a, b in zip(got, want, strict=True):
        assert torch.equal(a, b)


def test_an_error_names_its_call_and_spoils_nothing_else(fused):
    table = torch.ones(3, 2, device="tpu")
    good = table * 2
    bad = torch.nn.functional.embedding(torch.tensor([5], device="tpu"), table)
    after, other = bad + 1, table * 3
    with pytest.raises(IndexError, match="embedding.*test_fused_mode.py"):
        after.cpu()
    torch.testing.assert_close(good.cpu(), torch.full((3, 2), 2.0))
    torch.testing.assert_close(other.cpu(), torch.full((3, 2), 3.0))
    with pytest.raises(IndexError):
        bad.cpu()


def test_a_failed_write_leaves_its_tensor(fused):
    x = torch.zeros(3, device="tpu")
    x.add_(1)
    x.index_add_(0, torch.tensor([7], device="tpu"), torch.ones(1, device="tpu"))
    with pytest.raises(IndexError):
        x.cpu()
    torch.testing.assert_close(x.cpu(), torch.ones(3))


def test_out_of_memory_is_that_of_the_call(fused):
    free, total = torch.tpu.mem_get_info()
    part = torch.zeros(int(total * 0.6) // 4, device="tpu")
    keep = part + 1
    with pytest.raises(torch.OutOfMemoryError):
        (part * 2).sum().item()
    del part, keep
    assert torch.ones(3, device="tpu").sum().item() == 3


def test_training_compiles_a_constant_number_of_programs():
    torch.manual_seed(0)
    reference = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
    x, y = torch.randn(32, 8), torch.randint(0, 4, (32,))

    def train(model, device, steps):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        inputs, targets = x.to(device), y.to(device)
        marks, losses = [], []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            marks.append(counters("compiles"))
        return torch.tensor(losses), marks

    model = copy.deepcopy(reference).to("tpu")
    want, _ = train(reference, "cpu", 20)
    fused_mode = torch.tpu.set_eager_mode(torch.tpu.EagerMode.DEFER_AND_FUSE)
    with fused_mode, torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        got, marks = train(model, "tpu", 20)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    assert marks[3] == marks[-1], marks


def test_dead_values_are_not_computed(fused):
    x = torch.ones(4, device="tpu")
    torch.tpu.synchronize()
    before = counters("launches")
    for _ in range(10):
        x.exp().sum()
    torch.tpu.synchronize()
    assert counters("launches") <= before + 1  # synchronize's own


def test_portable_tests_pass_in_fused_mode():
    options = os.environ.get("TPUTORCH_OPTIONS", "") + " eager_mode=fused"
    files = ["test_training.py", "test_traps.py"]
    skipped = "not test_steady_training_compiles_nothing"  # counts single calls
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", skipped]
    child = subprocess.run(
        command + [str(TESTS / name) for name in files],
        env=os.environ | {"TPUTORCH_OPTIONS": options},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout[-4000:]
