"""Where out-of-tree devices fall over: each trap that the design names has a test."""

import copy
import io
import pickle
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

pytestmark = pytest.mark.portable


def test_conjugate_view_times_number():
    x = torch.tensor([1 + 2j, 3 - 1j])
    assert torch.equal((x.to("tpu").conj() * 2).cpu(), (x.conj() * 2).resolve_conj())
    assert torch.equal(x.to("tpu").conj().cpu().resolve_conj(), x.conj().resolve_conj())


def test_clone_and_views_of_conjugate_and_negative_tensors():
    x = torch.tensor([1 + 2j, 3 - 1j])
    y = x.to("tpu")
    assert torch.equal(y.conj().clone().cpu(), x.conj().resolve_conj())
    assert torch.equal(y.conj().imag.clone().cpu(), x.conj().imag.clone())
    assert torch.equal(torch.cat([y.conj(), y]).cpu(), torch.cat([x.conj(), x]))
    y.conj().add_(1)
    assert torch.equal(y.cpu(), x + 1)


def test_write_through_conjugate_and_negative_views():
    x = torch.tensor([1 + 2j, 3 - 1j])
    y = x.to("tpu")
    y.conj().copy_(torch.tensor([5 + 1j, 1j], device="tpu"))
    assert torch.equal(y.cpu(), torch.tensor([5 - 1j, -1j]))
    y.conj().imag.copy_(torch.tensor([1.0, 2.0], device="tpu"))
    assert torch.equal(y.cpu(), torch.tensor([5 - 1j, -2j]))


def test_pickle_and_deepcopy():
    x = torch.arange(6.0).reshape(2, 3).to("tpu")
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert y.device.type == "tpu"
        assert torch.equal(y.cpu(), x.cpu())
        y.add_(1)
    assert torch.equal(x.cpu(), torch.arange(6.0).reshape(2, 3))


def test_deepcopy_keeps_shared_storage():
    base = torch.zeros(4, device="tpu")
    pair = copy.deepcopy([base, base[1:3]])
    pair[1].fill_(7)
    assert pair[0].tolist() == [0, 7, 7, 0]
    assert base.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("target", ["cpu", "tpu"])
def test_save_and_load(target):
    state = {"w": torch.randn(3, 4).to("tpu"), "n": torch.tensor(3, device="tpu"), "v": None}
    state["v"] = state["w"].t()[1:]
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded = torch.load(file, map_location=target)
    assert loaded["w"].device.type == target
    assert torch.equal(loaded["w"].cpu(), state["w"].cpu())
    assert torch.equal(loaded["v"].cpu(), state["v"].cpu())
    loaded["w"].zero_()
    assert loaded["v"].cpu().abs().sum() == 0


def test_modules_whose_parameters_cannot_be_swapped_still_move():
    linear = nn.utils.weight_norm(nn.Linear(3, 4))
    x = torch.randn(2, 3)
    expected = linear(x)
    linear.to("tpu")
    assert {p.device.type for p in linear.parameters()} == {"tpu"}
    with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        torch.testing.assert_close(linear(x.to("tpu")).cpu(), expected)


def test_encoder_with_padding_in_inference():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    reference = nn.TransformerEncoder(layer, 2).eval()
    model = copy.deepcopy(reference).to("tpu")
    x = torch.randn(2, 5, 16)
    mask = torch.tensor([[False, False, False, True, True], [False] * 5])
    with torch.no_grad(), torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        expected = reference(x, src_key_padding_mask=mask)
        actual = model(x.to("tpu"), src_key_padding_mask=mask.to("tpu")).cpu()
    torch.testing.assert_close(actual[~mask], expected[~mask], rtol=1e-4, atol=1e-5)


def test_assignment_through_a_mask_stays_on_the_device(no_fallback):
    x = torch.arange(12.0).reshape(3, 4)
    y = x.to("tpu")
    y[y > 5] = 0
    y[(y < 2)[:, 0], :] = 7.5
    y[:, torch.tensor([True, False, False, True], device="tpu")] = -1
    x[x > 5] = 0
    x[(x < 2)[:, 0], :] = 7.5
    x[:, torch.tensor([True, False, False, True])] = -1
    assert torch.equal(y.cpu(), x)


def test_load_state_dict_from_cpu():
    model, other = nn.Linear(3, 2), nn.Linear(3, 2)
    model.to("tpu").load_state_dict(other.state_dict())
    assert torch.equal(model.weight.cpu(), other.weight)


def test_storage_round_trip():
    x = torch.arange(5, dtype=torch.int32).to("tpu")
    assert x.untyped_storage().cpu().tolist() == list(x.cpu().view(torch.uint8))
    y = torch.empty(0, dtype=torch.int32, device="tpu").set_(x.untyped_storage(), 1, (2, 2), (2, 1))
    assert y.tolist() == [[1, 2], [3, 4]]


def test_views_under_inference_mode():
    with torch.inference_mode():
        x = torch.ones(2, 3, device="tpu")
        assert (x.t()[1:] + x.view(3, 2)[1:]).sum().item() == 8
    y = torch.ones(2, 3, device="tpu", requires_grad=True)
    with torch.inference_mode():
        z = y.view(-1)[1:]
    assert z.cpu().tolist() == [1] * 5


def test_autocast_passes_through_and_defaults_to_bfloat16():
    a, b = torch.randn(4, 4).to("tpu"), torch.randn(4, 4).to("tpu")
    with torch.autocast("tpu"):
        assert (a + b).dtype == torch.float32
        assert (a @ b).dtype == torch.bfloat16
        assert torch.softmax(a @ b, 0).dtype == torch.float32
    with torch.autocast("tpu", dtype=torch.float16):
        assert (a @ b).dtype == torch.float16
    assert (a @ b).dtype == torch.float32


def test_pin_memory_and_loader():
    x = torch.arange(12.0).reshape(6, 2)
    pinned = x.pin_memory()
    assert torch.equal(pinned, x)
    assert pinned.is_pinned()
    assert not x.is_pinned()
    assert torch.equal(pinned.to("tpu", non_blocking=True).cpu(), x)
    loader = DataLoader(TensorDataset(x), batch_size=3, pin_memory=True)
    assert torch.equal(torch.cat([batch.to("tpu") for (batch,) in loader]).cpu(), x)


def test_generator():
    generator = torch.Generator("tpu").manual_seed(5)
    first = torch.rand(4, device="tpu", generator=generator)
    generator.manual_seed(5)
    assert torch.equal(first.cpu(), torch.rand(4, device="tpu", generator=generator).cpu())
    state = generator.get_state()
    second = torch.rand(4, device="tpu", generator=generator)
    generator.set_state(state)
    assert torch.equal(second.cpu(), torch.rand(4, device="tpu", generator=generator).cpu())
    with pytest.raises(RuntimeError, match="generator"):
        torch.rand(4, device="tpu", generator=torch.Generator())


def test_print_is_one_read():
    x = torch.arange(6.0).reshape(2, 3).to("tpu")
    repr(x)
    before = torch.tpu.counters()
    text = repr(x)
    after = torch.tpu.counters()
    assert text == "tensor([[0., 1., 2.],\n        [3., 4., 5.]], device='tpu:0')"
    assert after["calls"] == before["calls"]
    assert after["downloads"] - before["downloads"] == 1


def test_gradients_reach_implicit_ops():
    # A row on layer_norm or softmax.int would cut autograd without an error.
    x = torch.randn(3, 4)
    grads = []
    for device in ("cpu", "tpu"):
        y = x.clone().to(device).requires_grad_()
        out = nn.functional.layer_norm(y, (4,)).softmax(-1).pow(2).sum()
        out.backward()
        grads.append(y.grad.cpu())
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-4, atol=1e-6)


def test_mixed_devices_are_refused():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(2, device="tpu") + torch.ones(2)
    assert (torch.ones(2, device="tpu") + torch.tensor(2.0)).tolist() == [3, 3]
    assert (torch.tensor(2.0) + torch.ones(2, device="tpu")).tolist() == [3, 3]


def test_fork_gives_one_clear_error():
    program = (
        "import os, torch\n"
        "torch.ones(2, device='tpu')\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try:\n"
        "        torch.ones(2, device='tpu').cpu()\n"
        "    except RuntimeError as error:\n"
        "        os._exit(7 if 'spawn' in str(error) else 8)\n"
        "    os._exit(9)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert out.stdout.strip() == "7", out.stderr


def test_a_backward_just_before_the_end_does_not_kill_the_process():
    program = (
        "import torch\n"
        "for _ in range(20):\n"
        "    x = torch.ones(50, 50, device='tpu', requires_grad=True)\n"
        "    torch.linalg.inv(x + 3 * torch.eye(50, device='tpu')).sum().backward()\n"
    )
    for _ in range(3):
        out = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert out.returncode == 0, out.stderr


def test_import_is_silent_and_opens_nothing():
    program = "import torch; print(torch.tpu.is_initialized(), torch.tpu.is_available())"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert out.stdout.strip() == "False True"
    assert out.stderr == ""


@pytest.mark.parametrize(
    "options",
    ["plugin=/nowhere/plugin.so", "plugin=" + __file__, "chip=v99", "colour=blue"],
)
def test_bad_options_are_errors_not_aborts(options):
    program = (
        "import torch\n"
        "try:\n"
        "    torch.ones(2, device='tpu').cpu()\n"
        "except RuntimeError as error:\n"
        "    print('error', error)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**__import__("os").environ, "TPUTORCH_OPTIONS": options},
    )
    assert out.returncode == 0, out.stderr
    assert out.stdout.startswith("error"), out.stdout
    assert options.split("=")[1].split("/")[-1] in out.stdout or "colour" in out.stdout
