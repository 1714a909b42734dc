"""Compiled functions as scipy.LowLevelCallable: SciPy integrates and filters by them without Python."""

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from inlay import errors
from scipy import LowLevelCallable, integrate, ndimage

pytestmark = pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # of what is NaN

DECAY = "graph @main(%x: f64) {\n %m = neg %x\n %y = exp %m\n return %y\n}"
SUM = "graph @main(%x: f64[n]) {\n %s = reduce add %x [0] : f64\n return %s\n}"


def test_an_integrand_of_one_number():
    c = inlay.low_level_callable(inlay.compile(DECAY))
    gc.collect()  # it keeps the function
    assert isinstance(c, LowLevelCallable) and c.signature == "double (int, double *, void *)"
    value, bound = integrate.quad(c, 0, np.inf)
    assert abs(value - 1) < bound < 1e-9 and c.last_error is None
    assert abs(integrate.nquad(c, [[0, np.inf]])[0] - 1) < 1e-9
    assert abs(integrate.quad(c, 0, np.pi, weight="cos", wvar=1)[0] - (1 + np.exp(-np.pi)) / 2) < 1e-9
    assert c.last_error is None
    assert np.isnan(integrate.quad(c, 0, 1, args=(3.0,))[0])
    assert "the function takes 1 number, not 2" in c.last_error


def test_further_numbers_are_arguments_of_quad():
    x, a, b = pt.dscalars("x", "a", "b")
    shared = pytensor.shared(2.0, name="shared")
    fn = pytensor.function([x, a, b], a * x + b * shared, mode="INLAY")
    c = inlay.low_level_callable(fn)
    shared.set_value(99.0)  # of which the copy knows nothing
    assert c.signature == "double (int, double *, void *)"
    np.testing.assert_allclose(integrate.quad(c, 0, 1, args=(3.0, 5.0))[0], 1.5 + 10, rtol=1e-14)
    np.testing.assert_allclose(integrate.nquad(c, [[0, 1], [0, 2], [0, 3]])[0], 3 + 18, rtol=1e-12)


def test_a_vector_is_of_any_length():
    c = inlay.low_level_callable(inlay.compile(SUM))
    for dims in (1, 2, 3):
        np.testing.assert_allclose(integrate.nquad(c, [[0, 2]] * dims)[0], dims * 2**dims, rtol=1e-12)


def test_a_failed_integrand_is_nan_and_is_told():
    x, i = pt.dscalar("x"), pt.dscalar("i")
    fn = pytensor.function([x, i], pt.as_tensor([1.0, 2.0, 3.0])[pt.cast(i, "int64")] * x, mode="INLAY")
    c = inlay.low_level_callable(fn)
    assert integrate.quad(c, 0, 2, args=(1.0,))[0] == 4
    assert c.last_error is None
    assert np.isnan(integrate.quad(c, 0, 2, args=(5.0,))[0])
    assert "index 5 is out of bounds for axis 0 with size 3" in c.last_error
    assert np.isnan(integrate.quad(c, 0, 2)[0])
    assert "the function takes 2 numbers, not 1" in c.last_error
    assert integrate.quad(c, 0, 2, args=(0.0,))[0] == 2  # as usable as before


def test_a_host_call_that_fails():
    def twice(x):
        if x > 0.5:
            raise ArithmeticError("too much")
        return 2 * x

    text = 'graph @main(%x: f64) {\n %y = host_call "twice" (%x) : f64\n return %y\n}'
    c = inlay.low_level_callable(inlay.compile(text, host_functions={"twice": twice}))
    assert integrate.quad(c, 0, 0.5)[0] == 0.25
    assert np.isnan(integrate.quad(c, 0, 1)[0])
    assert "a host call failed: ArithmeticError: too much" in c.last_error


def test_a_filter_of_windows():
    image = np.random.default_rng(1).normal(size=(7, 9))
    largest = inlay.compile("graph @main(%x: f64[n]) {\n %s = reduce max %x [0] : f64\n return %s\n}")
    c = inlay.low_level_callable(largest, "filter")
    np.testing.assert_array_equal(ndimage.generic_filter(image, c, size=3), ndimage.maximum_filter(image, size=3))


def test_a_filter_of_lines():
    x = pt.dvector("x")
    fn = pytensor.function([x], (x[:-2] + x[1:-1] + x[2:]) / 3, mode="INLAY")
    c = inlay.low_level_callable(fn, "filter1d")
    image = np.random.default_rng(1).normal(size=(7, 9))
    got = ndimage.generic_filter1d(image, c, filter_size=3)
    np.testing.assert_allclose(got, ndimage.uniform_filter1d(image, 3), rtol=1e-12, atol=1e-14)
    with pytest.raises(errors.ShapeMismatch, match="the function makes 11 elements of 13, not 9"):
        ndimage.generic_filter1d(image, c, filter_size=5)


def test_a_failed_filter_raises():
    x = pt.dvector("x")
    fn = pytensor.function([x], x[pt.cast(x[0], "int64")], mode="INLAY")
    c = inlay.low_level_callable(fn, "filter")
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 3"):
        ndimage.generic_filter(np.full(4, 9.0), c, size=3)
    np.testing.assert_array_equal(ndimage.generic_filter(np.ones(4), c, size=3), np.ones(4))


def test_a_filter_asks_a_host_call_that_failed_no_more():
    calls = []

    def fails(x):
        calls.append(1)
        raise ArithmeticError("too much")

    text = 'graph @main(%x: f64[n]) {\n %y = host_call "fails" (%x) : f64\n return %y\n}'
    c = inlay.low_level_callable(inlay.compile(text, host_functions={"fails": fails}), "filter")
    with pytest.raises(errors.HostCallFailed) as raised:
        ndimage.generic_filter(np.ones(400), c, size=3)
    assert len(calls) == 1 and str(raised.value).count("too much") == 1


def test_of_a_file():
    c = inlay.low_level_callable(pickle.loads(pickle.dumps(inlay.compile(DECAY))))
    assert abs(integrate.quad(c, 0, 1)[0] - (1 - np.exp(-1))) < 1e-14


def test_what_has_not_the_form():
    def refused(error, match, *arguments):
        with pytest.raises(error, match=match):
            inlay.low_level_callable(*arguments)

    total, half = inlay.compile(SUM), inlay.compile(SUM.replace("f64", "f32"))
    refused(TypeError, "an object of type ufunc is not a function that inlay compiled", np.sin)
    refused(ValueError, "form is 'quad', not one of 'integrand', 'filter', 'filter1d'", total, "quad")
    refused(NotImplementedError, "form integrand: the result must be one f64", half)
    refused(NotImplementedError, "form filter1d: the result must be one f64 vector", total, "filter1d")
    refused(NotImplementedError, "form filter: the argument must be one f64 vector", inlay.compile(DECAY), "filter")
    two = inlay.compile("graph @main(%x: f64) {\n %y = exp %x\n return %x, %y\n}")
    refused(NotImplementedError, "it must have one result", two)
    matrix = inlay.compile("graph @main(%x: f64[n, n]) {\n %s = reduce add %x [0, 1] : f64\n return %s\n}")
    refused(NotImplementedError, "the arguments must be f64 numbers, or one f64 vector", matrix)
    x, count = pt.dscalar("x"), pytensor.shared(0.0, name="count")
    updating = pytensor.function([x], x + count, updates={count: count + 1}, mode="INLAY")
    refused(NotImplementedError, "a call would not update count", updating)


def test_eight_threads_at_once():
    c = inlay.low_level_callable(inlay.compile(DECAY))

    def work(_):
        return [integrate.quad(c, 0, 1) for _ in range(200)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    assert results == [[integrate.quad(c, 0, 1)] * 200] * 8
