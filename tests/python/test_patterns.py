"""What is one loop, from PyTensor: each pattern of docs/fusion.md with its counts, and its values against PyTensor's.

`reads` and `writes` are elements of memory for the sizes of the arguments. tests/programs/fusion says the same of programs
in text form.
"""

from dataclasses import dataclass

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from versions import OLD_PYTENSOR

try:
    from pytensor.graph.traversal import explicit_graph_inputs
except ImportError:  # older versions
    from pytensor.graph.basic import explicit_graph_inputs

N, M, K = 40, 33, 20
rng = np.random.default_rng(11)

VALUES = {
    "x": rng.normal(size=N),
    "y": rng.normal(size=N),
    "z": rng.normal(size=M),
    "a": rng.normal(size=(N, M)),
    "b": rng.normal(size=(N, M)),
    "c": rng.normal(size=(5, M, K)),
    "i": rng.integers(-5, 5, N),
    "j": rng.integers(-5, 5, N),
    "h": rng.integers(-5, 5, (4, N)),
    "g": np.array(-2),
    "mask": rng.normal(size=N) > 0,
    "s": np.array(0.7),
    "t": np.array(-1.3),
}
x, y, z, a, b, c, i, j, h, g, mask, s, t = (pt.tensor(name, dtype=v.dtype, shape=v.shape) for name, v in VALUES.items())


@dataclass
class Pattern:
    name: str
    outputs: list
    reads: int
    writes: int
    stages: int = 1
    kernels: int = 1
    copies: int = 0
    temporaries: int = 0  # a row that each pass has for itself


def row(axis, value):
    """Folds of each row, column or what lies between, and what goes on with them."""
    mean = value.mean(axis=axis, keepdims=True)
    return {
        "softmax": pt.special.softmax(value * 2, axis=axis) * 3,
        "log_softmax": pt.special.log_softmax(value * 2, axis=axis) * 3,
        "logsumexp": pt.logsumexp(value * 2, axis=axis) * 3,
        "var": (value * 2).var(axis=axis) * 3,
        "std": (value * 2).std(axis=axis) * 3,
        "layer_norm": (value - mean) / pt.sqrt(value.var(axis=axis, keepdims=True) + 1e-5),
        "centre": value - mean,
        "normalize": value / value.sum(axis=axis, keepdims=True),
        "distance": value / pt.sqrt((value**2).sum(axis=axis, keepdims=True)),
    }


e, f = pt.exp(x), pt.exp(a)
PATTERNS = [
    # 1: elementwise
    Pattern("chain", [pt.sin(pt.exp(x) * 2 + 1)], N, N),
    Pattern("dag", [e * y, pt.sin(e + y), e + y], 2 * N, 3 * N),
    Pattern("producer of rows", [pt.exp(x)[:, None] * a], N + N * M, N * M),
    Pattern("producer of rows, summed", [(pt.exp(x)[:, None] * a).sum()], N + N * M, 0),
    # 2: slices read
    Pattern("differences", [((x[1:] - x[:-1]) ** 2).sum()], 2 * N - 2, 0),
    Pattern("steps", [pt.exp(a[::-2, 1::3].T)], 20 * 11, 20 * 11),
    Pattern("steps and a new axis", [(a[::2, None, ::-1] * (z + 1)[None, None, :]).sum()], 20 * M + M, 0),
    Pattern("axes in another order", [pt.exp(c.transpose(2, 0, 1)[1:, :, ::2]).sum()], 19 * 5 * 17, 0),
    # 3: slices written
    Pattern("set", [(x + 1)[1:].set(pt.exp(y[1:]))], N - 1, N - 1),
    Pattern("inc", [(x + 1)[1:].inc(pt.exp(y[1:]))], 2 * N - 2, N - 1),
    Pattern("disjoint", [(x + 1)[:10].set(pt.exp(y[:10]))[20:].set(pt.sin(y[20:]))], N, N, 2),
    Pattern("position", [(a + 1)[:, 2].set(pt.exp(x))], N * M + N, N * M + N, 2),
    Pattern("positions", [(x + 1)[3].set(s)[-1].set(0.0)], N - 2, N - 2, 2),
    Pattern("backwards", [(x + 1)[::-2].set(pt.exp(y[::2]))], N + 20, N + 20, 2),
    Pattern("set all but one of an argument", [x[1:].set(pt.exp(y[1:]))], N - 1, N - 1),
    Pattern("inc of an argument", [x[5:].inc(pt.exp(y[5:]))], 2 * N - 5, N, 2),
    Pattern("disjoint of an argument", [x[:10].set(pt.exp(y[:10]))[20:].inc(pt.sin(y[20:]))], N + 20, N, 2),
    Pattern("columns of an argument", [a[1:, 2:].set(pt.exp(b[1:, 2:]))], N * M, N * M, 3),
    Pattern("incs of nothing", [pt.zeros(2 * N)[:N].inc(pt.exp(x))[N:].inc(y)], 2 * N, 2 * N, 1),
    # 4: gathers
    Pattern("gather", [pt.exp(x[i])], 2 * N, N),
    Pattern("gather of computed", [(x * 2 + 1)[i]], 2 * N, N),
    Pattern("gather by two", [(a[i, j] ** 2).sum()], 3 * N, 0),
    Pattern("gather by three", [pt.exp(c[i % 5, j, i])], 3 * N, N),
    Pattern("gather rows", [pt.exp(a[i])], N * M + N, N * M),
    Pattern("gather columns", [pt.exp(a[:, i])], N * N + N, N * N),
    Pattern("gather beside a slice", [pt.exp(a[1:4, i])], 4 * N, 3 * N),
    Pattern("gather by a matrix", [pt.exp(x[h]).sum()], 2 * 4 * N, 0),
    Pattern("gather apart", [pt.exp(c[i % 5, :, j])], N * M + 2 * N, N * M),
    Pattern("gather at a position", [pt.exp(a[g, i])], 2 * N + 1, N),
    Pattern("gather that stretches", [pt.exp(a[i[:1], j])], 2 * N, N),
    Pattern("gather read often", [x[i].sum(), x[i].max(), pt.exp(x[i]), x[i] * y], 3 * N, 2 * N),
    Pattern("where", [pt.where(mask, pt.exp(x), y)], 3 * N, N),
    Pattern("where folded", [pt.where(mask, pt.exp(x), 0).sum(), pt.where(mask, x, -np.inf).max()], 2 * N, 0),
    Pattern("mask written", [x[mask].set(0.0), x[mask].inc(1.0)], 2 * N, 2 * N),
    Pattern("mask folded", [x[mask].sum(), pt.exp(x[mask]).sum()], 2 * N, 0),
    # 5: scatters
    Pattern("scatter", [pt.zeros(9)[i].set(y), pt.zeros(9)[i].inc(y)], 2 * N, 2 * N + 18),
    Pattern("scatter into an argument", [x[i].inc(pt.exp(y))], 2 * N, N, copies=1),
    Pattern("scatter by two", [pt.zeros((9, 9))[i, j].inc(pt.exp(y)), pt.zeros((9, 9))[i, j].set(y)], 3 * N, 2 * N + 162),
    Pattern("scatter beside a slice", [pt.zeros((9, 9, M))[i, 1:3].inc(pt.exp(a)[:, None])], N + N * M, 2 * N * M + 81 * M, 2, temporaries=1),
    Pattern("scatter apart", [pt.zeros((9, M, 9))[i, :, j].inc(a)], N * M + 2 * N, N * M + 81 * M),
    Pattern("scatter by a matrix", [pt.zeros(9)[h].inc(x[h] * 2)], 8 * N, 4 * N + 9),
    Pattern("scatter at a position", [pt.zeros((9, 9))[g, i].inc(pt.exp(y))], 2 * N + 1, N + 81),
    Pattern("scatter and return", [pt.zeros(9)[i].inc(e), e], 2 * N, 2 * N + 9),
    Pattern("scatter one value twice", [pt.zeros(9)[i].inc(e), pt.zeros(7)[j].inc(e)], 3 * N, 2 * N + 16),
    # 6: reductions
    Pattern("sum", [f.sum(), f.prod(), f.max(), f.min(), f.mean(), (f > 1).any(), (f > 1).all()], N * M, 0),
    Pattern("sum and the value", [e.sum(), e.max(), e.prod(), e], N, N),
    Pattern("axes", [f.sum(axis=0), f.sum(axis=1), f.sum()], N * M, 2 * N + 2 * M),
    Pattern("places", [x.max(), x.argmax(), x.argmin()], N, 0),
    Pattern("sum of a gather", [x[i].sum(), x[i].max(), x[i].argmax()], 2 * N, 0),
    # 8: running
    Pattern("cumsum", [pt.cumsum(pt.exp(x)) * 2], N, N),
    Pattern("cumprod", [pt.log(pt.cumprod(pt.exp(x)))], N, N),
    # 9: join and split
    Pattern("join", [pt.join(0, pt.exp(x), pt.sin(z)) * 2], N + M, N + M, 2),
    Pattern("join read often", [(w := pt.join(0, pt.exp(x), z)).sum(), pt.tanh(w), (w**2).sum()], N + M, N + M, 2),
    Pattern("join of columns", [pt.join(1, pt.exp(a), pt.sin(b))], 2 * N * M, 2 * N * M),
    Pattern("stack", [pt.stack([pt.exp(x), pt.sin(y)], axis=1)], 2 * N, 2 * N, 1),
    Pattern("pad", [pt.pad(pt.exp(x), [(1, 2)])], N, N + 3, 3),
    Pattern("split", [(p := pt.split(pt.exp(x), [2, N - 2], n_splits=2))[0].sum(), pt.sin(p[1])], N - 2, N - 2),
    # 10: products with a short side
    Pattern("dot", [((y - (r := a[:, :8]) @ z[:8]) ** 2).sum(), r.T @ (y - r @ z[:8])], 9 * N + 8, 16),
    # 11: a log-likelihood and its gradient
    Pattern("hierarchical", [(d := (y - z[i] - s * x) * t).sum(), (d**2).sum(), (d * x).sum(), pt.zeros(M)[i].inc(d)], 4 * N, N + M),
    # 12: numbers
    Pattern("numbers between", [x * (pt.log((x * pt.exp(s * t)).sum() ** 2) + s), pt.exp(t)], 2 * N + 2, N, 3),
]


# The reshape of an index, and a pad of unknown length, are not simplified there.
MORE_OPS_IN_OLD_PYTENSOR = {"scatter by a matrix", "pad"}


def counts(fn):
    e = inlay.pytensor.explain(fn)
    assert e.host_calls == []
    return {
        "kernels": len(e.kernels),
        "stages": sum(kernel.stages for kernel in e.kernels),
        "reads": sum(int(kernel.reads) for kernel in e.kernels),
        "writes": sum(int(kernel.writes) for kernel in e.kernels),
        "copies": len(e.copies),
        "temporaries": len(e.temporaries),
    }


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name.replace(" ", "-"))
def test_is_one_loop(pattern):
    inputs = list(explicit_graph_inputs(pattern.outputs))
    values = [VALUES[v.name] for v in inputs]
    fn = pytensor.function(inputs, pattern.outputs, mode="INLAY")
    want = pytensor.function(inputs, pattern.outputs, mode="FAST_COMPILE")(*values)
    for ours, theirs in zip(fn(*values), want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        assert ours.dtype == theirs.dtype
    if OLD_PYTENSOR and pattern.name in MORE_OPS_IN_OLD_PYTENSOR:
        return
    assert counts(fn) == {
        "kernels": pattern.kernels,
        "stages": pattern.stages,
        "reads": pattern.reads,
        "writes": pattern.writes,
        "copies": pattern.copies,
        "temporaries": pattern.temporaries,
    }


def test_sizes_that_are_not_known():
    """Arrays that meet in an op are as long as each other: one loop, though each has a size of its own."""
    x, y, v, i = pt.dvector("x"), pt.dvector("y"), pt.dvector("v"), pt.lvector("i")
    e, d = pt.exp(y), y - v[i] - x
    for outputs, kernels in (
        ([e, x + y], 1),
        ([pt.zeros(9)[i].inc(e), e, e * x], 1),
        ([pt.zeros(9)[i].inc(e), pt.zeros(7)[i].inc(e)], 1),
        ([d.sum(), (d**2).sum(), (d * x).sum(), pt.zeros(M)[i].inc(d)], 1),
    ):
        inputs = list(explicit_graph_inputs(outputs))
        values = [VALUES[w.name if w is not v else "z"] for w in inputs]
        fn = pytensor.function(inputs, outputs, mode="INLAY")
        want = pytensor.function(inputs, outputs, mode="FAST_COMPILE")(*values)
        for ours, theirs in zip(fn(*values), want, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        explanation = inlay.pytensor.explain(fn)
        assert (len(explanation.kernels), explanation.temporaries, explanation.copies) == (kernels, [], [])
        with pytest.raises(ValueError):
            fn(*(value[:-1] if w is y else value for w, value in zip(inputs, values, strict=True)))


def checked(inputs, outputs, *values):
    fn = pytensor.function(inputs, outputs, mode="INLAY")
    want = pytensor.function(inputs, outputs, mode="FAST_COMPILE")(*values)
    for ours, theirs in zip(fn(*values), want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    return fn, counts(fn)


def test_logsumexp_is_one_pass():
    """PyTensor's takes the maximum of the array and -inf, so that an empty one has one (from version 3 on)."""
    x = pt.dvector("x")
    fn = pytensor.function([x], pt.logsumexp(x), mode="INLAY")
    reference = pytensor.function([x], pt.logsumexp(x), mode="FAST_COMPILE")
    empty = [] if OLD_PYTENSOR else [np.zeros(0)]
    infinite = [np.r_[-np.inf, -np.inf], np.r_[1.0, np.inf], np.r_[1.0, np.nan]]
    for value in (VALUES["x"], *empty, *infinite, np.ones(1)):
        np.testing.assert_allclose(fn(value), reference(value), rtol=1e-12)
    if OLD_PYTENSOR:
        return  # its graph takes the maximum apart
    (kernel,) = inlay.pytensor.explain(fn).kernels
    assert (kernel.stages, kernel.reads) == (1, "x_0")


def test_writes_of_what_may_have_length_1():
    """PyTensor lets a written value stretch where its length is 1: that is found when the function runs, and what is written
    is made where it is written whichever it is."""
    x, y, z = pt.dvector("x"), pt.dvector("y"), pt.dvector("z")
    a, b, v, i = pt.dmatrix("a"), pt.dmatrix("b"), pt.dvector("v"), pt.lvector("i")
    base = x + 1
    cases = [
        (base[1:].set(pt.exp(y[1:])), (x, y), [(9, 9), (9, 2), (2, 2), (1, 1), (1, 2)], [(9, 5), (9, 1), (0, 5)]),
        (base[1:].set(pt.exp(y) * z), (x, y, z), [(9, 8, 8), (9, 1, 1), (1, 0, 0), (1, 1, 1)], [(9, 7, 7), (9, 0, 0)]),
        (base[::-2].inc(pt.exp(y)), (x, y), [(9, 5), (9, 1), (0, 0), (0, 1)], [(9, 4), (0, 5), (9, 0)]),
        (base[1:4].set(pt.exp(y)), (x, y), [(9, 3), (9, 1), (2, 1)], [(9, 2), (9, 4), (2, 3)]),
        ((a + 1)[:, 1:].set(pt.exp(b)), (a, b), [((4, 5), (4, 4)), ((4, 5), (1, 4)), ((4, 5), (4, 1)), ((4, 5), (1, 1)), ((0, 5), (1, 4))], [((4, 5), (4, 5)), ((4, 5), (3, 1)), ((4, 5), (0, 4))]),
        ((a + 1)[1:].inc(v * 2), (a, v), [((4, 5), 5), ((4, 5), 1), ((0, 5), 5)], [((4, 5), 4), ((4, 5), 0)]),
        ((a + 1)[:, 2].set(pt.exp(y)), (a, y), [((4, 5), 4), ((4, 5), 1)], [((4, 5), 5)]),
        (pt.zeros((5, 9))[:, i].inc(pt.exp(b)), (i, b), [(7, (5, 7)), (7, (1, 7)), (0, (5, 0))], [(7, (4, 7))]),
    ]

    def made(var, shape):
        return rng.integers(0, 9, shape) if var is i else rng.normal(size=shape)

    for output, inputs, right, wrong in cases:
        fn = pytensor.function(list(inputs), output, mode="INLAY")
        reference = pytensor.function(list(inputs), output, mode="FAST_COMPILE")
        for shapes in right:
            values = [made(*pair) for pair in zip(inputs, shapes, strict=True)]
            np.testing.assert_allclose(fn(*values), reference(*values), rtol=1e-12, err_msg=str((output, shapes)))
        for shapes in wrong:
            values = [made(*pair) for pair in zip(inputs, shapes, strict=True)]
            for f in (reference, fn):
                with pytest.raises(ValueError):
                    f(*values)
        if OLD_PYTENSOR and i in inputs:
            continue  # its graph stretches the value before
        e = inlay.pytensor.explain(fn)
        assert (len(e.kernels), e.temporaries, e.copies, e.host_calls) == (1, [], [], []), output


def slice_write(length):
    """The arguments, what is written, and the array that it is written into from its second place on."""
    o = pt.tensor("o", dtype="float64", shape=(length,))
    w = pt.tensor("w", dtype="float64", shape=(length and length - 1,))
    e = pt.exp(w)
    return [o, w], e, o[1:].set(e)


def checked_kernel(inputs, outputs, lengths):
    """The kernel of what is one, checked for arguments of each pair of lengths."""
    fn, want = (pytensor.function(inputs, outputs, mode=mode) for mode in ("INLAY", "FAST_COMPILE"))
    for pair in lengths:
        values = [rng.normal(size=n) for n in pair]
        for ours, theirs in zip(fn(*values), want(*values), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    e = inlay.pytensor.explain(fn)
    assert (e.temporaries, e.copies, e.host_calls) == ([], [], [])
    (kernel,) = e.kernels
    return kernel


# None: known only at run time, when what is written may stretch, as it does in a call with the lengths 9 and 1.
LENGTHS = {N: [(N, N - 1)], None: [(9, 8), (9, 1), (2, 1), (1, 0), (1, 1)]}


@pytest.mark.skipif(OLD_PYTENSOR, reason="its graph stretches the value before")
@pytest.mark.parametrize("length", LENGTHS)
def test_what_is_written_into_a_slice_has_other_readers(length):
    inputs, e, written = slice_write(length)
    assert checked_kernel(inputs, [written, e], LENGTHS[length]).writes == (f"{2 * N - 2}" if length else "o_0 + w_0")
    assert checked_kernel(inputs, [written, e.sum()], LENGTHS[length]).writes == (f"{N - 1}" if length else "o_0")


@pytest.mark.skipif(OLD_PYTENSOR, reason="its graph stretches the value before")
@pytest.mark.parametrize("length", LENGTHS)
def test_what_follows_a_slice_write_is_made_part_by_part(length):
    """The array is stored nowhere: the one that is returned has its parts doubled, and their sum needs none."""
    inputs, _, written = slice_write(length)
    assert checked_kernel(inputs, [written * 2], LENGTHS[length]).writes == (f"{N - 1}" if length else "o_0")
    assert checked_kernel(inputs, [written.sum()], LENGTHS[length]).writes == "0"


@pytest.mark.parametrize("length", [N, None])
def test_a_sum_of_many_operands_is_cut_where_a_body_would_be_too_long(length):
    """1099 additions, a hundred of them a loop, and what a loop hands on lies where the result will."""
    operands = [pt.tensor(f"x{n}", dtype="float64", shape=(length,)) for n in range(1100)]
    fn = pytensor.function(operands, pt.add(*operands), mode="INLAY")
    np.testing.assert_array_equal(fn(*(np.full(N, float(n)) for n in range(1100))), np.full(N, 1100 * 1099 / 2))
    e = inlay.pytensor.explain(fn)
    assert (len(e.kernels), e.temporaries, e.copies) == (11, [], [])
    assert [stored.reason.split(":")[0] for stored in e.stored] == ["long-body"] * 10


@pytest.mark.skipif(OLD_PYTENSOR, reason="its rewrites compute the sizes of a Scan as values")
def test_bodies():
    """Both branches are loops of their own; a scan's numbers stay in registers, and its rows are written where they lie."""
    from pytensor.conditional.op import ifelse
    from pytensor.scan.utils import until

    def scan(step, *sequences, start, **more):
        return pytensor.scan(step, sequences=list(sequences), outputs_info=[start], return_updates=False, **more)

    p = pt.scalar("p", dtype="bool")
    cases = {
        "ifelse": ([p, x, y], ifelse(p, pt.exp(x) * y, x - y), 2, 0),
        "numbers": ([x, s], scan(lambda v, c: c * 0.5 + v, x, start=s), 0, 0),
        "every other": ([x, s], scan(lambda v, c: c * 0.5 + v, x[::-2], start=s)[-1], 0, 0),
        "while": ([s, t], scan(lambda c, t: (c + 1, until(c > t)), start=s, non_sequences=[t], n_steps=50)[-1], 0, 0),
        # One loop begins the rows, the other is the body; two rows take turns.
        "rows": ([a, z], scan(lambda v, c: pt.tanh(c * v), a, start=z), 2, 2 * M * 8),
        "invariant": ([x, y, s], scan(lambda v, c, y: c * pt.exp(y).sum() + v, x, start=s, non_sequences=[y]), 1, 0),
    }
    for name, (inputs, output, kernels, most_bytes) in cases.items():
        values = [np.array(True) if w is p else VALUES[w.name] for w in inputs]
        fn, found = checked(inputs, [output], *values)
        kept = sum(place.bytes for place in inlay.pytensor.explain(fn).temporaries)
        assert (found["kernels"], found["copies"]) == (kernels, 0), name
        assert kept <= most_bytes, name


def kernels_of(inputs, outputs):
    return checked(inputs, outputs, *(VALUES[v.name] for v in inputs))[1]["kernels"]


def test_no_loop_waits_for_itself():
    """The sum of the first needs all of it, and what the last makes of it needs the second."""
    total = pt.exp(x).sum()
    scaled = z * total
    assert kernels_of([x, z], [pt.exp(x) * scaled.sum(), scaled]) == 3


def test_what_is_overwritten_is_read_before():
    """b[1:] = 2 b[:-1] takes the old values: in the loop that writes, none of what it writes is read."""
    old = pt.exp(x)
    assert kernels_of([x], [old[1:].set(2 * old[:-1])]) == 2
    assert kernels_of([x], [old[:-1].set(2 * old[1:])]) == 2
    assert kernels_of([x], [old[::-2].set(old[: N // 2] * 2)]) == 2
    summed = old[1:].inc(old[:-1])
    assert kernels_of([x], [summed, summed.sum()]) == 3
    assert kernels_of([x], [summed.sum()]) == 2  # what is only folded is made part by part, and written nowhere


def test_what_is_read_after_a_write_is_written():
    written = pt.exp(x)[1:].set(y[1:])
    assert kernels_of([x, y], [written, written[:-1] * 2 + written[1:]]) == 2
    assert kernels_of([x, y, i], [written[i]]) == 2


def test_what_is_read_by_another_order_is_complete():
    """Of a scatter through a permutation, and read back through it."""
    order = rng.permutation(N)
    p = pt.tensor("p", shape=(N,), dtype="int64")
    e = pt.exp(x)
    for outputs in ([y[p].inc(e)[p] * x], [e[p].set(e + y)]):
        assert checked([x, y, p], outputs, VALUES["x"], VALUES["y"], order)[1]["kernels"] == 2


def test_the_first_assert_speaks():
    from pytensor.raise_op import Assert

    first = Assert("the sum is not positive")(x, x.sum() > 0)
    second = Assert("too large")(pt.exp(first), pt.exp(first).max() < 2)
    fn = pytensor.function([x], second, mode="INLAY")
    for value, words in [(-np.ones(N), "not positive"), (np.ones(N), "too large"), (np.r_[-99.0, np.ones(N - 1)], "not pos")]:
        with pytest.raises(AssertionError, match=words):
            fn(value)
    np.testing.assert_allclose(fn(np.full(N, 0.5)), np.exp(0.5))


def test_asserts_hide_nothing():
    """A view of what is asserted is one of its bytes, and what is written over it leaves the rest: no copy, no temporary."""
    from pytensor.raise_op import Assert

    positive = Assert("x has a negative element")
    v, m, w = pt.dvector("v"), pt.dmatrix("m"), pt.dmatrix("w")
    checked_v, checked_m = positive(v, v.min() >= 0), positive(m, m.min() >= 0)
    good = {v: np.arange(5.0), m: np.arange(20.0).reshape(4, 5), w: np.ones((5, 30))}
    for output, inputs in (
        (checked_m[1:] @ w, (m, w)),
        (checked_m.T[:, 1:], (m,)),
        (checked_v[1:].set(0.0), (v,)),
        (positive(checked_v[1:].set(0.0), v[0] < 9)[1:].inc(1.0), (v,)),
        (pt.linalg.cholesky(pt.eye(5) + positive(w[:, :5], w.min() > 0)), (w,)),
    ):
        fn, _ = checked_sizes(inputs, output, [good[x] for x in inputs])
        e = inlay.pytensor.explain(fn)
        assert (e.temporaries, e.copies, e.host_calls) == ([], [], []), output
        with pytest.raises(AssertionError, match="x has a negative element"):
            fn(*(-1 - good[x] for x in inputs))


def checked_sizes(inputs, output, values):
    fn = pytensor.function(list(inputs), output, mode="INLAY")
    want = pytensor.function(list(inputs), output, mode="FAST_COMPILE")(*values)
    np.testing.assert_allclose(fn(*values), want, rtol=1e-12)
    return fn, want


def reason_of(inputs, outputs):
    """Why the one value that is stored is."""
    fn, _ = checked(inputs, outputs, *(VALUES[v.name] for v in inputs))
    (stored,) = inlay.pytensor.explain(fn).stored
    return stored.reason.split(":")[0]


def test_what_costs_more_than_memory_is_computed_once():
    assert reason_of([x], [pt.tanh(x)[1:] * pt.tanh(x)[:-1]]) == "several-places"
    assert reason_of([z, i], [pt.exp(z)[i]]) == "every-index"
    assert reason_of([a, z], [pt.exp(z) * a]) == "outer-loop"
    assert counts(pytensor.function([x], [(x + 1)[1:] * (x + 1)[:-1]], mode="INLAY"))["temporaries"] == 0
