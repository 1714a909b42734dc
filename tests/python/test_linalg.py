"""Products, factorizations and systems of equations against PyTensor's Python mode.

What is not unique, the sign of an eigenvector, is compared by the product of the factors: see factors.py.
"""

import ctypes
import os

import factors
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor import blas
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.blockwise import Blockwise

import inlay
from inlay.pytensor.translate.linalg_ops import Eigh, SLogDet
from versions import OLD_PYTENSOR

linalg = pt.linalg
RNG = np.random.default_rng(7)


def _matrices(*shape, dtype="float64"):
    return RNG.normal(size=shape).astype(dtype)


def _covariances(*shape, dtype="float64"):
    x = RNG.normal(size=shape)
    return (x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])).astype(dtype)


@pytest.mark.skipif("OPENBLAS_CORETYPE" not in os.environ, reason="OpenBLAS chooses its kernels")
def test_openblas_has_the_kernels_that_it_was_asked_for():
    corename = ctypes.CDLL("libopenblas.so.0").openblas_get_corename
    corename.restype = ctypes.c_char_p
    assert corename().decode() == os.environ["OPENBLAS_CORETYPE"]


def by_both(inputs, outputs, *values, foreign=()):
    """inlay's function, which is native but for ops of the classes `foreign`, its results and those of PyTensor's Python
    mode, of the same types."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    ours = pytensor.function(inputs, outputs, mode="INLAY", on_unused_input="ignore")
    theirs = pytensor.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    translation = ours.vm.compiled.translation
    assert {type(translation.nodes[n].op).__name__ for n in translation.reasons} <= set(foreign)
    assert foreign or inlay.pytensor.explain(ours).host_calls == []
    with np.errstate(all="ignore"):
        got, want = ours(*values), [np.asarray(w) for w in theirs(*values)]
    assert [(g.dtype, g.shape) for g in got] == [(w.dtype, w.shape) for w in want]
    return ours, got, want


def same(inputs, outputs, *values, foreign=()):
    """Each element is that of PyTensor's Python mode: for results that are unique."""
    ours, *both = by_both(inputs, outputs, *values, foreign=foreign)
    for got, want in zip(*both, strict=True):
        single = want.dtype in ("float32", "complex64")
        np.testing.assert_allclose(got, want, rtol=2e-4 if single else 1e-9, atol=2e-5 if single else 1e-11)
    return ours


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "bool"])
@pytest.mark.parametrize("m, k, n", [(3, 4, 5), (1, 1, 1), (2, 0, 3), (0, 2, 3), (20, 30, 40)])
def test_dot(m, k, n, dtype):
    x, y = pt.matrix("x", dtype=dtype), pt.matrix("y", dtype=dtype)
    a, b = (np.round(_matrices(*s) * 3).astype(dtype) for s in ((m, k), (k, n)))
    same([x, y], [pt.dot(x, y), pt.dot(y.T, x.T), pt.dot(x, x.T)], a, b)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_matmul_over_batches(dtype):
    x, y, z = (pt.tensor(name, dtype=dtype, shape=shape) for name, shape in
               (("x", (None, None, None)), ("y", (None, None, None)), ("z", (None, None))))
    a, b, c = (np.round(_matrices(*s) * 3).astype(dtype) for s in ((2, 3, 4), (2, 4, 5), (4, 5)))
    same([x, y, z], [x @ y, x @ z, z.T @ y, y.mT @ x.mT, x @ z[:, 0], z[:, 0] @ y, x[:, None] @ y], a, b, c)
    empty = a[:0], b[:0], c
    same([x, y, z], [x @ y, x @ z], *empty)


def test_a_transposed_operand_is_no_copy():
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    fn = same([x, y], x.T @ y, _matrices(40, 30), _matrices(40, 20))
    e = inlay.pytensor.explain(fn)
    assert (len(e.kernels), len(e.library_calls), e.copies) == (0, 1, [])


def test_batched_dot():
    x, y = pt.dtensor3("x"), pt.dtensor3("y")
    same([x, y], BatchedDot()(x, y), _matrices(3, 2, 4), _matrices(3, 4, 5))


@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_products_as_blas_names_them(beta):
    """What a graph holds that PyTensor's rewrites for BLAS have seen. What is multiplied with 0 may be NaN."""
    z, x, y = (pt.dmatrix(name) for name in "zxy")
    v, w, a, b = pt.dvector("v"), pt.dvector("w"), pt.dscalar("a"), pt.dscalar("b")
    outputs = [blas.gemm_no_inplace(z, a, x, y, b), blas.gemv_no_inplace(v, a, x, w, b)]
    outputs += [blas.Dot22()(x, y), blas.Dot22Scalar()(x, y, a)]
    into = np.full((2, 4), np.nan if beta == 0 else 1.5)
    for inner in (3, 0):
        left, right = _matrices(2, inner), _matrices(inner, 4)
        values = [into, left, right, into[:, 0].copy(), right[:, 0].copy(), np.array(3.0), np.array(beta)]
        same([z, x, y, v, w, a, b], outputs, *values)


@pytest.mark.skipif(OLD_PYTENSOR, reason="its result has the type of what is added to, ones included")
@pytest.mark.parametrize("shape", [(1, 4), (2, 1), (1, 1)])
def test_what_a_product_is_added_to_stands_for_its_rows_and_columns(shape):
    z, typed = pt.dmatrix("z"), pt.tensor("t", shape=tuple(1 if n == 1 else None for n in shape))
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    a, b = pt.constant(2.0, dtype="float64"), pt.constant(0.5, dtype="float64")
    outputs = [blas.gemm_no_inplace(into, a, x, y, b) for into in (z, typed)]
    value = _matrices(*shape)
    same([z, typed, x, y], outputs, value, value, _matrices(2, 3), _matrices(3, 4))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (0, 0), (2, 4, 4), (2, 0, 0)])
def test_cholesky(shape, lower):
    a = pt.tensor("a", shape=(None,) * len(shape))
    same([a], linalg.cholesky(a, lower=lower), _covariances(*shape) if 0 not in shape else np.zeros(shape))


def test_cholesky_of_what_has_none():
    a = pt.dtensor3("a")
    same([a], linalg.cholesky(a), np.array([[[2.0, 1], [1, 2]], [[1, 2], [2, 1]], [[np.nan, 0], [0, 1]]]))
    m = pt.dmatrix("m")
    fn = pytensor.function([m], linalg.cholesky(m), mode="INLAY")
    with pytest.raises(ValueError):
        fn(np.zeros((2, 3)))
    np.testing.assert_allclose(fn(4 * np.eye(2)), 2 * np.eye(2))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("columns", [None, 1, 3])
def test_solve_triangular(columns, trans, unit, lower, dtype):
    a, b = pt.matrix("a", dtype=dtype), pt.tensor("b", dtype=dtype, shape=(None,) * (1 if columns is None else 2))
    x = linalg.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit)
    triangle = _matrices(4, 4, dtype=dtype) + 3 * np.eye(4, dtype=dtype)
    same([a, b], x, triangle, _matrices(*[4, columns][: b.ndim], dtype=dtype))


def test_singular_triangle():
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    same([a, b], linalg.solve_triangular(a, b), np.array([[1.0, 2], [0, 0]]), np.ones((2, 3)))


@pytest.mark.parametrize("assume_a", ["gen", "pos", "sym"])
@pytest.mark.parametrize("lower", [True, False])
def test_solve(assume_a, lower):
    a, b, c, v = pt.dmatrix("a"), pt.dmatrix("b"), pt.dtensor3("c"), pt.dvector("v")
    kwargs = {"assume_a": assume_a, "lower": lower}
    good = _covariances(4, 4)
    if assume_a == "gen":
        good = good + _matrices(4, 4) / 3
    outputs = [linalg.solve(a, b, **kwargs), linalg.solve(a, v, **kwargs), linalg.solve(c, b, b_ndim=2, **kwargs)]
    same([a, b, c, v], outputs, good, _matrices(4, 3), np.stack([good, 2 * good]), _matrices(4))
    same([a, c], linalg.solve(c, a[:, 0], b_ndim=1, **kwargs), good, np.stack([good, good + np.eye(4)]))


def test_singular_system_is_nan():
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    fn = pytensor.function([a, b], linalg.solve(a, b), mode="INLAY")
    assert np.isnan(fn(np.array([[1.0, 2], [2, 4]]), np.ones((2, 3)))).all()
    np.testing.assert_allclose(fn(np.eye(2), np.ones((2, 3))), np.ones((2, 3)))


@pytest.mark.parametrize("lower", [True, False])
def test_cho_solve(lower):
    c, b, v = pt.dmatrix("c"), pt.dmatrix("b"), pt.dvector("v")
    factor = np.linalg.cholesky(_covariances(4, 4))
    same([c, b, v], [linalg.cho_solve((c, lower), b), linalg.cho_solve((c, lower), v)], factor if lower else factor.T,
         _matrices(4, 2), _matrices(4))


@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (3, 5, 5)])
def test_lu(shape):
    a = pt.tensor("a", shape=(None,) * len(shape))
    outputs = [*linalg.lu(a), *linalg.lu(a, permute_l=True), *linalg.lu_factor(a)]
    if shape != (1, 1):  # where the indices have another dtype than SciPy's op says
        outputs += linalg.lu(a, p_indices=True)
    same([a], outputs, _matrices(*shape))


def test_lu_solve():
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    same([a, b], linalg.lu_solve(linalg.lu_factor(a), b), _matrices(4, 4), _matrices(4, 2))


@pytest.mark.parametrize("mode", ["full", "economic", "r"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4), (1, 1), (2, 5, 3)])
def test_qr(shape, mode):
    a, value = pt.tensor("a", shape=(None,) * len(shape)), _matrices(*shape)
    out = linalg.qr(a, mode=mode)
    _, got, want = by_both([a], list(out) if isinstance(out, list | tuple) else [out], value)
    factors.assert_same_triangle(got[-1], want[-1])
    if mode != "r":
        factors.assert_orthonormal(got[0])
        factors.assert_reconstructs(value, *got)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4), (1, 1), (2, 5, 3)])
def test_svd(shape, full):
    a, value = pt.tensor("a", shape=(None,) * len(shape)), _matrices(*shape)
    outputs = [*linalg.svd(a, full_matrices=full), linalg.svd(a, compute_uv=False)]
    _, (*parts, only), want = by_both([a], outputs, value)
    factors.assert_svd(value, *parts)
    for s in (parts[1], only):
        np.testing.assert_allclose(s, want[1], rtol=1e-9)


def _eigh(a, lower=True):
    if not OLD_PYTENSOR:
        return linalg.eigh(a, lower=lower)
    return Blockwise(Eigh("L" if lower else "U"), signature="(m,m)->(m),(m,m)")(a)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (3, 5, 5)])
def test_eigh(shape, lower):
    a = pt.tensor("a", shape=(None,) * len(shape))
    value = _matrices(*shape)
    outputs = list(_eigh(a, lower))
    if len(shape) == 2 and not OLD_PYTENSOR:  # whose eigvalsh takes two matrices
        outputs.append(linalg.eigvalsh(a, None, lower=lower))
    _, (w, v, *only), want = by_both([a], outputs, value)
    for values in (w, *only):
        np.testing.assert_allclose(values, want[0], rtol=1e-9)
    factors.assert_same_up_to_phases(v, want[1])
    factors.assert_orthonormal(v)
    triangle = np.tril(value) if lower else np.triu(value)
    factors.assert_reconstructs(triangle + np.swapaxes(triangle, -1, -2) * (1 - np.eye(shape[-1])), v * w[..., None, :], v.mT)


@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (0, 0), (4, 2, 2)])
def test_inverse_and_determinant(shape):
    a = pt.tensor("a", shape=(None,) * len(shape))
    value = _matrices(*shape)
    outputs = [linalg.inv(a), linalg.det(a), *Blockwise(SLogDet())(a)]
    if len(shape) == 2 or not OLD_PYTENSOR:  # whose pinv takes one matrix
        outputs.append(linalg.pinv(a))
    same([a], outputs, value)
    if len(shape) == 2 or not OLD_PYTENSOR:  # whose own rewrite of it fails for several matrices
        same([a], [linalg.slogdet(a)[0], linalg.slogdet(a)[1]], value)


def test_determinant_of_a_singular_matrix():
    a = pt.dmatrix("a")
    same([a], [linalg.det(a), *linalg.slogdet(a)], np.array([[1.0, 2], [2, 4]]))
    fn = pytensor.function([a], linalg.inv(a), mode="INLAY")
    with pytest.raises(np.linalg.LinAlgError, match="the matrix is singular: pivot 2 is 0"):
        fn(np.array([[1.0, 2], [2, 4]]))
    np.testing.assert_allclose(fn(2 * np.eye(2)), np.eye(2) / 2)


def test_block_diagonal():
    a, b, c = pt.dmatrix("a"), pt.dmatrix("b"), pt.dtensor3("c")
    same([a, b], [linalg.block_diag(a, b, a), linalg.block_diag(a)], _matrices(2, 3), _matrices(1, 2))
    same([a, b], linalg.block_diag(a, b), np.zeros((0, 2)), _matrices(2, 2))
    same([c], linalg.block_diag(c, 2 * c), _matrices(3, 2, 2))


def test_products_of_other_kinds():
    a, v = pt.dmatrix("a"), pt.dvector("v")
    of_matrices = [linalg.kron(a, a), linalg.matrix_power(a, 3), pt.tensordot(a, a, axes=1)]
    same([a, v], [*of_matrices, pt.outer(v, v), pt.vecdot(v, v)], _matrices(3, 3), _matrices(4))


def test_expm():
    a, b = pt.dmatrix("a"), pt.tensor("b", shape=(None, None, None), dtype="float32")
    same([a, b], [linalg.expm(a), linalg.expm(b)], 3 * _matrices(4, 4), _matrices(2, 3, 3, dtype="float32"))


def test_wide_pseudoinverse():
    a = pt.dmatrix("a")
    rank_one = np.outer([1.0, 2, 3], [1.0, -1])
    for value in (_matrices(2, 4), _matrices(5, 3), rank_one, np.zeros((2, 3)), np.zeros((0, 3))):
        same([a], linalg.pinv(a), value)


@pytest.mark.parametrize("subscripts, shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ii", [(3, 3)]), ("ij,ij->", [(2, 3), (2, 3)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("i,j->ij", [(2,), (3,)]),
])
def test_einsum(subscripts, shapes):
    inputs = [pt.tensor(f"x{i}", shape=s) for i, s in enumerate(shapes)]
    same(inputs, pt.einsum(subscripts, *inputs), *[_matrices(*s) for s in shapes])


def test_gradients():
    a, b = pt.dmatrix("a"), pt.dvector("b")
    chol = linalg.cholesky(a @ a.T + pt.eye(4))
    logp = -((linalg.solve_triangular(chol, b, lower=True)) ** 2).sum() / 2 - pt.log(pt.diagonal(chol)).sum()
    others = ("Eye", "ExtractDiag", "AllocDiag", "Tri", "FillDiagonal")
    same([a, b], pytensor.grad(logp, [a, b]), _matrices(4, 4), _matrices(4), foreign=others)
    w, _ = _eigh(a + a.T)
    cost = (w**2).sum() + linalg.det(a) + linalg.inv(a).sum()
    same([a], pytensor.grad(cost, a), _matrices(3, 3), foreign=(*others, "EighGrad") if OLD_PYTENSOR else others)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_generalized_eigenproblems(lower, dtype, check_error):
    """Of both matrices the other triangle is not read."""
    if OLD_PYTENSOR and dtype == "complex128":
        pytest.skip("it says that these eigenvalues are complex")
    a, b = pt.matrix("a", dtype=dtype), pt.matrix("b", dtype=dtype)
    x, y = _matrices(4, 4, dtype=dtype), _covariances(4, 4, dtype=dtype)
    if dtype == "complex128":
        x = x + 1j * np.tri(4, k=-1)
    same([a, b], linalg.eigvalsh(a, b, lower=lower), x, y)
    if dtype == "float64" and not OLD_PYTENSOR:
        w, v = Eigh(lower=lower)(a, b)
        _, got, want = by_both([a, b], [w, v], x, y)
        np.testing.assert_allclose(got[0], want[0], rtol=1e-9)
        factors.assert_same_up_to_phases(got[1], want[1])
        check_error(np.linalg.LinAlgError, [a, b], w, x, -y, good=(x, y))


@pytest.mark.parametrize("first", [True, False])
def test_blocks_of_which_one_has_no_batch(first):
    a, b = pt.matrix("a"), pt.tensor3("b")
    core = pt.matrix("core")
    out = vectorize_graph(linalg.block_diag(*((a, core) if first else (core, a))), {core: b})
    same([a, b], out, _matrices(2, 3), _matrices(3, 2, 2))


def _banded(*shape, dtype="float64", width=1):
    i = np.arange(shape[-1])
    x = _matrices(*shape, dtype=dtype)
    if np.dtype(dtype).kind == "c":
        x = x + (1j * _matrices(*shape)).astype(dtype)
    return x * (abs(i[:, None] - i) <= width)


@pytest.mark.skipif(OLD_PYTENSOR, reason="its Solve has other names for them")
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("assume_a", ["tridiagonal", "banded"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_solve_with_few_diagonals(dtype, assume_a, transposed):
    a, b, v = pt.matrix("a", dtype=dtype), pt.matrix("b", dtype=dtype), pt.vector("v", dtype=dtype)
    with_b, with_v = (linalg.solve(a, x, assume_a=assume_a, transposed=transposed) for x in (b, v))
    right, vector = _matrices(6, 4, dtype=dtype), _matrices(12, dtype=dtype)
    for left in (_banded(6, 6, dtype=dtype), _banded(6, 6, dtype=dtype).T):
        same([a, b], with_b, left, right)
        same([a, b], with_b, left, np.asfortranarray(right)[:, ::2])
        same([a, v], with_v, left, vector[::2])
    same([a, b], with_b, np.zeros((3, 3), dtype), np.ones((3, 3), dtype))
    if dtype == "float64":
        for x, value, solved in ((b, right, with_b), (v, vector[:6], with_v)):
            same([a, x], pt.grad((solved**2).sum(), [a, x]), _banded(6, 6), value)


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such rewrites")
def test_batches_of_tridiagonal_systems():
    a, b, v = pt.dtensor3("a"), pt.dtensor3("b"), pt.dmatrix("v")
    values = _banded(4, 5, 5)
    with_b, with_v = linalg.solve(a, b, assume_a="tridiagonal"), linalg.solve(a, v, assume_a="tridiagonal", b_ndim=1)
    same([a, b], [with_b, *pt.grad((with_b**2).sum(), [a, b])], values, _matrices(4, 5, 2))
    same([a, v], [with_v, *pt.grad((with_v**2).sum(), [a, v])], values, _matrices(4, 5))
    m = pt.dmatrix("m")
    same([m, b], linalg.solve(m, b, assume_a="tridiagonal"), values[0], _matrices(4, 5, 2))
    same([m, b], linalg.solve(m, b, assume_a="tridiagonal"), values[0], _matrices(4, 5, 2)[:, :, :0])


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such op")
def test_factors_of_a_tridiagonal_matrix():
    from pytensor.tensor.linalg.solvers.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve

    a, v = pt.dmatrix("a"), pt.dvector("v")
    factors = tridiagonal_lu_factor(a)
    for matrix in (_banded(5, 5), np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0])):
        solved = [tridiagonal_lu_solve(factors, v, b_ndim=1, transposed=t) for t in (False, True)]
        same([a, v], [*factors, *solved], matrix, np.ones(len(matrix)))


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such rewrites")
@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_tridiagonal_systems(n):
    """SciPy's own function refuses them."""
    a, v = pt.dmatrix("a"), pt.dvector("v")
    x = linalg.solve(a, v, assume_a="tridiagonal")
    fn = pytensor.function([a, v], [x, *pt.grad(x.sum(), [a, v])], mode="INLAY")
    matrix, vector = _banded(n, n) + 3 * np.eye(n), _matrices(n)
    solved, _, by_v = fn(matrix, vector)
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, vector))
    np.testing.assert_allclose(by_v, np.linalg.solve(matrix.T, np.ones(n)))


@pytest.mark.skipif(OLD_PYTENSOR, reason="its types are others")
def test_least_squares():
    from pytensor.tensor.linalg.solvers.lstsq import lstsq

    a, b, minimum = pt.dmatrix("a"), pt.dmatrix("b"), pt.dscalar("minimum")
    tall, right = _matrices(6, 3), _matrices(6, 2)
    twice = tall[:, [0, 1, 1]]  # of rank 2
    for left in (tall, twice, tall[:, :0], tall * 0):
        # Of rank 2 the third singular value is what rounding leaves, on either side of the machine's precision (-1).
        for value in (1e-8, 0.9) if left is twice else (-1.0, 1e-8, 0.9):
            same([a, b, minimum], lstsq(a, b, minimum), left, right, value)
    for count in (0, 2, 3):
        same([a, b, minimum], lstsq(a, b, minimum), tall[:count], right[:count], 1e-8)
    same([a, b, minimum], lstsq(a, b, minimum), tall, right[:, :0], 1e-8)
    of_complex = pytensor.function([z := pt.zmatrix()], lstsq(z, z, pt.constant(-1.0)), mode="INLAY")
    assert len(inlay.pytensor.explain(of_complex).host_calls) == 1  # PyTensor's type says that its result is real


@pytest.mark.skipif(OLD_PYTENSOR, reason="its types are others")
@pytest.mark.parametrize("left, right", [(np.full((3, 2), np.nan), np.ones((3, 1))), (np.ones((3, 2)), np.ones((2, 1)))])
def test_least_squares_that_there_are_not(left, right, check_error):
    from pytensor.tensor.linalg.solvers.lstsq import lstsq

    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    check_error(np.linalg.LinAlgError, [a, b], lstsq(a, b, -1.0)[0], left, right)


def _with_nan(matrix):
    matrix[0, 0] = np.nan
    return matrix


def same_schur(x, value, **kwargs):
    _, got, want = by_both([x], list(linalg.schur(x, **kwargs)), value)
    factors.assert_schur(value, *got, want[0], first=kwargs.get("sort"))


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such op")
@pytest.mark.parametrize("sort", [None, "lhp", "rhp", "iuc", "ouc"])
@pytest.mark.parametrize("output", ["real", "complex"])
def test_schur(output, sort):
    a, c = pt.dmatrix("a"), pt.zmatrix("c")
    for value in (_matrices(5, 5), _matrices(4, 4).T, _matrices(1, 1), np.zeros((0, 0)), np.zeros((2, 2))):
        same_schur(a, value, output=output, sort=sort)
    same_schur(c, _matrices(4, 4) + 1j * _matrices(4, 4), output=output, sort=sort)
    same([a], list(linalg.schur(a, output=output, sort=sort)), _with_nan(_matrices(3, 3)))


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such op")
def test_schur_of_batches_and_of_single_precision():
    same_schur(pt.dtensor3("a"), _matrices(3, 4, 4))
    same_schur(pt.fmatrix("f"), np.diag([3.0, 2.0, 1.0]).astype("float32"))
    same_schur(pt.fmatrix("f"), _matrices(4, 4, dtype="float32"))


def _numbers(*shape, dtype="float64"):
    x = _matrices(*shape)
    return (x + 1j * _matrices(*shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def same_qz(x, y, a, b, **kwargs):
    _, got, want = by_both([x, y], list(linalg.qz(x, y, **kwargs)), a, b)
    if kwargs.get("return_eigenvalues"):
        want = [*want[:2], *want[4:]]
    factors.assert_qz(*np.broadcast_arrays(a, b), got, want, first=kwargs.get("sort"))


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such op")
@pytest.mark.parametrize("eigenvalues", [False, True])
@pytest.mark.parametrize("sort", [None, "lhp", "rhp", "iuc", "ouc"])
@pytest.mark.parametrize("output", ["real", "complex"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
def test_qz(dtype, output, sort, eigenvalues):
    x, y = pt.matrix("x", dtype=dtype), pt.matrix("y", dtype=dtype)
    kwargs = {"output": output, "sort": sort, "return_eigenvalues": eigenvalues}
    for n in (1, 2, 10):
        a, b = _numbers(n, n, dtype=dtype), _numbers(n, n, dtype=dtype)
        same_qz(x, y, a, b, **kwargs)
        same_qz(x, y, a.T, b[::-1], **kwargs)
    same_qz(x, y, np.diag([3, -0.5, 2, -4, 0.25]).astype(dtype), np.diag([1, 1, -1, 2, 1]).astype(dtype), **kwargs)
    same_qz(x, y, np.zeros((2, 2), dtype), np.zeros((2, 2), dtype), **kwargs)
    if sort in (None, "iuc", "ouc"):  # an infinite eigenvalue is left and right of 0
        singular = _numbers(5, 5, dtype=dtype)
        singular[:, 1] = singular[:, 3] = 0
        same_qz(x, y, _numbers(5, 5, dtype=dtype), singular, **kwargs)
        same_qz(x, y, singular, _numbers(5, 5, dtype=dtype), **kwargs)


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such op")
@pytest.mark.parametrize("sort", [None, "ouc"])
def test_qz_of_batches_and_of_transposed_operands(sort):
    x, y, z = pt.dtensor3("x"), pt.dtensor3("y"), pt.dmatrix("z")
    same_qz(x, y, _matrices(3, 4, 4), _matrices(3, 4, 4), sort=sort)
    same_qz(x, z, _matrices(3, 4, 4), _matrices(4, 4), sort=sort, return_eigenvalues=True)
    a, b = _matrices(3, 4, 4), _matrices(3, 4, 4)
    _, got, want = by_both([x, y], list(linalg.qz(x.mT, y[:, ::-1], sort=sort)), a, b)
    factors.assert_qz(a.mT, b[:, ::-1], got, want, first=sort)


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such op")
@pytest.mark.parametrize("sort, values", [
    ("iuc", [1, -1, 0.5]), ("ouc", [1, -1, 2]), ("lhp", [0, 1, -3]), ("rhp", [0, -1, 3]), (None, [1, 0, -2]),
])
def test_qz_with_an_eigenvalue_on_the_line_or_the_circle(sort, values):
    """1 is neither inside nor outside, 0 neither left nor right: only the last is named, and comes first."""
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    outputs = list(linalg.qz(x, y, sort=sort, return_eigenvalues=True))
    for scale in (1.0, 49.0):  # 49 times 1 / 49 is less than 1, and so divides NumPy
        _, got, want = by_both([x, y], outputs, np.diag(values) * scale, np.eye(3) * scale)
        np.testing.assert_allclose(got[2] / got[3], want[2] / want[3], rtol=1e-12, atol=1e-12)
        assert sort is None or scale != 1 or (got[2] / got[3])[0] == values[-1]


@pytest.mark.skipif(OLD_PYTENSOR, reason="has no such op")
def test_qz_of_what_pytensor_refuses_or_leaves_open():
    """No matrices, or none with rows; of what is not finite every result is NaN, where LAPACK's depend on where in it that stands."""
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    for sort in (None, "lhp"):
        fn = pytensor.function([x, y], linalg.qz(x, y, sort=sort, return_eigenvalues=True), mode="INLAY")
        assert [r.shape for r in fn(np.zeros((0, 0)), np.zeros((0, 0)))] == [(0, 0), (0, 0), (0,), (0,), (0, 0), (0, 0)]
        for n in (1, 3):
            for value in (np.nan, np.inf):
                bad = _matrices(n, n)
                bad[0, -1] = value
                for a, b in ((bad, np.eye(n)), (np.eye(n), bad)):
                    assert all(np.isnan(r).all() for r in fn(a, b))
        with pytest.raises(ValueError):
            fn(np.zeros((2, 3)), np.zeros((2, 3)))
        with pytest.raises(ValueError):
            fn(np.eye(2), np.eye(3))
    batch = pt.dtensor3("batch")
    fn = pytensor.function([batch], linalg.qz(batch, 2 * batch), mode="INLAY")
    assert [r.shape for r in fn(np.zeros((0, 4, 4)))] == [(0, 4, 4)] * 4
    # PyTensor takes b for real where a is, though its types say that the results are complex.
    c = pt.zmatrix("c")
    a, b = _matrices(3, 3), _numbers(3, 3, dtype="complex128")
    fn = pytensor.function([x, c], linalg.qz(x, c), mode="INLAY")
    factors.assert_qz(a, b, fn(a, b), pytensor.function([x, c], linalg.qz(x + 0j, c), mode="FAST_COMPILE")(a, b))
    assert inlay.pytensor.explain(fn).host_calls == []


@pytest.mark.skipif(OLD_PYTENSOR, reason="its op iterates")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_discrete_riccati_equation(dtype):
    a, b, q, r = (pt.matrix(name, dtype=dtype) for name in "abqr")
    values = _numbers(4, 4, dtype=dtype), _numbers(4, 2, dtype=dtype), *(_covariances(n, n).astype(dtype) for n in (4, 2))
    same([a, b, q, r], linalg.solve_discrete_are(a, b, q, r), *values)


@pytest.mark.skipif(OLD_PYTENSOR, reason="its ops are others")
def test_equations_of_sylvester_and_lyapunov():
    a, b, q = pt.dmatrix("a"), pt.dmatrix("b"), pt.dmatrix("q")
    left, right, value = _covariances(3, 3), _covariances(4, 4), _matrices(3, 4)
    x = linalg.solve_sylvester(a, b, q)
    same([a, b, q], [x, *pt.grad(x.sum(), [a, b, q])], left, right, value)
    solved = [linalg.solve_continuous_lyapunov(a, q)]
    solved += [linalg.solve_discrete_lyapunov(a, q, method=method) for method in ("direct", "bilinear")]
    for x in solved:
        same([a, q], [x, *pt.grad(x.sum(), [a, q])], left / 20, _matrices(3, 3))
    batch, values = pt.dtensor3("batch"), pt.dtensor3("values")
    same([batch, values], linalg.solve_continuous_lyapunov(batch, values), _covariances(2, 3, 3), _matrices(2, 3, 3))


@pytest.mark.skipif(OLD_PYTENSOR, reason="its QR is another")
@pytest.mark.parametrize("pivoting", [False, True])
def test_raw_qr(pivoting):
    from pytensor.tensor.linalg.decomposition.qr import QR

    a, c = pt.dmatrix("a"), pt.zmatrix("c")
    raw = QR(mode="raw", pivoting=pivoting)
    real = [_matrices(*shape) for shape in ((4, 3), (3, 3), (3, 5))] + [_matrices(5, 4).T]
    for x, value in [(a, r) for r in real] + [(c, _matrices(4, 3) + 1j * _matrices(4, 3))]:
        _, (reflections, tau, r, *order), want = by_both([x], raw(x), value)
        q, triangle = factors.of_reflections(reflections, tau)
        np.testing.assert_array_equal(r, triangle[: len(r)])
        np.testing.assert_array_equal(order, want[3:])
        factors.assert_same_triangle(r, want[2])
        factors.assert_orthonormal(q)
        factors.assert_reconstructs(value[:, order[0]] if pivoting else value, q, triangle)
