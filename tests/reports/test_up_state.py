"""Bug reports about checkpoints, copies, pickles."""

import copy
import io
import os
import subprocess
import sys

import pytest
import torch
from torch import nn


def saved(obj) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return file


def without_plugin(program: str, *args: str) -> str:
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    child = [sys.executable, "-c", program, *args]
    out = subprocess.run(child, capture_output=True, text=True, timeout=120, env=env)
    assert out.returncode == 0, out.stderr
    return out.stdout.strip()


def test_up_133_files_load_where_the_plugin_is_absent(tmp_path):
    path = str(tmp_path / "state.pt")
    x = torch.arange(6.0, device="tpu").reshape(2, 3)
    model = nn.Linear(3, 2).to("tpu")
    torch.save({"x": x, "t": x.t(), "m": model.state_dict(), "o": nn.Parameter(x)}, path)
    program = (
        "import sys, torch\n"
        "s = torch.load(sys.argv[1], map_location='cpu')\n"
        "assert s['o'].requires_grad and s['m']['weight'].device.type == 'cpu'\n"
        "print(s['x'].tolist(), s['t'].stride(), s['t'][2, 1].item())\n"
    )
    assert without_plugin(program, path) == "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] (1, 3) 5.0"


@pytest.mark.parametrize("source", ["cpu", "tpu"])
def test_up_134_map_location_is_honoured(source):
    x = torch.arange(4.0).to(source)
    kinds = {
        "tpu": ["tpu", "tpu:0", torch.device("tpu"), {source: "tpu", "tpu:0": "tpu:0"}],
        "cpu": ["cpu", torch.device("cpu"), {source: "cpu", "tpu:0": "cpu"}],
    }
    for wanted, locations in kinds.items():
        for location in [*locations, lambda storage, _, d=wanted: storage.to(device=d)]:
            if callable(location) and not isinstance(location, torch.device) and wanted == "cpu":
                location = lambda storage, _: storage  # noqa: E731  (storages arrive on the CPU)
            loaded = torch.load(saved(x), map_location=location)
            assert loaded.device.type == wanted, location
            assert loaded.tolist() == [0, 1, 2, 3]
    assert torch.load(saved(x)).device.type == source


def test_up_136_the_backends_name_is_read_as_it_is():
    loaded = torch.load(saved(torch.ones(2, device="tpu")))
    assert str(loaded.device) == "tpu:0"
    assert torch.serialization.location_tag(loaded.untyped_storage()) == "tpu:0"


def test_up_137_shallow_and_deep_copies():
    x = torch.zeros(4, device="tpu", requires_grad=True)
    x.sum().backward()
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    assert shallow.device.type == deep.device.type == "tpu"
    with torch.no_grad():
        shallow.add_(1)
    assert x.tolist() == [1] * 4 and deep.tolist() == [0] * 4
    assert deep.grad.device.type == "tpu" and deep.grad.tolist() == [1] * 4
    assert deep.grad.data_ptr() != x.grad.data_ptr()
    base = torch.zeros(2, 3, device="tpu")
    one = {"base": base, "row": base[1], "flat": base.view(-1)}
    other = copy.deepcopy(one)
    other["row"].fill_(2)
    assert other["flat"].tolist() == [0, 0, 0, 2, 2, 2]
    assert base.sum().item() == 0


class Tagged(torch.Tensor):
    def new_empty(self, *args, **kwargs):  # what a deep copy of a subclass asks for
        return super().new_empty(*args, **kwargs).as_subclass(Tagged)


def test_up_202_deep_copies_of_parameters_buffers_modules_and_optimizers():
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).to("tpu")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.randn(4, 3).to("tpu")).square().sum().backward()
    optimizer.step()
    twin = copy.deepcopy(model)
    for a, b in zip(model.state_dict().values(), twin.state_dict().values(), strict=True):
        assert torch.equal(a.cpu(), b.cpu()) and a.data_ptr() != b.data_ptr()
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        assert isinstance(b, nn.Parameter) and b.requires_grad
        assert b.grad is None and a.grad is not None  # as on the CPU
    state = copy.deepcopy(optimizer.state_dict())
    for slot in state["state"].values():
        assert slot["exp_avg"].device.type == "tpu"
    frozen = copy.deepcopy(nn.Parameter(torch.ones(2, device="tpu"), requires_grad=False))
    assert not frozen.requires_grad and isinstance(frozen, nn.Parameter)
    tagged = copy.deepcopy(torch.ones(2, device="tpu").as_subclass(Tagged))
    assert type(tagged) is Tagged and tagged.device.type == "tpu"


@pytest.mark.parametrize("move", ["to", "tpu", "dtype"])
def test_up_203_an_optimizer_made_before_the_move_still_trains(move):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if move == "to":
        model.to("tpu")
    elif move == "tpu":
        model.tpu()
    else:
        model.to("tpu", torch.bfloat16)
    before = model.weight.detach().cpu().clone()
    model(torch.ones(4, 3, device="tpu", dtype=model.weight.dtype)).sum().backward()
    optimizer.step()
    assert not torch.equal(model.weight.detach().cpu(), before)
    assert optimizer.param_groups[0]["params"][0] is model.weight
