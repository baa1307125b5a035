"""Decode loops: static caches with a moving position, growing sequences, generate()."""

import copy

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch._dynamo.testing import CompileCounterWithBackend


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


class Attention(nn.Module):
    """One layer with a cache of a fixed length."""

    def __init__(self, width=16, length=24):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.register_buffer("keys", torch.zeros(1, length, width))
        self.register_buffer("values", torch.zeros(1, length, width))

    def forward(self, x, position):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.keys.index_copy_(1, position, k)
        self.values.index_copy_(1, position, v)
        mask = torch.arange(self.keys.shape[1], device=x.device) <= position
        return F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask[None, None])


def test_static_cache_with_a_moving_position_is_one_program(highest):
    model = Attention()
    module = copy.deepcopy(model).to("tpu")
    counter = CompileCounterWithBackend("tpu")
    step = torch.compile(module, backend=counter, fullgraph=True)
    with torch.no_grad():
        for place in range(20):
            x, position = torch.randn(1, 1, 16), torch.tensor([place])
            there = x.to("tpu"), position.to("tpu")
            if place == 2:
                torch.tpu.synchronize()
                before = torch.tpu.counters()
            torch.testing.assert_close(step(*there).cpu(), model(x, position), rtol=1e-4, atol=1e-5)
    after = torch.tpu.counters()
    assert counter.frame_count == 1
    assert after["compiles"] == before["compiles"]
    # Both caches are written where they are, at every step.
    assert after["donations"] - before["donations"] >= 2 * 18
    assert after["refused_donations"] == before["refused_donations"]
    torch.testing.assert_close(module.keys.cpu(), model.keys, rtol=1e-4, atol=1e-5)


def test_position_given_as_a_number_costs_no_graph_per_token(highest):
    cache, reference = torch.zeros(16, 4, device="tpu"), torch.zeros(16, 4)
    counter = CompileCounterWithBackend("tpu")

    def put(cache, x, place):
        cache[place] = x
        return cache.sum(0) * 2

    step = torch.compile(put, backend=counter)
    for place in range(12):
        x = torch.randn(4)
        wanted = put(reference, x, place)
        torch.testing.assert_close(step(cache, x.to("tpu"), place).cpu(), wanted)
    torch.testing.assert_close(cache.cpu(), reference)
    assert counter.frame_count <= 3


def test_growing_sequences_cost_no_graph_per_token(highest):
    counter = CompileCounterWithBackend("tpu")
    grow = torch.compile(
        lambda cache, x: (torch.cat([cache, x], 1), (cache @ x.transpose(1, 2)).softmax(1)),
        backend=counter,
    )
    cache = torch.randn(1, 2, 4)
    there = cache.to("tpu")
    for _ in range(12):
        x = torch.randn(1, 1, 4)
        weights = (cache @ x.transpose(1, 2)).softmax(1)
        cache = torch.cat([cache, x], 1)
        there, mine = grow(there, x.to("tpu"))
        torch.testing.assert_close(mine.cpu(), weights)
        torch.testing.assert_close(there.cpu(), cache)
    assert counter.frame_count <= 2


def small_model(kind):
    import transformers

    common = dict(vocab_size=97, bos_token_id=1, eos_token_id=2, pad_token_id=0)
    if kind == "llama":
        config = transformers.LlamaConfig(
            hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=64, **common,
        )  # fmt: skip
        model = transformers.LlamaForCausalLM(config)
    else:
        config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=64, **common)
        model = transformers.GPT2LMHeadModel(config)
    return model.eval()


@pytest.mark.parametrize("cache", ["static", "dynamic"])
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_generated_tokens_are_the_cpus(kind, cache, highest):
    model = small_model(kind)
    prompt = torch.randint(3, 97, (2, 5))
    options = dict(max_new_tokens=12, do_sample=False, cache_implementation=None, eos_token_id=None)
    wanted = model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)
    module = copy.deepcopy(model).to("tpu")
    options["cache_implementation"] = "static" if cache == "static" else None
    counter = CompileCounterWithBackend("tpu")
    module.forward = torch.compile(module.forward, backend=counter)
    there = prompt.to("tpu")
    options["attention_mask"] = torch.ones_like(there)
    options["disable_compile"] = True  # generate()'s own: the forward is compiled already
    actual = module.generate(there, **options)
    assert torch.equal(actual.cpu(), wanted)
    # The graph for any length also meets the one that the first, static graph had.
    module.generate(there, **options)
    graphs = counter.frame_count
    compiles = torch.tpu.counters()["compiles"]
    assert torch.equal(module.generate(there, **options).cpu(), wanted)
    assert counter.frame_count == graphs
    assert torch.tpu.counters()["compiles"] == compiles
    assert graphs <= 4
