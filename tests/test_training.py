"""Whole models train on tpu as on the CPU: 50 steps, every loss within 1e-4 relative, HIGHEST."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

STEPS = 50
pytestmark = [pytest.mark.portable, pytest.mark.usefixtures("highest", "no_fallback")]


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(20, 64),
            nn.ReLU(),
            nn.LayerNorm(64),
            nn.Linear(64, 64),
            nn.Tanh(),
            nn.Linear(64, 5),
        )

    def forward(self, x):
        return self.net(x)

    @staticmethod
    def batch(generator):
        x = torch.randn(32, 20, generator=generator)
        return x, (x[:, :5].argmax(1))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        # No bias before the batch norm: its gradient is rounding noise, which Adam would amplify.
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, bias=False)
        self.group = nn.GroupNorm(4, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)
        x = F.avg_pool2d(F.silu(self.group(self.conv2(x))), 2)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))

    @staticmethod
    def batch(generator):
        x = torch.randn(8, 3, 16, 16, generator=generator)
        return x, (x.mean((1, 2, 3)) * 40).long().remainder(4)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.lstm = nn.LSTM(16, 24, num_layers=2, batch_first=True)
        self.gru = nn.GRU(24, 12, batch_first=True)
        self.head = nn.Linear(12, 30)

    def forward(self, x):
        out, _ = self.lstm(self.embedding(x))
        out, _ = self.gru(out)
        return self.head(out[:, -1])

    @staticmethod
    def batch(generator):
        x = torch.randint(0, 30, (16, 9), generator=generator)
        return x, x[:, -1]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(width, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=40, width=32, length=12):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(length, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        h = self.tokens(x) + self.positions
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h)).flatten(0, 1)

    @staticmethod
    def batch(generator):
        x = torch.randint(0, 40, (8, 13), generator=generator)
        return x[:, :-1], x[:, 1:].flatten()


def run(model, optimizer, device, batches):
    losses = []
    for x, y in batches:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-4),
    "adamw": lambda p: torch.optim.AdamW(p, lr=2e-3),
    "adamw_fused": lambda p: torch.optim.AdamW(p, lr=2e-3, fused=True),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kind", [Mlp, ConvNet, Lstm, Gpt])
def test_training_follows_cpu(kind, optimizer):
    torch.manual_seed(0)
    reference = kind()
    model = copy.deepcopy(reference).to("tpu")
    generator = torch.Generator().manual_seed(1)
    batches = [kind.batch(generator) for _ in range(STEPS)]
    expected = run(reference, OPTIMIZERS[optimizer](reference.parameters()), "cpu", batches)
    actual = run(model, OPTIMIZERS[optimizer](model.parameters()), "tpu", batches)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
    assert expected[-10:].mean() < expected[:10].mean()
    for name, buffer in reference.named_buffers():
        torch.testing.assert_close(
            dict(model.named_buffers())[name].cpu(), buffer, rtol=1e-3, atol=1e-4, msg=name
        )


def test_steady_training_compiles_nothing():
    torch.manual_seed(0)
    model = Mlp().to("tpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(1)
    run(model, optimizer, "tpu", [Mlp.batch(generator) for _ in range(3)])
    before = torch.tpu.counters()["compiles"]
    for group in optimizer.param_groups:
        group["lr"] = 1e-8  # equal to eps: values never enter a program
    run(model, optimizer, "tpu", [Mlp.batch(generator) for _ in range(10)])
    assert torch.tpu.counters()["compiles"] - before <= 1  # the stack of 10 losses instead of 3


def test_optimizer_made_before_the_move_trains_the_moved_parameters():
    torch.manual_seed(0)
    model = Mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to("tpu")
    before = model.net[0].weight.detach().cpu().clone()
    generator = torch.Generator().manual_seed(1)
    run(model, optimizer, "tpu", [Mlp.batch(generator) for _ in range(2)])
    assert not torch.equal(model.net[0].weight.detach().cpu(), before)


def test_tied_weights_stay_tied_after_the_move():
    model = Gpt().to("tpu")
    assert model.head.weight is model.tokens.weight
    with torch.no_grad():
        model.tokens.weight.fill_(2.0)
    assert torch.equal(model.head.weight.cpu(), torch.full((40, 32), 2.0))
