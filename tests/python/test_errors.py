"""What the errors of PyTensor's functions say: the op in its own words, the operands by name, the numbers, the origin."""

import inspect
import re

import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from inlay._inlay import GraphBuilder
from inlay.pytensor.traces import source_line
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.raise_op import Assert, CheckAndRaise
from pytensor.tensor.blockwise import Blockwise
from versions import OLD_PYTENSOR

x, y, m = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")


def error_of(inputs, output, *values):
    """The exception, without what PyTensor adds to it."""
    fn = pytensor.function(inputs, output, mode="INLAY", on_unused_input="ignore")
    assert inlay.pytensor.explain(fn).host_calls == []
    with pytest.raises(Exception) as raised:
        fn(*values)
    return raised.value


def first_lines(error):
    return str(error).split("\nApply node")[0]


def test_operands_are_named():
    error = error_of([x, y], x + y, np.ones(3), np.ones(4))
    assert isinstance(error, ValueError) and error.code == "shape-mismatch"
    text = first_lines(error)
    assert text.startswith("error[shape-mismatch]: add: dim 0 is 3 on the left and 4 on the right\n")
    assert "\n  left   %x  f64[x_0]" in text and "\n  right  %y  f64[y_0]" in text


def test_words_of_each_op():
    def says(words, inputs, output, *values):
        assert words in str(error_of(inputs, output, *values))

    says("reshape: 5 elements do not fill [2, 2], which takes 4", [x], x.reshape((2, 2)), np.ones(5))
    says("the value's dim 0 is 5, neither 1 nor 3", [x, y], x[1:4].set(y), np.ones(9), np.ones(5))
    says("the value's dim 0 is 5, neither 1 nor 2", [x, y], x[1:4].inc(y), np.ones(3), np.ones(5))
    says("concat: dim 1 is 2 in part 0 and 3 in part 1", [m], pt.concatenate([m[:, :2], m]), np.ones((2, 3)))


@pytest.mark.skipif(OLD_PYTENSOR, reason="this version raises a copy of the error, which lacks what inlay's has")
def test_a_one_that_does_not_stretch():
    """In the words that PyTensor's modes have in common, which users and tests look for."""
    row, a, b = pt.drow("row"), pt.dtensor3("a"), pt.dtensor3("b")
    some, batch = np.ones(3), np.ones((3, 2, 2))
    i = pt.lvector("i")
    for inputs, output, good, *bad in [
        ([m, x], pt.exp(m - x), [np.ones((2, 3)), some], [np.ones((2, 1)), some], [np.ones((2, 3)), np.ones(1)]),
        ([m, x], pt.where(m > 0, m, x), [np.ones((2, 3)), some], [np.ones((2, 3)), np.ones(1)]),
        ([row, m], row + m, [np.ones((1, 3)), np.ones((2, 3))], [np.ones((1, 3)), np.ones((2, 1))]),
        ([x], pt.alloc(x, 2, 3), [some], [np.ones(1)]),
        ([x, i, y], x[i].inc(y), [some, np.arange(2), np.ones(2)], [some, np.arange(2), np.ones(1)]),
        ([m], pt.zeros((3, 2))[np.array([0, 0, 2, 1])].inc(m), [np.ones((4, 2))], [np.ones((1, 2))], [np.ones((4, 1))]),
        ([a, b], a @ b, [batch, batch], [batch, batch[:1]], [batch[:1], batch]),
        ([a, b], pt.linalg.solve_triangular(a, b, b_ndim=2), [batch, batch], [batch, batch[:1]]),
    ]:
        for values in bad:
            error = error_of(inputs, output, *values)
            assert isinstance(error, ValueError) and error.code == "shape-mismatch" and error.location
            assert "\n  help: Runtime broadcasting not allowed. " in str(error)
            assert "Subtensor" not in output.owner.op.__class__.__name__ or "Subtensor" in str(error).split("help: ")[1]
        pytensor.function(inputs, output, mode="INLAY")(*good)
    for inputs, output, values in [
        ([m, x], m - x, [np.ones((2, 3)), np.ones(4)]),
        ([a, b], a @ b, [batch, np.ones((2, 2, 2))]),
        ([x, y], x[:3].set(y), [np.ones(5), np.ones(2)]),
        ([m, x], pt.dot(m, x), [np.ones((2, 3)), np.ones(1)]),
    ]:
        assert "broadcasting" not in str(error_of(inputs, output, *values))


@pytest.mark.skipif(OLD_PYTENSOR, reason="this version raises a copy of the error, which lacks what inlay's has")
@pytest.mark.parametrize("op", [pt.linalg.inv, pt.linalg.det, lambda a: pt.linalg.eig(a)[0], pt.linalg.expm])
def test_matrices_that_are_not_square(op):
    """NumPy's functions, which are PyTensor's here, say LinAlgError; it is a ValueError too."""
    for a, value in [(m, np.ones((2, 3))), (pt.dtensor3("a"), np.ones((2, 2, 3)))]:
        error = error_of([a], op(a), value)
        assert isinstance(error, np.linalg.LinAlgError) and error.code == "shape-mismatch"


def test_specify_shape():
    error = error_of([x], pt.specify_shape(x, (3,)) * 2, np.ones(5))
    assert isinstance(error, AssertionError) and not isinstance(error, inlay.InlayError)
    assert first_lines(error).startswith("SpecifyShape: dim 0 is 5, not 3\n")
    if not OLD_PYTENSOR:  # which raises another exception of that class
        assert error.code == "shape-mismatch" and "SpecifyShape" in error.location


def test_assert_has_code_and_origin():
    error = error_of([x], Assert("x is short")(x, x.shape[0] > 3) * 2, np.ones(2))
    assert type(error) is AssertionError and first_lines(error).startswith("x is short")
    if not OLD_PYTENSOR:  # which raises another exception of that class
        assert error.code == "assert-failed" and "Assert" in error.location


class Small(Exception):
    pass


small, large = CheckAndRaise(Small, "too small"), CheckAndRaise(KeyError, "too large")


def checked(v):
    return large(small(v * 2, v > 0), v < 9)


def checked_all(v):
    return large(small(v * 2, pt.all(v > 0)), pt.all(v < 9))


def scan(*args):
    return pytensor.scan(*args, return_updates=False)


WITHIN = {
    "a Scan": lambda: scan(checked, [x]),
    "a Scan that carries": lambda: scan(lambda v, before: checked(v + before) - before, [x], [pt.zeros((), dtype="float64")]),
    "a Scan in a Scan": lambda: scan(lambda i, x: scan(checked, [x]) + i, [pt.arange(2)], None, [x]),
    "a graph": lambda: OpFromGraph([y], [checked_all(y)])(x),
    "a graph in a Scan": lambda: scan(lambda v, x: OpFromGraph([y], [checked_all(y)])(x) + v, [x], None, [x]),
    "a batch": lambda: Blockwise(OpFromGraph([y], [checked_all(y)]), signature="(n)->(n)")(x[None]),
}


@pytest.mark.parametrize("name", [n for n in WITHIN if not (OLD_PYTENSOR and n == "a batch")])
def test_a_check_within_a_node_raises_what_it_says(name, check_error):
    """Two of one line read alike: each has words of its own."""
    out = WITHIN[name]()
    assert "too small" in str(check_error(Small, [x], out, np.array([1.0, -2.0]), good=(np.ones(2),)))
    assert "too large" in str(check_error(KeyError, [x], out, np.array([1.0, 20.0])))


def test_shapes_within_a_node(check_error):
    row = scan(lambda r: pt.specify_shape(r, (3,)).sum(), [m])
    for inputs, out, value in [
        ([m], row, np.ones((2, 4))),
        ([x], OpFromGraph([y], [pt.specify_shape(y, (3,)) * 2])(x), np.ones(4)),
        ([m], scan(lambda r: Assert("no")(r.sum(), r.sum() < 3), [m]), np.ones((2, 4))),
    ]:
        raised = check_error(AssertionError, inputs, out, value)
        assert not isinstance(raised, inlay.InlayError)
    error = error_of([m], row, np.ones((2, 4)))
    assert first_lines(error).startswith("SpecifyShape: dim 0 is 4, not 3\n")
    stretched = scan(lambda r, x: (r + x).sum(), [m], None, [x])
    assert "Runtime broadcasting not allowed" in str(check_error(ValueError, [m, x], stretched, np.ones((2, 3)), np.ones(1)))


def test_results_that_are_too_large():
    wide = pt.alloc(1.5, x.shape[0], y.shape[0], x.shape[0], y.shape[0])
    assert isinstance(error_of([x, y], wide, np.ones(100_000), np.ones(1000)), inlay.errors.OutOfMemory)
    error = error_of([x, y], wide, np.ones(1_000_000), np.ones(10_000))
    assert isinstance(error, inlay.errors.SizeOverflow) and isinstance(error, ValueError)


def test_rules_that_the_environment_leaves_out(monkeypatch):
    """What nothing needs cannot fail: a mask that chooses between zeros and zeros."""
    mask = pt.vector("mask", dtype="bool")
    output = pt.zeros((3,), dtype="bool")[mask].set(0)
    assert not pytensor.function([mask], output, mode="INLAY")(np.ones(4, bool)).any()
    monkeypatch.setenv("INLAY_REWRITE_OFF", "mul-one,select-same")
    assert isinstance(error_of([mask], output, np.ones(4, bool)), IndexError)
    monkeypatch.setenv("INLAY_REWRITE_OFF", "select-sam")
    with pytest.raises(inlay.errors.UnknownName, match="select-same"):
        pytensor.function([mask], output, mode="INLAY")


def test_values_and_sizes_of_another_builder_are_refused():
    one, other = GraphBuilder(), GraphBuilder()
    n, m = one.symbol("n"), other.symbol("m")
    one.param("x", "f64", [n])
    p = other.param("p", "f64", [m])
    for call in (
        lambda: one.scalar("exp", [p]),
        lambda: one.output(p),
        lambda: one.body().scalar("exp", [p]),
        lambda: one.iota(m, "i64"),
        lambda: one.iota(p.dims[0] + 1, "i64"),
        lambda: n + m,
    ):
        with pytest.raises(ValueError, match="builder") as raised:
            call()
        assert raised.value.code == "unknown-name"


# A Scan: its body's nodes keep their lines, through PyTensor's freezing and rewrites, and each of two alike its own.

i, j = pt.lvector("i"), pt.lvector("j")


def step_of(v, a):
    before = pt.exp(-a)
    return before + x[v]


def step_alike(v, a):
    before = pt.exp(-a)
    return before + y[v]


def scan_of(step, *sequences):
    return pytensor.scan(step, sequences=list(sequences), outputs_info=[np.array(0.0)], return_updates=False)


def scan_of_scans():
    return scan_of(lambda k, a: pytensor.scan(step_of, sequences=[i], outputs_info=[a], return_updates=False)[-1], x)


def place_of(function):
    """Where its last line stands."""
    lines, first = inspect.getsourcelines(function)
    return f"Subtensor #{{}}, test_errors.py:{first + len(lines) - 1}"


def is_at(error, function):
    return re.sub(r"#\d+", "#{}", error.location) == place_of(function)


@pytest.mark.skipif(OLD_PYTENSOR, reason="this version raises a copy of the error, which lacks what inlay's has")
@pytest.mark.parametrize(
    "result",
    [
        lambda: scan_of(step_of, i),
        lambda: scan_of(step_of, i)[-1],
        lambda: pt.grad(scan_of(step_of, i).sum(), x),
        scan_of_scans,
    ],
    ids=["all", "last", "gradient", "nested"],
)
def test_lines_within_a_scan(result):
    error = error_of([i, x], result(), [0, 1, 9], np.ones(3))
    assert isinstance(error, IndexError) and is_at(error, step_of)


@pytest.mark.skipif(OLD_PYTENSOR, reason="this version raises a copy of the error, which lacks what inlay's has")
def test_lines_of_two_scans_alike():
    """PyTensor gives both the graph of one of them, which has its lines: each has those of its own Scan instead."""
    options = {"outputs_info": [np.array(0.0)], "return_updates": False}
    line = inspect.currentframe().f_lineno
    first = pytensor.scan(step_of, sequences=[i], **options)
    second = pytensor.scan(step_alike, sequences=[j], **options)
    at_first = error_of([i, x, j, y], [first, second], [0, 1, 9], np.ones(3), [0, 1, 1, 0], np.ones(3))
    at_second = error_of([i, x, j, y], [first, second], [0, 1, 1], np.ones(3), [0, 1, 9, 0], np.ones(3))
    assert at_first.location.endswith(f", test_errors.py:{line + 1}")
    assert at_second.location.endswith(f", test_errors.py:{line + 2}")


@pytest.mark.skipif(OLD_PYTENSOR, reason="this version raises a copy of the error, which lacks what inlay's has")
def test_lines_within_a_log_density():
    """PyMC makes its nodes; the line is that of the variable."""
    with pm.Model() as model:
        seen = pm.Data("seen", np.ones(5))
        slope = pm.Normal("slope", shape=3)
        line = inspect.currentframe().f_lineno + 1
        pm.Normal("y", slope[seen.astype("int64")], pm.HalfNormal("sigma"), observed=np.ones(4))
    for logp in (model.compile_logp(mode="INLAY"), model.compile_fn(model.dlogp(), mode="INLAY")):
        with pytest.raises(inlay.errors.ShapeMismatch) as raised:
            logp(model.initial_point())
        assert raised.value.location.endswith(f", test_errors.py:{line}")


@pytest.mark.skipif(OLD_PYTENSOR, reason="this version raises a copy of the error, which lacks what inlay's has")
def test_lines_of_a_gradient():
    """A gradient is checked by itself where the sum is not computed."""
    known, shared = pt.tensor("known", shape=(3,)), pytensor.shared(np.ones(4), name="shared", shape=(None,))
    line = inspect.currentframe().f_lineno + 1
    product = known * shared
    result = pt.exp(product).sum()
    for output in (pt.grad((known * 1 + product).sum(), known), pt.grad(result, known)):
        error = error_of([known], output, np.ones(3))
        assert error.location.endswith(f", test_errors.py:{line}"), error


class Undifferentiable(Op):
    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0].copy()

    def pullback(self, inputs, outputs, cotangents):
        raise ArithmeticError("no gradient")

    grad = lambda self, inputs, cotangents: self.pullback(inputs, None, cotangents)


def test_a_gradient_that_fails_leaves_no_line_behind():
    with pytest.raises(ArithmeticError) as kept:  # with its frames
        pt.grad(pt.exp(Undifferentiable()(pt.exp(x))).sum(), x)
    line = inspect.currentframe().f_lineno + 1
    after = pt.exp(x)
    assert source_line(after.owner) == f"test_errors.py:{line}" and kept is not None
