"""What compares factorizations refuses what is none."""

import factors
import numpy as np
import pytest
import scipy.linalg

A = np.random.default_rng(5).normal(size=(4, 4))
COMPLEX = A + 1j * A.T[::-1]
PHASES = np.exp(1j * np.arange(4.0))


def test_triangles_of_other_phases_and_another_order_are_as_good():
    t, z = scipy.linalg.schur(COMPLEX)
    factors.assert_schur(COMPLEX, PHASES.conj()[:, None] * t * PHASES, z * PHASES, t)
    turned, other = scipy.linalg.schur(COMPLEX, sort=lambda w: w.real < 0)[:2]
    factors.assert_schur(COMPLEX, turned, other, t, first="lhp")
    with pytest.raises(AssertionError, match="lhp"):
        factors.assert_schur(COMPLEX, *scipy.linalg.schur(COMPLEX, sort=lambda w: w.real >= 0)[:2], t, first="lhp")


@pytest.mark.parametrize("output", ["real", "complex"])
def test_what_is_no_schur_factorization(output):
    a = A if output == "real" else COMPLEX
    t, z = scipy.linalg.schur(a, output=output)
    factors.assert_schur(a, t, z, t)
    long = z.copy()
    long[:, 1] *= 1 + 1e-12
    below = t.copy()
    below[3, 0] = 1e-18
    for wrong_t, wrong_z in ((t, long), (t + 1e-12, z), (t[::-1, ::-1], z[:, ::-1]), (t, z[:, [1, 0, 2, 3]]), (below, z), (a, np.eye(4))):
        with pytest.raises(AssertionError):
            factors.assert_schur(a, wrong_t, wrong_z, t)
    with pytest.raises(AssertionError, match="in another order"):
        factors.assert_schur(a, t, z, t * (1 + 1e-9))


def test_blocks_that_are_none():
    real, z = scipy.linalg.schur(np.array([[1.0, 2], [0, 3]]))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    with pytest.raises(AssertionError, match="no block of a pair"):
        factors.assert_schur(z @ real @ z.T, turn.T @ real @ turn, z @ turn, real)


@pytest.mark.parametrize("output", ["real", "complex"])
def test_what_is_no_qz(output):
    a, b = (A, A[::-1] + np.eye(4)) if output == "real" else (COMPLEX, COMPLEX[::-1])
    s, t, q, z = want = scipy.linalg.qz(a, b, output=output)
    factors.assert_qz(a, b, want, want)
    short = q.copy()
    short[:, 1] *= 1 - 1e-12
    below, other_below = s.copy(), t.copy()
    below[3, 0] = other_below[1, 0] = 1e-18
    wrong = [(s, t, short, z), (s + 1e-12, t, q, z), (s, t + 1e-12, q, z), (s, t, q, z[:, [1, 0, 2, 3]]), (below, t, q, z)]
    wrong += [(s, other_below, q, z), (-s, -t, -q, z), (a, b, np.eye(4), np.eye(4))]
    for got in wrong:
        with pytest.raises(AssertionError):
            factors.assert_qz(a, b, got, want)
    with pytest.raises(AssertionError, match="in another order"):
        factors.assert_qz(a, b, want, (s * (1 + 1e-9), t, q, z))


@pytest.mark.parametrize("output", ["real", "complex"])
def test_eigenvalues_of_two_matrices(output):
    a, b = A, np.diag([1.0, 2, 0, 3])  # of which one is infinite
    want = scipy.linalg.qz(a, b, output=output)
    for first in ("iuc", "ouc"):
        s, t, alpha, beta, q, z = scipy.linalg.ordqz(a, b, sort=first, output=output)
        factors.assert_qz(a, b, (s, t, alpha, beta, q, z), want, first=first)
        with pytest.raises(AssertionError, match="iuc|ouc"):
            factors.assert_qz(a, b, (s, t, q, z), want, first="ouc" if first == "iuc" else "iuc")
        with pytest.raises(AssertionError, match="of the triangles"):
            factors.assert_qz(a, b, (s, t, alpha * (1 + 1e-9), beta, q, z), want)
        with pytest.raises(AssertionError, match="of the triangles"):
            factors.assert_qz(a, b, (s, t, alpha[::-1], beta[::-1], q, z), want)


def test_what_is_no_qr():
    q, r = np.linalg.qr(A)
    signs = np.array([1, -1, 1, -1])
    factors.assert_same_triangle(r * signs[:, None], r)
    factors.assert_orthonormal(q * signs)
    for wrong in (r + 1e-12 * np.triu(np.ones((4, 4))), np.abs(r), r + np.tril(np.full((4, 4), 1e-18), -1)):
        with pytest.raises(AssertionError):
            factors.assert_same_triangle(wrong, r)
    with pytest.raises(AssertionError):
        factors.assert_reconstructs(A, q * signs, r)


def test_reflections_are_those_of_lapack():
    for a in (A[:, :3], COMPLEX[:, :3], A[:2]):
        (raw, tau), r = scipy.linalg.qr(a, mode="raw")
        q, triangle = factors.of_reflections(raw, tau)
        np.testing.assert_array_equal(triangle[: len(r)], r)
        factors.assert_orthonormal(q)
        factors.assert_reconstructs(a, q, triangle)


def test_what_is_no_svd():
    u, s, vh = np.linalg.svd(COMPLEX)
    factors.assert_svd(COMPLEX, u * PHASES, s, PHASES.conj()[:, None] * vh)
    for wrong in ((u * PHASES, s, vh), (u, s * (1 + 1e-12), vh), (u * 2, s / 2, vh)):
        with pytest.raises(AssertionError):
            factors.assert_svd(COMPLEX, *wrong)


def test_numbers_in_another_order():
    w = np.linalg.eigvals(A)
    factors.assert_same_in_any_order(w[::-1], w, 1e-15)
    for wrong in (w[[0, 0, 2, 3]], w + 1e-9):
        with pytest.raises(AssertionError):
            factors.assert_same_in_any_order(wrong, w, 1e-12)
