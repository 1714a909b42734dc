"""Systems whose unknown has several axes, and pseudoinverses that read one triangle."""

import numpy as np
import pytensor.tensor as pt
import pytest


@pytest.mark.parametrize(("shape", "ind"), [((4, 6, 8, 3), 2), ((24, 8, 3), 1), ((2, 3, 6), 2)])
def test_tensorinv(shape, ind, check):
    a = pt.tensor("a", shape=(None,) * len(shape))
    check([a], pt.linalg.tensorinv(a, ind=ind), np.random.default_rng(2).normal(size=shape), rtol=1e-9)


def test_tensorinv_of_a_singular_matrix(check_error):
    a = pt.tensor4("a")
    good = (np.eye(4).reshape(2, 2, 2, 2),)
    check_error(np.linalg.LinAlgError, [a], pt.linalg.tensorinv(a), np.zeros((2, 2, 2, 2)), good=good)


@pytest.mark.parametrize("axes", [None, (0, 2)])
def test_tensorsolve(axes, check):
    a, b = pt.tensor4("a"), pt.matrix("b")
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 6, 3, 4)), rng.normal(size=(2, 6) if axes is None else (6, 4))
    x = x if axes is None else rng.normal(size=(4, 6, 6, 4))
    check([a, b], pt.linalg.tensorsolve(a, b, axes=axes), x, y, rtol=1e-9)


def test_pinv_of_one_triangle(check):
    """The pseudoinverse of a matrix that is said to be hermitian reads its lower triangle."""
    a = pt.matrix("a")
    x = np.random.default_rng(4).normal(size=(4, 4))
    check([a], pt.linalg.pinv(a, hermitian=True), x, rtol=1e-9)
    check([a], pt.linalg.pinv(a, hermitian=True), np.outer([1.0, 2, 3], [1.0, 2, 3]), rtol=1e-9)
