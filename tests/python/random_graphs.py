"""Random PyTensor graphs, each value of which is known while the graph grows.

`Grower` begins with inputs and adds one construct at a time. What a new variable is worth is found by running its nodes
by their own `perform`, one after another, without any rewrite: that is the oracle, and it tells the next construct which
shapes and indices fit. Half of the inputs do not say their shapes to PyTensor, so that sizes are found by the call.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import NullTypeGradError
from pytensor.graph.basic import Constant
from pytensor.scalar import Add, Cast, Mul, ScalarMaximum, ScalarMinimum, Second, Switch
from pytensor.scalar.basic import Abs, Ceil, Floor, Identity, Neg, RoundHalfToEven, Sign, Trunc
from pytensor.scan.op import Scan
from pytensor.tensor import subtensor
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Dot
from pytensor.tensor.special import LogSoftmax, Softmax
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor, IncSubtensor, Subtensor
from versions import OLD_PYTENSOR

try:
    from pytensor.conditional.op import IfElse, ifelse
except ImportError:  # older versions
    from pytensor.ifelse import IfElse, ifelse

DTYPES = ["float64"] * 8 + ["float32", "int64", "int32", "int8", "uint8", "bool"]
LARGEST = 1e4  # a value beyond is not used: what is rounded in it would drown the rest
SIZES = [0, 1, 1, 2, 3, 4, 5, 7, 9, 17]

UNARY = (
    "abs exp log log1p expm1 sqrt sqr sin cos tanh sigmoid softplus erf erfc gammaln reciprocal neg arctan arcsinh cosh log1mexp"
).split()
STEPPED = "sign floor ceil isnan isinf round".split()
BINARY = "add sub mul true_div maximum minimum pow arctan2 logaddexp".split()
COMPARED = "eq neq lt le gt ge".split()
REDUCED = "sum prod max min mean var all any argmax argmin logsumexp".split()
ROWS = "softmax log_softmax cumsum cumprod".split()


class Unfit(Exception):
    """This construct does not fit what there is; another one may. Of arguments: what is right for them is not known."""


def run(outputs, known, zero=None, random=None):
    """What `outputs` are worth, by `perform` of the nodes that they need. Of an IfElse those are its branch taken. `zero`:
    what the result of an op is that has either zero, 0.0 or -0.0 (None: as NumPy has it). `random`: what rounds makes some
    units more of rounding, drawn from it."""
    worth = dict(known)

    def value(x):
        if isinstance(x, Constant):
            return x.data
        if x not in worth:
            made = perform(x.owner, value, zero, random)
            made = with_zero(made, zero) if has_either_zero(x.owner.op) else made
            worth.update(zip(x.owner.outputs, shaken(made, random) if rounds(x.owner.op) else made, strict=True))
        return worth[x]

    return [np.asarray(value(x)) for x in outputs]


def has_either_zero(op):
    """Of 0.0 and -0.0 a maximum is either. So is a sum whose terms are all -0.0 (docs/reproducibility.md)."""
    if isinstance(op, Blockwise):
        return has_either_zero(op.core_op)
    if isinstance(op, CAReduce | Elemwise) and isinstance(op.scalar_op, ScalarMaximum | ScalarMinimum):
        return True
    return isinstance(op, Dot) or isinstance(op, CAReduce) and isinstance(op.scalar_op, Add)


def with_zero(arrays, zero):
    return arrays if zero is None else [np.where(a == 0, a.dtype.type(zero), a) if a.dtype.kind == "f" else a for a in arrays]


# What moves elements or chooses among them.
EXACT = (Abs, Cast, Ceil, Floor, Identity, Neg, RoundHalfToEven, ScalarMaximum, ScalarMinimum, Second, Sign, Switch, Trunc)


def rounds(op):
    if isinstance(op, Blockwise):
        return rounds(op.core_op)
    if isinstance(op, CAReduce | Elemwise):
        return not isinstance(op.scalar_op, EXACT)
    return isinstance(op, CumOp | Dot | LogSoftmax | Softmax)


def shaken(arrays, random):
    def units(a):
        return random.choice([-4, -3, -2, -1, 1, 2, 3, 4], a.shape) * np.finfo(a.dtype).eps

    return arrays if random is None else [a * (1 + units(a)).astype(a.dtype) if a.dtype.kind == "f" else a for a in arrays]


def perform(node, value, zero, random):
    if isinstance(node.op, IfElse):  # has a thunk and no `perform`
        condition, *branches = node.inputs
        count = len(node.outputs)
        return [value(x) for x in (branches[:count] if value(condition) else branches[count:])]
    arguments = [value(i) for i in node.inputs]
    if isinstance(node.op, OpFromGraph):  # its own `perform` compiles
        return run(node.op.fgraph.outputs, dict(zip(node.op.fgraph.inputs, arguments, strict=True)), zero, random)
    if isinstance(node.op, Scan) and arguments[0] == 0 and any(x.type.ndim > 1 for x in node.op.outer_nitsot_outs(node.outputs)):
        raise Unfit  # of no steps PyTensor's own loop knows no rows: (0, 0) of what is not carried
    if isinstance(getattr(node.op, "scalar_op", None), Cast) and node.outputs[0].type.dtype[0] in "iu":
        return [as_integers(*arguments, node.outputs[0].type.dtype)]
    if len(arguments) > 2 and isinstance(node.op, Elemwise):
        # By two at a time NumPy adds bools as bools; compiled modes add all in the dtype of the sum.
        arguments = [a.astype(node.outputs[0].type.dtype) if a.dtype == bool and adds(node.op) else a for a in arguments]
    if index_arguments(node):
        arguments = stretched(node, with_fitting_masks(node, arguments))
    try:
        return perform_with(node, arguments)
    except IndexError:
        if not index_arguments(node):
            raise
        return touching_nothing(node, arguments)


def adds(op):
    return isinstance(op.scalar_op, (Add, Mul))


def perform_with(node, arguments):
    storage = {x: [a] for x, a in zip(node.inputs, arguments, strict=True)} | {o: [None] for o in node.outputs}
    node.op.prepare_node(node, storage, None, "py")
    with np.errstate(all="ignore"):
        node.op.perform(node, arguments, [storage[o] for o in node.outputs])
    # Some ops leave NumPy's scalars.
    return [np.asarray(v) if isinstance(v, np.generic) else v for (v,) in (storage[o] for o in node.outputs)]


def as_integers(x, dtype):
    """As docs/dtypes.md has it: NumPy leaves to C what the dtype cannot hold, and has some number for NaN."""
    if x.dtype.kind != "f":
        return x.astype(dtype)
    if np.isnan(x).any():
        raise ValueError("NaN has no integer value")
    fits = (x >= -(2.0**63)) & (x < 2.0**63)
    return np.where(fits, np.where(fits, x, 0).astype("int64"), np.iinfo("int64").min).astype(dtype)


def index_arguments(node):
    """Which inputs say where an indexed read or write goes."""
    before = {Subtensor: 1, IncSubtensor: 2, AdvancedSubtensor: 1, AdvancedIncSubtensor: 2}.get(type(node.op))
    return range(before, len(node.inputs)) if before else ()


def index_of(node, arguments):
    return tuple(subtensor.unflatten_index_variables([arguments[k] for k in index_arguments(node)], node.op.idx_list))


def with_fitting_masks(node, arguments):
    """The arguments, where each mask fits. A mask is as long as the axes that it stands for. NumPy takes one of no elements for any length; inlay only where
    its type says 1 and no element of the array is meant (docs/errors.md)."""
    axis, fitting = 0, list(arguments)
    for index, variable in zip(index_of(node, arguments), index_of(node, node.inputs), strict=True):
        is_mask = getattr(index, "dtype", None) == bool
        covered = arguments[0].shape[axis:][: index.ndim] if is_mask else None
        if is_mask and index.shape != covered:
            said = variable.type.shape
            is_nothing = index.size == 0 and 0 in covered
            if not is_nothing or any(m != n and s != 1 for m, n, s in zip(index.shape, covered, said, strict=True)):
                raise IndexError(f"mask of {index.shape} for {covered}")
            fitting = [np.zeros(covered, bool) if a is index else a for a in fitting]
        axis += index.ndim if is_mask else 1
    return fitting


def stretched(node, arguments):
    """The arguments, a vector that is written through indices of several dims in the shape of these: NumPy's add.at reads
    beyond its end."""
    if node.op.__class__ is not AdvancedIncSubtensor or not arguments[0].ndim == arguments[1].ndim == 1:
        return arguments
    x, y, *indices = arguments
    (index,) = index_of(node, arguments)
    return [x, np.broadcast_to(y, index.shape), *indices] if getattr(index, "ndim", 1) > 1 else arguments


def touching_nothing(node, arguments):
    """What comes of a read or write of no elements at all, whose indices are not looked at (docs/errors.md). An
    IndexError where it is of some."""
    axis, shape, zeros = 0, list(arguments[0].shape), list(arguments)
    for entry in index_of(node, arguments):
        if getattr(entry, "dtype", np.dtype(bool)).kind in "iu":
            shape[axis] = max(1, shape[axis])  # NumPy finds no 0 in an axis of length 0
            zeros = [np.zeros_like(a) if a is entry else a for a in zeros]
        axis += entry.ndim if getattr(entry, "dtype", None) == bool else 1
    zeros[0] = np.zeros(shape, arguments[0].dtype)
    if zeros[0][index_of(node, zeros)].size:
        raise IndexError("an index is out of bounds")
    result = perform_with(node, zeros)
    return [arguments[0].copy()] if isinstance(node.op, IncSubtensor | AdvancedIncSubtensor) else result


class Grower:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.inputs, self.values, self.exact = [], {}, set()
        for _ in range(self.rng.integers(1, 5)):
            self.new_input()

    # What there is

    def new_input(self, value=None, says_ones=True):
        if value is None:
            shape = tuple(self.some(SIZES) for _ in range(self.some([0, 1, 1, 1, 2, 2, 3])))
            value = self.random_array(shape, self.some(DTYPES))
        said = tuple((n if says_ones else None) if n == 1 else n if self.chance(0.5) else None for n in value.shape)
        x = pt.tensor(f"x{len(self.inputs)}", dtype=value.dtype.name, shape=said)
        self.inputs.append(x)
        self.values[x] = value
        self.exact.add(x)
        return x

    def random_array(self, shape, dtype):
        if dtype == "bool":
            return self.rng.random(shape) < 0.5
        if dtype[0] in "iu":
            return np.asarray(self.rng.integers(0 if dtype[0] == "u" else -5, 6, shape)).astype(dtype)
        a = np.asarray(self.rng.normal(size=shape), dtype)
        if self.chance(0.1) and a.size:
            a[self.rng.random(shape) < 0.2] = self.some([0.0, -0.0, np.nan, np.inf, 1.0])
        return a

    def some(self, items):
        return items[self.rng.integers(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, fits=lambda v: True):
        """A variable whose value `fits`: mostly a late one, sometimes a new input or a constant."""
        found = [x for x, v in self.values.items() if fits(v)]
        if not found:
            raise Unfit
        x = found[-1 - min(int(self.rng.exponential(3)), len(found) - 1)]
        return pt.constant(self.values[x]) if self.chance(0.05) and x in self.inputs else x

    def value(self, x):
        if x not in self.values:
            (x,) = owners(x)
        return x.data if isinstance(x, Constant) else self.values[x]

    def exactly(self, *xs):
        """Whether no rounding is in any: only then may a comparison depend on them."""
        return all(isinstance(x, Constant) or x in self.exact for x in xs)

    def take(self, x, exact):
        """The variable `x`, once it is known what it is worth and that others can use it."""
        if isinstance(x, Constant) or x in self.values:
            raise Unfit
        try:
            value = self.run(x)
        except Exception:  # nodes that PyTensor itself can make and not run
            raise Unfit from None
        if value.dtype.kind == "f" and value.size and not np.nanmax(np.abs(value), initial=0, where=np.isfinite(value)) < LARGEST:
            raise Unfit
        if value.size > 4000 or value.ndim > 4:
            raise Unfit
        self.values[x] = value
        if exact or value.dtype.kind != "f" and exact is not False:
            self.exact.add(x)
        return x

    def run(self, x):
        return run([x], self.values)[0]

    def grow(self):
        """One construct more, or none where that which was drawn does not fit."""
        try:
            self.some(CONSTRUCTS)(self)
        except TypeError:  # dtypes that PyTensor does not take there
            raise Unfit from None


# Constructs


def unary(g):
    x = g.pick(lambda v: v.dtype != bool)
    name = g.some(UNARY)
    if name in ("log", "log1p", "sqrt", "gammaln", "log1mexp") and not g.chance(0.1):
        x = -abs(x) - 0.1 if name == "log1mexp" else abs(x) + 0.1
    exact = name in ("abs", "neg") and g.exactly(x)
    g.take(getattr(pt, name)(x), exact)


def stepped(g):
    x = g.pick(lambda v: v.dtype.kind == "f")
    if not g.exactly(x):
        raise Unfit
    g.take(getattr(pt, g.some(STEPPED))(x), True)


def fitting(g, x, kind="biufc"):
    """A variable that broadcasts with `x`, its dims of 1 said to PyTensor."""
    shape = g.value(x).shape

    def fits(v):
        return v.dtype.kind in kind and v.ndim <= len(shape) and all(m in (1, n) for n, m in zip(shape[::-1], v.shape[::-1]))

    y = g.pick(fits)
    sizes = g.value(y).shape
    return pt.specify_shape(y, tuple(1 if n == 1 else None for n in sizes)) if 1 in sizes else y


def said(g, x):
    sizes = g.value(x).shape
    return pt.specify_shape(x, tuple(1 if n == 1 else None for n in sizes)) if 1 in sizes else x


def binary(g):
    x = said(g, g.pick())
    y = fitting(g, x)
    if g.chance(0.5):
        x, y = y, x
    if g.chance(0.3):
        if not g.exactly(*owners(x, y)):
            raise Unfit
        return g.take(getattr(pt, g.some(COMPARED))(x, y), True)
    name = g.some(BINARY)
    if "bool" in (x.dtype, y.dtype) and name in ("sub", "pow"):
        raise Unfit
    if name == "pow":
        x = abs(x) + 0.5
        y = y if y.dtype[0] == "f" else pt.clip(y, 0, 3)
    exact = name in ("maximum", "minimum") and g.exactly(*owners(x, y))
    return g.take(getattr(pt, name)(x, y), exact)


def owners(*xs):
    """Through what `said` put around them."""
    return [x.owner.inputs[0] if x.owner and "SpecifyShape" in type(x.owner.op).__name__ else x for x in xs]


def choice(g):
    c = said(g, g.pick(lambda v: v.dtype == bool))
    a, b = fitting(g, c), fitting(g, c)
    g.take(pt.switch(c, a, b), g.exactly(*owners(c, a, b)))


def branched(g):
    """One of two values of any two shapes."""
    x = g.pick()
    v = g.value(x)
    y = g.pick(lambda other: other.dtype == v.dtype and other.ndim == v.ndim)
    g.take(ifelse(g.new_input(np.asarray(g.chance(0.5))), x, y), g.exactly(x, y))


def clipped(g):
    x = g.pick(lambda v: v.dtype.kind == "f")
    g.take(pt.clip(x, -0.5, g.some([0.25, 2.0])), False)


def cast(g):
    x = g.pick()
    dtype = g.some(DTYPES)
    v = g.value(x)
    if v.dtype.kind == "f" and dtype[0] in "iub":
        if not g.exactly(x) or not np.isfinite(v).all() or dtype[0] != "b" and (np.abs(v) > 100).any() or dtype[0] == "u" and (v < 0).any():
            raise Unfit
    g.take(pt.cast(x, dtype), g.exactly(x))


def logical(g):
    x = said(g, g.pick(lambda v: v.dtype == bool))
    y = fitting(g, x, "b")
    g.take(g.some([lambda: x & y, lambda: x | y, lambda: x ^ y, lambda: ~x])(), True)


def reduced(g):
    x = g.pick(lambda v: v.ndim > 0)
    v, name = g.value(x), g.some(REDUCED)
    if name in ("all", "any"):
        x = x if v.dtype == bool else pt.neq(x, 0)
    if v.dtype == bool and name in ("logsumexp", "var", "mean", "max", "min", "argmax", "argmin"):
        raise Unfit
    if name in ("argmax", "argmin", "all", "any") and not g.exactly(*owners(x)):
        raise Unfit
    axes = sorted(g.rng.permutation(v.ndim)[: g.rng.integers(1, v.ndim + 1)].tolist())
    axes = g.some([axes, [a - v.ndim for a in axes], None])
    if name in ("max", "min", "argmax", "argmin", "logsumexp") and any(v.shape[a] == 0 for a in (axes or range(v.ndim))):
        raise Unfit
    if name in ("argmax", "argmin"):
        axes = None if axes is None else axes[0]
    y = getattr(pt, name)(x, axis=axes, keepdims=bool(g.chance(0.3)))
    g.take(y, name in ("max", "min", "all", "any", "argmax", "argmin") and g.exactly(*owners(x)))


def rows(g):
    x = g.pick(lambda v: v.ndim > 0 and v.dtype.kind == "f" and v.size)
    name, axis = g.some(ROWS), int(g.rng.integers(g.value(x).ndim))
    of = pt if name.startswith("cum") else pt.special
    g.take(getattr(of, name)(x, axis=axis), False)


def shuffled(g):
    x = g.pick(lambda v: v.ndim < 4)
    v = g.value(x)
    x = said(g, x)
    order = [int(a) for a in g.rng.permutation(v.ndim) if v.shape[a] != 1 or g.chance(0.7)]
    for _ in range(g.rng.integers(0, 2)):
        order.insert(g.rng.integers(len(order) + 1), "x")
    g.take(x.dimshuffle(order), g.exactly(*owners(x)))


def a_slice(g, n):
    def end():
        return None if g.chance(0.3) else int(g.rng.integers(-n - 2, n + 3))

    ends = [end(), end(), g.some([None, None, 1, 2, 3, -1, -2])]
    if g.chance(0.2) and n:  # an end that is an argument
        at = g.some([0, 1])
        ends[at] = g.new_input(np.asarray(g.rng.integers(-n - 1, n + 2)))
    if g.chance(0.1):
        ends[2] = g.new_input(np.asarray(g.some([1, 2, 3, -1, -2, n + 1])))
    return slice(*ends)


def indices(g, shape, arrays):
    """For each of some axes of `shape`: a slice, a position, or an array of integers where `arrays` says so."""
    index, common = [], tuple(g.some([0, 1, 2, 3, 6]) for _ in range(g.rng.integers(0, 3)))
    for n in shape[: g.rng.integers(1, len(shape) + 1)]:
        kind = g.some(["slice", "slice", "at", "array"] if arrays else ["slice", "slice", "at"])
        if kind == "slice":
            index.append(a_slice(g, n))
        elif n == 0:
            index.append(slice(None))
        elif kind == "at":
            at = np.asarray(g.rng.integers(-n, n))
            index.append(int(at) if g.chance(0.7) else g.new_input(at))
        else:
            at = g.rng.integers(-n, n, common)
            index.append(pt.constant(at) if g.chance(0.4) else said(g, g.new_input(at)))
    return tuple(index)


def read(g):
    x = g.pick(lambda v: v.ndim > 0)
    g.take(x[indices(g, g.value(x).shape, g.chance(0.5))], g.exactly(x))


def masked(g):
    x = g.pick(lambda v: v.ndim > 0)
    v = g.value(x)
    mask = g.new_input(g.rng.random(v.shape[: g.rng.integers(1, v.ndim + 1)]) < 0.5)
    if g.chance(0.4):
        return g.take(x[mask], g.exactly(x))
    if g.chance(0.4):
        return write(g, x, x[mask])
    part = x[mask]
    new = part.set(0) if g.chance(0.5) else part.inc(1) if v.dtype != bool else part.set(1)
    return g.take(new, g.exactly(x))


def written(g):
    x = g.pick(lambda v: v.ndim > 0)
    write(g, x, x[indices(g, g.value(x).shape, g.chance(0.5))])


def write(g, x, part):
    """x with something set or added to a part of it. Where what is written has length 1, its type may or may not say so:
    it stretches all the same but through a lone vector of integers."""
    value = g.run(part) if part not in g.values else g.value(part)
    add = g.chance(0.5) and x.dtype != "bool"

    def fits(v):
        return v.ndim <= value.ndim and all(m in (1, n) for n, m in zip(value.shape[::-1], v.shape[::-1])) and np.can_cast(v.dtype, value.dtype)

    if g.chance(0.4):
        shape = tuple(1 if g.chance(0.5) else n for n in value.shape[g.rng.integers(value.ndim + 1) :])
        y = g.new_input(g.random_array(shape, value.dtype.name), says_ones=False)
    else:
        y = said(g, g.pick(fits) if g.chance(0.7) else pt.constant(np.asarray(1, x.dtype)))
    g.take(part.inc(y) if add else part.set(y), not add and g.exactly(x, *owners(y)))


def joined(g):
    x = g.pick(lambda v: v.ndim > 0)
    v = g.value(x)
    axis = int(g.rng.integers(v.ndim))

    def fits(w):
        return w.ndim == v.ndim and all(n == m for k, (n, m) in enumerate(zip(v.shape, w.shape)) if k != axis)

    parts = [x] + [g.pick(fits) for _ in range(g.rng.integers(0, 3))]
    if g.chance(0.3):
        same = [p for p in parts if g.value(p).shape == v.shape]
        return g.take(pt.stack(same, axis=axis), g.exactly(*same))
    return g.take(pt.join(axis, *parts), g.exactly(*parts))


def split(g):
    x = g.pick(lambda v: v.ndim > 0)
    v = g.value(x)
    axis = int(g.rng.integers(v.ndim))
    first, second = sorted(g.rng.integers(v.shape[axis] + 1, size=2).tolist())
    lengths = np.array([first, second - first, v.shape[axis] - second])
    parts = pt.split(x, g.new_input(lengths) if g.chance(0.5) else lengths, n_splits=3, axis=axis)
    g.take(g.some(parts), g.exactly(x))


def reshaped(g):
    x = g.pick(lambda v: v.size > 0)  # of what has no elements PyTensor's types say other shapes than it makes
    left, shape = g.value(x).size, []
    for n in (2, 3, 5):
        if left % n == 0 and g.chance(0.5):
            shape.append(n)
            left //= n
    shape.append(-1 if g.chance(0.5) else left)
    g.take(pt.reshape(x, tuple(int(n) for n in shape)), g.exactly(x))


def made(g):
    n = int(g.some(SIZES))
    c = g.pick(lambda v: v.ndim == 0)
    g.take(
        g.some([
            lambda: pt.alloc(c, n, 2),
            lambda: pt.arange(g.new_input(np.asarray(n))),
            lambda: pt.eye(n + 1, n + 2, k=1),
            lambda: pt.zeros_like(c) + pt.ones((n,), dtype="int64"),
        ])(),
        g.exactly(c),
    )  # fmt: skip


def moved(g):
    x = g.pick(lambda v: v.ndim > 0)
    v = g.value(x)
    axis = int(g.rng.integers(v.ndim))
    g.take(
        g.some([
            lambda: pt.repeat(x, 2, axis=axis),
            lambda: pt.roll(x, int(g.rng.integers(-3, 4)), axis=axis),
            lambda: pt.tile(x, (2,) * v.ndim),
            lambda: pt.flip(x, axis),
            lambda: pt.diff(x, axis=axis) if v.dtype.kind == "f" and v.shape[axis] else x[::-1],
        ])(),
        False,
    )  # fmt: skip


def diagonals(g):
    x = g.pick(lambda v: v.ndim in (1, 2))
    v = g.value(x)
    g.take(pt.diag(x, int(g.rng.integers(-1, 2))) if v.ndim == 1 and v.size or v.ndim == 2 and min(v.shape) > 1 else x.T, g.exactly(x))


def ordered(g):
    x = g.pick(lambda v: v.ndim > 0 and v.dtype != bool)
    axis = g.some([-1, 0, None])
    if g.chance(0.5):
        return g.take(pt.sort(x, axis=axis), g.exactly(x))
    if not g.exactly(x):
        raise Unfit
    return g.take(pt.argsort(x, axis=axis, kind="stable"), True)


def found(g):
    x = g.pick(lambda v: v.ndim == 1 and v.dtype.kind in "if")
    if not g.exactly(x):
        raise Unfit
    g.take(g.some([lambda: pt.nonzero(x > 0)[0], lambda: pt.searchsorted(pt.sort(x), x), lambda: pt.unique(x)])(), True)


def products(g):
    x = g.pick(lambda v: v.ndim in (1, 2) and v.dtype.kind == "f")
    n = g.value(x).shape[-1]
    y = g.pick(lambda v: v.ndim in (1, 2) and v.shape[0] == n and v.dtype.kind == "f")
    g.take(pt.dot(x, y), False)


def scanned(g):
    x = g.pick(lambda v: v.ndim > 0 and v.dtype == "float64" and v.shape[0] < 10)
    other = g.pick(lambda v: v.dtype == "float64" and v.ndim == 0)
    kind = g.some(["map", "carry", "two back", "until"])
    if g.value(x).shape[0] == 0 and kind == "two back":
        raise Unfit
    kwargs = {} if OLD_PYTENSOR else {"return_updates": False}
    if kind == "map":
        out = pytensor.scan(lambda s, o: pt.sin(s) * o, sequences=[x], non_sequences=[other], **kwargs)
    elif kind == "carry":
        start = pt.zeros([x.shape[axis] for axis in range(1, x.type.ndim)])
        out = pytensor.scan(
            lambda s, c, o: pt.tanh(c * 0.5 + s * o), sequences=[x], outputs_info=[start], non_sequences=[other], **kwargs
        )
    elif kind == "two back":
        first = pt.stack([x[0], x[-1]])
        steps = g.some([0, 1, 4, g.new_input(np.asarray(g.some([0, 1, 3])))])
        out = pytensor.scan(
            lambda a, b: pt.cos(a) - 0.3 * b, outputs_info=[{"initial": first, "taps": [-1, -2]}], n_steps=steps, **kwargs
        )
    else:
        if not g.exactly(x):
            raise Unfit
        from pytensor.scan.utils import until

        out = pytensor.scan(lambda s: (s * 2, until(pt.gt(s.sum(), 1))), sequences=[x], **kwargs)
    out = out[0] if OLD_PYTENSOR else out
    g.take(out[g.some([slice(None), -1, slice(-2, None)])], False)


def gradient(g):
    x = g.pick(lambda v: v.dtype == "float64" and v.size and np.isfinite(v).all())
    wrt = [i for i in g.inputs if i.dtype == "float64"]
    if not wrt:
        raise Unfit
    try:
        grads = pytensor.grad(x.sum(), wrt, disconnected_inputs="ignore", return_disconnected="zero")
    except (NotImplementedError, NullTypeGradError):
        raise Unfit from None
    g.take(g.some(grads), False)


CONSTRUCTS = (
    [unary] * 4 + [binary] * 6 + [reduced] * 3 + [read] * 3 + [written] * 3 + [rows, shuffled, shuffled, joined, joined, reshaped]
    + [stepped, choice, choice, branched, clipped, cast, logical, masked, masked, split, made, moved, diagonals, ordered, found, products, scanned]
    + [gradient]
)  # fmt: skip
