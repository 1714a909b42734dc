"""Scans of no steps and of few, sequences too short, conditions that end the first step: what PyTensor's Python mode
computes, shapes included, and errors in the user's words."""

import inlay
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from conftest import host_calls
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scan.utils import until
from random_graphs import ifelse
from versions import OLD_PYTENSOR

# PyTensor 2 has no rewrite that shortens a Scan and leaves the loop as it is for us: it keeps one row of no steps, reads
# beyond too few, and says other numbers of steps than the user.
shortened = pytest.mark.skipif(OLD_PYTENSOR, reason="its own rewrites shorten a Scan in other ways")
no_steps = pytest.param(0, marks=shortened)

X = np.linspace(-1, 2, 6).reshape(2, 3)

ROWS = [
    pytest.param(slice(None), id="all"),
    pytest.param(slice(-3, None), id="-3:"),
    pytest.param(slice(None, -2), id=":-2"),
    pytest.param(slice(-3, -1), id="-3:-1"),
    pytest.param(slice(1, 3), id="1:3"),
    pytest.param(slice(None, None, -1), id="::-1"),
    pytest.param(slice(-2, None, -1), id="-2::-1"),
]


def scan(*args, **kwargs):
    return pytensor.scan(*args, return_updates=False, name="loop", **kwargs)


def compiled(inputs, outputs):
    return pytensor.function(inputs, outputs, mode="INLAY")


def halved(v, c):
    """A state, and an output that is carried nowhere; neither can leave the loop."""
    return [pt.tanh(v * c), c * 2]


def doubled_until(c):
    return c * 2, until(c > 100)


# Rows of a Scan that ends by a condition


@pytest.mark.parametrize("start", [200.0, 60.0, 30.0, 1.5], ids=["1 step", "2 steps", "3 steps", "8 steps"])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_of_a_scan_that_ends_by_a_condition(rows, start, check):
    x = pt.dscalar("x")
    out = scan(doubled_until, outputs_info=[x], n_steps=50)
    check([x], [out[rows]], start)
    check([x], [out[rows], out[-1]], start)


@pytest.mark.parametrize("values", [[200.0, 1.0], [1.0, 200.0, 3.0, 4.0], [1.0, 2.0, 3.0, 200.0, 5.0, 6.0], [1.0], []])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("backwards", [False, True])
def test_rows_of_a_scan_over_a_sequence_that_ends_by_a_condition(rows, values, backwards, check):
    v = pt.dvector("v")
    out = scan(doubled_until, sequences=[v], outputs_info=[None], go_backwards=backwards)
    check([v], out[rows], np.array(values))


@shortened
@pytest.mark.parametrize("values", [[200.0, 1.0], [1.0, 2.0, 3.0, 200.0, 5.0]])
def test_the_last_row_of_a_scan_that_ends_by_a_condition(values, check):
    v, s = pt.dvector("v"), pt.dscalar("s")
    out, sums = scan(lambda v, c: ([v * 2, c + v], until(v > 100)), sequences=[v], outputs_info=[None, s])
    check([v, s], [out[-1], sums[-1]], np.array(values), 0.5)
    check([v, s], [out[-1] + sums[-1], out, sums], np.array(values), 0.5)
    check([v, s], sums[-1], np.array(values), 0.5)


@shortened
@pytest.mark.parametrize("values", [[], [0.5], [1.0, 2.0, 3.0, 200.0, 5.0]])
def test_rows_of_vectors_of_a_scan_that_ends_by_a_condition(values, check):
    v, s, n = pt.dvector("v"), pt.dmatrix("s"), pt.lscalar("n")
    rows, sums = scan(
        lambda v, a, b, n: ([a * 0.5 + b + v, (a + b).sum() + n], until(v > 100)),
        sequences=[v],
        outputs_info=[{"initial": s, "taps": [-2, -1]}, None],
        non_sequences=[n],
    )
    cost = (rows[-2:] ** 2).sum() + sums.sum()
    check([v, s, n], [rows, sums], np.array(values), X, 3)
    check([v, s, n], [rows[:-2], rows[-1:], sums[-2:]], np.array(values), X, 3)
    check([v, s, n], [cost, *pytensor.grad(cost, [v, s])], np.array(values), X, 3, rtol=1e-12, native=False)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_rows_of_as_many_steps_as_are_asked_for_or_fewer(steps, check):
    x, n = pt.dscalar("x"), pt.lscalar("n")
    out = scan(doubled_until, outputs_info=[x], n_steps=n)
    check([x, n], [out, out[-3:]], 30.0, steps)
    check([x, n], out[::-2], 30.0, steps)


# Numbers of steps


@pytest.mark.parametrize("steps", [no_steps, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_of_few_steps(rows, steps, check):
    n, v, s = pt.lscalar("n"), pt.dvector("v"), pt.dscalar("s")
    states, outputs = scan(halved, sequences=[v], outputs_info=[s, None], n_steps=n)
    values = steps, np.linspace(-1, 1, 7), 0.7
    check([n, v, s], [states[rows], outputs[rows]], *values)
    check([n, v, s], outputs[rows], *values)
    check([n, v, s], states[rows], *values)


@pytest.mark.parametrize("length", [no_steps, 1, 2, 5])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("backwards", [False, True])
def test_rows_over_short_sequences(rows, length, backwards, check):
    v, s = pt.dvector("v"), pt.dscalar("s")
    states, outputs = scan(halved, sequences=[v], outputs_info=[s, None], go_backwards=backwards)
    check([v, s], [states[rows], outputs[rows]], np.linspace(-1, 1, length), 0.7)


@shortened
@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("row", [-1, -2, -3, 0, 2])
def test_one_row_of_few_steps(row, steps, check, check_error):
    n, v, s = pt.lscalar("n"), pt.dvector("v"), pt.dscalar("s")
    outputs = scan(halved, sequences=[v], outputs_info=[s, None], n_steps=n)[1]
    values = steps, np.linspace(-1, 1, 7), 0.7
    if -steps <= row < steps:
        check([n, v, s], outputs[row], *values)
    else:
        check_error(IndexError, [n, v, s], outputs[row], *values)


@pytest.mark.parametrize("steps", [no_steps, 1, 2, 5])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_of_a_state_with_distant_taps(rows, steps, check):
    n, v = pt.lscalar("n"), pt.dvector("v")
    out = scan(lambda a, b: a * 0.5 + b, outputs_info=[{"initial": v, "taps": [-3, -1]}], n_steps=n)
    values = steps, np.array([1.0, -2.0, 3.0])
    check([n, v], [out[rows], pytensor.grad(out[rows].sum(), v)], *values)
    check([n, v], out[-1], *values)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (3, 0), (3, 1), (2, 3)])
def test_a_scan_in_a_scan_of_few_steps(shape, check):
    x, s = pt.dmatrix("x"), pt.dscalar("s")

    def row_of(row, c):
        inner = scan(halved, sequences=[row], outputs_info=[c, None])
        return [inner[0][-2:].sum() + c, inner[1][-2:].sum()]

    out = scan(row_of, sequences=[x], outputs_info=[s, None])
    check([x, s], [out[0], out[1]], np.linspace(-1, 2, shape[0] * shape[1]).reshape(shape), 0.5, native=False)


@pytest.mark.parametrize("counts", [[], [0], [2, 0, 1], [1, 3]])
def test_a_scan_in_a_scan_of_steps_that_are_found(counts, check):
    k, s = pt.lvector("k"), pt.dscalar("s")

    def row_of(n, c):
        inner = scan(lambda c: pt.sin(c) + 1, outputs_info=[c], n_steps=n)
        return inner[-2:].sum() + c

    check([k, s], scan(row_of, sequences=[k], outputs_info=[s]), np.array(counts, dtype=np.int64), 0.5, native=False)


@pytest.mark.parametrize("values", [[], [0.0], [1.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
def test_a_scan_over_elements_that_are_found(values, check):
    v, s = pt.dvector("v"), pt.dscalar("s")
    states, outputs = scan(halved, sequences=[v[v.nonzero()[0]]], outputs_info=[s, None])
    check([v, s], [states, outputs, outputs[-2:], states[:-2]], np.array(values), 0.7)


def test_no_steps_leave_the_shape_of_a_row():
    """(PyTensor's own loop returns (0, 0) here: it has seen no row. Its comment says that this is wrong.)"""
    w, x = pt.dmatrix("w"), pt.dvector("x")
    out = scan(lambda row, c: [pt.tanh(row * c), row * 2 + c.sum()], sequences=[w], outputs_info=[x, None])
    states, outputs = compiled([w, x], out)(np.ones((0, 3)), np.ones(3))
    assert states.shape == outputs.shape == (0, 3)


class PositiveSum(Op):
    """No other code than Python: a Scan with it is a host call."""

    __props__ = ()

    def make_node(self, row):
        return Apply(self, [row], [pt.dscalar()])

    def perform(self, node, inputs, outputs):
        (row,) = inputs
        outputs[0][0] = np.asarray(row[row > 0].sum() + 1)


through_python = PositiveSum()


@pytest.mark.parametrize("steps", [0, 2])
def test_a_host_call_of_no_steps_leaves_the_shape_of_a_row(steps):
    w, x, n, m, t = pt.dmatrix("w"), pt.dvector("x"), pt.lscalar("n"), pt.dmatrix("m"), pt.dtensor3("t")
    outputs = [
        scan(lambda row: row * through_python(row), sequences=[w]),
        scan(lambda row: (row * through_python(row), until(row.sum() > 100)), sequences=[w]),
        *scan(lambda row, c: [row * through_python(row) * c, row * c], sequences=[w], outputs_info=[x, None]),
        scan(lambda row, m: m * through_python(row), sequences=[w], outputs_info=[m]),
        scan(lambda row, m: pt.outer(row, m[0]) * through_python(row), sequences=[w], non_sequences=[m]),
        scan(lambda a, b, m: [a + b * through_python(m[0]), a[:2]], [], [{"initial": t, "taps": [-2, -1]}, None], [m], n)[1],
    ]
    fn = compiled([w, x, n, m, t], outputs)
    got = fn(np.ones((steps, 3)), np.ones(3), steps, np.ones((3, 3)), np.ones((2, 3, 4)))
    assert host_calls(fn)  # (PyTensor has made some of them one Scan.)
    assert [r.shape for r in got] == [(steps, 3)] * 4 + [(steps, 3, 3)] * 2 + [(steps, 2, 4)]


def test_rows_of_no_steps_whose_size_a_step_finds_have_none():
    w = pt.dmatrix("w")
    fn = compiled([w], scan(lambda row: row[row > 0], sequences=[w]))
    assert fn(np.ones((0, 3))).shape == (0, 0)
    assert fn(np.ones((2, 3))).shape == (2, 3)


# Errors


def first_line(error):
    return str(error.value).splitlines()[0]


@shortened
@pytest.mark.parametrize("rows", [slice(None), slice(-3, None), -1, slice(None, -2)])
def test_a_negative_number_of_steps(rows, check_error):
    n, s = pt.lscalar("n"), pt.dscalar("s")
    out = scan(lambda c: c * 0.5 + 1, outputs_info=[s], n_steps=n)[rows]
    check_error(ValueError, [n, s], out, -2, 1.0, good=(4, 1.0))
    with pytest.raises(inlay.errors.NegativeSize) as error:
        compiled([n, s], out)(-2, 1.0)
    assert first_line(error) == "error[negative-size]: Scan `loop`: n_steps is -2"


def test_a_negative_number_of_steps_of_a_shape(check_error):
    x, s = pt.dvector("x"), pt.dscalar("s")
    out = scan(lambda c: c * 0.5 + 1, outputs_info=[s], n_steps=x.shape[0] - 3)
    check_error(ValueError, [x, s], out, np.zeros(1), 1.0, good=(np.zeros(4), 1.0))
    with pytest.raises(inlay.errors.NegativeSize) as error:
        compiled([x, s], out)(np.zeros(1), 1.0)
    assert first_line(error) == "error[negative-size]: Scan `loop`: n_steps is -2"


@shortened
@pytest.mark.parametrize("rows", [slice(None), slice(-3, None), -1])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_sequence_shorter_than_the_number_of_steps(rows, backwards, check_error):
    n, v, s = pt.lscalar("n"), pt.dvector("v"), pt.dscalar("s")
    out = scan(halved, sequences=[v], outputs_info=[s, None], n_steps=n, go_backwards=backwards)[0][rows]
    check_error(ValueError, [n, v, s], out, 5, np.ones(3), 1.0, good=(3, np.ones(3), 1.0))
    with pytest.raises(inlay.errors.ShapeMismatch) as error:
        compiled([n, v, s], out)(5, np.ones(3), 1.0)
    words = "Scan `loop`: sequence `v` has 3 elements along its first axis, n_steps is 5"
    assert first_line(error) == f"error[shape-mismatch]: {words}"


@pytest.mark.parametrize("taps", [[0], [0, 2]])
def test_a_sequence_shorter_than_a_constant_number_of_steps(taps, check_error):
    v, s = pt.dvector("v"), pt.dscalar("s")
    sequence = {"input": v, "taps": taps}
    out = scan(lambda *vs: pt.tanh(sum(vs)), sequences=[sequence], outputs_info=[s], n_steps=5)
    check_error(ValueError, [v, s], out, np.ones(3), 1.0, good=(np.ones(8), 1.0))
    with pytest.raises(inlay.errors.ShapeMismatch) as error:
        compiled([v, s], out)(np.ones(3), 1.0)
    # (Of a tap, PyTensor has made the two cuts one: that is what is compared.)
    sequence = "sequence `v` has 3" if taps == [0] else "sequence 0 has 1"
    words = f"Scan `loop`: {sequence} elements along its first axis, n_steps is 5"
    assert first_line(error) == f"error[shape-mismatch]: {words}"


@shortened
@pytest.mark.parametrize("length", [0, 1, 3, 6])
def test_a_sequence_too_short_for_its_taps(length, check_error):
    n, v, s = pt.lscalar("n"), pt.dvector("v"), pt.dscalar("s")
    sequence = {"input": v, "taps": [-1, 1]}
    out = scan(lambda a, b, c: pt.tanh(a * c) + b * c, sequences=[sequence], outputs_info=[s], n_steps=n)
    good = [(5, np.ones(7), 1.0), (0, np.ones(length), 1.0)]
    for values in good:
        check_error(ValueError, [n, v, s], out, 5, np.ones(length), 1.0, good=values)
    with pytest.raises(inlay.errors.ShapeMismatch) as error:
        compiled([n, v, s], out)(5, np.ones(length), 1.0)
    words = f"Scan `loop`: sequence `v` has {length} elements along its first axis, n_steps and the taps need 7"
    assert first_line(error) == f"error[shape-mismatch]: {words}"


@shortened
@pytest.mark.parametrize("length", [0, 1, 2])
@pytest.mark.parametrize("rows", ROWS + [0, -1, -2])
@pytest.mark.parametrize("may_end", [False, True])
def test_an_initial_value_too_short_for_its_taps(may_end, rows, length, check):
    n, v = pt.lscalar("n"), pt.dvector("v")

    def step(a, b):
        new = a * 0.5 + b
        return (new, until(new > 4)) if may_end else new

    out = scan(step, outputs_info=[{"initial": v, "taps": [-3, -1]}], n_steps=n)[rows]
    fn = check([n, v], out, 4, np.arange(3.0))
    # (PyTensor reads what is not there.)
    with pytest.raises(inlay.errors.ShapeMismatch) as error:
        fn(4, np.arange(float(length)))
    words = f"Scan `loop`: the initial value `v` has {length} rows, its taps need 3"
    assert first_line(error) == f"error[shape-mismatch]: {words}"


def test_a_sequence_without_a_name_is_told_by_its_number():
    n, v, s = pt.lscalar("n"), pt.dvector("v"), pt.dscalar("s")
    out = scan(halved, sequences=[pt.cumsum(v)], outputs_info=[s, None], n_steps=n)[0]
    with pytest.raises(inlay.errors.ShapeMismatch) as error:
        compiled([n, v, s], out)(5, np.ones(3), 1.0)
    words = "Scan `loop`: sequence 0 has 3 elements along its first axis, n_steps is 5"
    assert first_line(error) == f"error[shape-mismatch]: {words}"


def test_a_scan_that_ends_by_a_condition_within_another():
    """The inner one's trace has a size that is found in each step; its node is of a graph that PyTensor has frozen."""

    def outer(state):
        rows = scan(lambda row: (row * 2, until(row.sum() > 3.0)), outputs_info=[pt.tanh(state)], n_steps=9)
        return pt.tanh(rows[-1] + rows[1:].sum())

    x = pt.dvector("x")
    out = scan(outer, outputs_info=[x], n_steps=3)
    value = np.array([0.3, 0.05])
    wanted = pytensor.function([x], out, mode="FAST_COMPILE")(value)
    np.testing.assert_allclose(compiled([x], out)(value), wanted, rtol=1e-12)


# Graphs within graphs, of whose inputs PyTensor has one object for each number and type


def test_an_element_of_a_sequence_is_no_size_of_a_scan_before():
    """The second Scan's element of `counts` is the input that is a size in the first."""
    x, y, counts = pt.dvector("x"), pt.dvector("y"), pt.lvector("counts")
    total = scan(
        lambda v, n: pt.exp(pt.alloc(v, n)).cumsum().sum() + n, sequences=[x], non_sequences=[x.shape[0]]
    ).sum()
    out = scan(lambda v, count: pt.exp(pt.alloc(v, count)).cumsum()[-1], sequences=[y * total, counts])
    fn = compiled([x, y, counts], out)
    np.testing.assert_array_equal(fn(np.ones(3), np.zeros(2), np.array([5, 7])), [5, 7])


def test_a_size_of_a_step_is_not_that_of_a_graph_within_it():
    a, k = pt.dscalar("a"), pt.lscalar("k")
    total = OpFromGraph([a, k], [pt.alloc(a, k).sum()])
    two = pt.constant(2, dtype="int64")
    x, y = pt.dvector("x"), pt.dvector("y")
    out = scan(
        lambda v, n: pt.exp(pt.alloc(total(v, two), n)).cumsum()[-1], sequences=[x], non_sequences=[y.shape[0]]
    )
    np.testing.assert_array_equal(compiled([x, y], out)(np.zeros(3), np.ones(5)), [5, 5, 5])


def test_a_branch_knows_the_sizes_of_its_step():
    x, y = pt.dvector("x"), pt.dvector("y")
    out = scan(
        lambda v, n: ifelse(v > 0, pt.exp(pt.alloc(v, n)).cumsum(), pt.alloc(v, n)),
        sequences=[x],
        non_sequences=[y.shape[0]],
    )
    fn = compiled([x, y], out)
    assert host_calls(fn) == {}
    np.testing.assert_allclose(fn(np.array([1.0, -1.0]), np.ones(2)), [[np.e, 2 * np.e], [-1, -1]], rtol=1e-14)
