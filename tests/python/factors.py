"""What of a factorization is unique, compared; what each BLAS chooses for itself is left open.

LAPACK computes vectors up to a number of size 1 (a sign of real ones), and eigenvalues in the order in which it found
them: another kernel of the BLAS below it, of another CPU, rounds elsewhere and chooses others. So each function here takes
what is factored, the factors found and those of the peer, and compares the product, the lengths and angles of the vectors,
and the values. All take batches. `docs`: CONTRIBUTING.md, "Compare what is unique".
"""

from functools import reduce

import numpy as np
from scipy.optimize import linear_sum_assignment

# Of units in the last place: Householder's and Jacobi's ways are off by a small multiple of n of them, relative to the
# matrix (Higham, Accuracy and Stability of Numerical Algorithms, 19.3). Measured here: up to 8 n.
UNITS = 64


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def bound(a):
    """How far what is computed from matrices like `a` may be off, in each element."""
    maximum = np.abs(a).max(initial=0)
    return UNITS * max(1, *a.shape[-2:]) * np.finfo(a.dtype).eps * max(maximum, np.finfo(a.dtype).tiny)


def assert_near(got, want, what):
    """As matrices: each element to within the rounding of the largest."""
    assert got.shape == want.shape, f"{what}: {got.shape}, not {want.shape}"
    off = np.abs(got - want).max(initial=0)
    assert off <= bound(np.asarray(want, got.dtype)), f"{what}: off by {off:.2g}\n{got}\nnot\n{want}"


def assert_reconstructs(a, *factors):
    """The product of the factors is `a`."""
    product = reduce(np.matmul, factors)
    assert_near(product, np.asarray(a, product.dtype), "the product of the factors")


def assert_orthonormal(q):
    """The columns of `q` have length 1 and stand upright on each other."""
    one = np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], *[q.shape[-1]] * 2))
    assert_near(adjoint(q) @ q, one, "the products of the columns")


def assert_same_up_to_phases(got, want):
    """Each column of `got` is that of `want` times a number of size 1. Only where no two of the values are equal."""
    assert got.dtype == want.dtype
    along = np.sum(np.conj(want) * got, axis=-2, keepdims=True)
    size = np.abs(along)
    assert_near(got, want * np.where(size > 0, along / np.where(size > 0, size, 1), 1), "the columns")


def assert_same_in_any_order(got, want, rtol):
    """The same numbers, in whatever order: each with its nearest. `rtol`: of the largest."""
    assert got.shape == want.shape
    for point in np.ndindex(want.shape[:-1]):
        g, w = got[point], want[point]
        apart = np.abs(g[:, None] - w)
        off = apart[linear_sum_assignment(apart)].max(initial=0)
        assert off <= rtol * np.abs(w).max(initial=0), f"{g} are not {w} in another order: off by {off:.2g}"


def assert_same_triangle(r, want):
    """Of a QR: unique but for the phases of its rows, where the matrix has full rank."""
    np.testing.assert_array_equal(r, np.triu(r))
    assert_same_up_to_phases(np.swapaxes(r, -1, -2), np.swapaxes(want, -1, -2))


def of_reflections(raw, tau):
    """The whole `q`, and `r`, of the reflections that LAPACK leaves below the diagonal of `raw`: 1 - tau v v^H each."""
    q = np.eye(raw.shape[-2], dtype=raw.dtype)
    for k in range(tau.shape[-1]):
        v = np.concatenate([np.zeros(k), [1], raw[k + 1 :, k]]).astype(raw.dtype)
        q = q - tau[k] * np.outer(q @ v, v.conj())
    return q, np.triu(raw)


def assert_svd(a, u, s, vh):
    """`a` = `u` @ diag(`s`) @ `vh`, by few or by all vectors."""
    assert_orthonormal(u)
    assert_orthonormal(adjoint(vh))
    k = s.shape[-1]
    assert_reconstructs(a, u[..., :k] * s[..., None, :], vh[..., :k, :])


def eigenvalues(t):
    """Of one of Schur's triangles, in its order: the diagonal, and of a block of two rows of a real one its pair."""
    values = np.array(np.diagonal(t), np.promote_types(t.dtype, "complex64"))
    for i in np.nonzero(np.diagonal(t, -1))[0]:
        values[i : i + 2] += np.array([1j, -1j]) * np.sqrt(-t[i, i + 1] * t[i + 1, i])
    return values


def on_sphere(alpha, beta):
    """The places of alpha / beta on Riemann's sphere, where what is near infinity is near; of 0 / 0 its middle."""
    across = 2 * alpha * np.conj(beta)
    one, other = np.abs(alpha) ** 2, np.abs(beta) ** 2
    size = np.where(one + other > 0, one + other, 1)
    return np.stack([across.real, across.imag, one - other], -1) / size[..., None]


def generalized_eigenvalues(s, t):
    """Of Schur's triangles of two matrices, in their order: the diagonals, and of a block of two rows its pair and ones."""
    alpha, beta = np.array(np.diagonal(s), np.promote_types(s.dtype, "complex64")), np.array(np.diagonal(t))
    for i in np.nonzero(np.diagonal(s, -1))[0]:
        block = slice(i, i + 2)
        alpha[block], beta[block] = np.linalg.eigvals(np.linalg.solve(t[block, block], s[block, block])), 1
    return alpha, beta


NAMED = {"lhp": lambda w: w.real < 0, "rhp": lambda w: w.real >= 0, "iuc": lambda w: abs(w) <= 1, "ouc": lambda w: abs(w) > 1}


def assert_schur(a, t, z, want_t, first=None):
    """`a` = `z` @ `t` @ z^H with a unitary `z` and a triangle of the peer's eigenvalues, those named `first` before others.

    Of a real matrix the triangle has blocks of two rows on its diagonal: equal elements, and beside them two of unlike sign.
    """
    assert_orthonormal(z)
    assert_reconstructs(a, z, t, adjoint(z))
    np.testing.assert_array_equal(t, np.triu(t, -1 if t.dtype.kind == "f" else 0))
    for point in np.ndindex(t.shape[:-2]):
        one, peer = t[point], want_t[point]
        blocks = np.nonzero(np.diagonal(one, -1))[0]
        assert (np.diff(blocks) > 1).all(), f"a block of three rows:\n{one}"
        for i in blocks:
            assert one[i, i] == one[i + 1, i + 1] and one[i, i + 1] * one[i + 1, i] < 0, f"no block of a pair:\n{one}"
        # The eigenvalues of these random matrices are up to 1e3 times as sensitive as the matrix.
        found = eigenvalues(one)
        assert_same_in_any_order(found, eigenvalues(peer), 1e3 * UNITS * np.finfo(t.dtype).eps)
        if first:
            is_first = NAMED[first](found)
            assert (is_first[:-1] >= is_first[1:]).all(), f"{first}: {found}"


def _is_named(first, alpha, beta):
    """Not those on the line or the circle, as `first` says of one matrix."""
    if first in ("iuc", "ouc"):
        return np.abs(alpha) < np.abs(beta) if first == "iuc" else np.abs(alpha) > np.abs(beta)
    part = (alpha * np.conj(beta)).real
    return part < 0 if first == "lhp" else part > 0


def assert_qz(a, b, got, want, first=None):
    """`a` = `q` @ `s` @ `z`^H and `b` = `q` @ `t` @ `z`^H of `got` = (`s`, `t`, `q`, `z`), or with the eigenvalues
    alpha / beta before `q`: unitary matrices, and triangles of the peer's eigenvalues, those named `first` before others.

    Of real matrices `s` has blocks of two rows on its diagonal, and `t` is diagonal there; no other element of its
    diagonal is negative.
    """
    (s, t, *values, q, z), (want_s, want_t, *_) = got, want
    for x in (q, z):
        assert_orthonormal(x)
    assert_reconstructs(a, q, s, adjoint(z))
    assert_reconstructs(b, q, t, adjoint(z))
    np.testing.assert_array_equal(s, np.triu(s, -1 if s.dtype.kind == "f" else 0))
    np.testing.assert_array_equal(t, np.triu(t))
    tolerance = 1e3 * UNITS * np.finfo(s.dtype).eps  # as in assert_schur
    for point in np.ndindex(s.shape[:-2]):
        one, other = s[point], t[point]
        blocks = np.nonzero(np.diagonal(one, -1))[0]
        assert (np.diff(blocks) > 1).all(), f"a block of three rows:\n{one}"
        assert (other[blocks, blocks + 1] == 0).all(), f"no diagonal beside a pair:\n{other}"
        alone = np.delete(np.diagonal(other), np.concatenate([blocks, blocks + 1]))
        assert (alone.real >= 0).all() and (alone.imag == 0).all(), f"a negative diagonal:\n{other}"
        alpha, beta = generalized_eigenvalues(one, other)
        assert (alpha[blocks].imag != 0).all(), f"no block of a pair:\n{one}\n{other}"
        found, peer = on_sphere(alpha, beta), on_sphere(*generalized_eigenvalues(want_s[point], want_t[point]))
        apart = np.linalg.norm(found[:, None] - peer, axis=-1)
        off = apart[linear_sum_assignment(apart)].max(initial=0)
        assert off <= tolerance, f"the eigenvalues are not those of the peer in another order: off by {off:.2g}"
        if values:
            alpha, beta = (x[point] for x in values)
            assert (beta.real >= 0).all() and (beta.imag == 0).all(), f"a negative beta: {beta}"
            found[blocks + 1, 1] = -np.abs(found[blocks, 1])  # of a pair the one above the line comes first
            found[blocks, 1] = np.abs(found[blocks, 1])
            off = np.abs(on_sphere(alpha, beta) - found).max(initial=0)
            assert off <= tolerance, f"alpha / beta are not the eigenvalues of the triangles: off by {off:.2g}"
        if first:
            is_first = _is_named(first, alpha, beta)
            assert (is_first[:-1] >= is_first[1:]).all(), f"{first}: {alpha} / {beta}"
