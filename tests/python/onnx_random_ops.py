"""The nodes that random ONNX networks have: each function here adds one, of random attributes, or raises Unfit."""

import numpy as np
from onnx import TensorProto, helper
from onnx_random import Unfit

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int64", "int32", "uint8", "int8")
NUMBER = {
    "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16, "int64": TensorProto.INT64,
    "int32": TensorProto.INT32, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "bool": TensorProto.BOOL,
}  # fmt: skip


def is_float(v):
    return v.dtype in FLOATS


def has_axes(least, most=9):
    return lambda v: least <= v.rank <= most


def fixed(size):
    """Whether it is the same for all numbers."""
    return len(set(size)) == 1


def some_axis(g, v, fits=lambda size: True):
    axes = [axis for axis, size in enumerate(v.dims) if fits(size)]
    if not axes:
        raise Unfit
    axis = g.some(axes)
    return axis, (axis - v.rank if g.chance(0.3) else axis)


def some_axes(g, v):
    count = g.rng.integers(1, v.rank + 1)
    axes = sorted(int(a) for a in g.rng.permutation(v.rank)[:count])
    return [a - v.rank if g.chance(0.2) else a for a in axes]


def take_with(g, op, x, name, numbers, since, outputs=1, **attributes):
    """What is an attribute before a version is an input from then on."""
    if g.opset < since:
        return g.take(op, [x], outputs, **{name: numbers}, **attributes)
    return g.take(op, [x, g.integers(numbers)], outputs, **attributes)


# Elementwise

UNARY = """Abs Neg Exp Log Sqrt Sigmoid Tanh Relu Softplus Softsign Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh
Floor Ceil Round Sign Reciprocal Mish Identity IsNaN IsInf HardSwish""".split()
WITH_NUMBERS = {
    "LeakyRelu": ["alpha"], "Elu": ["alpha"], "Selu": ["alpha", "gamma"], "Celu": ["alpha"], "HardSigmoid": ["alpha", "beta"],
    "ThresholdedRelu": ["alpha"], "Shrink": ["bias", "lambd"], "Swish": ["alpha"],
}  # fmt: skip


def unary(g):
    x = g.pick(is_float)
    if g.chance(0.3):
        op = g.some(list(WITH_NUMBERS))
        numbers = {name: float(np.round(g.rng.uniform(0.1, 1.5), 2)) for name in WITH_NUMBERS[op] if g.chance(0.6)}
        return g.take(op, [x], **numbers)
    op = g.some([*UNARY, "Gelu"])
    if op in ("Erf", "Gelu", "HardSwish") and g.values[x].dtype == "float64":
        raise Unfit  # the evaluator computes float32, or has constants of it
    return g.take(op, [x], **({"approximate": g.some(["none", "tanh"])} if op == "Gelu" else {}))


def unary_of_others(g):
    x = g.pick(lambda v: not is_float(v))
    ops = ["Not"] if g.values[x].dtype == "bool" else ["Abs", "Neg", "Sign", "Relu", "BitwiseNot", "Identity"]
    return g.take(g.some(ops), [x])


def smooth(g, x):
    """An op that keeps the type and the sizes of x."""
    v = g.values[x]
    if v.dtype == "bool":
        return g.take("Not", [x])
    if is_float(v) and g.chance(0.6):
        return g.take(g.some(["Tanh", "Sigmoid", "Relu", "Sin", "Abs", "Neg"]), [x])
    if g.chance(0.3):
        same = [n for n in g.pool if g.values[n].dtype == v.dtype and g.values[n].dims == v.dims]
        return g.take(g.some(["Add", "Sub", "Max", "Min"] if v.dtype not in ("uint8", "int8") else ["Add"]), [x, g.some(same)])
    return g.take(g.some(["Add", "Mul"]), [x, g.constant(g.array(v.dtype, ()))])


def partner(g, x):
    """An operand that broadcasts with x; axes of one element do so where they always have one, or where others are named
    otherwise."""
    v = g.values[x]

    def fits(w):
        pairs = list(zip(v.dims[::-1], w.dims[::-1], strict=False))
        return w.dtype == v.dtype and all(a == b or set(a) == {1} or set(b) == {1} for a, b in pairs)

    if g.chance(0.5):
        return g.pick(fits)
    start = int(g.rng.integers(0, v.rank + 1))
    dims = [1 if g.chance(0.3) else g.beside(d) for d in v.dims[start:]]
    if g.chance(0.1):
        dims = [g.some([1, 2]), *dims] if start == 0 else dims
    return g.like(dims, v.dtype)


BINARY = ["Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "PRelu", "Mod", "Add", "Mul", "Sub"]
COMPARED = ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]


def binary(g):
    x = g.pick()
    y = partner(g, x)
    dtype = g.values[x].dtype
    if g.chance(0.3) and not (g.values[x].rank < g.values[y].rank):
        x, y = (y, x) if g.chance(0.5) else (x, y)
    if g.chance(0.25):
        return g.take(g.some(COMPARED), [x, y])
    if dtype == "bool":
        return g.take(g.some(["And", "Or", "Xor", "Equal"]), [x, y])
    if dtype in FLOATS:
        op = g.some(BINARY)
        return g.take(op, [x, y], **({"fmod": 1} if op == "Mod" else {}))
    op = g.some(["Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Pow"])
    if op in ("Div", "Mod", "Pow"):
        y = g.constant(g.rng.integers(1, 4, ()), dtype)  # no zero; the evaluator rounds quotients below zero otherwise
        if op == "Div" and any((a < 0).any() for a in g.values[x].plain):
            raise Unfit
        return g.take(op, [x, y], **({"fmod": int(g.chance(0.5))} if op == "Mod" else {}))
    if op == "BitShift":
        return g.take(op, [x, g.constant(g.rng.integers(0, 4, ()), dtype)], direction=g.some(["LEFT", "RIGHT"]))
    return g.take(op, [x, y])


def several(g):
    x = g.pick(is_float)
    return g.take(g.some(["Sum", "Mean", "Max", "Min"]), [x] + [partner(g, x) for _ in range(g.rng.integers(0, 3))])


def where(g):
    x = g.pick()
    y = partner(g, x)
    try:
        condition = g.pick(lambda v: v.dtype == "bool" and v.dims == g.values[x].dims)
    except Unfit:
        dims = g.values[x].dims
        condition = g.like(dims[g.rng.integers(0, len(dims) + 1) :], "bool")
    return g.take("Where", [condition, *g.some([[x, y], [y, x]])])


def cast(g):
    x = g.pick()
    to = g.some(list(NUMBER))
    v = g.values[x]
    if is_float(v) and to in INTEGERS:
        low, high = max(np.iinfo(to).min, -1e6), min(np.iinfo(to).max, 1e6)
        if any(((np.float64(a) <= low) | (np.float64(a) >= high)).any() for a in v.plain):
            raise Unfit  # what becomes of it, nobody says
    if g.chance(0.2):
        return g.take("CastLike", [x, g.pick(lambda w: w.dtype == to)])
    return g.take("Cast", [x], to=NUMBER[to])


def clip(g):
    x = g.pick(lambda v: v.dtype != "bool")
    dtype = g.values[x].dtype
    low, high = (g.constant(value, dtype) if g.chance(0.7) else "" for value in (0 if dtype == "uint8" else -1, 2))
    return g.take("Clip", [x, low, high] if high else [x, low] if low else [x])


# Reductions and orders

REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp", "LogSum"]


def reduction(g):
    x = g.pick(lambda v: v.dtype not in ("uint8", "int8", "bool") and all(0 not in size for size in v.dims))
    v = g.values[x]
    op = "Reduce" + g.some(REDUCTIONS if is_float(v) else ["Sum", "Max", "Min", "Prod", "Sum", "Max"])
    keeps = {} if g.chance(0.3) else {"keepdims": int(g.chance(0.5))}
    if not v.rank or g.chance(0.2):
        none = {"noop_with_empty_axes": 1} if g.opset >= (13 if op == "ReduceSum" else 18) and g.chance(0.3) else {}
        return g.take(op, [x], **keeps, **none)
    return take_with(g, op, x, "axes", some_axes(g, v), 13 if op == "ReduceSum" else 18, **keeps)


def arg(g):
    x = g.pick(lambda v: v.rank > 0 and v.dtype not in ("bool", "int8") and all(0 not in size for size in v.dims))
    _, axis = some_axis(g, g.values[x])
    last = {"select_last_index": int(g.chance(0.5))} if g.opset >= 12 else {}
    return g.take(g.some(["ArgMax", "ArgMin"]), [x], axis=axis, keepdims=int(g.chance(0.5)), **last)


def running(g):
    x = g.pick(lambda v: v.rank > 0 and v.dtype in (*FLOATS[:2], "int64", "int32"))
    _, axis = some_axis(g, g.values[x])
    at = g.constant(np.asarray(axis, g.some([np.int64, np.int32])))
    return g.take("CumSum", [x, at], exclusive=int(g.chance(0.3)), reverse=int(g.chance(0.3)))


def top(g):
    x = g.pick(lambda v: v.rank > 0 and v.dtype in (*FLOATS[:2], "int64", "int32"))
    v = g.values[x]
    at, axis = some_axis(g, v)
    k = int(g.rng.integers(1, min(v.dims[at]) + 1)) if min(v.dims[at]) else 0
    count = g.sizes([v.dims[at]]) if g.chance(0.2) else g.integers([k])
    return g.take("TopK", [x, count], 2, axis=axis, largest=int(g.chance(0.6)), sorted=1)


def found(g):
    """Sizes that only the run finds. None is 1, which would stretch in ONNX (docs/onnx.md)."""
    x = g.pick(lambda v: 0 < v.rank < 4 and all(np.count_nonzero(a) != 1 for a in v.plain))
    if g.chance(0.7):
        return g.take("NonZero", [x])
    _, axis = some_axis(g, g.values[x], lambda d: min(d) >= 3)
    return g.take("Compress", [x, g.constant([True, g.chance(0.3), True])], axis=axis)


def softmax(g):
    x = g.pick(lambda v: v.rank > 0 and v.dtype in FLOATS and all(0 not in size for size in v.dims))
    has_axis = g.chance(0.7) or g.opset < 13 and g.values[x].rank == 1  # which was 1 where it was left out
    axis = {"axis": some_axis(g, g.values[x])[1]} if has_axis else {}
    return g.take(g.some(["Softmax", "LogSoftmax", "Hardmax"]), [x], **axis)


# Shapes


def reshape(g):
    x = g.pick(has_axes(0, 4))
    dims = list(g.values[x].dims)
    way = g.some(["join", "part", "flatten", "line", "one"])
    if way == "join" and len(dims) >= 2:
        at = int(g.rng.integers(len(dims) - 1))
        return g.take("Reshape", [x, shape(g, dims[:at], [-1], dims[at + 2 :])])
    parts = [(at, k) for at, d in enumerate(dims) for k in (2, 3) if all(size and size % k == 0 for size in d)]
    if way == "part" and parts:
        at, k = g.some(parts)
        return g.take("Reshape", [x, shape(g, dims[:at], g.some([[k, -1], [-1, k]]), dims[at + 1 :])])
    if way == "flatten":
        return g.take("Flatten", [x], axis=int(g.rng.integers(0, len(dims) + 1)))
    if way == "line":
        return g.take("Reshape", [x, g.integers([-1])])
    at = int(g.rng.integers(len(dims) + 1))
    return g.take("Reshape", [x, shape(g, dims[:at], [1], dims[at:])])


def shape(g, before, middle, after):
    """Numbers where it can be, 0 for what stays as it is; else what nodes compute."""
    if any(0 in d for d in after):
        raise Unfit  # a 0 would be the size that x has at that place, which is another axis (docs/onnx.md)
    if all(0 not in d for d in before) and all(fixed(d) for d in after):
        kept = [d[0] if fixed(d) and g.chance(0.5) else 0 for d in before]
        return g.integers([*kept, *middle, *(d[0] for d in after)])
    return g.sizes([*before, *middle, *after])


def transpose(g):
    x = g.pick(lambda v: v.rank >= 1)
    order = [int(a) for a in g.rng.permutation(g.values[x].rank)]
    return g.take("Transpose", [x], **({"perm": order} if g.chance(0.8) else {}))


def slices(g):
    x = g.pick(lambda v: v.rank >= 1)
    v = g.values[x]
    axes = some_axes(g, v)
    starts, ends, steps = [], [], []
    for axis in axes:
        least = min(v.dims[axis])
        step = g.some([1, 1, 1, 2, -1, -2, 3])
        start, end = sorted(int(a) for a in g.rng.integers(0, least + 1, 2))
        if g.chance(0.3):
            end = 2**31 - 1 if g.chance(0.5) else 2**63 - 1
        if g.chance(0.2):
            start = int(g.rng.integers(-least - 1, 0))
        if g.chance(0.2):
            end = int(g.rng.integers(-least - 1, 0))
        if step < 0:
            start, end = g.some([(end, start), (-1, -(2**31) + 1), (2**31 - 1, -(2**63))])
        starts, ends, steps = [*starts, start], [*ends, end], [*steps, step]
    operands = [x, g.integers(starts), g.integers(ends), g.integers(axes)]
    if any(step != 1 for step in steps) or g.chance(0.2):
        operands.append(g.integers(steps))
    return g.take("Slice", operands)


def slice_by_sizes(g):
    x = g.pick(lambda v: v.rank >= 1)
    v = g.values[x]
    at, axis = some_axis(g, v)
    other = g.pick(lambda w: w.rank >= 1)
    end = g.size_of(other, int(g.rng.integers(g.values[other].rank)))
    start = g.integers([int(g.rng.integers(0, 2))])
    edges = g.some([[start, end], [end, g.integers([2**63 - 1])], [g.take("Neg", [end]), g.integers([2**31])]])
    return g.take("Slice", [x, *edges, g.integers([axis])])


def concat(g):
    x = g.pick(lambda v: v.rank >= 1)
    v = g.values[x]
    at, axis = some_axis(g, v)

    def fits(w):
        if (w.dtype, w.rank) != (v.dtype, v.rank):
            return False
        return all(i == at or a == b for i, (a, b) in enumerate(zip(v.dims, w.dims, strict=True)))

    return g.take("Concat", [x, *(g.pick(fits) for _ in range(g.some([1, 2])))], axis=axis)


def split(g):
    x = g.pick(lambda v: v.rank >= 1)
    v = g.values[x]
    at, axis = some_axis(g, v, lambda d: min(d) >= 2)
    size = v.dims[at]
    if fixed(size) and g.chance(0.6):
        first = int(g.rng.integers(0, size[0] + 1))
        return take_with(g, "Split", x, "split", [first, size[0] - first], 13, 2, axis=axis)
    if not fixed(size) and g.chance(0.5) and g.opset >= 13:
        first = int(g.rng.integers(1, min(size)))
        return g.take("Split", [x, g.sizes([first, [s - first for s in size]])], 2, axis=axis)
    count = g.some([2, 3])
    if g.opset < 18 and any(s % count for s in size):
        raise Unfit
    return g.take("Split", [x], count, axis=axis, **({"num_outputs": count} if g.opset >= 18 else {}))


def indices(g, least, shape, dtype=None):
    """Positions within an axis that has at least so many elements; from the end where they are below zero."""
    array = g.rng.integers(-least, least, shape)
    dtype = dtype or g.some(["int64", "int64", "int32"])
    if g.depth or g.chance(0.5):
        return g.constant(array, dtype)
    arrays = [np.asarray(g.rng.integers(-least, least, shape)).astype(dtype) for _ in range(3)]
    return g.given(arrays, list(np.shape(array)))


def gather(g):
    x = g.pick(lambda v: v.rank >= 1)
    v = g.values[x]
    at, axis = some_axis(g, v, lambda d: min(d) >= 1)
    return g.take("Gather", [x, indices(g, min(v.dims[at]), g.some([(), (1,), (3,), (2, 2)]))], axis=axis)


def gather_elements(g):
    x = g.pick(lambda v: v.rank >= 1 and all(min(d) >= 1 for d in v.dims))
    v = g.values[x]
    at, axis = some_axis(g, v)
    shape = [int(g.rng.integers(1, min(d) + 1)) if i != at else 2 for i, d in enumerate(v.dims)]
    if g.chance(0.5):
        return g.take("GatherElements", [x, indices(g, min(v.dims[at]), shape)], axis=axis)
    shape[at] = 1  # no place is written twice: which one is left, nobody says
    reduction = {"reduction": g.some(["none", "add", "mul", "max", "min"])} if g.opset >= 18 and v.dtype != "bool" else {}
    places = indices(g, min(v.dims[at]), shape, "int64")
    return g.take("ScatterElements", [x, places, g.like(shape, v.dtype)], axis=axis, **reduction)


def gather_nd(g):
    x = g.pick(lambda v: v.rank >= 1 and all(min(d) >= 1 for d in v.dims))
    v = g.values[x]
    depth = int(g.rng.integers(1, v.rank + 1))
    count = g.some([1, 2, 3])
    rows = np.stack([g.rng.permutation(min(v.dims[a]))[np.arange(count) % min(v.dims[a])] for a in range(depth)], axis=-1)
    rows = np.unique(rows, axis=0)
    if g.chance(0.5):
        lead = {}
        if g.opset >= 12 and depth < v.rank and fixed(v.dims[0]) and g.chance(0.4):
            lead, rows = {"batch_dims": 1}, g.rng.integers(0, min(v.dims[1]), (v.dims[0][0], 1))
        return g.take("GatherND", [x, g.constant(rows, "int64")], **lead)
    updates = g.like([len(rows), *v.dims[depth:]], v.dtype)
    reduction = {"reduction": g.some(["none", "add", "mul"])} if g.opset >= 16 and v.dtype != "bool" else {}
    return g.take("ScatterND", [x, g.constant(rows, "int64"), updates], **reduction)


def pad(g):
    x = g.pick(lambda v: v.rank >= 1 and v.dtype != "bool")
    v = g.values[x]
    mode = g.some(["constant", "constant", "reflect", "edge", "wrap"])
    most = [min(d) - 1 if mode == "reflect" else min(d) if mode == "wrap" else 3 for d in v.dims]
    if mode != "constant" and any(min(d) < 1 for d in v.dims):
        raise Unfit
    numbers = [int(g.rng.integers(0, max(m, 0) + 1)) if g.chance(0.6) else 0 for m in most * 2]
    if mode == "constant" and g.chance(0.2):  # what is below zero is taken away
        numbers[: v.rank] = [-1 if p == 0 and min(d) > 1 else p for p, d in zip(numbers, v.dims, strict=False)]
    operands = [x, g.integers(numbers)]
    if mode == "constant" and g.chance(0.5):
        operands.append(g.constant(2, v.dtype))
    return g.take("Pad", operands, mode=mode)


def expand(g):
    x = g.pick(has_axes(0, 4))
    v = g.values[x]
    dims = [g.some([2, 3]) if set(d) == {1} and g.chance(0.7) else 1 if g.chance(0.2) else d for d in v.dims]
    if g.chance(0.4):
        dims = [g.some([1, 2, some_size(g)]), *dims]
    return g.take("Expand", [x, g.sizes(dims)])


def some_size(g):
    """A size that an axis of some value has."""
    return g.some(g.values[g.pick(lambda v: v.rank >= 1)].dims)


def tile(g):
    x = g.pick(has_axes(1, 4))
    v = g.values[x]
    counts = [g.some([1, 1, 2, 3]) for _ in range(v.rank)]
    if g.chance(0.2):
        counts[0] = some_size(g)
    return g.take("Tile", [x, g.sizes(counts)])


def squeeze(g):
    x = g.pick(lambda v: any(set(d) == {1} for d in v.dims))
    ones = [a for a, d in enumerate(g.values[x].dims) if set(d) == {1}]
    if g.chance(0.2) and all(1 not in d for d in g.values[x].dims if not fixed(d)):
        return g.take("Squeeze", [x])
    return take_with(g, "Squeeze", x, "axes", [a for a in ones if a == ones[0] or g.chance(0.5)], 13)


def unsqueeze(g):
    x = g.pick(has_axes(0, 3))
    rank = g.values[x].rank
    axes = g.some([[0], [-1], [rank], [0, int(g.rng.integers(0, rank + 1)) + 1]])
    return take_with(g, "Unsqueeze", x, "axes", axes, 13)


def of_sizes(g):
    x = g.pick()
    if g.chance(0.3):
        return g.take(g.some(["Shape", "Size"]), [x])
    dims = [some_size(g) for _ in range(g.rng.integers(1, 3))]
    if g.chance(0.4):
        dtype, number = g.some([("float32", 0.5), ("int64", 3), ("bool", 1)])
        return g.take("ConstantOfShape", [g.sizes(dims)], value=helper.make_tensor("value", NUMBER[dtype], [1], [number]))
    count = g.sizes(dims[:1])
    last = take_with(g, "Squeeze", count, "axes", [0], 13)
    begin, step = g.constant(np.int64(g.rng.integers(-2, 2))), g.constant(np.int64(g.some([1, 1, 2])))
    return g.take("Range", [begin, last, step])


def triangle(g):
    x = g.pick(has_axes(2))
    operands = [x] + ([g.constant(np.int64(g.rng.integers(-2, 3)))] if g.chance(0.5) else [])
    return g.take("Trilu", operands, upper=int(g.chance(0.5)))


def one_hot(g):
    x = g.pick(lambda v: v.dtype in ("int64", "int32") and v.rank < 4)  # (floats the evaluator does not round)
    depth, values = g.constant(np.int64(5)), g.constant(np.array([0.25, 2]), g.some(["float32", "int64"]))
    return g.take("OneHot", [x, depth, values], axis=int(g.rng.integers(-1, g.values[x].rank + 1)))


def blocks(g):
    x = g.pick(lambda v: v.rank == 4 and is_float(v))
    v = g.values[x]
    if g.chance(0.5):
        return g.take("SpaceToDepth", [x], blocksize=2)
    if any(c % 4 for c in v.dims[1]):
        x = g.take("Tile", [x, g.integers([1, 4, 1, 1])])
    return g.take("DepthToSpace", [x], blocksize=2, mode=g.some(["DCR", "CRD"]))


def reverse_sequence(g):
    x = g.pick(lambda v: v.rank >= 2 and fixed(v.dims[1]) and min(v.dims[0]) > 0)
    v = g.values[x]
    lengths = g.constant(g.rng.integers(1, min(v.dims[0]) + 1, v.dims[1][0]), "int64")
    return g.take("ReverseSequence", [x, lengths], batch_axis=1, time_axis=0)


ELEMENTWISE = [unary, unary, unary_of_others, binary, binary, binary, several, where, cast, clip]
ORDERS = [reduction, reduction, reduction, arg, running, top, found, softmax]
SHAPES = [
    reshape, reshape, transpose, slices, slices, slice_by_sizes, concat, concat, split, gather, gather, gather_elements,
    gather_nd, pad, expand, tile, squeeze, unsqueeze, of_sizes, triangle, one_hot, blocks, reverse_sequence,
]  # fmt: skip
SIMPLE = [reduction, reshape, transpose, slices, concat, gather, squeeze, unsqueeze, softmax, pad, of_sizes]
