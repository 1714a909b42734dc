"""Diagonals, triangles and softmax against PyTensor's Python mode."""

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.tensor.basic import alloc_diag
from pytensor.tensor.extra_ops import fill_diagonal, fill_diagonal_offset
from pytensor.tensor.special import log_softmax, softmax
from versions import OLD_PYTENSOR

SHAPES = [(3, 3), (2, 5), (5, 2), (1, 1), (0, 0), (0, 3)]


def numbered(shape):
    return np.arange(float(np.prod(shape))).reshape(shape) - 2


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("offset", [0, 1, -2, 4])
def test_extract_diagonal(shape, offset, check):
    x = pt.dmatrix("x")
    check([x], pt.diagonal(x, offset=offset), numbered(shape))


def test_diagonal_of_any_axes(check):
    x = pt.dtensor4("x")
    check([x], [pt.diagonal(x, 1, 1, 3), pt.diagonal(x, 0, 2, 0), pt.trace(x[0, 0])], numbered((2, 3, 4, 3)))


@pytest.mark.parametrize("offset", [0, 2, -1])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_alloc_diagonal(offset, length, check):
    v = pt.dvector("v")
    check([v], pt.diag(v, k=offset), numbered((length,)))


def test_alloc_diagonal_of_rows(check):
    v = pt.dmatrix("v")
    check([v], alloc_diag(v, offset=1, axis1=0, axis2=2) * 2, numbered((2, 3)))


@pytest.mark.parametrize("shape", SHAPES)
def test_fill_diagonal(shape, check):
    x, value, offset = pt.dmatrix("x"), pt.dscalar("value"), pt.lscalar("offset")
    check([x, value], fill_diagonal(x, value), numbered(shape), 7.5)
    for k in (0, 1, -1):
        if -shape[0] <= k <= shape[1]:
            check([x, value, offset], fill_diagonal_offset(x, value, offset), numbered(shape), 7.5, k)


def test_fill_diagonal_of_a_cube(check, check_error):
    x = pt.dtensor3("x")
    check([x], fill_diagonal(x, 9), numbered((3, 3, 3)))
    check_error(ValueError, [x], fill_diagonal(x, 9), numbered((3, 3, 2)), good=(numbered((2, 2, 2)),))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [0, 1, -2])
def test_triangles(shape, k, check):
    x = pt.dmatrix("x")
    check([x], [pt.tril(x, k), pt.triu(x, k)], numbered(shape))


@pytest.mark.parametrize("k", [0, 1, -3])
def test_eye_and_tri(k, check):
    x = pt.dmatrix("x")
    n, m = x.shape
    outputs = [pt.eye(n, m, k), pt.eye(3, 4, k, dtype="int32"), pt.tri(n, m, k)]
    for shape in [(3, 4), (1, 1), (0, 2)]:
        check([x], outputs, numbered(shape))


@pytest.mark.parametrize("function", [softmax, log_softmax])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_softmax(function, axis, check):
    if OLD_PYTENSOR and isinstance(axis, tuple):
        pytest.skip("its softmax takes one axis")
    x = pt.dmatrix("x")
    for value in ([[1.0, 2, 1000], [-3, 0, 5]], [[0.5]], [[np.nan, 1], [2, 3]]):
        check([x], function(x, axis=axis), np.array(value), rtol=1e-12)


def test_softmax_of_float32_and_nothing(check):
    x = pt.fmatrix("x")
    check([x], [softmax(x, axis=1), log_softmax(x, axis=1)], np.array([[1, 2, 88.5], [-3, 0, 5]], "float32"))
    check([x], softmax(x, axis=1), np.zeros((0, 3), "float32"))


NAN = np.array([[1.0, np.nan, 3, np.nan], [5, 5, -1, 5], [-np.inf] * 4])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_argmax_and_argmin(axis, check):
    x = pt.dmatrix("x")
    outputs = [pt.argmax(x, axis=axis), pt.argmin(x, axis=axis), *pt.max_and_argmax(x, axis=axis)]
    for value in (NAN, NAN[1:], np.zeros((1, 1)), np.array([[0.0, -0.0]])):
        check([x], outputs, value)


def test_argmax_over_several_axes_and_of_integers(check, check_error):
    x, i = pt.dtensor3("x"), pt.vector("i", dtype="int8")
    check([x], [pt.argmax(x, axis=(0, 2)), pt.argmax(x, axis=(1, 2), keepdims=True)], np.sin(numbered((2, 3, 4))))
    check([i], [pt.argmax(i), pt.argmin(i)], np.array([-128, 3, 127, 127, -128], "int8"))
    check_error(ValueError, [x], pt.argmax(x, axis=0), np.zeros((0, 1, 2)), good=(np.ones((1, 1, 1)),))
