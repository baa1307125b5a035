"""Models whose steps are timed: a small GPT, ResNet-18, MiniLM, an LSTM, decoding with a cache."""

import torch
import torch.nn.functional as F
from timer import Timer, emit
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(width, dim=2)
        )
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, width=256, heads=8, length=128, vocabulary=1024, layers=4):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("mask", torch.triu(torch.ones(length, length, dtype=torch.bool), 1))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


class Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.short = nn.Sequential()
        if stride != 1 or inputs != outputs:
            conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.short = nn.Sequential(conv, nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + self.short(x))


def resnet18(classes: int = 1000) -> nn.Module:
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    width = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(width, outputs, stride), Residual(outputs, outputs, 1)]
        width = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


def resnet(t: Timer) -> None:
    torch.manual_seed(0)
    model = resnet18().to(t.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    model = t.compiled(model)
    x, y = torch.randn(8, 3, 112, 112).to(t.device), torch.randint(0, 1000, (8,)).to(t.device)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    emit("ResNet-18 step, 8 x 112 x 112, first", t.once(step) * 1e3, "ms")
    emit("ResNet-18 step, 8 x 112 x 112", t.best(step, 6, warmup=2) * 1e3, "ms")


class EncoderLayer(nn.Module):
    """A layer of BERT: norms after the sums, a mask of padding."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (
            project(x).view(batch, length, self.heads, -1).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm1(x + self.out(y.transpose(1, 2).reshape(batch, length, width)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class MiniLm(nn.Module):
    """The sentence encoder MiniLM-L6 with random weights."""

    def __init__(self, width: int = 384, heads: int = 12, layers: int = 6, words: int = 30522):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(layers))

    def forward(self, tokens, mask):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.places(places))
        wide = mask[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, wide)
        weights = mask[..., None].to(x.dtype)
        return F.normalize((x * weights).sum(1) / weights.sum(1), dim=1)


@torch.no_grad()
def minilm(t: Timer) -> None:
    torch.manual_seed(0)
    model = t.compiled(MiniLm().eval().to(t.device))
    for batch in (1, 32):
        tokens = torch.randint(0, 30522, (batch, 64)).to(t.device)
        mask = torch.ones(batch, 64, dtype=torch.long).to(t.device)

        def run(tokens=tokens, mask=mask):
            return model(tokens, mask)

        emit(f"MiniLM inference, batch {batch}", t.best(run, 12 if batch == 1 else 5) * 1e3, "ms")


def lstm(t: Timer) -> None:
    torch.manual_seed(0)
    model = nn.LSTM(64, 128, num_layers=2, batch_first=True).to(t.device)
    x = torch.randn(16, 32, 64).to(t.device)
    model = t.compiled(model)

    def step():
        model.zero_grad(set_to_none=True)
        model(x)[0].sum().backward()

    emit("LSTM forward + backward", t.best(step, 15) * 1e3, "ms")


class Decoder(nn.Module):
    """One layer of a decoder that keeps keys and values of `length` tokens."""

    def __init__(self, width: int = 512, heads: int = 8, length: int = 1024):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        shape = (1, heads, length, width // heads)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))
        self.register_buffer("places", torch.arange(length))

    def forward(self, x, place):
        q, k, v = (
            part.view(1, 1, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)
        )
        self.keys.index_copy_(2, place, k)
        self.values.index_copy_(2, place, v)
        mask = (self.places <= place)[None, None, None, :]
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


@torch.no_grad()
def decode(t: Timer) -> None:
    torch.manual_seed(0)
    layers = [t.compiled(Decoder().eval().to(t.device)) for _ in range(4)]
    x = torch.randn(1, 1, 512).to(t.device)
    places = [torch.tensor([i]).to(t.device) for i in range(8)]
    state = {"step": 0}

    def token():
        y, place = x, places[state["step"] % len(places)]
        state["step"] += 1
        for layer in layers:
            y = layer(y, place)
        return y

    emit("decode step, 4 layers, cache of 1024", t.best(token, 40, warmup=8) * 1e3, "ms")
