"""nn.LSTM on tpu: a layer is one operator; results and gradients are the CPU's."""

import copy

import pytest
import torch
from torch import nn

SHAPES = {
    "one layer": dict(num_layers=1),
    "two layers": dict(num_layers=2),
    "bidirectional": dict(num_layers=2, bidirectional=True),
    "batch first": dict(num_layers=2, batch_first=True),
    "no bias": dict(num_layers=1, bias=False),
    "no bias, both ways": dict(num_layers=2, bias=False, bidirectional=True, batch_first=True),
    "projections": dict(num_layers=2, proj_size=3),
}


def run(model, x, hx):
    x = x.detach().clone().requires_grad_()
    hx = tuple(h.detach().clone().requires_grad_() for h in hx)
    output, (hy, cy) = model(x, hx)
    weight = torch.linspace(-1, 1, output.numel(), device="cpu").view(output.shape).to(x.device)
    (output * weight).sum().add(hy.sin().sum()).add(cy.cos().sum()).backward()
    grads = [x.grad, *(h.grad for h in hx), *(p.grad for p in model.parameters())]
    return [output, hy, cy, *grads]


def states(model, batch, dtype=torch.float32):
    count = model.num_layers * (2 if model.bidirectional else 1)
    hidden = model.proj_size or model.hidden_size
    return (
        torch.randn(count, batch, hidden, dtype=dtype),
        torch.randn(count, batch, model.hidden_size, dtype=dtype),
    )


def pair(model, x, hx):
    twin = copy.deepcopy(model).to("tpu")
    return run(model, x, hx), run(twin, x.to("tpu"), tuple(h.to("tpu") for h in hx))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("length", [1, 7])
def test_results_and_gradients(name, length, highest, no_fallback):
    torch.manual_seed(0)
    model = nn.LSTM(5, 6, **SHAPES[name])
    x = torch.randn(3, length, 5) if model.batch_first else torch.randn(length, 3, 5)
    for want, got in zip(*pair(model, x, states(model, 3)), strict=True):
        assert got.device.type == "tpu"
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)


def test_double(no_fallback):
    model = nn.LSTM(4, 3, num_layers=2, bidirectional=True).double()
    for want, got in zip(
        *pair(model, torch.randn(5, 2, 4).double(), states(model, 2, torch.double)), strict=True
    ):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision(dtype, no_fallback):
    """Held against float32 on the CPU: devices differ in what they round."""
    torch.manual_seed(0)
    model = nn.LSTM(8, 16, num_layers=2)
    want = run(model, x := torch.randn(9, 4, 8), hx := states(model, 4))
    low = copy.deepcopy(model).to("tpu", dtype)
    got = run(low, x.to("tpu", dtype), tuple(h.to("tpu", dtype) for h in hx))
    for a, b in zip(got, want, strict=True):
        assert a.dtype == dtype
        scale = b.abs().max().item()
        torch.testing.assert_close(a.float().cpu() / scale, b / scale, rtol=0, atol=0.03)


def test_autocast(no_fallback):
    torch.manual_seed(0)
    model = nn.LSTM(8, 16).to("tpu")
    x = torch.randn(5, 2, 8, device="tpu")
    with torch.autocast("tpu"):
        output, _ = model(x)
    assert output.dtype == torch.bfloat16
    output.float().sum().backward()
    assert model.weight_hh_l0.grad.dtype == torch.float32
    torch.testing.assert_close(output.float(), model(x)[0], rtol=0, atol=0.03)


def test_default_state_and_no_batch(highest):
    torch.manual_seed(0)
    model = nn.LSTM(5, 6)
    twin = copy.deepcopy(model).to("tpu")
    x = torch.randn(4, 5)
    torch.testing.assert_close(twin(x.to("tpu"))[0].cpu(), model(x)[0], rtol=1e-5, atol=1e-6)


def test_second_derivative():
    torch.manual_seed(0)
    model = nn.LSTM(2, 3).double()

    def penalty(device):
        twin = copy.deepcopy(model).to(device)
        x = torch.linspace(-1, 1, 8).double().view(4, 1, 2).to(device).requires_grad_()
        (grad,) = torch.autograd.grad(twin(x)[0].square().sum(), x, create_graph=True)
        grad.square().sum().backward()
        return [x.grad.cpu(), twin.weight_hh_l0.grad.cpu(), twin.weight_ih_l0.grad.cpu()]

    def composed():  # of cells, whose derivatives PyTorch composes of plain operators
        x = torch.linspace(-1, 1, 8).double().view(4, 1, 2).requires_grad_()
        w = [p.detach().clone().requires_grad_() for p in model.parameters()]
        h, c, total = torch.zeros(1, 3).double(), torch.zeros(1, 3).double(), 0
        for step in x:
            i, f, g, o = (step @ w[0].t() + w[2] + h @ w[1].t() + w[3]).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            total = total + h.square().sum()
        (grad,) = torch.autograd.grad(total, x, create_graph=True)
        grad.square().sum().backward()
        return [x.grad, w[1].grad, w[0].grad]

    for got, want in zip(penalty("tpu"), composed(), strict=True):
        torch.testing.assert_close(got, want)


def test_dropout_between_layers_is_the_streams():
    model = nn.LSTM(4, 5, num_layers=2, dropout=0.5).to("tpu")
    x = torch.randn(6, 2, 4, device="tpu")
    torch.manual_seed(3)
    a, b = model(x)[0], model(x)[0]
    torch.manual_seed(3)
    assert not torch.equal(a, b)
    assert torch.equal(model(x)[0], a)


def test_packed_sequence(highest):
    torch.manual_seed(0)
    model = nn.LSTM(5, 6, bidirectional=True)
    twin = copy.deepcopy(model).to("tpu")
    x = torch.randn(7, 3, 5)
    lengths = torch.tensor([7, 4, 2])
    pack, unpack = nn.utils.rnn.pack_padded_sequence, nn.utils.rnn.pad_packed_sequence
    want = unpack(model(pack(x, lengths))[0])[0]
    got = unpack(twin(pack(x.to("tpu"), lengths))[0])[0]
    torch.testing.assert_close(got.cpu(), want, rtol=1e-5, atol=1e-6)


def test_a_step_is_few_programs():
    model = nn.LSTM(8, 16).to("tpu")
    x = torch.randn(20, 2, 8, device="tpu")
    before = torch.tpu.counters()["launches"]
    model(x)[0].sum().backward()
    assert torch.tpu.counters()["launches"] - before < 30  # 20 steps of cells are hundreds


def test_wrong_state_is_an_error():
    model = nn.LSTM(5, 6).to("tpu")
    x = torch.randn(4, 2, 5, device="tpu")
    with pytest.raises(RuntimeError, match="Expected hidden"):
        model(x, (torch.zeros(1, 3, 6, device="tpu"), torch.zeros(1, 3, 6, device="tpu")))
    h = torch.zeros(1, 2, 7, device="tpu")
    with pytest.raises(RuntimeError, match=r"weight0 must have sizes \[28, 5\]"):
        torch.ops.aten.lstm.input(
            x, (h, h), list(model.parameters()), True, 1, 0.0, False, False, False
        )
    with pytest.raises(RuntimeError):
        model(torch.zeros(0, 2, 5, device="tpu"))
