"""Random graphs of operators with type promotion and broadcasting, on the CPU and on tpu.

Nothing is read before the graph is whole, so that modes which defer work have work to defer. A node
is exact when every device must compute the same number; operators that could turn a rounding into
another answer (comparisons, floor, argmax) take exact nodes only.
"""

import torch
from hypothesis import strategies as st

DTYPES = [
    torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.uint8, torch.int8,
    torch.int16, torch.int32, torch.int64, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip
TOLERANCE = {
    torch.bfloat16: 6e-2, torch.float16: 8e-3, torch.float32: 2e-4, torch.complex64: 2e-4,
    torch.float64: 1e-8, torch.complex128: 1e-8,
}  # fmt: skip
SHAPES = [(), (1,), (4,), (3, 1), (3, 4), (2, 1, 4), (2, 3, 4), (1, 1), (0,), (2, 0, 4)]
SCALARS = [0, 1, -2, 3, 0.5, -1.5, 2.0, True, False, 2 + 1j, 7]

EXACT_UNARY = ["neg", "abs", "square", "sign", "floor", "ceil", "trunc", "round", "logical_not"]
EXACT_UNARY += ["isnan", "bitwise_not", "positive", "conj_physical", "sgn", "isfinite"]
SMOOTH_UNARY = ["exp", "sigmoid", "tanh", "sin", "cos", "atan", "erf", "rsqrt", "sqrt", "log1p"]
EXACT_BINARY = ["add", "sub", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"]
EXACT_BINARY += ["logical_and", "logical_or", "bitwise_and", "bitwise_or", "bitwise_xor"]
EXACT_BINARY += ["fmax", "fmin", "copysign"]
SMOOTH_BINARY = ["add", "sub", "mul"]
REDUCTIONS = ["sum", "mean", "prod", "amax", "amin", "any", "all", "cumsum", "argmax", "argmin"]


class Node:
    """`tolerance`: 0 for an exact node, else that of the coarsest dtype on the way to it."""

    def __init__(self, cpu, tpu, tolerance: float):
        self.cpu, self.tpu, self.tolerance = cpu, tpu, tolerance
        self.exact = tolerance == 0


def is_tame(t: torch.Tensor, limit: float) -> bool:
    """Finite, and sums of it stay far from any overflow."""
    t = t.resolve_conj()
    if t.is_complex():
        t = torch.view_as_real(t)
    return bool((t.double().abs() <= limit).all())


def is_whole(t: torch.Tensor) -> bool:
    if t.is_complex():
        return is_whole(torch.view_as_real(t.resolve_conj()))
    return not t.is_floating_point() or bool((t == t.round()).all())


class Graph:
    def __init__(self, data):
        self.data, self.nodes, self.log = data, [], []
        for _ in range(self.number(1, 3)):
            self.leaf()

    def number(self, low: int, high: int) -> int:
        return self.data.draw(st.integers(low, high))

    def choose(self, items):
        return items[self.number(0, len(items) - 1)]

    def leaf(self) -> None:
        dtype, shape = self.choose(DTYPES), self.choose(SHAPES)
        generator = torch.Generator().manual_seed(self.number(0, 99))
        low = 0 if dtype in (torch.uint8, torch.bool) else -4
        cpu = torch.randint(low, 5, shape, generator=generator).to(dtype)
        if cpu.is_floating_point() and self.number(0, 3) == 0:
            cpu = cpu / 4
        self.log.append(f"n{len(self.nodes)} = leaf {dtype} {shape}")
        self.nodes.append(Node(cpu, cpu.to("tpu"), 0))

    def node(self, exact: bool) -> Node:
        kept = [n for n in self.nodes if n.exact or not exact]
        return self.choose(kept)

    def operand(self, exact: bool):
        """A node, a Python number, a 0-d tensor on the CPU: (for the CPU, for tpu, its name)."""
        kind = self.number(0, 5)
        if kind == 0:
            scalar = self.choose(SCALARS)
            return scalar, scalar, repr(scalar), 0
        if kind == 1:
            zero_d = torch.tensor(self.choose(SCALARS)).to(self.choose(DTYPES[:10]))
            return zero_d, zero_d, f"cpu {zero_d!r}", 0
        return self.named(self.node(exact))

    def named(self, node: Node):
        return node.cpu, node.tpu, f"n{self.nodes.index(node)}", node.tolerance

    def apply(self, what: str, op, operands, exact: bool) -> None:
        self.log.append(f"n{len(self.nodes)} = {what} {[o[2] for o in operands]}")
        try:
            cpu = op(*[o[0] for o in operands])
        except Exception as error:  # noqa: BLE001
            try:
                op(*[o[1] for o in operands])
            except type(error):
                return
            except RuntimeError as refusal:
                if "complex32" in str(refusal):
                    return
                raise
            if "not implemented for" not in str(error):  # to have more than the CPU is no fault
                raise AssertionError(self.story("no error", repr(error))) from error
            return
        if cpu.dtype == torch.complex32:
            return
        tpu = op(*[o[1] for o in operands])
        if tpu.device.type == "tpu":
            tolerances = [o[3] for o in operands]
            if not exact or any(tolerances):
                tolerances += [TOLERANCE.get(cpu.dtype, 0)]
            self.nodes.append(Node(cpu, tpu, max(tolerances)))

    def story(self, actual, expected) -> str:
        return "\n".join([*self.log, f"tpu has {actual}", f"CPU has {expected}"])

    def step(self) -> None:
        self.choose([self.unary, self.binary, self.binary, self.where, self.reduce, self.convert])()

    def unary(self) -> None:
        exact = self.number(0, 1) == 1
        node = self.node(exact)
        name = self.choose(EXACT_UNARY if exact else SMOOTH_UNARY)
        operand = self.named(node)
        if not exact and not is_tame(node.cpu, 8):
            return
        if name in ("rsqrt", "sqrt", "log1p"):
            if not node.exact and node.cpu.dtype.is_complex:
                return
            self.apply(name, lambda t: getattr(torch, name)(t.abs() + 1), [operand], False)
            return
        self.apply(name, lambda t: getattr(torch, name)(t), [operand], exact)

    def binary(self) -> None:
        exact = self.number(0, 2) > 0
        name = self.choose(EXACT_BINARY if exact else [*SMOOTH_BINARY, "div", "add_alpha"])
        a, b = self.operand(exact), self.operand(exact)
        if not any(isinstance(o[1], torch.Tensor) and o[1].is_tpu for o in (a, b)):
            return
        tame = all(not isinstance(o[0], torch.Tensor) or is_tame(o[0], 1e3) for o in (a, b))
        is_complex = any(
            isinstance(o[0], complex) or getattr(o[0], "is_complex", bool)() for o in (a, b)
        )
        if not tame and (not exact or is_complex):
            return
        ops = {
            "add_alpha": lambda x, y: torch.add(x, y, alpha=2),
            "div": lambda x, y: x / y,
            "sub": lambda x, y: x - y,
            "add": lambda x, y: x + y,
            "mul": lambda x, y: x * y,
        }
        if name == "div" and is_complex and bool(torch.as_tensor(b[0] == 0).any()):
            return  # the CPU has two answers, by the length of the array
        op = ops.get(name, lambda x, y: getattr(torch, name)(x, y))
        self.apply(name, op, [a, b], exact)

    def where(self) -> None:
        mask = self.node(True)
        a, b = self.operand(False), self.operand(False)
        condition = (mask.cpu != 0, mask.tpu != 0, f"n{self.nodes.index(mask)} != 0", 0)
        self.apply("where", torch.where, [condition, a, b], True)

    def reduce(self) -> None:
        name = self.choose(REDUCTIONS)
        discrete = name in ("any", "all", "argmax", "argmin")
        node = self.node(discrete)
        if node.cpu.dim() == 0 or not is_tame(node.cpu, 100):
            return
        d = self.number(0, node.cpu.dim() - 1)
        operand = self.named(node)
        whole = is_whole(node.cpu) and name != "mean"
        exact = whole or name in ("amax", "amin") or discrete
        if node.cpu.dtype.is_complex and name == "prod":
            return
        if not whole and name == "prod":
            exact = False
        self.apply(f"{name}({d})", lambda t: getattr(torch, name)(t, d), [operand], exact)

    def convert(self) -> None:
        node, dtype = self.node(False), self.choose(DTYPES)
        from_complex = node.cpu.is_complex() and not dtype.is_complex
        is_int = not dtype.is_floating_point and not dtype.is_complex
        if from_complex or (is_int and (not node.exact or not is_tame(node.cpu, 100))):
            return
        if dtype == torch.uint8 and not node.cpu.dtype.is_signed and node.cpu.dtype != torch.bool:
            pass
        elif dtype == torch.uint8 and node.cpu.is_floating_point() and bool((node.cpu < 0).any()):
            return  # undefined in C
        operand = self.named(node)
        self.apply(f"to({dtype})", lambda t: t.to(dtype), [operand], True)

    def run(self, count: int) -> None:
        for _ in range(count):
            self.step()
        for i, node in enumerate(self.nodes):
            self.compare(i, node)

    def compare(self, i: int, node: Node) -> None:
        tpu, cpu = node.tpu.cpu(), node.cpu
        same = (tpu.dtype, tpu.shape) == (cpu.dtype, cpu.shape)
        assert same, self.story(f"n{i} {tpu.dtype} {tpu.shape}", f"{cpu.dtype} {cpu.shape}")
        tolerance = node.tolerance
        try:
            torch.testing.assert_close(
                tpu.resolve_conj(), cpu.resolve_conj(), rtol=tolerance, atol=tolerance,
                equal_nan=True,
            )  # fmt: skip
        except AssertionError as error:
            raise AssertionError(self.story(f"n{i} {tpu}", f"n{i} {cpu}\n{error}")) from None
