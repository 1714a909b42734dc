"""Shapes, reductions, joins and products against PyTensor's Python mode."""

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from pytensor.tensor.math import Prod, ProdWithoutZeros, Sum

M = np.arange(12.0).reshape(3, 4) - 5
LAYOUTS = {
    "row_major": lambda a: a,
    "column_major": np.asfortranarray,
    "every_second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "zero_stride": lambda a: np.broadcast_to(a[:1], a.shape),
    "read_only": lambda a: _read_only(a),
}


def _read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_arguments(layout, check):
    x = pt.dmatrix("x")
    check([x], [x * 2, x.T + 1, x.sum(axis=0), x[1:, ::2], pt.exp(x).sum()], LAYOUTS[layout](M))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), ()])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all"])
def test_reductions(name, axis, check):
    x = pt.dmatrix("x")
    if name in ("max", "min") and axis == ():
        pytest.skip("PyTensor has no max over no axes")
    check([x], getattr(pt, name)(x, axis=axis), M)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "float16"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_reduction_dtypes(name, dtype, check):
    x = pt.vector("x", dtype=dtype)
    check([x], getattr(pt, name)(x), np.array([1, 0, 1, 1, 100]).astype(dtype))


def test_reductions_of_nothing(check, check_error):
    x = pt.dmatrix("x")
    check([x], [x.sum(), x.prod(), x.sum(axis=0), x.sum(axis=1), pt.all(x > 0), pt.any(x > 0)], np.zeros((0, 3)))
    check_error(ValueError, [x], x.max(), np.zeros((0, 3)), good=(np.ones((1, 1)),))
    check_error(ValueError, [x], x.min(axis=0), np.zeros((0, 3)), good=(np.ones((1, 1)),))


@pytest.mark.parametrize("reduction", [Sum, Prod, ProdWithoutZeros])
def test_reductions_over_no_axes(reduction, check):
    """Of a scalar, -1 names none either."""
    m, x = pt.tensor("m", shape=(None, None), dtype="int8"), pt.dscalar("x")
    check([m], [reduction(axis=())(m)], np.array([[0, 3], [-2, 0]], "int8"))
    for mode in ("INLAY", Mode(inlay.pytensor.InlayLinker(), None)):
        assert pytensor.function([x], reduction(axis=(-1,))(x), mode=mode)(5.0) == 5.0


def test_max_of_nan(check):
    x = pt.dvector("x")
    check([x], [x.max(), x.min()], np.array([1.0, np.nan, -3.0]))


def test_float32_sum_accumulates_in_double(check):
    x = pt.fvector("x")
    check([x], x.sum(), np.full(100_001, 0.1, "float32"))


def test_dimshuffle(check):
    x = pt.tensor("x", shape=(None, 1, None), dtype="float64")
    a = np.arange(6.0).reshape(2, 1, 3)
    check([x], [x.dimshuffle(2, 0), x.dimshuffle("x", 0, 2), x.dimshuffle(2, 1, 0), x.dimshuffle(0, 2, "x")], a)


def test_dropping_an_axis_that_is_not_one_is_an_error(check_error):
    x = pt.dmatrix("x")
    y = pt.specify_shape(x, (None, 1)).dimshuffle(0)
    check_error((ValueError, AssertionError), [x], y, np.ones((2, 3)), good=(np.ones((2, 1)),))


def test_reshape(check):
    x = pt.dmatrix("x")
    check([x], [x.reshape((4, 3)), x.reshape((-1,)), x.reshape((2, -1, 3)), x.ravel(), x.flatten(1)], M)
    check([x], x.reshape((x.shape[1], x.shape[0])), M)
    check([x], x.T.reshape((2, 6)), M)


def test_reshape_of_what_has_a_known_number_of_elements(check):
    x = pt.dvector("x")
    check([x], pt.alloc(0.0, x.shape[0], 3, 0).reshape((x.shape[0], -1)), np.ones(4))
    check([x], pt.arange(6.0).reshape((x.shape[0], -1)), np.ones(3))


def test_a_shape_that_pytensor_knows_wrong(check):
    x, y = pt.vector("x", shape=(0,), dtype="bool"), pt.tensor3("y", shape=(1, None, None), dtype="bool")
    rolled = pt.roll(x[None], 2, axis=0)  # its rewrites make of the join a reshape to [1, 2, 0] of type (0, 2, 0)
    check([x, y], pt.join(1, rolled[:, None], rolled[:, None])[y].set(1), np.zeros(0, bool), np.zeros((1, 2, 0), bool))
    check([x, y], pt.join(1, rolled[:, None], rolled[:, None]) | y, np.zeros(0, bool), np.zeros((1, 2, 0), bool))


def test_reshape_that_does_not_fit_is_an_error(check_error):
    x = pt.dmatrix("x")
    check_error(ValueError, [x], x.reshape((5, 2)), M, good=(np.ones((2, 5)),))
    check_error(ValueError, [x], x.reshape((5, -1)), M, good=(np.ones((2, 5)),))


def test_reshape_to_a_size_that_only_pytensor_knows_is_checked(check_error):
    x = pt.matrix("x", shape=(None, 4))
    ones = pt.second(x.reshape((8,)), np.float64(1))  # of no element of x, but of its size
    y = ones.reshape(x.shape)
    assert y.type.shape == (2, 4)
    check_error(ValueError, [x], y, np.ones((3, 4)), good=(np.ones((2, 4)),))


def test_shapes_as_values(check):
    x = pt.dmatrix("x")
    check([x], [x.shape, x.shape[0] * x.shape[1], x.shape[1] + 1, x / x.shape[0]], M)


def test_shape_arithmetic_is_followed(check):
    x = pt.dvector("x")
    n = x.shape[0]
    check([x], [pt.zeros((n,)), pt.ones((n + 2, 3)), pt.full((2 * n,), x.sum())], np.arange(4.0))
    check([x], [pt.arange(n), pt.arange(n) * x, pt.arange(3, 10, 2)], np.arange(4.0))


def test_sizes_that_are_values_run_as_python(check):
    k = pt.lscalar("k")
    check([k], [pt.zeros((k,)) + 1, pt.arange(k)], np.array(3), native=False)
    check([k], [pt.zeros((k,)) + 1, pt.arange(k)], np.array(0), native=False)


def test_specify_shape(check, check_error):
    x = pt.dvector("x")
    check([x], pt.specify_shape(x, (3,)) * 2, np.arange(3.0))
    error = check_error(
        AssertionError, [x], pt.specify_shape(x, (3,)) * 2, np.arange(4.0), good=(np.arange(3.0),)
    )
    assert "3" in str(error) and "4" in str(error)


def test_specify_shape_compares_dims_not_the_number_of_elements(check_error):
    x = pt.dmatrix("x")
    good, swapped = np.ones((3, 2)), np.ones((2, 3))
    check_error(AssertionError, [x], pt.specify_shape(x, (3, 2)), swapped, good=(good,))
    check_error(AssertionError, [x], pt.specify_shape(x, (3, 2)).sum(axis=0), swapped, good=(good,))


def test_reshape_of_what_turns_out_to_be_one_element(check, check_error):
    x = pt.dmatrix("x")
    one = [x.reshape((1,)), pt.exp(x).reshape((1, 1, 1)), x.reshape(()) * x.sum(axis=0)]
    check([x], one, np.full((1, 1), 3.0))
    for shape in ((1, 2), (0, 1)):
        check_error(ValueError, [x], one[0] + 1, np.ones(shape), good=(np.ones((1, 1)),))


def test_alloc(check):
    x = pt.dscalar("x")
    check([x], [pt.alloc(x, 3, 2), pt.alloc(x * 2, 0)], np.array(1.5))


def test_join(check):
    x, y = pt.dmatrices("x", "y")
    check([x, y], [pt.concatenate([x, y]), pt.concatenate([x, x * 2, y], axis=0), pt.stack([x, x])], M, M[:2])
    i = pt.lvector("i")
    z = pt.dvector("z")
    check([i, z], pt.concatenate([i, z, [1.5]]), np.array([1, 2]), np.array([0.5]))


def test_join_of_wrong_shapes_is_an_error(check_error):
    x, y = pt.dmatrices("x", "y")
    check_error(ValueError, [x, y], pt.concatenate([x, y]), M, M[:, :2], good=(M, M))


def test_make_vector(check):
    x, y = pt.dscalars("x", "y")
    check([x, y], [pt.stack([x, y, x * y]), pt.stack([x])], np.array(2.0), np.array(3.0))


def test_split(check):
    x = pt.tensor("x", shape=(6,), dtype="float64")
    check([x], [p * 2 for p in pt.split(x, [1, 2, 3], n_splits=3)], np.arange(6.0))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 0), (0, 3))])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_dot(shapes, dtype, check):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-5, 5, s).astype(dtype) for s in shapes)
    x, y = (pt.tensor(n, shape=(None,) * len(s), dtype=dtype) for n, s in zip("xy", shapes))
    check([x, y], pt.dot(x, y), a, b)


def test_dot_of_wrong_shapes_is_an_error(check_error):
    x, y = pt.dmatrices("x", "y")
    check_error(ValueError, [x, y], pt.dot(x, y), M, M, good=(M, M.T))


def test_softmax_and_logsumexp(check):
    x = pt.dmatrix("x")
    check(
        [x],
        [pt.special.softmax(x, axis=-1), pt.special.log_softmax(x, axis=0), pt.logsumexp(x, axis=1)],
        M,
        native=False,
    )


def test_softmax_and_argmax_over_no_axes(check):
    x = pt.dmatrix("x")
    made = [pt.special.softmax(x, axis=()), pt.special.log_softmax(x, axis=()), pt.argmax(x, axis=()), pt.logsumexp(x, axis=())]
    check([x], made, M, native=False)


def test_runtime_broadcasting_is_an_error(check_error):
    x, y = pt.dvectors("x", "y")
    error = check_error(ValueError, [x, y], x + y, np.ones(3), np.ones(1), good=(np.ones(3), np.ones(3)))
    assert "3" in str(error) and "1" in str(error)


def test_shape_mismatch_is_an_error(check_error):
    x, y = pt.dvectors("x", "y")
    check_error(ValueError, [x, y], pt.exp(x) * y, np.ones(3), np.ones(4), good=(np.ones(3), np.ones(3)))


def test_empty_arrays(check):
    x, y = pt.dmatrix("x"), pt.dvector("y")
    check([x, y], [x + y, x.T * 2, pt.concatenate([y, y]), x.sum(axis=0) + y], np.zeros((0, 4)), np.arange(4.0))
    check([x, y], [x * 1.5, y[:0]], np.zeros((3, 0)), np.zeros(0))


def test_assert(check, check_error):
    from pytensor.raise_op import Assert, CheckAndRaise

    x = pt.dvector("x")
    positive = Assert("x must be positive")(x, pt.all(x > 0))
    check([x], positive * 2, np.arange(1.0, 4))
    error = check_error(AssertionError, [x], positive * 2, np.arange(3.0), good=(np.ones(2),))
    assert "x must be positive" in str(error)

    class Unlucky(ValueError):
        pass

    checked = CheckAndRaise(Unlucky, "no luck")(x, pt.all(x > 0), x.sum() < 100)
    error = check_error(Unlucky, [x], checked * 2, np.arange(3.0), good=(np.ones(2),))
    assert "no luck" in str(error)


def test_cast_of_nan_to_an_integer_is_an_error(check_error):
    x = pt.dvector("x")
    y = pt.cast(x, "int64")
    fn = pytensor.function([x], y, mode="INLAY")
    with pytest.raises(ValueError):
        fn(np.array([1.0, np.nan]))
    np.testing.assert_array_equal(fn(np.array([1.0, -2.7])), [1, -2])


def test_op_from_graph_is_inlined(check):
    from pytensor.compile.builders import OpFromGraph

    a, b = pt.dvectors("a", "b")
    op = OpFromGraph([a, b], [pt.exp(a) * b, a.sum()])
    x, y = pt.dvectors("x", "y")
    check([x, y], list(op(x, y * 2)), np.arange(3.0), np.ones(3))


def test_outputs_that_are_inputs_or_constants(check):
    x = pt.dvector("x")
    check([x], [x, x, pt.constant([1.0, 2.0]), x + 1, x[1:]], np.arange(3.0))


def test_no_outputs():
    x = pt.dvector("x")
    assert pytensor.function([x], [], mode="INLAY", on_unused_input="ignore")(np.arange(3.0)) == []
