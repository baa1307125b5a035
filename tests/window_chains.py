"""Random walks over views, writes and reads of shared storages, on the CPU and on tpu in lockstep.

A walk holds pairs of tensors that must stay equal in sizes, strides, offset, dtype and every bit. A
step that the CPU refuses must be refused by tpu with the same class of error and change nothing.
Writes are limited to what PyTorch defines: no address twice, no source in the target's storage.
"""

import torch
from hypothesis import strategies as st
from op_samples import strides_matter

REAL = [
    torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.uint8, torch.int8,
    torch.int16, torch.int32, torch.int64, torch.bool,
]  # fmt: skip
DTYPES = [*REAL, torch.complex64, torch.complex128]
# Where the CPU's negation is exact: it quiets NaN of 16 bits, and its vectors lose complex -0.
NEGATABLE = [t for t in REAL if t not in (torch.bool, torch.bfloat16, torch.float16)]
MAX_ELEMENTS, MAX_RANK = 96, 5


def bits(t: torch.Tensor) -> torch.Tensor:
    t = t.detach().cpu().resolve_conj().resolve_neg()
    return torch.empty(t.numel(), dtype=t.dtype).copy_(t.reshape(-1)).view(torch.uint8)


def describe(t: torch.Tensor) -> tuple:
    offset = t.storage_offset() if t.numel() else None
    return t.dtype, tuple(t.shape), strides_matter(t), offset, t.is_conj(), t.is_neg()


def addresses(t: torch.Tensor) -> torch.Tensor:
    """For each element its place in the storage."""
    last = sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) if t.numel() else -1
    return torch.arange(last + 1).as_strided(t.shape, t.stride(), 0)


def is_overlapping(t: torch.Tensor) -> bool:
    return addresses(t).unique().numel() < t.numel()


class Walk:
    """`draw` is hypothesis' draw, so that failing walks shrink; `log` tells what was done."""

    def __init__(self, data):
        self.data = data
        self.pairs = []
        self.log = []
        for _ in range(self.number(1, 2)):
            self.base()

    # --- drawing ---------------------------------------------------------------------

    def number(self, low: int, high: int) -> int:
        return self.data.draw(st.integers(low, high))

    def choose(self, items):
        return items[self.number(0, len(items) - 1)]

    def pick(self):
        return self.choose(self.pairs)

    def dim(self, t) -> int:
        return self.number(0, max(t.dim() - 1, 0))

    def values(self, shape, dtype: torch.dtype) -> torch.Tensor:
        """Any bits for small integers' sake and floats' NaNs alike; truth values for bool."""
        generator = torch.Generator().manual_seed(self.number(0, 999))
        count = torch.Size(shape).numel()
        if dtype == torch.bool:
            return torch.randint(2, shape, generator=generator).bool()
        raw = torch.randint(256, (max(count, 1) * dtype.itemsize,), generator=generator)
        return raw.to(torch.uint8).view(dtype)[:count].reshape(shape)

    def base(self):
        shape = [self.number(1, 6) for _ in range(self.number(0, 4))]
        while torch.Size(shape).numel() > MAX_ELEMENTS:
            shape.pop()
        cpu = self.values(shape, self.choose(DTYPES))
        if cpu.dim() == 4 and self.number(0, 1):
            cpu = cpu.contiguous(memory_format=torch.channels_last)
        self.log.append(f"base {cpu.dtype} {tuple(cpu.shape)} {cpu.stride()}")
        self.add(cpu.clone(), cpu.to("tpu"))

    # --- in lockstep -------------------------------------------------------------------

    def add(self, cpu, tpu) -> None:
        assert describe(cpu) == describe(tpu), self.story(describe(tpu), describe(cpu))
        if cpu.stride() != tpu.stride():
            return  # in dimensions of one element: both are right, but views of them differ
        if cpu.numel() <= 4 * MAX_ELEMENTS and cpu.dim() <= MAX_RANK:
            self.pairs.append((cpu, tpu))
            del self.pairs[:-12]

    def both(self, what: str, step, *pairs) -> bool:
        """Runs step on the CPU's tensors, then on tpu's; keeps the results. False: refused."""
        self.log.append(f"{what}   on {[describe(cpu) for cpu, _ in pairs]}")
        try:
            expected = step(*[cpu for cpu, _ in pairs])
        except Exception as error:  # noqa: BLE001
            try:
                step(*[tpu for _, tpu in pairs])
            except type(error):
                return False
            raise AssertionError(self.story("no error", repr(error))) from error
        actual = step(*[tpu for _, tpu in pairs])
        if isinstance(expected, torch.Tensor):
            self.add(expected, actual)
        return True

    def story(self, actual, expected) -> str:
        return "\n".join([*self.log, f"tpu has {actual}", f"CPU has {expected}"])

    def compare(self, pair) -> None:
        cpu, tpu = pair
        assert describe(cpu) == describe(tpu), self.story(describe(tpu), describe(cpu))
        expected = bits(cpu)
        ways = {"download": lambda: tpu, "program": lambda: tpu.clone().contiguous()}
        for way, read in ways.items():
            actual = bits(read())
            assert torch.equal(actual, expected), self.story(
                f"({way}) {tpu.cpu()} {actual.tolist()}", f"{cpu} {expected.tolist()}"
            )

    def run(self, count: int) -> None:
        for _ in range(count):
            self.choose(STEPS)(self)
            if self.number(0, 3) == 0:
                self.compare(self.pick())
        for pair in self.pairs:
            self.compare(pair)


# --- views ---------------------------------------------------------------------------------


def view_sizes(w: Walk) -> None:
    cpu, tpu = w.pick()
    count, sizes = cpu.numel(), []
    for _ in range(w.number(0, 3)):
        divisors = [d for d in range(1, count + 1) if count % d == 0] or [0]
        sizes.append(w.choose(divisors))
        count //= max(sizes[-1], 1)
    sizes.append(count)
    w.both(f"view({sizes})", lambda t: t.view(sizes), (cpu, tpu))


def as_strided(w: Walk) -> None:
    rank = w.number(0, 3)
    sizes, strides = [w.number(0, 4) for _ in range(rank)], [w.number(0, 9) for _ in range(rank)]
    offset = w.number(0, 9)
    w.both(
        f"as_strided({sizes}, {strides}, {offset})",
        lambda t: torch.as_strided(t, sizes, strides, offset),
        w.pick(),
    )


def select(w: Walk) -> None:
    pair = w.pick()
    d, i = w.dim(pair[0]), w.number(-2, 3)
    w.both(f"select({d}, {i})", lambda t: t.select(d, i), pair)


def cut(w: Walk) -> None:
    pair = w.pick()
    d, start, length, step = w.dim(pair[0]), w.number(0, 4), w.number(0, 5), w.number(1, 3)
    index = (slice(None),) * d + (slice(start, start + length * step, step),)
    w.both(f"slice({d}, {index[-1]})", lambda t: t[index], pair)


def narrow(w: Walk) -> None:
    pair = w.pick()
    d, start, length = w.dim(pair[0]), w.number(0, 4), w.number(0, 5)
    w.both(f"narrow({d}, {start}, {length})", lambda t: t.narrow(d, start, length), pair)


def diagonal(w: Walk) -> None:
    pair = w.pick()
    offset, a, b = w.number(-2, 2), w.dim(pair[0]), w.dim(pair[0])
    w.both(f"diagonal({offset}, {a}, {b})", lambda t: t.diagonal(offset, a, b), pair)


def unfold(w: Walk) -> None:
    pair = w.pick()
    d, size, step = w.dim(pair[0]), w.number(1, 4), w.number(1, 3)
    w.both(f"unfold({d}, {size}, {step})", lambda t: t.unfold(d, size, step), pair)


def expand(w: Walk) -> None:
    pair = w.pick()
    sizes = [w.number(1, 3) if n == 1 else n for n in pair[0].shape]
    sizes = [w.number(1, 3)] * w.number(0, 1) + sizes
    w.both(f"expand({sizes})", lambda t: t.expand(sizes), pair)


def permute(w: Walk) -> None:
    pair = w.pick()
    order = w.data.draw(st.permutations(range(pair[0].dim())))
    w.both(f"permute({order})", lambda t: t.permute(order), pair)


def move_dim(w: Walk) -> None:
    pair = w.pick()
    a, b = w.dim(pair[0]), w.dim(pair[0])
    way = w.choose(["movedim", "transpose"])
    w.both(f"{way}({a}, {b})", lambda t: getattr(t, way)(a, b), pair)


def reshape_dims(w: Walk) -> None:
    pair = w.pick()
    d = w.number(0, pair[0].dim())
    kinds = {
        "squeeze": lambda t: t.squeeze(),
        "unsqueeze": lambda t: t.unsqueeze(d),
        "flatten": lambda t: t.flatten(),
        "detach": lambda t: t.detach(),
        "mT": lambda t: t.mT,
        "channels_last": lambda t: t.contiguous(memory_format=torch.channels_last),
        "view_as": lambda t: t.view_as(t),
        "flip": lambda t: t.flip(0) if t.dim() else t.clone(),
    }
    kind = w.choose(sorted(kinds))
    w.both(f"{kind} at {d}", kinds[kind], pair)


def view_dtype(w: Walk) -> None:
    pair = w.pick()
    dtypes = [d for d in DTYPES if d != torch.bool]
    dtype = w.choose(dtypes)
    w.both(f"view({dtype})", lambda t: t.view(dtype), pair)


def complex_views(w: Walk) -> None:
    pair = w.pick()
    kinds = {
        "view_as_real": torch.view_as_real,
        "view_as_complex": torch.view_as_complex,
        "conj": torch.conj,
        "neg_view": torch._neg_view,
        "real": lambda t: t.real,
        "imag": lambda t: t.imag,
        "conj.imag": lambda t: t.conj().imag,
        "resolve": lambda t: t.resolve_conj().resolve_neg(),
    }
    kind = w.choose(sorted(kinds))
    if kind == "neg_view" and pair[0].dtype not in NEGATABLE:
        return
    if kind == "view_as_complex" and pair[0].dtype == torch.float16:
        return  # complex32
    w.both(kind, kinds[kind], pair)


# --- storages ------------------------------------------------------------------------------


def swap_data(w: Walk) -> None:
    def step(a, b):
        a.data = b

    a, b = w.pick(), w.pick()
    if [a[0].is_conj(), a[0].is_neg()] == [
        b[0].is_conj(),
        b[0].is_neg(),
    ]:  # PyTorch knows no others
        w.both("a.data = b", step, a, b)


def set_storage(w: Walk) -> None:
    a, b = w.pick(), w.pick()
    if a[0].is_conj() or a[0].is_neg():
        return  # the bit would stay on the new storage: undefined
    sizes, strides, offset = [w.number(0, 3)], [w.number(1, 3)], w.number(0, 4)
    kinds = {
        "set_(b)": lambda x, y: (x.set_(y), None)[1],
        "set_(storage, ...)": lambda x, y: (
            x.set_(y.untyped_storage(), offset, sizes, strides),
            None,
        )[1],
    }
    kind = w.choose(sorted(kinds))
    room = b[0].untyped_storage().nbytes() // a[0].dtype.itemsize
    if offset + (sizes[0] - 1) * strides[0] >= room or a[0].dtype == torch.bool:
        return  # it would grow the storage, or read bytes that are no truth values
    w.both(f"a.{kind} {sizes} {strides} {offset}", kinds[kind], a, b)


def resize(w: Walk) -> None:
    a = w.pick()
    if a[0].is_conj() or a[0].is_neg():
        return
    sizes = [w.number(0, 5) for _ in range(w.number(0, 2))]

    def step(t):
        before = t.untyped_storage().nbytes()
        t.resize_(sizes)
        after = t.untyped_storage().nbytes()
        if after > before:  # what is new is undefined until it is written
            tail = torch.empty(0, dtype=torch.uint8, device=t.device)
            tail.set_(t.untyped_storage(), before, (after - before,), (1,)).fill_(1)

    w.both(f"resize_({sizes})", step, a)


def swap_tensors(w: Walk) -> None:
    i, j = w.number(0, len(w.pairs) - 1), w.number(0, len(w.pairs) - 1)
    w.log.append(f"swap_tensors({i}, {j})")
    if i == j or any(t._is_view() for k in (i, j) for t in w.pairs[k]):
        return
    try:
        torch.utils.swap_tensors(w.pairs[i][0], w.pairs[j][0])
    except RuntimeError:
        return
    torch.utils.swap_tensors(w.pairs[i][1], w.pairs[j][1])


def copies(w: Walk) -> None:
    kinds = {
        "clone": torch.clone,
        "contiguous": lambda t: t.contiguous(),
        "to cpu and back": lambda t: t.cpu().clone().to(t.device),
        "flat storage": lambda t: torch.empty(0, dtype=t.dtype, device=t.device).set_(
            t.untyped_storage().clone(), 0, t.shape, t.stride()
        ),
    }
    kind = w.choose(sorted(kinds))
    pair = w.pick()
    if kind == "flat storage":
        room = pair[0].untyped_storage().nbytes() // pair[0].dtype.itemsize
        last = addresses(pair[0])
        if pair[0].is_conj() or pair[0].is_neg() or (last.numel() and last.max() >= room):
            return
        if pair[0].dtype == torch.bool and pair[0].storage_offset():
            return
    w.both(kind, kinds[kind], pair)


# --- writes --------------------------------------------------------------------------------


def fill(w: Walk) -> None:
    value = w.choose([0, 1, 3])
    w.both(f"fill_({value})", lambda t: (t.fill_(value), None)[1], w.pick())


def copy_fresh(w: Walk) -> None:
    pair = w.pick()
    if is_overlapping(pair[0]):
        return
    shape = [n if w.number(0, 2) else 1 for n in pair[0].shape][w.number(0, 1) :]
    values = w.values(shape, pair[0].dtype)

    def step(t):
        t.copy_(values.to(t.device) if on_device else values)

    on_device = w.number(0, 1)
    w.both(f"copy_({values.dtype} {shape})", step, pair)


def copy_converted(w: Walk) -> None:
    pair = w.pick()
    if is_overlapping(pair[0]) or pair[0].is_neg():
        return  # a conversion on the way makes the CPU forget the sign that the target inverts
    dtype = w.choose(DTYPES)
    values = torch.arange(pair[0].numel()).remainder(7).reshape(pair[0].shape).to(dtype)
    w.both(f"copy_({dtype} 0..6)", lambda t: (t.copy_(values.to(t.device)), None)[1], pair)


def copy_pool(w: Walk) -> None:
    a, b = w.pick(), w.pick()
    if is_overlapping(a[0]) or a[0].dtype != b[0].dtype:
        return
    w.both("a.copy_(b.clone())", lambda x, y: (x.copy_(y.clone()), None)[1], a, b)


def arithmetic(w: Walk) -> None:
    pair = w.pick()
    is_finite = pair[0].dtype.is_floating_point and bool(torch.isfinite(pair[0]).all())
    is_int = not pair[0].dtype.is_floating_point and not pair[0].dtype.is_complex
    if is_overlapping(pair[0]) or not (is_finite or is_int):
        return
    kinds = {
        "add_(3)": lambda t: (t.add_(3), None)[1],
        "mul_(2)": lambda t: (t.mul_(2), None)[1],
        "neg_": lambda t: (t.neg_(), None)[1],
        "masked_fill_": lambda t: (t.masked_fill_(t == 3, 1), None)[1],
        "zero_": lambda t: (t.zero_(), None)[1],
        "add_(clone)": lambda t: (t.add_(t.clone()), None)[1],
    }
    kind = w.choose(sorted(kinds))
    w.both(kind, kinds[kind], pair)


STEPS = [
    view_sizes, as_strided, select, cut, narrow, diagonal, unfold, expand, permute, move_dim,
    reshape_dims, view_dtype, view_dtype, complex_views, swap_data, set_storage, resize,
    swap_tensors, copies, fill, copy_fresh, copy_fresh, copy_converted, copy_pool, arithmetic,
    arithmetic,
]  # fmt: skip
