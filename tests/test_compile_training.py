"""Compiled training steps: optimizers, clipping, autocast, random numbers, checkpoints, memory.

Names that begin with an id (up_065 ...) are cases of the bug collection.
"""

import copy
import json
import os
import subprocess
import sys

import built
import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

close = torch.testing.assert_close


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


def make_model():
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))


OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05),
    "SGD_momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
    "AdamW_foreach_off": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=False),
    "Adam_amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_steps_follow_the_cpu(name, highest, no_fallback):
    model, x, y = make_model(), torch.randn(6, 8), torch.randn(6, 4)
    module, xt, yt = copy.deepcopy(model).to("tpu"), x.to("tpu"), y.to("tpu")
    optimizers = [OPTIMIZERS[name](m.parameters()) for m in (model, module)]
    compiled, step = torch.compile(module), torch.compile(optimizers[1].step)
    for _ in range(4):
        for optimizer in optimizers:
            optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        F.mse_loss(compiled(xt), yt).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        optimizers[0].step()
        step()
    for mine, theirs in zip(module.parameters(), model.parameters(), strict=True):
        close(mine.detach().cpu(), theirs.detach(), rtol=1e-4, atol=1e-5)


def training_step(module, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        loss = F.mse_loss(module(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


def test_a_whole_step_in_one_compiled_function(highest, no_fallback):
    """Dynamo breaks at backward(); what it makes of the rest must still train as the CPU does."""
    model = make_model()
    module = copy.deepcopy(model).to("tpu")
    theirs = training_step(model, torch.optim.AdamW(model.parameters(), lr=0.01))
    mine = torch.compile(training_step(module, torch.optim.AdamW(module.parameters(), lr=0.01)))
    for number in range(6):
        x, y = torch.randn(6, 8), torch.randn(6, 4)
        close(mine(x.to("tpu"), y.to("tpu")).item(), theirs(x, y).item(), rtol=1e-4, atol=1e-5)
        if number == 3:
            before = torch.tpu.counters()["compiles"]
    assert torch.tpu.counters()["compiles"] == before


# --- how many programs ------------------------------------------------------------------


def launched(function, *args):
    before = torch.tpu.counters()
    result = function(*args)
    after = torch.tpu.counters()
    return result, after["launches"] - before["launches"], after["compiles"] - before["compiles"]


def traced_step(module, optimizer, autocast):
    """As training_step, for torch._dynamo.config.trace_autograd_ops: the loss that outlives the
    backward pass is detached."""

    def step(x, y):
        optimizer.zero_grad()
        with torch.autocast(next(module.parameters()).device.type, torch.bfloat16, autocast):
            loss = F.mse_loss(module(x), y)
        loss.backward()
        loss = loss.detach()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("name", ["SGD_momentum", "Adam", "AdamW"])
def test_a_whole_step_is_two_programs(name, autocast, highest, no_fallback):
    """Forward, backward and clipping are one, the optimizer's step is the other."""
    model = make_model()
    module = copy.deepcopy(model).to("tpu")
    theirs = traced_step(model, OPTIMIZERS[name](model.parameters()), autocast)
    mine = traced_step(module, OPTIMIZERS[name](module.parameters()), autocast)
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        compiled = torch.compile(mine)
        for number in range(5):
            x, y = torch.randn(6, 8), torch.randn(6, 4)
            there = x.to("tpu"), y.to("tpu")
            loss, programs, compiles = launched(compiled, *there)
            close(loss.cpu(), theirs(x, y), rtol=2e-2 if autocast else 1e-4, atol=1e-5)
            if number > 1:
                assert (programs, compiles) == (2, 0)
    for a, b in zip(module.parameters(), model.parameters(), strict=True):
        close(a.detach().cpu(), b.detach(), rtol=1e-4, atol=2e-2 if autocast else 1e-5)


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("name", ["SGD_momentum", "Adam", "AdamW"])
def test_a_compiled_model_is_two_programs_a_step(name, autocast, no_fallback):
    """The usual form: the model compiled, the rest as it is written."""
    module = make_model().to("tpu")
    optimizer = OPTIMIZERS[name](module.parameters())

    @torch.compile
    def loss_of(x, y):
        with torch.autocast("tpu", enabled=autocast):
            return F.mse_loss(module(x), y)

    for number in range(4):
        x, y = torch.randn(6, 8, device="tpu"), torch.randn(6, 4, device="tpu")
        optimizer.zero_grad()
        loss, forward, first = launched(loss_of, x, y)
        ones = torch.ones_like(loss)
        _, backward, second = launched(loss.backward, ones)
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        _, _, third = launched(optimizer.step)
        if number:
            assert (forward, backward) == (1, 1)
            assert (first, second) == (0, 0)
    assert third == 0


def test_clipping_and_the_optimizer_are_two_programs(no_fallback):
    module = make_model().to("tpu")
    optimizer = torch.optim.AdamW(module.parameters())

    @torch.compile
    def update():
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()

    x = torch.randn(6, 8, device="tpu")
    for number in range(4):
        optimizer.zero_grad()
        module(x).square().sum().backward()
        _, programs, compiles = launched(update)
        if number:  # the first makes the optimizer's state
            assert programs <= 2 and (number < 2 or compiles == 0)


def test_compile_guard_holds_after_warm_up():
    module = make_model().to("tpu")
    step = torch.compile(training_step(module, torch.optim.Adam(module.parameters())))
    x, y = torch.randn(6, 8, device="tpu"), torch.randn(6, 4, device="tpu")
    for _ in range(4):
        step(x, y)
    with torch.tpu.compile_guard():
        step(x, y)
        with pytest.raises(RuntimeError, match="compile"):
            torch.compile(lambda x: x.sinh() * 3)(x)


def test_programs_name_their_function_and_reason():
    @torch.compile(dynamic=True)
    def halve_it(x):
        return x / 2

    for n in (5, 6):
        halve_it(torch.ones(n, device="tpu"))
    found = [c for c in torch.tpu.counters()["recent_compiles"] if "halve_it" in c["op"]]
    assert len(found) == 2 and all(c["reason"] and c["program_size"] > 0 for c in found), found


def test_up_190_synchronize_waits_for_compiled_work():
    import time

    w = torch.randn(512, 512, device="tpu")

    @torch.compile
    def work(x):
        for _ in range(30):
            x = torch.tanh(x @ w)
        return x

    x = torch.randn(512, 512, device="tpu")
    work(x)
    torch.tpu.synchronize()
    start = time.perf_counter()
    y = work(x)
    torch.accelerator.synchronize()
    waited = time.perf_counter() - start
    start = time.perf_counter()
    y[0, 0].item()
    assert time.perf_counter() - start < max(0.5 * waited, 0.02)


def test_steps_launch_few_programs_and_compile_once():
    module = make_model().to("tpu")
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.01)
    compiled, step = torch.compile(module), torch.compile(optimizer.step)
    x, y = torch.randn(6, 8, device="tpu"), torch.randn(6, 4, device="tpu")
    loss_of = torch.compile(lambda x, y: F.mse_loss(compiled(x), y))

    def whole():
        loss_of(x, y).backward()
        step()
        optimizer.zero_grad()

    for _ in range(4):
        whole()
    before = torch.tpu.counters()
    for _ in range(5):
        whole()
    after = torch.tpu.counters()
    assert after["compiles"] == before["compiles"]
    # Forward, backward, the gradient of the loss (ones), the step.
    assert after["launches"] - before["launches"] <= 5 * 4


@pytest.mark.parametrize("eager_steps", [0, 2])
def test_counters_of_an_optimizer_stay_on_the_device(eager_steps):
    """A compiled step is one launch, whatever the optimizer was told about `capturable`."""
    parameters = [nn.Parameter(torch.ones(4, device="tpu")) for _ in range(5)]
    for p in parameters:
        p.grad = torch.ones_like(p)
    optimizer = torch.optim.AdamW(parameters, lr=0.1)
    for _ in range(eager_steps):
        optimizer.step()
    step = torch.compile(optimizer.step)
    for _ in range(2):
        step()
    before = torch.tpu.counters()["launches"]
    step()
    assert torch.tpu.counters()["launches"] - before == 1
    state = optimizer.state[parameters[0]]
    assert state["step"].is_tpu and state["step"].item() == eager_steps + 3


def test_up_121_many_steps_of_adam_are_one_program():
    parameter = nn.Parameter(torch.ones(4, device="tpu"))
    optimizer = torch.optim.Adam([parameter], lr=1e-3)
    parameter.grad = torch.ones(4, device="tpu")
    step = torch.compile(optimizer.step)
    for _ in range(3):
        step()
    before = torch.tpu.counters()["compiles"]
    for _ in range(300):
        step()
    assert torch.tpu.counters()["compiles"] == before
    reference = nn.Parameter(torch.ones(4))
    optimizer = torch.optim.Adam([reference], lr=1e-3)
    reference.grad = torch.ones(4)
    for _ in range(303):
        optimizer.step()
    close(parameter.detach().cpu(), reference.detach(), rtol=1e-4, atol=1e-5)


def test_written_parameters_are_donated():
    """A compiled step writes parameters where they are: no second copy of them at the peak."""
    parameters = [nn.Parameter(torch.ones(256, 1024, device="tpu")) for _ in range(4)]
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    for p in parameters:
        p.grad = torch.ones_like(p)
    step = torch.compile(optimizer.step)
    for _ in range(2):
        step()
    torch.tpu.synchronize()
    before = torch.tpu.counters()
    torch.tpu.reset_peak_memory_stats()
    held = torch.tpu.memory_allocated()
    step()
    torch.tpu.synchronize()
    after = torch.tpu.counters()
    assert after["donations"] - before["donations"] >= 4
    assert after["refused_donations"] == before["refused_donations"]
    assert torch.tpu.max_memory_allocated() - held < 4 * 256 * 1024 * 4
    close(parameters[0].detach().cpu(), torch.full((256, 1024), 0.7))


def test_running_statistics_move_as_on_the_cpu(highest):
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)).train()
    module = copy.deepcopy(model).to("tpu")
    compiled = torch.compile(module, fullgraph=True)
    for _ in range(3):
        x = torch.randn(2, 2, 6, 6)
        close(compiled(x.to("tpu")).detach().cpu(), model(x).detach(), rtol=1e-4, atol=1e-5)
    for name, buffer in model.named_buffers():
        close(module.get_buffer(name).cpu(), buffer, rtol=1e-4, atol=1e-5)


def test_autocast_in_a_compiled_step():
    model = make_model()
    module, x = copy.deepcopy(model).to("tpu"), torch.randn(6, 8)

    def loss(module, x):
        with torch.autocast("tpu"):
            y = module(x)
        assert y.dtype == torch.bfloat16
        return y.float().square().mean()

    value = torch.compile(loss, fullgraph=True)(module, x.to("tpu"))
    value.backward()
    wanted = model(x).square().mean()
    wanted.backward()
    close(value.item(), wanted.item(), rtol=0.05, atol=0.01)
    for mine, theirs in zip(module.parameters(), model.parameters(), strict=True):
        assert mine.grad.dtype == torch.float32
        assert (mine.grad.cpu() - theirs.grad).norm() < 0.1 * theirs.grad.norm()


def test_backward_through_compiled_autograd(highest):
    model, x = make_model(), torch.randn(6, 8)
    module = copy.deepcopy(model).to("tpu")
    model(x).square().sum().backward()
    compiler = torch.compile(backend="tpu", fullgraph=True)
    with torch._dynamo.compiled_autograd._enable(compiler):
        torch.compile(module)(x.to("tpu")).square().sum().backward()
    for mine, theirs in zip(module.parameters(), model.parameters(), strict=True):
        close(mine.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-4)


def test_double_backward_falls_back_with_pytorchs_words():
    x = torch.ones(3, device="tpu", requires_grad=True)
    y = torch.compile(lambda x: x.sin().sum())(x)
    with pytest.raises(RuntimeError, match="double backward"):
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        g.sum().backward()


# --- random numbers ---------------------------------------------------------------------


def test_up_065_dropout_differs_between_calls_and_continues_eagers_stream():
    f = lambda x: F.dropout(x, 0.5) + torch.rand_like(x)  # noqa: E731
    g, x = torch.compile(f, fullgraph=True), torch.ones(64, device="tpu")
    torch.manual_seed(1)
    eager = [f(x), f(x), torch.rand(3, device="tpu")]
    torch.manual_seed(1)
    compiled = [g(x), g(x), torch.rand(3, device="tpu")]
    for mine, theirs in zip(compiled, eager, strict=True):
        close(mine.cpu(), theirs.cpu(), rtol=0, atol=0)
    assert not torch.equal(compiled[0].cpu(), compiled[1].cpu())


@pytest.mark.parametrize("budget", [0.0, 0.5, 1.0])
def test_up_067_recomputed_dropout_has_the_mask_of_the_forward(budget):
    def f(x):
        for _ in range(3):
            x = F.dropout(torch.tanh(x) + 2, 0.5)
        return x

    g = torch.compile(f, backend="tpu", options={"memory_budget": budget}, fullgraph=True)
    for _ in range(2):
        x = torch.randn(8, 64, device="tpu", requires_grad=True)
        y = g(x)
        y.sum().backward()
        zeros = y.detach().cpu() == 0
        assert 0 < zeros.sum() < zeros.numel()
        assert torch.equal(x.grad.cpu()[zeros], torch.zeros(int(zeros.sum())))
        assert (x.grad.cpu()[~zeros] != 0).any()


class Dropped(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return F.dropout(torch.tanh(self.layer(x)), 0.5)


def test_checkpointed_dropout_is_recomputed_with_its_mask(highest):
    """Gradients equal those without the checkpoint, from the same seed."""
    module, x = Dropped().to("tpu"), torch.randn(16, 64, device="tpu")
    grads = []
    for wrap in (False, True):

        def f(x, wrap=wrap):
            y = checkpoint(module, x, use_reentrant=False) if wrap else module(x)
            return y.square().sum()

        torch.manual_seed(3)
        module.zero_grad()
        torch.compile(f, fullgraph=True)(x).backward()
        grads.append(module.layer.weight.grad.cpu())
        torch._dynamo.reset()
    close(grads[1], grads[0], rtol=1e-5, atol=1e-5)


def checkpointed(layers, x, wrap):
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False) if wrap else layer(x)
    return x.square().sum()


def test_checkpointed_dropout_stays_in_two_programs(highest):
    """The state that a forward's draw began with is a value: no call runs by itself, masks are the
    forward's, and the stream goes on as if nothing had been recomputed."""
    layers = nn.ModuleList(Dropped() for _ in range(3)).to("tpu")
    x = torch.randn(16, 64, device="tpu")
    compiled = torch.compile(lambda x: checkpointed(layers, x, True), fullgraph=True)
    found = []
    for f in (compiled, compiled, lambda x: checkpointed(layers, x, False)):
        torch.manual_seed(3)
        layers.zero_grad()
        before = torch.tpu.counters()["launches"]
        loss = f(x)
        loss.backward()
        found.append([loss.detach().cpu(), torch.rand(3, device="tpu").cpu()])
        found[-1] += [p.grad.cpu() for p in layers.parameters()]
        launched = torch.tpu.counters()["launches"] - before
        if len(found) == 2:  # forward, the gradient of the loss, backward, rand
            assert launched <= 4
    for compiled_run in found[:2]:
        for a, b in zip(compiled_run, found[2], strict=True):
            close(a, b, rtol=1e-5, atol=1e-5)
        assert torch.equal(compiled_run[1], found[2][1])


def test_checkpointed_dropout_keeps_states_and_no_activations():
    layers = nn.ModuleList(Dropped(256) for _ in range(6)).to("tpu")
    x = torch.randn(512, 256, device="tpu")
    held = []
    for wrap in (False, True):
        compiled = torch.compile(lambda x, wrap=wrap: checkpointed(layers, x, wrap))
        for _ in range(2):
            torch.tpu.synchronize()
            start = torch.tpu.memory_allocated()
            loss = compiled(x)
            held.append(torch.tpu.memory_allocated() - start)
            loss.backward()
        torch._dynamo.reset()
    # An activation a layer, and beside it 32 bytes of random state.
    assert held[3] < 0.55 * held[1] and held[3] < 6.5 * 512 * 256 * 4, held


def test_up_169_checkpoints_save_memory():
    layers = nn.ModuleList(
        nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.Linear(512, 64)) for _ in range(4)
    ).to("tpu")
    x = torch.randn(256, 64, device="tpu")
    held, peaks, grads = [], [], []
    for wrap in (False, True):

        def f(x, wrap=wrap):
            for layer in layers:
                x = checkpoint(layer, x, use_reentrant=False) if wrap else layer(x)
            return x.sum()

        compiled = torch.compile(f, fullgraph=True)
        for _ in range(2):
            layers.zero_grad()
            torch.tpu.synchronize()
            torch.tpu.reset_peak_memory_stats()
            start = torch.tpu.memory_allocated()
            loss = compiled(x)
            held.append(torch.tpu.memory_allocated() - start)
            loss.backward()
            torch.tpu.synchronize()
            peaks.append(torch.tpu.max_memory_allocated() - start)
        grads.append(layers[0][0].weight.grad.cpu())
        torch._dynamo.reset()
    assert held[3] < held[1] / 3, held
    assert peaks[3] < peaks[1], peaks
    close(grads[1], grads[0], rtol=1e-3, atol=1e-3)


def test_recomputation_within_one_program_is_real(tmp_path, highest):
    """Forward and backward in one program: what is recomputed stays apart from what it copies
    (behind optimization barriers), so that the program needs less memory, and draws are equal."""
    tool = built.run_tool()
    if tool is None:
        pytest.skip("tputorch-run is not there")
    program = tmp_path / "step.py"
    program.write_text(_ONE_PROGRAM)
    needed, printed = [], []
    for wrap in ("", "checkpointed"):
        folder = tmp_path / f"dump{wrap}"
        folder.mkdir()
        environment = dict(os.environ, TPUTORCH_OPTIONS=f"quiet=1 dump={folder}")
        run = subprocess.run(
            [sys.executable, str(program), wrap],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        printed.append(run.stdout.strip().splitlines()[-1])
        (text,) = folder.glob("*step*inference.mlir")
        assert ("optimization_barrier" in text.read_text()) == bool(wrap)
        told = subprocess.run(
            [tool, str(text), "--explain", "--json"], capture_output=True, text=True, check=True
        )
        needed.append(json.loads(told.stdout)["temporary_bytes"])
    assert printed[0] == printed[1]
    assert needed[1] < 0.6 * needed[0], needed


_ONE_PROGRAM = """
import sys, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
torch._dynamo.config.trace_autograd_ops = True
torch.set_float32_matmul_precision("highest")
torch.manual_seed(5)

class Wide(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return F.dropout(self.down(F.gelu(self.up(x))), 0.3)

layers = nn.ModuleList(Wide() for _ in range(4)).to("tpu")

def step(x):
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False) if sys.argv[1] else layer(x)
    loss = x.square().mean()
    loss.backward()
    return loss.detach()

x = torch.randn(256, 128, device="tpu")
loss = torch.compile(step, fullgraph=True)(x)
norms = [p.grad.norm().item() for p in layers.parameters()]
print(loss.item(), norms, torch.rand(1, device="tpu").item())
"""


# --- caches -----------------------------------------------------------------------------

_PROGRAM = """
import torch, torch.nn as nn
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 4)).to("tpu")
f = torch.compile(lambda x: model(x).square().sum() + torch.tensor([1.0], device="tpu"))
f(torch.ones(3, 8, device="tpu")).backward()
assert model[0].weight.grad.abs().sum() > 0
counts = torch._dynamo.utils.counters["aot_autograd"]
import sys
assert "torch._inductor.scheduler" not in sys.modules or not counts["autograd_cache_hit"]
from torch._inductor.debug import DebugContext, enable_aot_logging
from torch._inductor.codegen.wrapper import PythonWrapperCodegen
print("hits", counts["autograd_cache_hit"], "saved", counts["autograd_cache_saved"])
"""


def run_program(text, *args, **environment):
    return subprocess.run(
        [sys.executable, "-c", text, *args],
        env=dict(os.environ, **environment), capture_output=True, text=True, check=True,
    )  # fmt: skip


_ARTIFACTS = """
import sys, torch, torch.nn as nn
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to("tpu")
if sys.argv[1] == "load":
    assert torch.compiler.load_cache_artifacts(open(sys.argv[2], "rb").read())
f = torch.compile(lambda x: model(x).square().sum())
f(torch.ones(3, 8, device="tpu")).backward()
assert model[0].weight.grad.abs().sum() > 0
counts = torch._dynamo.utils.counters["aot_autograd"]
print("hits", counts["autograd_cache_hit"], "saved", counts["autograd_cache_saved"])
if sys.argv[1] == "save":
    data, info = torch.compiler.save_cache_artifacts()
    assert len(info.aot_autograd_artifacts) == 1
    open(sys.argv[2], "wb").write(data)
"""


def test_artifacts_of_the_cache_travel_between_machines(tmp_path):
    """What one process saved, another loads that has an empty cache of its own."""
    file = str(tmp_path / "artifacts")
    printed = [
        run_program(_ARTIFACTS, how, file, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / how)).stdout
        for how in ("save", "load")
    ]
    assert printed[0].startswith("hits 0 saved 1")
    assert printed[1].startswith("hits 1 saved 0")


def test_torch_logs_tell_what_was_recorded_and_compiled():
    text = """
import torch
@torch.compile
def double_it(x):
    return x * 2
double_it(torch.ones(3, device="tpu"))
"""
    told = run_program(text, TORCH_LOGS="tputorch").stderr
    assert "#0 inference: recorded 1 calls" in told
    assert "#0 inference: compiled" in told and "characters in" in told


def test_up_163_second_process_finds_its_graphs(tmp_path):
    environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    lines = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env=environment, capture_output=True, text=True, check=True,
        ).stdout.strip().splitlines()[-1]
        for _ in range(2)
    ]  # fmt: skip
    assert lines == ["hits 0 saved 1", "hits 1 saved 0"]
