"""Linear algebra of complex matrices, and eigenvalues of any, against PyTensor's Python mode and NumPy."""

import factors
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor.blockwise import Blockwise
from test_linalg import by_both, same
from versions import OLD_PYTENSOR

from inlay.pytensor.translate.linalg_ops import SLogDet

linalg = pt.linalg
RNG = np.random.default_rng(11)
COMPLEX = ["complex128", "complex64"]


def _matrices(*shape, dtype="complex128"):
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(dtype)


def _positive(*shape, dtype="complex128"):
    x = _matrices(*shape)
    return (x @ np.swapaxes(x, -1, -2).conj() + np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("m, k, n", [(3, 4, 5), (1, 1, 1), (2, 0, 3), (0, 2, 3), (20, 30, 40)])
def test_dot(m, k, n, dtype):
    x, y = pt.matrix("x", dtype=dtype), pt.matrix("y", dtype=dtype)
    fn = same([x, y], [pt.dot(x, y), pt.dot(y.T, x.T), x.T.conj() @ x], _matrices(m, k, dtype=dtype), _matrices(k, n, dtype=dtype))
    assert len(fn.vm.compiled.translation.reasons) == 0


def test_complex_and_real():
    x, y = pt.zmatrix("x"), pt.dmatrix("y")
    same([x, y], [x @ y, y @ x], _matrices(3, 3), RNG.normal(size=(3, 3)))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (2, 3, 3)])
def test_cholesky_and_systems(shape, lower):
    a, b = pt.tensor("a", shape=(None,) * len(shape), dtype="complex128"), pt.zmatrix("b")
    outputs = [linalg.cholesky(a, lower=lower)]
    good = _positive(*shape)
    if len(shape) == 2:
        outputs += [linalg.solve(a, b), linalg.solve(a, b, assume_a="pos", lower=lower)]
        outputs += [linalg.solve(a, b, assume_a="her", lower=lower)]
        outputs += [linalg.solve_triangular(a, b, lower=lower, trans=trans) for trans in (0, 1)]
    same([a, b], outputs, good, _matrices(shape[-1], 2))


@pytest.mark.parametrize("shape", [(4, 4), (3, 5, 5), (1, 1)])
def test_inverse_determinant_and_exponential(shape):
    a = pt.tensor("a", shape=(None,) * len(shape), dtype="complex128")
    value = _matrices(*shape)
    same([a], [linalg.inv(a), linalg.expm(a), linalg.det(a)], value)
    if not OLD_PYTENSOR:  # which takes the determinant of several matrices from their factors, without its sign
        same([a], [linalg.det(a), *linalg.lu_factor(a)], value)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("shape", [(4, 4), (3, 5, 5)])
def test_lu_whose_permutation_is_real(shape, dtype):
    a = pt.tensor("a", shape=(None,) * len(shape), dtype=dtype)
    outputs = [*linalg.lu(a), *linalg.lu(a, permute_l=True), *linalg.lu(a, p_indices=True)]
    same([a], outputs, _matrices(*shape, dtype=dtype))


def test_pseudo_inverse():
    a = pt.zmatrix("a")
    for value in (_matrices(2, 4), _matrices(5, 3), np.zeros((2, 3), complex)):
        same([a], linalg.pinv(a), value)


@pytest.mark.skipif(OLD_PYTENSOR, reason="it says that they are complex")
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4), (1, 1)])
def test_singular_values(shape):
    a, value = pt.zmatrix("a"), _matrices(*shape)
    _, (*parts, only), want = by_both([a], [*linalg.svd(a, full_matrices=False), linalg.svd(a, compute_uv=False)], value)
    factors.assert_svd(value, *parts)
    for s in (parts[1], only):
        np.testing.assert_allclose(s, want[1], rtol=1e-9)


@pytest.mark.parametrize("mode", ["full", "economic", "r"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4), (1, 1), (2, 5, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_qr_with_pivots(dtype, shape, mode):
    a, value = pt.tensor("a", shape=(None,) * len(shape), dtype=dtype), RNG.normal(size=shape).astype(dtype)
    _, (*q, r, order), want = by_both([a], list(linalg.qr(a, mode=mode, pivoting=True)), value)
    np.testing.assert_array_equal(order, want[-1])  # no two columns have nearly one length
    factors.assert_same_triangle(r, want[-2])
    if q:
        factors.assert_orthonormal(*q)
        factors.assert_reconstructs(np.take_along_axis(value, order[..., None, :], -1), *q, r)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", *COMPLEX])
@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (0, 0), (3, 5, 5)])
def test_eig(shape, dtype):
    """Order and phases are open; lengths are 1."""
    a = pt.tensor("a", shape=(None,) * len(shape), dtype=dtype)
    value = _matrices(*shape) * 3
    value = value.astype(dtype) if np.dtype(dtype).kind == "c" else np.round(value.real * 2).astype(dtype)
    fn = pytensor.function([a], linalg.eig(a), mode="INLAY")
    assert fn.vm.compiled.translation.reasons == {}
    w, v = fn(value)
    want = np.promote_types(dtype, "complex64")
    assert w.dtype == v.dtype == want and w.shape == shape[:-1] and v.shape == shape
    close = {"rtol": 1e-3, "atol": 1e-3} if want == "complex64" else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(value @ v, v * w[..., None, :], **close)
    factors.assert_same_in_any_order(w, np.linalg.eigvals(value), 1e-4 if want == "complex64" else 1e-9)
    if 0 not in shape:
        np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, **close)


def test_eigenvalues_of_what_is_not_finite():
    a = pt.dmatrix("a")
    fn = pytensor.function([a], linalg.eig(a)[0], mode="INLAY")
    with pytest.raises(np.linalg.LinAlgError, match="an element of the matrix is not finite"):
        fn(np.array([[1.0, np.nan], [0, 1]]))
    np.testing.assert_array_equal(fn(2 * np.eye(2)), [2, 2])


def test_sign_and_logarithm_of_a_determinant():
    a = pt.zmatrix("a")
    sign, log = Blockwise(SLogDet())(a)
    if sign.type.dtype != "complex128" or log.type.dtype != "float64":
        pytest.skip("PyTensor says that the sign is real, or that the logarithm is complex")
    same([a], [sign, log], _matrices(3, 3))
