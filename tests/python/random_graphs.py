"""Random PyTensor graphs, each value of which is known while the graph grows.

`Grower` begins with inputs and adds one construct at a time. What a new variable is worth is found by the oracle
(node_oracle.py), and tells the next construct which shapes and indices fit. Half of the inputs do not say their shapes to
PyTensor, so that sizes are found by the call.
"""

import numpy as np
import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
import scipy.sparse
from draws import Draws
from node_oracle import Unfit, run
from pytensor.gradient import NullTypeGradError
from pytensor.graph.basic import Constant
from versions import OLD_PYTENSOR

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # older versions
    from pytensor.ifelse import ifelse

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


class Grower(Draws):
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

    def pick(self, fits=lambda v: True):
        """A variable whose value `fits`: mostly a late one, sometimes a new input or a constant."""
        found = [x for x, v in self.values.items() if fits(v)]
        if not found:
            raise Unfit
        x = self.late(found)
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
        if any(said not in (None, n) for said, n in zip(x.type.shape, value.shape, strict=True)):  # PyTensor is wrong about its type
            raise Unfit
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
    if v.ndim and v.dtype == "float64" and g.exactly(x, y) and g.chance(0.3):  # sizes that only the branch finds
        x, y = (pt.sort(of[of > 0])[::-1].sum() * pt.arange((of > 0).sum()).sum() for of in (x, y))
        return g.take(ifelse(g.new_input(np.asarray(g.chance(0.5))), x, y), False)
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


def sparse_products(g):
    """By a matrix half of whose elements are not stored, from either side: a constant, or made of an input."""
    x = g.pick(lambda v: v.ndim in (1, 2) and v.dtype.kind == "f")
    n, other = g.value(x).shape[0], g.some(SIZES)
    dense = g.random_array((other, n), g.some(["float64", "float32"])) * (g.rng.random((other, n)) < 0.5)
    kind = g.some(["csr", "csc"])
    if g.chance(0.5):
        a = ps.as_sparse(getattr(scipy.sparse, f"{kind}_matrix")(dense))
    else:
        a = getattr(ps, f"{kind}_from_dense")(g.new_input(dense))
    if g.value(x).ndim == 1:
        g.take(g.some([lambda: ps.dot(a, x), lambda: ps.dot(x, a.T)])(), False)
    else:
        g.take(g.some([lambda: ps.dot(a, x), lambda: ps.dot(x.T, a.T), lambda: ps.structured_dot(a, x)])(), False)


def scanned(g):
    x = g.pick(lambda v: v.ndim > 0 and v.dtype == "float64" and v.shape[0] < 10)
    other = g.pick(lambda v: v.dtype == "float64" and v.ndim == 0)
    kind = g.some(["map", "carry", "two back", "until", "select"])
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
    elif kind == "select":
        of = g.pick(lambda v: v.dtype == "float64" and v.ndim == 1)
        if not g.exactly(x, of) or g.value(x).ndim != 1:
            raise Unfit
        out = pytensor.scan(
            lambda s, of: pt.exp(-pt.arange((of > s).sum())).sum() * of[of > s].sum() + s,
            sequences=[x], non_sequences=[of], **kwargs
        )  # fmt: skip
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
    except (NotImplementedError, NullTypeGradError, AssertionError):  # asserted of a transposed sparse matrix
        raise Unfit from None
    g.take(g.some(grads), False)


CONSTRUCTS = (
    [unary] * 4 + [binary] * 6 + [reduced] * 3 + [read] * 3 + [written] * 3 + [rows, shuffled, shuffled, joined, joined, reshaped]
    + [stepped, choice, choice, branched, clipped, cast, logical, masked, masked, split, made, moved, diagonals, ordered, found, products, sparse_products, scanned]
    + [gradient]
)  # fmt: skip
