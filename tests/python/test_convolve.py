"""Convolution of signals: native, against PyTensor's Python mode."""

import inlay
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from versions import OLD_PYTENSOR

signal = pytest.importorskip("pytensor.tensor.signal")

X = np.array([1.5, -2.0, 0.25, 3.0, -1.0])
SIZES = [(5, 1), (5, 2), (5, 3), (5, 5), (2, 5), (1, 1), (1, 3)]
MODES = ["full", "valid", "same"]


def signals(n, k, dtype="float64"):
    numbers = np.arange(1, n + k + 1) * np.where(np.arange(n + k) % 3, 1, -1)
    return numbers[:n].astype(dtype), numbers[n:].astype(dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_convolutions_and_their_gradients(sizes, mode, check):
    x, w = pt.dvectors("x", "w")
    out = signal.convolve1d(x, w, mode=mode)
    weights = pt.cos(pt.arange(out.shape[0]))
    outputs = [out, *pytensor.grad((out**2 * weights).sum(), [x, w])]
    check([x, w], outputs, *signals(*sizes), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "uint16", "complex128", "complex64"])
def test_dtypes(dtype, mode, check):
    x, w = pt.vector("x", dtype=dtype), pt.vector("w", dtype=dtype)
    check([x, w], signal.convolve1d(x, w, mode=mode), *signals(5, 3, dtype))


def test_operands_of_two_dtypes(check):
    x, w = pt.vector("x", dtype="int32"), pt.vector("w", dtype="float32")
    check([x, w], signal.convolve1d(x, w), signals(5, 3, "int32")[0], signals(5, 3, "float32")[1])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_touches_no_more_than_its_own_terms(odd, mode, check):
    x, w = pt.dvectors("x", "w")
    out = signal.convolve1d(x, w, mode=mode)
    check([x, w], out, X, np.array([odd, 1.0, 2.0]))
    check([x, w], out, X, np.array([1.0, 2.0, odd]))
    check([x, w], out, np.array([1.0, odd, 2.0, 3.0]), np.array([1.0, 2.0]))


@pytest.mark.parametrize("mode", MODES)
def test_static_sizes(mode, check):
    x, w = pt.vector("x", shape=(5,)), pt.vector("w", shape=(3,))
    out = signal.convolve1d(x, w, mode=mode)
    check([x, w], [out, *pytensor.grad(out.sum(), [x, w])], *signals(5, 3))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("batches", [((2,), (2,)), ((3, 2), (2,)), ((2,), ()), ((), (3,)), ((1,), (4,))])
def test_batches(batches, mode, check):
    rng = np.random.default_rng(1)
    values = rng.integers(-9, 9, (*batches[0], 5)) / 4, rng.integers(-9, 9, (*batches[1], 3)) / 4
    x, w = (pt.tensor(shape=(*(1 if n == 1 else None for n in v.shape[:-1]), None), dtype="float64") for v in values)
    check([x, w], signal.convolve1d(x, w, mode=mode), *values, rtol=1e-12)


def test_batches_whose_gradient_is_whole_or_not_as_the_lengths_are(check):
    """Of a filter of 3 elements the gradient asks whether the signals are shorter than it, for all of them at once."""
    x, w = pt.tensor(shape=(2, None), dtype="float64"), pt.tensor(shape=(2, 3), dtype="float64")
    out = signal.convolve1d(x, w, mode="valid")
    for n in (5, 3, 2):
        values = np.arange(2.0 * n).reshape(2, n) - 2.5, np.arange(6.0).reshape(2, 3) / 4
        check([x, w], [out, *pytensor.grad((out**2).sum(), [x, w])], *values, rtol=1e-12)


def test_no_signals_have_no_convolutions():
    """(PyTensor's Python mode does not do it.)"""
    x, w = pt.dmatrices("x", "w")
    fn = pytensor.function([x, w], signal.convolve1d(x, w), mode="INLAY")
    assert fn(np.ones((0, 5)), np.ones((0, 3))).shape == (0, 7)


@pytest.mark.parametrize("mode", ["full", "valid"])
@pytest.mark.parametrize("sizes, which", [((0, 3), "in1"), ((3, 0), "in2")])
def test_nothing_has_no_convolution(sizes, which, mode, check_error):
    x, w = pt.dvectors("x", "w")
    out = signal.convolve1d(x, w, mode=mode)
    check_error(ValueError, [x, w], out, np.ones(sizes[0]), np.ones(sizes[1]), good=signals(5, 3))
    with pytest.raises(inlay.errors.ShapeMismatch) as error:
        pytensor.function([x, w], out, mode="INLAY")(np.ones(sizes[0]), np.ones(sizes[1]))
    first = str(error.value).splitlines()[0]
    assert first == f"error[shape-mismatch]: Convolve1d: {which} has 0 elements, at least 1 is needed"


@pytest.mark.parametrize("mode", ["full", "valid"])
def test_windows_are_read_without_an_index(mode):
    x, w = pt.dvectors("x", "w")
    fn = pytensor.function([x, w], signal.convolve1d(x, w, mode=mode), mode="INLAY")
    assert not any("checked" in kernel.text for kernel in inlay.pytensor.explain(fn).kernels)


def images(*shapes):
    rng = np.random.default_rng(1)
    return [rng.integers(-9, 9, shape) / 4 for shape in shapes]


IMAGES = [((5, 6), (2, 3)), ((4, 4), (1, 1)), ((1, 5), (1, 2)), ((2, 3), (5, 6)), ((1, 1), (1, 1))]


@pytest.mark.parametrize("mode", MODES)
def test_convolutions_of_matrices_and_their_gradients(mode, check):
    x, w = pt.dmatrices("x", "w")
    out = signal.convolve2d(x, w, mode=mode, method="direct")
    outputs = [out, *pytensor.grad((out**2).sum(), [x, w])]
    for shapes in IMAGES:
        check([x, w], outputs, *images(*shapes), rtol=1e-12)


@pytest.mark.parametrize("boundary", ["wrap", "symm"])
def test_boundaries(boundary, check):
    x, w = pt.dmatrices("x", "w")
    out = signal.convolve2d(x, w, mode="same", boundary=boundary, method="direct")
    native = not (OLD_PYTENSOR and boundary == "symm")  # whose padding is a loop within a loop
    check([x, w], out, *images((5, 6), (2, 3)), rtol=1e-12, native=native)


@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "complex128"])
def test_matrices_of_other_dtypes(dtype, check):
    x, w = pt.matrix("x", dtype=dtype), pt.matrix("w", dtype=dtype)
    out = [signal.convolve2d(x, w, mode=mode, method="direct") for mode in MODES]
    check([x, w], out, *(np.round(v * 4).astype(dtype) for v in images((5, 6), (2, 3))))


def test_batches_of_matrices(check):
    x, w = pt.tensor4("x"), pt.dtensor3("w")
    check([x, w], signal.convolve2d(x, w, method="direct"), *images((2, 3, 6, 5), (3, 3, 3)), rtol=1e-12)


def test_what_is_whole_of_neither(check_error):
    x, w = pt.dmatrices("x", "w")
    values, good = images((3, 6), (5, 2)), images((3, 6), (3, 2))
    check_error(ValueError, [x, w], signal.convolve2d(x, w, mode="valid", method="direct"), *values, good=good)


@pytest.mark.skipif(not hasattr(signal, "convolve2d"), reason="this version has none")
def test_a_convolution_of_many_by_many_is_left_to_scipy():
    """Which transforms where that needs fewer operations; by few weights sums are faster."""
    x = pt.dmatrix("x")
    for shape, calls in (((5, 5), 0), ((40, 40), 1), ((None, 5), 1)):
        w = pt.tensor("w", dtype="float64", shape=shape)
        fn = pytensor.function([x, w], signal.convolve2d(x, w), mode="INLAY")
        assert len(inlay.pytensor.explain(fn).host_calls) == calls
