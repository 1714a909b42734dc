"""IfElse and Scan against PyTensor's Python mode: loops and branches of machine code, not calls."""

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.replace import vectorize_graph
from pytensor.raise_op import Assert
from pytensor.scan.op import Scan
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.random.type import random_generator_type
from pytensor.typed_list import make_list
from versions import OLD_PYTENSOR

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # older versions
    from pytensor.ifelse import ifelse

X = np.array([0.5, -1.0, np.nan, 3.0])


def scan(*args, **kwargs):
    return pytensor.scan(*args, return_updates=False, **kwargs)


def explained(inputs, outputs):
    return inlay.pytensor.explain(pytensor.function(inputs, outputs, mode="INLAY"))


# IfElse


@pytest.mark.parametrize("condition", [0, 1])
@pytest.mark.parametrize("value", [X, X[:0], X[:1]])
def test_ifelse(condition, value, check):
    c, x = pt.lscalar("c"), pt.dvector("x")
    shared = pt.exp(x)
    check([c, x], [ifelse(c, pt.sin(shared) * 2, shared[::-1] + x), shared], condition, value)


@pytest.mark.parametrize("condition", [0.0, -0.0, 0.5, np.nan])
def test_ifelse_condition_is_any_number(condition, check):
    c, x = pt.dscalar("c"), pt.dscalar("x")
    check([c, x], ifelse(c, x + 1, x * 3), condition, 2.5)


def test_ifelse_with_several_results_and_constants(check):
    c, x = pt.bscalar("c"), pt.dmatrix("x")
    table = np.arange(40.0)
    a, b = ifelse(c, [x.sum(axis=0), pt.constant(table).sum() + x[0, 0]], [x[0], pt.constant(1.5, dtype="float64")])
    for condition in (0, 1):
        check([c, x], [a, b], np.int8(condition), np.arange(12.0).reshape(3, 4))


def test_ifelse_in_ifelse(check):
    c, d, x = pt.lscalar("c"), pt.lscalar("d"), pt.dvector("x")
    inner = ifelse(d, pt.cumsum(pt.exp(x)) * 0 + x, x - x.mean())
    for values in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        check([c, d, x], ifelse(c, inner * 2, x), *values, X[:2], native=False)


def test_a_branch_that_is_not_taken_does_not_fail(check):
    c, x, i = pt.lscalar("c"), pt.dvector("x"), pt.lscalar("i")
    out = ifelse(c, Assert("x is empty")(x[i] * 2, x.size > 0), pt.constant(-1.0, dtype="float64"))
    ours = check([c, x, i], out, 0, X[:0], 100)
    with pytest.raises(IndexError):
        ours(1, X, 100)
    assert ours(1, X, 3)[0] == 6.0


@pytest.mark.parametrize("condition", [0, 1])
def test_a_branch_in_a_graph_within_runs_if_it_is_taken(condition):
    c, x = pt.lscalar("c"), pt.dvector("x")
    op = OpFromGraph([c, x], [ifelse(c, x[5], x.sum())])
    fn = pytensor.function([c, x], [op(c, x), op(1 - c, pt.constant(np.arange(9.0)))], mode="INLAY")
    value = np.arange(9.0) * 2 if condition else np.ones(3)
    np.testing.assert_array_equal(fn(condition, value), [10, 36] if condition else [3, 5])


@pytest.mark.parametrize("condition", [0, 1])
def test_ifelse_branches_of_different_shapes(condition, check):
    c, x, y, m = pt.lscalar("c"), pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")
    values = condition, X, X[:2] + 2, np.arange(6.0).reshape(2, 3)
    check([c, x], ifelse(c, x * 2, x[:1] + 1), condition, X)
    check([c, x], ifelse(c, x * 2, x[:1] + 1), condition, X[:0])
    check([c, x, y], ifelse(c, pt.exp(x), y).sum() * 2, *values[:3])
    check([c, x, y], pt.grad(ifelse(c, x * 2, pt.exp(y)).sum(), [x, y]), *values[:3])
    out = ifelse(c, [pt.outer(x, y), x], [m, m[0]])
    check([c, x, y, m], [out[0] * 2, out[1].shape, *out], *values)


def test_a_branch_of_another_shape_that_is_not_taken_does_not_fail(check):
    c, x, i = pt.lscalar("c"), pt.dvector("x"), pt.lscalar("i")
    ours = check([c, x, i], ifelse(c, x[i] * x, x[:2]), 0, X, 100)
    with pytest.raises(IndexError):
        ours(1, X, 100)


def test_ifelse_of_batches():
    """PyTensor's own modes have no way to run it."""
    c, x, y = pt.lscalar("c"), pt.dvector("x"), pt.dvector("y")
    out = ifelse(c, pt.exp(x), x[::-1] - y)
    cs, xs, ys = pt.lvector("cs"), pt.dmatrix("xs"), pt.dmatrix("ys")
    a, b = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    shared = pytensor.function([c, xs, ys], vectorize_graph(out, {x: xs, y: ys}), mode="INLAY")
    own = pytensor.function([cs, xs, ys], vectorize_graph(out, {c: cs, x: xs, y: ys}), mode="INLAY")
    assert inlay.pytensor.explain(shared).host_calls == inlay.pytensor.explain(own).host_calls == []
    np.testing.assert_allclose(shared(1, a, b), np.exp(a))
    np.testing.assert_allclose(shared(0, a, b), a[:, ::-1] - b)
    np.testing.assert_allclose(own([1, 0], a, b), [np.exp(a[0]), a[1, ::-1] - b[1]])


@pytest.mark.parametrize("condition", [0, 1])
@pytest.mark.parametrize("value", [X, X[:0], X[:1], np.linspace(-1, 3, 100)])
def test_a_branch_finds_a_size_of_its_own(condition, value, check):
    c, x = pt.lscalar("c"), pt.dvector("x")
    large, small = x[x > 1], x[x <= 1]
    out = ifelse(c, pt.exp(large).sum() + large.shape[0], pt.cumsum(small)[::-1].sum() - small.shape[0])
    check([c, x], out, condition, value, rtol=1e-12)


def test_a_branch_that_returns_what_it_finds_the_size_of_runs_as_a_call():
    c, x = pt.lscalar("c"), pt.dvector("x")
    fn = pytensor.function([c, x], ifelse(c, x[x > 1], x), mode="INLAY")
    for condition, want in ((1, X[X > 1]), (0, X)):
        np.testing.assert_array_equal(fn(condition, X), want)
    (reason,) = inlay.pytensor.explain(fn).host_call_reasons.values()
    assert reason == "a branch that returns an array whose size it finds"


# Scan


@pytest.mark.parametrize("length", [1, 2, 20])
def test_scan_of_all_steps_and_of_the_last(length, check):
    x, s = pt.dvector("x"), pt.dscalar("s")
    rows = scan(lambda v, c: c * 0.5 + v, sequences=[x], outputs_info=[s])
    value = np.linspace(-1, 1, length)
    check([x, s], rows, value, 3.0)
    check([x, s], rows[-1], value, 3.0)
    check([x, s], [rows, rows[-1] * 2], value, 3.0)


def test_scan_of_no_steps(check):
    x, s = pt.dvector("x"), pt.dscalar("s")
    check([x, s], scan(lambda v, c: c * 0.5 + v, sequences=[x], outputs_info=[s]), np.zeros(0), 3.0)


@pytest.mark.parametrize("steps", [0, 1, 7, 100])
def test_each_step_finds_a_size_of_its_own(steps, check):
    x, s = pt.dvector("x"), pt.dscalar("s")
    sums = scan(lambda i, c: pt.exp(-pt.arange(i)).sum() + c / 2, sequences=[pt.arange(x.shape[0])], outputs_info=[s])
    check([x, s], [sums, sums[-1:]], np.linspace(-1, 1, steps), 3.0, rtol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 5, 300])
def test_each_step_reads_what_a_mask_selects(size, check):
    x, limits = pt.dvector("x"), pt.dvector("limits")

    def step(limit, count, x):
        above = x[x > limit]
        order = pt.sort(above)
        return [count + above.shape[0], (order * pt.arange(above.shape[0])).sum()]

    counts, sums = scan(step, sequences=[limits], outputs_info=[pt.constant(0, dtype="int64"), None], non_sequences=[x])
    value = np.random.default_rng(1).normal(size=size)
    check([x, limits], [counts, sums], value, np.array([0.0, -5.0, 5.0, 0.5]), rtol=1e-12)


def test_a_scan_in_a_scan_goes_as_far_as_a_size_that_is_found(check):
    n = pt.lscalar("n")

    def outer(i):
        inner = scan(lambda j, c: c + pt.arange(j).sum() * i, sequences=[pt.arange(i)], outputs_info=[pt.constant(0, dtype="int64")])
        return pt.concatenate([pt.constant(np.zeros(1, "int64")), inner])[-1]

    check([n], scan(outer, sequences=[pt.arange(n)]), 6)


def test_what_a_step_finds_the_size_of_is_as_long_as_its_row(check):
    """The sizes are compared when it runs: the row that is carried has one for all steps."""
    x = pt.dvector("x")
    rows = scan(lambda c: pt.sort(c[c < 100]) * 2, outputs_info=[x], n_steps=3)
    check([x], rows, np.array([3.0, -1.0, 2.0]))
    fn = pytensor.function([x], rows, mode="INLAY")
    with pytest.raises(ValueError):
        fn(np.array([3.0, -1.0, 200.0]))


def test_scan_of_vectors(check):
    x, s, w = pt.dmatrix("x"), pt.dvector("s"), pt.dmatrix("w")
    rows, norms = scan(
        lambda v, c, w: [pt.tanh(w @ c + v), (v * v).sum()], sequences=[x], outputs_info=[s, None], non_sequences=[w]
    )
    rng = np.random.default_rng(1)
    values = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=(3, 3))
    check([x, s, w], [rows, norms], *values, rtol=1e-12)
    check([x, s, w], [rows[-1], norms], *values, rtol=1e-12)


def test_scan_with_several_taps_and_backwards(check):
    x, s = pt.dvector("x"), pt.dvector("s")
    rows = scan(
        lambda v, u, a, b: 0.5 * a - 0.25 * b + v * u,
        sequences=[{"input": x, "taps": [0, 1]}],
        outputs_info=[{"initial": s, "taps": [-1, -3]}],
        go_backwards=True,
    )
    # (Backwards slices of symbolic axes, which give the taps of the sequence, may be calls.)
    check([x, s], rows, np.arange(9.0), np.array([1.0, 2.0, 3.0]), native=False)
    check([x, s], rows[-1], np.arange(9.0), np.array([1.0, 2.0, 3.0]), native=False)


@pytest.mark.parametrize("steps", [1, 2, 3, 20])
def test_scan_of_as_many_steps_as_are_asked_for(steps, check):
    n, s = pt.lscalar("n"), pt.dscalar("s")
    rows = scan(lambda c: c * 0.5 + 1, outputs_info=[s], n_steps=n)
    check([n, s], rows, steps, 3.0)
    check([n, s], rows[-1], steps, 3.0)
    check([n, s], [rows, rows[-1]], steps, 3.0)


@pytest.mark.parametrize("steps", [4, 5, 9])
def test_scan_of_which_some_steps_are_read(steps, check):
    n, s = pt.lscalar("n"), pt.dvector("s")
    rows, twice = scan(lambda a, b: [a * 0.5 + b, a * 2], outputs_info=[{"initial": s, "taps": [-1, -2]}, None], n_steps=n)
    check([n, s], [rows[-3:], twice[-2:]], steps, X[:2])
    check([n, s], [rows[-3:], rows[-1], twice[-1]], steps, X[:2])
    check([n, s], [rows[-4], twice[-4]], steps, X[:2])


@pytest.mark.parametrize("steps", [1, 5, 20])
def test_scan_into_a_buffer_of_another_length(steps, check):
    n, s, buffer = pt.lscalar("n"), pt.dscalar("s"), pt.dvector("buffer")
    rows = scan(lambda p: p * 0.5 + 1, outputs_info=[s], n_steps=n)
    (node,) = (v.owner for v in pytensor.graph.traversal.ancestors([rows]) if v.owner and isinstance(v.owner.op, Scan))
    check([n, buffer], node.op(n, buffer), steps, np.arange(9.0) + 7)


def test_scan_with_a_constant_number_of_steps(check):
    s = pt.dvector("s")
    check([s], scan(lambda c: pt.sin(c) + 1, outputs_info=[s], n_steps=4), X)
    check([s], scan(lambda c: pt.sin(c) + 1, outputs_info=[s], n_steps=4)[-1], X)


def test_scan_of_integers_and_of_several_states(check):
    k = pt.lvector("k")
    a, b = scan(
        lambda v, a, b: [a + v, pt.maximum(a, b) * 2],
        sequences=[k],
        outputs_info=[np.int64(0), np.int64(-5)],
    )
    check([k], [a, b], np.arange(7))


def test_scan_until_a_condition(check):
    from pytensor.scan.utils import until

    x = pt.dscalar("x")
    last = scan(lambda c: (c * 2, until(c > 100)), outputs_info=[x], n_steps=50)[-1]
    check([x], last, 1.5, native=False)


def test_gradient_of_a_scan(check):
    x, s, a = pt.dvector("x"), pt.dscalar("s"), pt.dscalar("a")
    rows = scan(lambda v, c, a: pt.tanh(a * c + v), sequences=[x], outputs_info=[s], non_sequences=[a])
    cost = (rows**2).sum()
    outputs = [cost, *pytensor.grad(cost, [x, s, a])]
    for length in (7, 1, 0):
        check([x, s, a], outputs, np.linspace(-1, 1, length), 0.3, 0.9, rtol=1e-11, native=not OLD_PYTENSOR)


def test_gradient_of_a_scan_of_vectors(check):
    x, s, w = pt.dmatrix("x"), pt.dvector("s"), pt.dmatrix("w")
    rows = scan(lambda v, c, w: pt.tanh(w @ c + v), sequences=[x], outputs_info=[s], non_sequences=[w])
    cost = (rows**2).sum()
    rng = np.random.default_rng(1)
    values = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=(3, 3))
    check([x, s, w], [cost, *pytensor.grad(cost, [x, s, w])], *values, rtol=1e-10, native=not OLD_PYTENSOR)


# PyTensor 2 takes at least one step of such a gradient, and its own FAST_RUN refuses the empty sequence too.
no_steps = pytest.param(0, marks=pytest.mark.skipif(OLD_PYTENSOR, reason="its own rewrites shorten a Scan in other ways"))


@pytest.mark.parametrize("length", [9, 1, no_steps])
@pytest.mark.parametrize("taps", [[-1, -2], [-3], [-3, -1]])
def test_gradient_of_a_scan_of_several_taps(taps, length, check):
    x, s, a = pt.dvector("x"), pt.dvector("s"), pt.dscalar("a")
    rows = scan(
        lambda v, *rest: pt.sin(sum(rest[:-1]) * rest[-1] + v),
        sequences=[x],
        outputs_info=[{"initial": s, "taps": taps}],
        non_sequences=[a],
    )
    cost = (rows * pt.arange(rows.shape[0])).sum()
    values = np.linspace(-1, 1, length), np.array([0.3, -0.5, 0.7])[min(taps) :], 0.9
    check([x, s, a], pytensor.grad(cost, [x, s, a]), *values, rtol=1e-11, native=not OLD_PYTENSOR)


def test_second_gradient_of_a_scan(check):
    x, s, a = pt.dvector("x"), pt.dscalar("s"), pt.dscalar("a")
    rows = scan(lambda v, c, a: pt.sin(a * c + v), sequences=[x], outputs_info=[s], non_sequences=[a])
    outputs = pytensor.grad(pytensor.grad((rows**2).sum(), a), [x, s, a])
    check([x, s, a], outputs, np.linspace(-1, 1, 6), 0.3, 0.9, rtol=1e-10, native=not OLD_PYTENSOR)


@pytest.mark.skipif(OLD_PYTENSOR, reason="its gradients have other sizes")
def test_hessian_and_jacobian_of_a_scan(check):
    """A Scan in a Scan whose sizes are arguments of the outer one's steps; and a batch of gradients."""
    x, s, a = pt.dvector("x"), pt.dscalar("s"), pt.dscalar("a")
    rows = scan(lambda v, c, a: pt.tanh(a * c + v), sequences=[x], outputs_info=[s], non_sequences=[a])
    values = np.linspace(-1, 1, 5), 0.3, 0.9
    check([x, s, a], pytensor.gradient.hessian((rows**2).sum(), x), *values, rtol=1e-10)
    check([x, s, a], pytensor.gradient.jacobian(rows, x), *values, rtol=1e-10)
    check([x, s, a], pytensor.gradient.jacobian(rows, x, vectorize=True), *values, rtol=1e-10)


def test_ifelse_and_scan_in_a_scan(check):
    x, s = pt.dmatrix("x"), pt.dscalar("s")

    def step(row, c):
        inner = scan(lambda v, t: t + v * c, sequences=[row], outputs_info=[c])[-1]
        return ifelse(pt.gt(inner, 0), pt.log(inner), inner - 1)

    # (In the older version the sizes of a Scan in a Scan are values of the body: that Scan is a call.)
    rows = scan(step, sequences=[x], outputs_info=[s])
    check([x, s], rows, np.linspace(-1, 2, 12).reshape(4, 3), 0.5, native=not OLD_PYTENSOR)


def test_a_call_in_a_scan(check):
    x, s = pt.dmatrix("x"), pt.dvector("s")
    rows = scan(lambda v, c: pt.sort(c + v), sequences=[x], outputs_info=[s])
    check([x, s], rows, np.array([[3.0, 1.0, 2.0], [0.0, -1.0, 5.0]]), np.zeros(3), native=False)


def test_an_error_in_a_scan_names_the_op():
    x, i = pt.dvector("x"), pt.lvector("i")
    fn = pytensor.function([x, i], scan(lambda j, x: x[j], sequences=[i], non_sequences=[x]), mode="INLAY")
    np.testing.assert_array_equal(fn(X, [0, -1]), X[[0, -1]])
    with pytest.raises(IndexError, match="4"):
        fn(X, [0, 4])


@pytest.mark.skipif(OLD_PYTENSOR, reason="its rewrites compute the sizes of a Scan as values")
def test_a_scan_of_scalars_is_registers():
    x, s = pt.dvector("x"), pt.dscalar("s")
    last = scan(lambda v, c: c * 0.5 + v, sequences=[x], outputs_info=[s])[-1]
    e = explained([x, s], last)
    assert e.host_calls == []
    assert e.kernels == []
    assert e.copies == []
    assert e.arena_bytes == 0


@pytest.mark.skipif(OLD_PYTENSOR, reason="its rewrites compute the sizes of a Scan as values")
def test_the_gradient_of_a_scan_of_scalars_is_registers():
    x, s, a = pt.dvector("x"), pt.dscalar("s"), pt.dscalar("a")
    rows = scan(lambda v, c, a: pt.tanh(a * c + v), sequences=[x], outputs_info=[s], non_sequences=[a])
    e = explained([x, s, a], pytensor.grad((rows**2).sum(), [s, a]))
    assert e.host_calls == []
    assert e.copies == []
    assert [line for line in e.graph.splitlines() if "scatter" in line] == []  # the states are numbers, not arrays
    assert e.graph.count(" = loop ") == 2


@pytest.mark.skipif(OLD_PYTENSOR, reason="its rewrites compute the sizes of a Scan as values")
@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_scan_over_sequences_in_steps_and_backwards(length, check):
    x, y = pt.dvector("x"), pt.dvector("y")
    rows = scan(
        lambda v, before, w, c: c * 0.5 + v * before + w,
        sequences=[{"input": x[::2], "taps": [0, -1]}, y[::-1]],
        outputs_info=[pt.constant(np.asarray(0.25))],
    )
    values = np.linspace(-1, 1, 2 * length + 1), np.linspace(2, 3, length)
    check([x, y], [rows, rows.sum()], *values)


@pytest.mark.parametrize("length", [0, 1, 5])
def test_what_a_step_computes_of_non_sequences_is_computed_once(length, check):
    x, v, a = pt.dvector("x"), pt.dvector("v"), pt.dscalar("a")
    last = scan(
        lambda s, c, v, a: c * pt.exp(v) * pt.sin(a) + s,
        sequences=[x],
        outputs_info=[pt.zeros(3)],
        non_sequences=[v, a],
    )[-1]
    if length:
        check([x, v, a], last, np.linspace(-1, 1, length), np.array([0.1, -0.2, 0.3]), 0.7, native=not OLD_PYTENSOR)


@pytest.mark.skipif(OLD_PYTENSOR, reason="its rewrites compute the sizes of a Scan as values")
def test_a_carried_vector_is_made_in_place():
    x, s, w = pt.dmatrix("x"), pt.dvector("s"), pt.dvector("w")
    rows = scan(lambda v, c, w: pt.tanh(w * c) + v, sequences=[x], outputs_info=[s], non_sequences=[w])
    assert explained([x, s, w], rows[-1]).copies == []
    e = explained([x, s, w], pytensor.grad((rows**2).sum(), [s, w]))
    assert e.host_calls == []
    assert e.copies == []


def test_an_error_at_a_later_step_leaves_the_arguments_as_they_were():
    x, i = pt.dvector("x"), pt.lvector("i")
    rows = scan(lambda j, c, x: c + x[j], sequences=[i], outputs_info=[pt.constant(np.asarray(0.5))], non_sequences=[x])
    fn = pytensor.function([x, i], rows, mode="INLAY")
    values, places = X.copy(), np.array([0, 1, 3, 7, 1])
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 4"):
        fn(values, places)
    np.testing.assert_array_equal(values, X)
    np.testing.assert_array_equal(places, [0, 1, 3, 7, 1])
    np.testing.assert_array_equal(fn(values, places[:2]), [1.0, 0.0])


def test_a_branch_that_is_called_in_a_scan(check):
    """The nodes of a Scan's graph cannot be changed: the branch's function has its own."""
    x = pt.dmatrix("x")
    out = scan(lambda p: ifelse(pt.gt(p.sum(), 0), p[p[:, 0] > -9], p + 1), outputs_info=[x], n_steps=3)
    check([x], out, np.array([[-3.0, 1.0], [0.5, -1.0]]), native=False)


def test_nested_ifelse_of_different_shapes(check):
    c, x = pt.lscalar("c"), pt.dvector("x")
    z = x
    for k in range(3):
        z = ifelse(pt.eq(c, k), z[1:] * 1.5, pt.exp(z * 0.1))
    for condition in range(4):
        check([c, x], z, condition, np.arange(9.0), native=False)


def test_a_list_that_both_branches_read(check):
    c, x, y = pt.lscalar("c"), pt.dvector("x"), pt.dvector("y")
    both = make_list([x, y])
    for condition in (0, 1):
        check([c, x, y], ifelse(c, both[0] * 2, both[1] + 1), condition, np.ones(2), np.ones(3), native=False)


def test_a_generator_that_a_branch_returns_is_a_copy():
    g, c = random_generator_type("g"), pt.lscalar("c")
    after, _ = pt.random.normal(0, 1, rng=g).owner.outputs
    fn = pytensor.function([g, c], [ifelse(c, after, g)], mode="INLAY")
    given = np.random.default_rng(1)
    (returned,) = fn(given, 0)
    assert returned is not given and returned.normal() == given.normal()


def test_a_branch_fails_as_its_nodes_do_elsewhere(check_error):
    """In a branch that finds a size of its own, and in one within it."""
    c, x, m = pt.lscalar("c"), pt.dvector("x"), pt.vector("m", dtype=bool)
    outer, within = ifelse(c, x[m], x), ifelse(c, ifelse(c + 1, x[m], -x), x)
    for output in (outer, within):
        check_error(IndexError, [c, x, m], output, 1, np.ones(3), np.ones(4, bool))
        of_seven = ifelse(c, pt.specify_shape(output, (7,)), x)
        check_error(AssertionError, [c, x, m], of_seven, 1, np.ones(3), np.ones(3, bool))


# What stands in a branch


def either(i, x):
    return ifelse(pt.lt(i, 3), x[i], x[5] * 2)


def each_either(i, x):
    return scan(either, sequences=[i], non_sequences=[x])


def beside_others(j, x):
    a = pt.exp(x)
    return ifelse(pt.lt(j, 3), a[j], a[5]) + a.sum()


IN_LOOPS = {
    "in a Scan": each_either,
    "of what enters a Scan": lambda i, x: scan(lambda j, x, v: ifelse(pt.lt(j, 3), v[j], x[5]), [i], None, [x, pt.exp(x)]),
    "of constants": lambda i, x: scan(lambda j, x: ifelse(pt.lt(j, 3), x[j], pt.exp(x[:2])[j]), [i], None, [x]),
    "of what others read": lambda i, x: scan(beside_others, [i], None, [x]),
    "in a Scan in a Scan": lambda i, x: scan(lambda j, i, x: each_either(i, x) * j, [i], None, [i, x]),
    "in a graph": lambda i, x: scan(lambda j, x: OpFromGraph([i, x], [either(i[0], x)])(pt.stack([j]), x), [i], None, [x]),
}


@pytest.mark.parametrize("name", IN_LOOPS)
def test_a_branch_that_no_step_takes_does_not_fail(name, check):
    """Though what it reads is the same in each step: PyTensor's rewrites would read it before the loop."""
    i, x = pt.lvector("i"), pt.dvector("x")
    ours = check([i, x], IN_LOOPS[name](i, x), np.array([0, 2, 1]), X[:3])
    with pytest.raises(IndexError):
        ours([0, 5, 1], X[:3])


def test_what_a_branch_computes_of_non_sequences(check):
    i, a, x = pt.lvector("i"), pt.dmatrix("a", shape=(3, 3)), pt.dvector("x", shape=(3,))
    rows = scan(lambda j, a, x: ifelse(pt.gt(j, 0), a @ x, x * j), sequences=[i], non_sequences=[a, x])
    values = np.array([0, 3, -1, 1]), np.arange(9.0).reshape(3, 3), np.arange(3.0)
    check([i, a, x], [rows, pytensor.grad(rows.sum(), a)], *values)


@pytest.mark.skipif(OLD_PYTENSOR, reason="it has no Blockwise of such a graph")
def test_each_element_of_a_batch_takes_a_branch_of_its_own(check):
    y, c, rows, factors = pt.dvector("y"), pt.dscalar("c"), pt.dmatrix("rows"), pt.dvector("factors")
    one = OpFromGraph([y], [ifelse(pt.gt(y[0], 0), pt.sqrt(y), y[5] * y)])
    within = OpFromGraph([y, c], [one(y) * c])
    out = Blockwise(within, signature="(n),()->(n)")(rows, factors)
    ours = check([rows, factors], out, np.arange(1.0, 7.0).reshape(2, 3), np.array([1.0, -2.0]))
    check([rows, factors], out, np.array([[1.0, 2, 3, 4, 5, 6], [-1, 2, 3, 4, 5, 6]]), np.array([1.0, -2.0]))
    with pytest.raises(IndexError):
        ours(-np.ones((2, 3)), np.ones(2))
