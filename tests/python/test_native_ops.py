"""What PyTensor's tensor library has as an op, or makes of several: native, against PyTensor's Python mode."""

import inspect

import numpy as np
import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
import pytest
import scipy.special
from pytensor.raise_op import Assert, CheckAndRaise
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import ravel_multi_index, unravel_index
from pytensor.tensor.math import Max, Min
from versions import OLD_PYTENSOR

MATRICES = [np.arange(12.0).reshape(3, 4) - 5, np.array([[2.5]]), np.zeros((0, 3)), np.zeros((3, 0)), np.full((1, 3), np.nan)]


@pytest.mark.parametrize("value", MATRICES, ids=lambda v: str(v.shape))
def test_moving_and_repeating_axes(value, check):
    x = pt.dmatrix("x")
    outputs = [
        pt.expand_dims(x, (0, -1)), pt.moveaxis(x[None], 0, 2), pt.swapaxes(x, 0, 1), pt.flip(x), pt.flip(x, 1),
        pt.stack([x, 2 * x], axis=1), pt.stack([x, x], axis=-1), pt.tile(x, (2, 1)), pt.tile(x, (2, 1, 3)),
        pt.repeat(x, 3, axis=1), pt.outer(x[:, 0], x[0]) if value.size else x, pt.squeeze(x[:, :, None], 2),
        pt.concatenate([x, x[:0], x], axis=0), pt.concatenate([x, x + 1], axis=1),
    ]  # fmt: skip
    check([x], outputs, value)


@pytest.mark.parametrize("value", MATRICES, ids=lambda v: str(v.shape))
def test_filling(value, check):
    x, s = pt.dmatrix("x"), pt.dscalar("s")
    outputs = [
        pt.zeros_like(x), pt.ones_like(x, dtype="int32"), pt.full_like(x, s), pt.full((2, x.shape[0]), s),
        pt.second(x, s), pt.alloc(s, x.shape[1], 2), pt.broadcast_to(s, (2, x.shape[0])), pt.where(x > 0, x, s),
        pt.where(x, 1.0, 2.0) if not np.isnan(value).any() else x, pt.clip(x, -1, s), pt.switch(pt.eq(x, s), 1, 0),
        pt.identity_like(x), pt.stack([s, s, 3.0]), pt.as_tensor([s, x.sum()]),
    ]  # fmt: skip
    check([x, s], outputs, value, 2.0)


@pytest.mark.parametrize("value", MATRICES[:2] + MATRICES[3:], ids=lambda v: str(v.shape))
def test_statistics(value, check):
    x = pt.dmatrix("x")
    outputs = [f(x, axis=a) for f in (pt.mean, pt.var, pt.std) for a in (None, 0)] if value.size else []
    outputs += [pt.all(x, axis=0), pt.any(x), pt.sum(x, axis=(0, 1)), pt.prod(x, axis=1), pt.ptp(x, 0) if value.size else x]
    check([x], outputs, value, rtol=1e-12)


def test_logsumexp(check):
    x = pt.dmatrix("x")
    outputs = [pt.logsumexp(x), pt.logsumexp(x, axis=1), pt.logsumexp(x, axis=0, keepdims=True)]
    fn = check([x], outputs, MATRICES[0])
    large = MATRICES[0] * 300  # whose exponentials overflow
    want = [scipy.special.logsumexp(large, axis=axis, keepdims=axis == 0) for axis in (None, 1, 0)]
    for ours, theirs in zip(fn(large), want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)


@pytest.mark.parametrize("op", [ps.add, ps.mul, ps.maximum, ps.minimum])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8", "bool"])
def test_any_reduction(op, dtype, check):
    if dtype == "bool" and op in (ps.maximum, ps.minimum):
        pytest.skip("PyTensor reduces bool by and and or")
    x = pt.tensor3("x", dtype=dtype)
    value = (np.arange(24).reshape(2, 3, 4) % 7 - 2).astype(dtype)
    check([x], [CAReduce(op, axis=axis)(x) for axis in ((0,), (1,), (0, 2), (0, 1, 2))], value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64"])
def test_reduction_by_xor(dtype, check):
    x = pt.tensor3("x", dtype=dtype)
    value = (np.arange(24).reshape(2, 3, 4) ** 2 % 7 - 2).astype(dtype)
    outputs = [CAReduce(ps.xor, axis=axis)(x) for axis in ((0,), (1,), (0, 2), (0, 1, 2))]
    check([x], outputs, value)
    check([x], outputs, value[:, :0])


@pytest.mark.parametrize("acc", ["float64", "float32"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool"])
def test_mean_with_an_accumulator(dtype, acc, check):
    if dtype == "float64" and acc == "float32":
        pytest.skip("PyTensor refuses an accumulator that is narrower")
    x = pt.matrix("x", dtype=dtype)
    outputs = [pt.mean(x, axis=axis, acc_dtype=acc, dtype=acc) for axis in (None, 0, 1)]
    check([x], outputs, (np.arange(12).reshape(3, 4) % 5).astype(dtype), rtol=1e-6)


@pytest.mark.skipif("initial" not in inspect.signature(Max).parameters, reason="this PyTensor has no such argument")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8"])
def test_extremes_with_an_initial_value(dtype, check):
    x = pt.matrix("x", dtype=dtype)
    outputs = [Max((0,), initial=True)(x), Min((1,), initial=True)(x), Max((0, 1), initial=True)(x)]
    for value in (np.zeros((0, 3)), np.arange(6).reshape(2, 3), np.zeros((2, 0))):
        check([x], outputs, value.astype(dtype))


@pytest.mark.parametrize("mode", ["constant", "edge", "linear_ramp", "maximum", "mean", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [2, (1, 3), ((0, 2), (3, 0))])
def test_pad(mode, width, check):
    x = pt.dmatrix("x")
    # (PyTensor 2 mirrors by Scans within one another, whose sizes only values tell: a host call.)
    native = not (OLD_PYTENSOR and mode == "symmetric")
    check([x], pt.pad(x, width, mode=mode), MATRICES[0], native=native)


@pytest.mark.parametrize("sizes", [(1, 3), (4, 0), (0, 0, 4)])
def test_split(sizes, check, check_error):
    x = pt.dmatrix("x")
    check([x], [*pt.split(x, sizes, n_splits=len(sizes), axis=1)], MATRICES[0])
    check_error(ValueError, [x], pt.split(x, sizes, n_splits=len(sizes), axis=1)[0], np.ones((2, 5)), good=(np.ones((2, 4)),))


def test_conditions(check, check_error):
    x, ok = pt.dvector("x"), pt.vector("ok", dtype="bool")
    check([x, ok], Assert("no")(x, pt.all(ok)) + 1, np.arange(3.0), np.array([True, True]))
    check_error(AssertionError, [x, ok], Assert("no")(x, pt.all(ok)), np.arange(3.0), np.array([True, False]))
    raised = check_error(KeyError, [x], CheckAndRaise(KeyError, "small")(x, x.sum() > 0), -np.ones(2), good=(np.ones(2),))
    assert "small" in str(raised)


def test_reshape_with_a_size_that_is_left_over(check, check_error):
    x = pt.dmatrix("x")
    n = x.shape[0]
    check([x], [x.reshape((-1,)), x.reshape((n, -1)), x.reshape((2, -1)), x.reshape((-1, n, 1))], np.ones((4, 3)))
    check_error(ValueError, [x], x.reshape((n - 1, -1)), np.zeros((1, 0)), good=(np.ones((4, 3)),))
    check_error(ValueError, [x], x.reshape((5, -1)), np.ones((4, 3)), good=(np.ones((5, 3)),))


def test_numbers_of_elements(check, check_error):
    i, j = pt.lmatrix("i"), pt.lvector("j")
    check([i], [*unravel_index(i, (3, 4, 5))], np.array([[0, 59], [7, 33]]))
    check([i], [*unravel_index(i, (3, 4), order="F")], np.array([[0, 11], [7, 5]]))
    check([j], ravel_multi_index((j, j[::-1]), (3, 4)), np.array([0, 2, 1]))
    for mode in ("wrap", "clip"):
        check([j], ravel_multi_index((j, j), (3, 4), mode=mode, order="F"), np.array([-1, 5, 2]))
    check_error(ValueError, [i], unravel_index(i, (3, 4))[0], np.array([[12]]), good=(np.array([[11]]),))
    check_error(ValueError, [j], ravel_multi_index((j, j), (3, 4)), np.array([3]), good=(np.array([2]),))


def test_numbers_of_elements_of_dims_that_are_values(check, check_error):
    i, v, n, dims = pt.lmatrix("i"), pt.lvector("v"), pt.lscalar("n"), pt.lvector("dims")
    three = pt.specify_shape(dims, 3)
    check([i, dims], list(unravel_index(i, three)), np.array([[0, 59], [7, 33]]), np.array([3, 4, 5]))
    check([i, n], list(unravel_index(i, pt.stack([n, 4]), order="F")), np.array([[0, 11], [7, 5]]), 3)
    check([v, n], ravel_multi_index((v, v), pt.stack([n, n + 1])), np.array([0, 2, 1]), 3)
    for mode in ("wrap", "clip"):
        check([v, dims], ravel_multi_index((v, v, v), three, mode=mode), np.array([0, 2, -7]), np.array([3, 4, 5]))
    for bad in (60, -1):
        values = np.array([[0, bad]]), np.array([3, 4, 5])
        check_error(ValueError, [i, dims], unravel_index(i, three)[0], *values, good=(abs(values[0]) % 60, values[1]))
    check_error(ValueError, [v, n], ravel_multi_index((v, v), pt.stack([n, n])), np.array([3]), 3, good=(np.array([2]), 3))



def test_a_flat_vector_that_is_too_short(check_error):
    x = pt.dvector("x")
    part = pt.specify_shape(x[2:5], 3)
    check_error(AssertionError, [x], part * 2, np.ones(4), good=(np.ones(5),))


def test_a_host_call_may_return_another_byte_order_or_size():
    from pytensor.compile.ops import as_op

    @as_op(itypes=[pt.dvector], otypes=[pt.dvector])
    def swapped(x):
        return (x + 1).astype(">f8")

    @as_op(itypes=[pt.dvector], otypes=[pt.bvector])
    def wide(x):
        return x.astype("int64")

    @as_op(itypes=[pt.dvector], otypes=[pt.lvector])
    def floats(x):
        return x

    x = pt.dvector("x")
    got = pytensor.function([x], [swapped(x), wide(x)], mode="INLAY")(np.array([1.0, 2]))
    np.testing.assert_array_equal(got[0], [2, 3])
    np.testing.assert_array_equal(got[1], np.array([1, 2], "int8"))
    assert got[0].dtype == "float64" and got[1].dtype == "int8"
    with pytest.raises(TypeError, match="float64"):
        pytensor.function([x], floats(x), mode="INLAY")(np.ones(2))
