"""Sorting and searching against PyTensor's Python mode."""

import numpy as np
import pytensor.tensor as pt
import pytest

X = np.array([[3, 1, 2, 1, 0], [5, 5, 1, 0, 2], [1, 0, 0, 1, 1]])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint16", "bool"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sort(axis, dtype, check):
    x = pt.matrix("x", dtype=dtype)
    check([x], [pt.sort(x, axis=axis), pt.argsort(x, axis=axis, kind="stable")], X.astype(dtype))


def test_nan_and_nothing(check):
    x = pt.dvector("x")
    outputs = [pt.sort(x), pt.argsort(x, kind="stable")]
    check([x], outputs, np.array([2.0, np.nan, -np.inf, 1, np.nan, np.inf]))
    check([x], outputs, np.zeros(0))
    check([x], outputs, np.ones(1))


def test_middle_axis_of_three(check):
    x = pt.dtensor3("x")
    value = np.random.default_rng(1).normal(size=(2, 5, 3))
    check([x], [pt.sort(x, axis=1), pt.argsort(x, axis=1, kind="stable")], value)


def test_gradient_of_sort(check):
    import pytensor

    x = pt.dvector("x")
    check([x], pytensor.grad((pt.sort(x) * pt.arange(4.0)).sum(), x), np.array([3.0, 1, 2, 0]))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side, check):
    x, v, m, i = pt.dvector("x"), pt.dvector("v"), pt.dmatrix("m"), pt.lvector("i")
    sorted_x = np.array([1.0, 2, 2, 3, np.inf])
    outputs = [pt.searchsorted(x, v, side=side), pt.searchsorted(x, m, side=side), pt.searchsorted(x, i, side=side),
               pt.searchsorted(x, 2, side=side)]
    check([x, v, m, i], outputs, sorted_x, np.array([0.0, 2, 2.5, np.nan]), np.array([[1.0], [4]]), np.array([1, 2, 9]))
    check([x, v, m, i], outputs[:3], np.zeros(0), np.ones(2), np.ones((0, 2)), np.array([1]))


def test_searchsorted_with_a_sorter(check):
    x, v = pt.dvector("x"), pt.dvector("v")
    check([x, v], pt.searchsorted(x, v, sorter=pt.argsort(x)), np.array([3.0, 1, 2]), np.array([0.0, 1.5, 3]))
