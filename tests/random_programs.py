"""Random StableHLO programs: well-typed graphs of elementwise ops, reductions, data movement.

They share values freely and return many of them, which is where a fusing compiler goes wrong.
Numbers stay small, and ops with a jump (floor, comparisons, conversion to integers) take only
floats that every compiler computes to the last bit, so that results may be compared.
"""

import random
from math import prod

FLOATS = ["f32", "f64"]
INTEGERS = ["i32", "i64", "ui8", "i8"]
SIZE_MAX = 4096
# Where maximum and minimum start: the identity, for a reduction may use it any number of times.
LOWEST = {"f32": "0xFF800000", "f64": "0xFFF0000000000000", "i8": "-128", "ui8": "0"}
LOWEST |= {"i32": str(-(2**31)), "i64": str(-(2**63))}
HIGHEST = {"f32": "0x7F800000", "f64": "0x7FF0000000000000", "i8": "127", "ui8": "255"}
HIGHEST |= {"i32": str(2**31 - 1), "i64": str(2**63 - 1)}
ROUNDING = {
    "tanh",
    "sine",
    "cosine",
    "logistic",
    "add",
    "subtract",
    "multiply",
    "reduce",
    "dot_general",
}
ROUNDING |= {"convert"}


class Program:
    """Collects lines; a value is (name, dtype, dims)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.arguments = []
        self.values = []
        self.rounded = set()  # names of floats that depend on how a compiler rounds
        self.count = 0

    # --- helpers -----------------------------------------------------------------------------
    def tensor(self, dtype, dims):
        return f"tensor<{''.join(f'{dim}x' for dim in dims)}{dtype}>"

    def type_of(self, value):
        return self.tensor(value[1], value[2])

    def emit(self, text, dtype, dims):
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {text}")
        # What an op reads stands before the colon of its types; moves keep exactness.
        op = text.split(" ")[0].removeprefix("stablehlo.").split("(")[0]
        read = {word.strip("(),[]") for word in text.split(" : ")[0].split() if "%" in word}
        read = {word.removeprefix("stablehlo.reduce(") for word in read}
        if dtype in FLOATS and (op in ROUNDING or read & self.rounded):
            self.rounded.add(name)
        value = (name, dtype, tuple(dims))
        self.values.append(value)
        return value

    def argument(self, dtype, dims):
        value = (f"%a{len(self.arguments)}", dtype, tuple(dims))
        self.arguments.append(value)
        self.values.append(value)
        return value

    def pick(self, accept=lambda value: True):
        """A value, recent ones more often; None when none is fit."""
        fit = [value for value in self.values if accept(value)]
        if not fit:
            return None
        return fit[-1 - min(int(self.random.expovariate(0.3)), len(fit) - 1)]

    def pick_like(self, value):
        return self.pick(lambda other: other[1:] == value[1:])

    def constant(self, dtype, text):
        """A 0-d constant; later ops do not pick it."""
        value = self.emit(f"stablehlo.constant dense<{text}> : tensor<{dtype}>", dtype, ())
        self.values.remove(value)
        return value

    def is_exact(self, value):
        return value[0] not in self.rounded

    # --- ops ---------------------------------------------------------------------------------
    def unary(self):
        value = self.pick(lambda v: v[1] in FLOATS + INTEGERS)
        names = ["negate", "abs", "sign"]
        if value[1] in FLOATS:
            names = ["negate", "abs", "tanh", "sine", "cosine", "logistic"]
            names += ["floor", "sign"] if self.is_exact(value) else []
        elif value[1].startswith("ui"):
            names = ["not", "popcnt", "count_leading_zeros"]
        name = self.random.choice(names)
        return self.emit(f"stablehlo.{name} {value[0]} : {self.type_of(value)}", *value[1:])

    def binary(self):
        left = self.pick(lambda v: v[1] != "i1")
        right = self.pick_like(left)
        names = ["add", "subtract", "maximum", "minimum", "multiply"]
        if left[1] in INTEGERS:
            names += ["and", "or", "xor"]
        name = self.random.choice(names)
        kind = self.type_of(left)
        value = self.emit(f"stablehlo.{name} {left[0]}, {right[0]} : {kind}", *left[1:])
        if name in ("add", "subtract", "multiply") and left[1] in FLOATS:
            value = self.emit(f"stablehlo.tanh {value[0]} : {kind}", *left[1:])
        return value

    def compare(self):
        left = self.pick(lambda v: v[1] != "i1" and self.is_exact(v))
        right = self.pick(lambda v: v[1:] == left[1:] and self.is_exact(v))
        direction = self.random.choice(["LT", "GE", "EQ", "NE"])
        kind = self.type_of(left)
        out = self.tensor("i1", left[2])
        text = f"stablehlo.compare {direction}, {left[0]}, {right[0]} : ({kind}, {kind}) -> {out}"
        return self.emit(text, "i1", left[2])

    def select(self):
        chosen = self.pick(lambda v: v[1] == "i1")
        if chosen is None:
            return self.compare()
        left = self.pick(lambda v: v[1] != "i1" and v[2] == chosen[2])
        if left is None:
            return None
        right = self.pick_like(left)
        names = f"{chosen[0]}, {left[0]}, {right[0]}"
        kinds = f"{self.type_of(chosen)}, {self.type_of(left)}"
        return self.emit(f"stablehlo.select {names} : {kinds}", *left[1:])

    def convert(self):
        value = self.pick()
        dtype = self.random.choice(FLOATS + INTEGERS if self.is_exact(value) else FLOATS)
        if value[1] in FLOATS and dtype.startswith("ui"):
            dtype = "i32"  # a negative float has no unsigned counterpart
        out = self.tensor(dtype, value[2])
        text = f"stablehlo.convert {value[0]} : ({self.type_of(value)}) -> {out}"
        return self.emit(text, dtype, value[2])

    def broadcast(self):
        value = self.pick(lambda v: len(v[2]) < 4 and prod(v[2]) * 5 <= SIZE_MAX)
        if value is None:
            return None
        dims, places = list(value[2]), list(range(len(value[2])))
        at = self.random.randint(0, len(dims))
        dims.insert(at, self.random.randint(1, 5))
        places = [place + (place >= at) for place in places]
        return self.move(value, f"broadcast_in_dim {value[0]}, dims = {places}", dims)

    def move(self, value, text, dims):
        out = self.tensor(value[1], dims)
        return self.emit(f"stablehlo.{text} : ({self.type_of(value)}) -> {out}", value[1], dims)

    def transpose(self):
        value = self.pick(lambda v: len(v[2]) >= 2)
        if value is None:
            return None
        order = list(range(len(value[2])))
        self.random.shuffle(order)
        dims = [value[2][place] for place in order]
        return self.move(value, f"transpose {value[0]}, dims = {order}", dims)

    def reshape(self):
        value = self.pick()
        dims = [dim for dim in value[2] if dim != 1]
        if len(dims) >= 2 and self.random.random() < 0.7:
            dims[:2] = [dims[0] * dims[1]]
        else:
            dims.insert(self.random.randint(0, len(dims)), 1)
        return self.move(value, f"reshape {value[0]}", dims)

    def slice(self):
        value = self.pick(lambda v: len(v[2]) >= 1 and all(v[2]))
        if value is None:
            return None
        ranges, dims = [], []
        for dim in value[2]:
            start = self.random.randint(0, dim - 1)
            limit, step = self.random.randint(start + 1, dim), self.random.choice([1, 1, 2, 3])
            ranges.append(f"{start}:{limit}:{step}")
            dims.append((limit - start + step - 1) // step)
        return self.move(value, f"slice {value[0]} [{', '.join(ranges)}]", dims)

    def reverse(self):
        value = self.pick(lambda v: len(v[2]) >= 1)
        if value is None:
            return None
        axis = self.random.randrange(len(value[2]))
        text = f"stablehlo.reverse {value[0]}, dims = [{axis}] : {self.type_of(value)}"
        return self.emit(text, *value[1:])

    def pad(self):
        value = self.pick(lambda v: len(v[2]) >= 1 and v[1] != "i1" and prod(v[2]) * 8 <= SIZE_MAX)
        if value is None:
            return None
        zero = self.constant(value[1], "1.0" if value[1] in FLOATS else "1")
        low = [self.random.randint(-1, 2) if dim > 2 else 1 for dim in value[2]]
        high = [self.random.randint(0, 2) for _ in value[2]]
        inner = [self.random.choice([0, 0, 1]) for _ in value[2]]
        dims = [
            a + b + dim + max(dim - 1, 0) * c
            for a, b, c, dim in zip(low, high, inner, value[2], strict=True)
        ]
        out = self.tensor(value[1], dims)
        kinds = f"({self.type_of(value)}, {self.type_of(zero)}) -> {out}"
        text = (
            f"stablehlo.pad {value[0]}, {zero[0]}, low = {low}, high = {high}, interior = {inner}"
        )
        return self.emit(f"{text} : {kinds}", value[1], dims)

    def concatenate(self):
        left = self.pick(lambda v: len(v[2]) >= 1 and prod(v[2]) * 2 <= SIZE_MAX)
        if left is None:
            return None
        right = self.pick_like(left)
        axis = self.random.randrange(len(left[2]))
        dims = list(left[2])
        dims[axis] *= 2
        kind, out = self.type_of(left), self.tensor(left[1], dims)
        text = f"stablehlo.concatenate {left[0]}, {right[0]}, dim = {axis}"
        return self.emit(f"{text} : ({kind}, {kind}) -> {out}", left[1], dims)

    def reduce(self):
        value = self.pick(lambda v: len(v[2]) >= 1 and v[1] != "i1")
        if value is None:
            return None
        axes = [axis for axis in range(len(value[2])) if self.random.random() < 0.5] or [0]
        dims = [dim for axis, dim in enumerate(value[2]) if axis not in axes]
        name = self.random.choice(["add", "maximum", "minimum"])
        zero = "0.0" if value[1] in FLOATS else "0"
        starts = {"add": zero, "maximum": LOWEST[value[1]], "minimum": HIGHEST[value[1]]}
        start = self.constant(value[1], starts[name])
        kinds = f"({self.type_of(value)}, {self.type_of(start)}) -> {self.tensor(value[1], dims)}"
        text = f"stablehlo.reduce({value[0]} init: {start[0]}) applies stablehlo.{name}"
        text = f"{text} across dimensions = {axes} : {kinds}"
        result = self.emit(text, value[1], dims)
        if value[1] in FLOATS and name == "add":
            kind = self.type_of(result)
            result = self.emit(f"stablehlo.sine {result[0]} : {kind}", *result[1:])
        return result

    def dot(self):
        left = self.pick(lambda v: len(v[2]) == 2 and v[1] in FLOATS)
        if left is None:
            return None
        right = self.pick(lambda v: len(v[2]) == 2 and v[1] == left[1] and v[2][0] == left[2][1])
        places = ([1], [0])
        if right is None:
            right, places = self.pick_like(left), ([1], [1])
        dims = (left[2][0], right[2][1 - places[1][0]])
        kinds = f"({self.type_of(left)}, {self.type_of(right)}) -> {self.tensor(left[1], dims)}"
        text = f"stablehlo.dot_general {left[0]}, {right[0]}, contracting_dims = {places[0]} x "
        text += f"{places[1]}, precision = [HIGHEST, HIGHEST] : {kinds}"
        result = self.emit(text, left[1], dims)
        kind = self.type_of(result)
        return self.emit(f"stablehlo.tanh {result[0]} : {kind}", *result[1:])

    # --- the whole ---------------------------------------------------------------------------
    def text(self, results):
        arguments = ", ".join(f"{value[0]}: {self.type_of(value)}" for value in self.arguments)
        kinds = ", ".join(self.type_of(value) for value in results)
        names = ", ".join(value[0] for value in results)
        head = f"func.func @main({arguments}) -> ({kinds}) {{"
        return "\n".join([head, *self.lines, f"  return {names} : {kinds}", "}", ""])


def generate(seed, length=24):
    """The text of one program."""
    program = Program(seed)
    choose = program.random.choice
    rank = program.random.randint(1, 3)
    dims = [choose([1, 2, 3, 5, 8, 17]) for _ in range(rank)]
    for dtype in [choose(FLOATS), choose(FLOATS), choose(INTEGERS)]:
        program.argument(dtype, dims)
    program.argument("f32", [choose([3, 8]), choose([4, 8])])
    ops = [program.unary, program.binary, program.binary, program.compare, program.select]
    ops += [program.convert, program.broadcast, program.transpose, program.reshape, program.slice]
    ops += [program.reverse, program.pad, program.concatenate, program.reduce, program.dot]
    while program.count < length:
        choose(ops)()
    results = program.random.sample(program.values, min(8, len(program.values)))
    return program.text([*results, program.values[-1]])


if __name__ == "__main__":
    import sys

    print(generate(int(sys.argv[1])))
