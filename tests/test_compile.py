"""torch.compile on tpu: which backend runs, options, in-place effects, views, shapes, control flow.

Names that begin with an id (up_013 ...) are cases of the bug collection.
"""

import copy
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch._dynamo.testing import CompileCounterWithBackend

close = torch.testing.assert_close


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def counted(**kwargs):
    """A compiler and how many graphs Dynamo gave it."""
    counter = CompileCounterWithBackend("tpu")
    return counter, lambda f: torch.compile(f, backend=counter, **kwargs)


def compiles():
    return torch.tpu.counters()["compiles"]


def launches(fn, *args):
    before = torch.tpu.counters()["launches"]
    fn(*args)
    return torch.tpu.counters()["launches"] - before


# --- which backend ----------------------------------------------------------------------


@pytest.mark.portable
def test_plain_compile_takes_tensors_on_tpu():
    f = torch.compile(lambda x, y: torch.tanh(x @ y) + 1, fullgraph=True)
    x, y = torch.randn(4, 5), torch.randn(5, 6)
    with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        close(f(x.to("tpu"), y.to("tpu")).cpu(), torch.tanh(x @ y) + 1)


def test_plain_compile_of_a_function_that_makes_its_tensors():
    f = torch.compile(lambda: torch.arange(5, device="tpu") * 2, fullgraph=True)
    close(f().cpu(), torch.arange(5) * 2)


def test_backend_is_listed():
    assert "tpu" in torch._dynamo.list_backends()


def test_up_158_cpu_functions_keep_their_compiler(monkeypatch):
    from torch._inductor import compile_fx

    seen = []

    def spy(gm, inputs, **kwargs):
        seen.append([t.device.type for t in inputs if isinstance(t, torch.Tensor)])
        return gm.forward

    monkeypatch.setattr(compile_fx, "compile_fx", spy)
    f = torch.compile(lambda x: x * 2 + 1)
    close(f(torch.ones(3)), torch.full((3,), 3.0))
    close(f(torch.ones(3, device="tpu")).cpu(), torch.full((3,), 3.0))
    assert seen == [["cpu"]]


def test_backend_tpu_leaves_cpu_tensors_alone():
    f = torch.compile(lambda x: x * 2 + 1, backend="tpu")
    close(f(torch.ones(3)), torch.full((3,), 3.0))


def test_whole_function_is_one_launch():
    def f(x, w):
        for _ in range(10):
            x = torch.relu(x @ w) + 0.5
        return x.softmax(-1)

    g = torch.compile(f, fullgraph=True)
    x, w = torch.randn(4, 4, device="tpu"), torch.randn(4, 4, device="tpu")
    with torch.no_grad():
        g(x, w)
        assert launches(g, x, w) == 1


# --- options ----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune"])
@pytest.mark.parametrize("backend", ["inductor", "tpu"])
def test_modes_are_accepted(mode, backend):
    f = torch.compile(lambda x: x + 1, mode=mode, backend=backend)
    close(f(torch.ones(2, device="tpu")).cpu(), torch.full((2,), 2.0))


def test_unknown_option_names_itself_and_the_known_ones():
    f = torch.compile(lambda x: x + 1, backend="tpu", options={"fuse_harder": 1})
    with pytest.raises(RuntimeError, match="'fuse_harder'.*memory_budget, precision, whole"):
        f(torch.ones(2, device="tpu"))


def test_option_of_a_wrong_value_says_what_is_right():
    f = torch.compile(lambda x: x + 1, backend="tpu", options={"precision": "double"})
    with pytest.raises(RuntimeError, match='"default", "high" or "highest", got \'double\''):
        f(torch.ones(2, device="tpu"))


def test_unknown_mode_is_an_error():
    f = torch.compile(lambda x: x + 1, backend="tpu", mode="turbo")
    with pytest.raises(RuntimeError, match="'turbo'"):
        f(torch.ones(2, device="tpu"))


def test_precision_option_holds_inside_the_function_only():
    x = torch.randn(64, 64)
    f = torch.compile(lambda a: a @ a, backend="tpu", options={"precision": "highest"})
    close(f(x.to("tpu")).cpu(), x @ x, rtol=1e-5, atol=1e-4)
    assert torch.tpu.get_precision() is torch.tpu.Precision.DEFAULT
    rounded = torch.compile(lambda a: a @ a, backend="tpu")(x.to("tpu")).cpu()
    assert (rounded - x @ x).abs().max() > 1e-3


def test_precision_that_changes_is_seen_by_a_compiled_function():
    x = torch.randn(64, 64)
    f, t = torch.compile(lambda a: a @ a), x.to("tpu")
    coarse = f(t).cpu()
    with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        close(f(t).cpu(), x @ x, rtol=1e-5, atol=1e-4)
    close(f(t).cpu(), coarse, rtol=0, atol=0)


def test_whole_refuses_what_no_program_can_hold():
    @torch.library.custom_op("tputorch_test::halved", mutates_args=())
    def halved(x: torch.Tensor) -> torch.Tensor:
        return x.cpu().div(2).to(x.device)

    halved.register_fake(torch.empty_like)
    f = torch.compile(lambda x: halved(x) + 1, backend="tpu", options={"whole": True})
    with pytest.raises(RuntimeError, match="halved cannot be part of a program"):
        f(torch.ones(2, device="tpu"))


def test_whole_says_that_an_operator_has_no_kernel():
    f = torch.compile(lambda x: torch.linalg.svdvals(x) + 1, backend="tpu", options={"whole": True})
    with pytest.raises(RuntimeError, match="svd cannot be part of a program .it has no kernel"):
        f(torch.ones(3, 2, device="tpu"))


# --- in-place effects and views ---------------------------------------------------------


class Attribute(nn.Module):
    def __init__(self, b):
        super().__init__()
        self.b = b

    def forward(self, x, index, update):
        self.b.index_copy_(0, index, update)
        return x + self.b


def test_up_013_attribute_is_written_once_per_call():
    base = torch.arange(9.0).reshape(3, 3)
    index, update, x = torch.tensor([2, 0]), torch.full((2, 3), 5.0), torch.ones(3, 3)
    reference, module = Attribute(base.clone()), Attribute(base.clone().to("tpu"))
    compiled = torch.compile(module, fullgraph=True)
    for _ in range(3):
        want = reference(x, index, update)
        close(compiled(x.to("tpu"), index.to("tpu"), update.to("tpu")).cpu(), want)
        close(module.b.cpu(), reference.b)
        update = update * 2


class Cache:
    def __init__(self):
        self.cache = torch.zeros(4, 3, device="tpu")

    def put(self, position, x):
        self.cache[position] = x
        return self.cache.sum()


def test_up_014_replaced_attribute_is_the_one_that_is_written():
    holder = Cache()
    put = torch.compile(holder.put)
    assert put(0, torch.ones(3, device="tpu")).item() == 3
    old, holder.cache = holder.cache, torch.full((4, 3), 2.0, device="tpu")
    assert put(1, torch.zeros(3, device="tpu")).item() == 18
    close(old.cpu()[1], torch.zeros(3))
    close(holder.cache.cpu()[1], torch.zeros(3))


@pytest.mark.portable
def test_input_that_is_written_keeps_its_storage_and_its_aliases():
    f = torch.compile(lambda x: x.add_(1).mul_(2), fullgraph=True)
    x = torch.ones(4, device="tpu")
    view, address = x[1:3], x.data_ptr()
    y = f(x)
    assert x.data_ptr() == address and y.data_ptr() == address
    close(view.cpu(), torch.full((2,), 4.0))


def test_inputs_that_share_a_storage_of_which_one_is_written():
    f = lambda a, b: (a.add_(1), a * b[:3])  # noqa: E731
    g, want, base = torch.compile(f), torch.arange(6.0), torch.arange(6.0, device="tpu")
    wanted = f(want[:3], want)
    actual = g(base[:3], base)
    close(base.cpu(), want)
    close(actual[1].cpu(), wanted[1])


def test_output_that_is_a_view_of_an_input_aliases_it():
    f = torch.compile(lambda x: (x.t(), x + 1), fullgraph=True)
    x = torch.arange(6.0, device="tpu").reshape(2, 3)
    t, _ = f(x)
    x.zero_()
    close(t.cpu(), torch.zeros(3, 2))


def test_lazily_conjugated_tensors_go_in_and_out():
    f, x = lambda a: (a * 2 + 1j, (a + a).conj()), torch.randn(4, dtype=torch.complex64)
    g = torch.compile(f, fullgraph=True)
    for actual, wanted in zip(g(x.to("tpu").conj()), f(x.conj()), strict=True):
        close(actual.resolve_conj().cpu(), wanted.resolve_conj())


def test_empty_tensors():
    f = lambda x: (x * 2, x.sum(), torch.cat([x, x]), x.softmax(-1))  # noqa: E731
    x = torch.randn(0, 2)
    for actual, wanted in zip(torch.compile(f)(x.to("tpu")), f(x), strict=True):
        close(actual.cpu(), wanted)


def test_input_of_any_memory_order_keeps_strides_of_results():
    def f(x):
        return x.as_strided((2, 2), (1, 2)) * 2, x.unfold(0, 2, 1).sum(-1), x + 1, x[::2] * 1

    x = torch.randn(4, 4)
    for actual, wanted in zip(torch.compile(f)(x.to("tpu").t()), f(x.t()), strict=True):
        close(actual.cpu(), wanted)
        assert actual.stride() == wanted.stride()


@pytest.mark.parametrize(
    "how", [lambda f: f, lambda f: torch.compile(f, backend="aot_eager"), torch.compile]
)
def test_attention_keeps_the_memory_order_of_its_query(how, highest):
    """Heads that were transposed out go back as a view, forward and backward, as on the CPU."""

    def f(x):
        q, k, v = (y.view(2, 5, 2, 4).transpose(1, 2) for y in x.chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2).view(2, 5, 8)

    inputs = [torch.randn(2, 5, 24).to(device).requires_grad_() for device in ("tpu", "cpu")]
    with torch.no_grad():
        inputs[1].copy_(inputs[0].cpu())
    actual, wanted = how(f)(inputs[0]), f(inputs[1])
    close(actual.detach().cpu(), wanted.detach())
    actual.square().sum().backward()
    wanted.square().sum().backward()
    close(inputs[0].grad.cpu(), inputs[1].grad, rtol=1e-4, atol=1e-5)


def test_threads_share_a_compiled_function():
    f, x = torch.compile(lambda x: (x * 2).tanh().sum(0)), torch.randn(64, 8)
    wanted = f(x.to("tpu")).cpu()

    def work(_):
        return all(torch.equal(f(x.to("tpu")).cpu(), wanted) for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_parameter_written_before_its_backward_is_an_error():
    w = torch.randn(3, 3, device="tpu", requires_grad=True)
    x = torch.randn(2, 3, device="tpu", requires_grad=True)
    y = torch.compile(lambda x, w: (x @ w.t()).exp())(x, w).sum()
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_custom_operator_on_the_host_splits_the_graph():
    @torch.library.custom_op("tputorch_test::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x.cpu().mul(2).to(x.device)

    doubled.register_fake(torch.empty_like)
    f = torch.compile(lambda x: doubled(x + 1) * 3, fullgraph=True)
    close(f(torch.ones(3, device="tpu")).cpu(), torch.full((3,), 12.0))


def test_outputs_that_are_views_of_one_result():
    def f(x):
        y = x * 2
        return y, y[1:], y.t()

    g = torch.compile(f, fullgraph=True)
    x = torch.randn(3, 4)
    for actual, wanted in zip(g(x.to("tpu")), f(x), strict=True):
        close(actual.cpu(), wanted)
        assert actual.stride() == wanted.stride()


def test_constants_of_a_function_are_fresh_at_each_call():
    def f(x):
        c = torch.tensor([1.0, 2.0, 3.0], device=x.device)
        c += x
        return c

    g = torch.compile(f, fullgraph=True)
    x = torch.ones(3, device="tpu")
    for _ in range(3):
        close(g(x).cpu(), torch.tensor([2.0, 3.0, 4.0]))


def test_cpu_numbers_and_cpu_parts_mix_with_tpu():
    f = torch.compile(lambda x, s, t: (x * s + t.to(x.device), s + 1), fullgraph=True)
    for value in (2.0, 5.0):
        scaled, number = f(torch.ones(3, device="tpu"), torch.tensor(value), torch.arange(3.0))
        close(scaled.cpu(), torch.arange(3.0) + value)
        assert number.device.type == "cpu" and number.item() == value + 1


@pytest.mark.parametrize("form", ["index_add_", "scatter_add", "index_add"])
def test_up_091_combine_of_experts_adds_all_duplicates(form):
    tokens = torch.arange(8).repeat_interleave(4)[torch.randperm(32)]
    segments = torch.randn(32, 16)

    def f(tokens, segments):
        out = torch.zeros(8, 16, device=segments.device)
        if form == "scatter_add":
            return out.scatter_add(0, tokens[:, None].expand(-1, 16), segments)
        return getattr(out, form)(0, tokens, segments)

    actual = torch.compile(f, fullgraph=True)(tokens.to("tpu"), segments.to("tpu"))
    close(actual.cpu(), f(tokens, segments))


def test_up_124_norm_under_autocast_has_the_dtype_of_eager():
    x = torch.randn(5, 5, device="tpu", dtype=torch.float16)

    def f(x):
        with torch.autocast("tpu", dtype=torch.float16):
            return torch.norm(x, p=2, dim=1)

    assert torch.compile(f)(x).dtype == f(x).dtype
    close(torch.compile(f)(x), f(x))


# --- shapes and recompilation -----------------------------------------------------------


@pytest.mark.portable
def test_dynamic_sizes_cost_no_graph_of_dynamo():
    counter, compile_ = counted(dynamic=True)
    f = compile_(lambda x: (x @ x.t()).softmax(-1).sum(0) * x.shape[0])
    with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        for n in range(2, 22):
            x = torch.randn(n, 3)
            close(f(x.to("tpu")).cpu(), (x @ x.t()).softmax(-1).sum(0) * n)
    assert counter.frame_count == 1


def test_twenty_sizes_cost_a_tenth_of_a_second():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).to("tpu")
    f, spent = torch.compile(model, dynamic=True), []
    f(torch.randn(2, 64, device="tpu")).sum().backward()
    f(torch.randn(3, 64, device="tpu")).sum().backward()
    for first in (4, 24, 44):
        inputs = [torch.randn(n, 64, device="tpu") for n in range(first, first + 20)]
        torch.tpu.synchronize()
        start = time.process_time()
        for x in inputs:
            f(x).sum().backward()
        torch.tpu.synchronize()
        spent.append(time.process_time() - start)
    assert min(spent) < 0.1, spent


def test_sizes_that_change_by_themselves_become_dynamic():
    counter, compile_ = counted()
    f = compile_(lambda x: F.layer_norm(x, (4,)))
    for n in range(3, 20):
        x = torch.randn(n, 4)
        close(f(x.to("tpu")).cpu(), F.layer_norm(x, (4,)))
    assert counter.frame_count == 2


def test_known_sizes_compile_nothing():
    f = torch.compile(lambda x: x.exp().sum(), dynamic=True)
    for n in (3, 5, 7):
        f(torch.ones(n, device="tpu"))
    before = compiles()
    for n in (7, 3, 5):
        f(torch.ones(n, device="tpu"))
    assert compiles() == before


def test_up_166_many_sizes_leave_no_growing_memory_behind():
    f = torch.compile(lambda x: (x * 2).cumsum(0) + x.shape[0], dynamic=True)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    sizes = iter(range(2, 2000))
    for _ in range(400):
        f(torch.empty(next(sizes), device="tpu"))
    before = resident()
    for _ in range(400):
        f(torch.empty(next(sizes), device="tpu"))
    assert resident() - before < 24 << 20
    x = torch.randn(2)
    close(f(x.to("tpu")).cpu(), (x * 2).cumsum(0) + 2)


def test_marked_dimension_is_dynamic_at_once():
    counter, compile_ = counted()
    f = compile_(lambda x: x.cumsum(0))
    for n in (4, 9, 2):
        x = torch.randn(n, 2, device="tpu")
        torch._dynamo.mark_dynamic(x, 0)
        close(f(x).cpu(), x.cpu().cumsum(0))
    assert counter.frame_count == 1


def test_dynamic_false_makes_a_graph_per_size():
    counter, compile_ = counted(dynamic=False)
    f = compile_(lambda x: x + 1)
    for n in (3, 4, 5):
        f(torch.ones(n, device="tpu"))
    assert counter.frame_count == 3


def test_up_157_offset_of_an_input_is_not_guarded():
    counter, compile_ = counted()
    f = compile_(lambda x: x * 2 + x.flip(0))
    base = torch.arange(32.0)
    device = base.to("tpu")
    f(device[0:4])
    before = compiles()
    for start in range(4, 32, 4):
        x = base[start : start + 4]
        close(f(device[start : start + 4]).cpu(), x * 2 + x.flip(0))
    assert counter.frame_count == 1
    assert compiles() - before <= 1


def test_up_205_plain_tensor_and_view_of_its_shape():
    counter, compile_ = counted()
    f = compile_(lambda x: x.sin() + 1)
    tensors = [torch.randn(4, 4), torch.randn(8, 4)[2:6], torch.randn(3, 4, 4)[1]]
    for t in tensors * 2:
        on_device = t.to("tpu") if t._base is None else t._base.to("tpu")
        if t._base is not None:
            on_device = on_device[1] if on_device.dim() == 3 else on_device[2:6]
        close(f(on_device).cpu(), t.sin() + 1)
    assert counter.frame_count == 1


def test_up_161_floor_division_stays_integer_and_whole():
    counter, compile_ = counted()
    f = compile_(lambda x: x // 3)
    x = torch.arange(-6, 6, dtype=torch.int32)
    for _ in range(3):
        y = f(x.to("tpu"))
        assert y.dtype == torch.int32
        close(y.cpu(), x // 3)
        x = x + 1
    assert counter.frame_count == 1


def test_up_154_printing_changes_nothing():
    f = torch.compile(lambda x: x[x[:, 0] > 0].sum(0))
    for n in (4, 7, 10):
        x = torch.randn(n, 2)
        t = x.to("tpu")
        if n == 7:
            str(t)
        close(f(t).cpu(), x[x[:, 0] > 0].sum(0))


def test_up_155_ragged_merge_compiles_no_whole_graph_per_batch():
    counter, compile_ = counted()

    def merge(text, image, mask):
        out = text.clone()
        out[mask] = image[: int(mask.sum())]
        return (out * 2).sum(0)

    f = compile_(merge)
    for count in (3, 5, 6, 7, 2):
        text, image = torch.randn(10, 4), torch.randn(8, 4)
        mask = torch.zeros(10, dtype=torch.bool)
        mask[:count] = True
        close(
            f(text.to("tpu"), image.to("tpu"), mask.to("tpu")).cpu(),
            merge(text, image, mask),
        )
    assert counter.frame_count <= 6


# --- modes around -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
@pytest.mark.parametrize("where", ["inside", "around", "decorator"])
def test_up_160_inference_mode_and_no_grad(mode, where):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2))
    x = torch.randn(3, 4)
    want = model(x).detach()
    module = copy.deepcopy(model).to("tpu")

    def inside(x):
        with mode():
            return module(x)

    f = {
        "inside": torch.compile(inside),
        "around": torch.compile(module),
        "decorator": mode()(torch.compile(module)),
    }[where]
    with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        if where == "around":
            with mode():
                y = f(x.to("tpu"))
            close(f(x.to("tpu")).detach().cpu(), want)
        else:
            y = f(x.to("tpu"))
        close(y.cpu(), want)
    assert not y.requires_grad


def test_graph_breaks_run_eagerly_and_are_counted():
    def f(x):
        y = x * 2
        torch._dynamo.graph_break()
        return y + 1

    close(torch.compile(f)(torch.ones(3, device="tpu")).cpu(), torch.full((3,), 3.0))
    assert torch._dynamo.explain(f)(torch.ones(3, device="tpu")).graph_break_count == 1
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(f, fullgraph=True)(torch.ones(3, device="tpu"))


def test_numbers_read_inside_a_whole_graph():
    f = lambda x: x * x.sum().item()  # noqa: E731
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        g = torch.compile(f, fullgraph=True)
        for n in (2.0, 3.0):
            x = torch.full((3,), n)
            close(g(x.to("tpu")).cpu(), f(x))


@pytest.mark.portable
def test_sizes_that_depend_on_data_inside_a_whole_graph():
    f = lambda x: (x[x > 0] * 2).cumsum(0)  # noqa: E731
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        g = torch.compile(f, fullgraph=True)
        for _ in range(3):
            x = torch.randn(10)
            close(g(x.to("tpu")).cpu(), f(x))


def test_error_of_an_operator_comes_from_the_compiled_function():
    f = torch.compile(lambda w, i: F.embedding(i, w) * 2)
    w, i = torch.randn(4, 3, device="tpu"), torch.tensor([1, 9], device="tpu")
    with pytest.raises(IndexError):
        f(w, i).cpu()
    close(f(w, torch.tensor([1, 3], device="tpu")).cpu(), w.cpu()[[1, 3]] * 2)


# --- control flow -----------------------------------------------------------------------


def test_cond_takes_the_branch_that_the_value_says():
    def f(x):
        y = x * 2
        return torch.cond(y.sum() > 0, lambda y: y.sin() + 1, lambda y: y.cos(), (y,)) * 3

    g = torch.compile(f, fullgraph=True)
    for sign in (1.0, -1.0):
        x = torch.full((3,), sign)
        close(g(x.to("tpu")).cpu(), f(x))


def test_while_loop():
    from torch._higher_order_ops.while_loop import while_loop

    def f(x, limit):
        start = torch.zeros((), dtype=torch.long, device=x.device)
        return while_loop(
            lambda i, x, limit: i < limit, lambda i, x, limit: (i + 1, x * 2, limit + 0),
            (start, x, limit),
        )  # fmt: skip

    g = torch.compile(f, fullgraph=True)
    for limit in (0, 1, 5):
        i, x, _ = g(torch.ones(3, device="tpu"), torch.tensor(limit, device="tpu"))
        assert i.item() == limit
        close(x.cpu(), torch.full((3,), 2.0**limit))


def test_scan_and_map():
    from torch._higher_order_ops.map import map as map_
    from torch._higher_order_ops.scan import scan

    def f(x):
        carry, ys = scan(lambda c, y: (c + y, c * y), torch.ones(3, device=x.device), x, dim=0)
        return carry, map_(lambda y, z: y.sin() + z, ys, carry.clone())

    g, x = torch.compile(f, fullgraph=True), torch.randn(5, 3)
    for actual, wanted in zip(g(x.to("tpu")), f(x), strict=True):
        close(actual.cpu(), wanted)


def test_flex_attention_and_its_gradient(highest):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 128, 128, device="tpu")
    f = torch.compile(lambda q, k, v: flex_attention(q, k, v, block_mask=mask), fullgraph=True)
    inputs = [torch.randn(1, 2, 128, 16) for _ in range(3)]
    on_tpu = [t.to("tpu").requires_grad_() for t in inputs]
    on_cpu = [t.clone().requires_grad_() for t in inputs]
    out = f(*on_tpu)
    want = F.scaled_dot_product_attention(*on_cpu, is_causal=True)
    close(out.detach().cpu(), want.detach(), rtol=1e-4, atol=1e-4)
    out.square().sum().backward()
    want.square().sum().backward()
    for a, b in zip(on_tpu, on_cpu, strict=True):
        close(a.grad.cpu(), b.grad, rtol=1e-3, atol=1e-3)
