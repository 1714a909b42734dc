"""Of exported code, eigenvalues of matrices that are not symmetric, and Schur's triangles: C99 that lies in it."""

import inlay
import numpy as np
import pytest
from factors import adjoint, assert_qz, assert_reconstructs, assert_same_in_any_order, assert_schur, bound
from test_export import Library
from test_export_library import DTYPES, RNG, exported, normal

SIDES = [0, 1, 2, 3, 4, 31]


def jordan(n):
    return np.eye(n, k=1)


def of_equal_eigenvalues(n):
    """Some that have fewer vectors than rows, some whose steps of QR could lead in circles."""
    turn = np.roll(np.eye(n), 1, axis=0)
    q = np.linalg.qr(RNG.normal(size=(n, n)))[0]
    return [np.zeros((n, n)), np.eye(n), jordan(n), jordan(n).T, turn, np.kron(np.eye(n // 2), [[0, 1], [-1, 0]]), q,
            q @ np.diag(np.arange(n) % 3.0) @ q.T, q @ jordan(n) @ q.T, 1e-30 * turn, 1e30 * q, np.ones((n, n)),
            np.triu(np.ones((n, n))), np.diag(10.0 ** -np.arange(n)) @ q]  # fmt: skip


@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("n", SIDES)
def test_eigenvalues(n, t, tmp_path):
    text = f"""graph @values(%a: {t}[2, {n}, {n}]) {{
  %w, %v = eig %a
  %only = eigvals %a
  return %w, %v, %only
}}"""
    a = normal((2, n, n), DTYPES[t])
    (w, v, only), wanted = exported(text, tmp_path, "values", [a])
    assert_eigenvectors(a, w, v)
    for values in (w, only):  # up to 1e3 times as sensitive as the matrix: see assert_schur
        assert_same_in_any_order(values, wanted[0], 1e3 * 64 * np.finfo(a.dtype).eps)


def assert_eigenvectors(a, w, v):
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=1e-5 if v.dtype == np.complex64 else 1e-13)
    assert np.abs(a @ v - v * w[..., None, :]).max(initial=0) <= bound(a)


@pytest.mark.parametrize("t", ["f32", "f64", "c128"])
def test_equal_eigenvalues(t, tmp_path):
    a = np.stack(of_equal_eigenvalues(12)).astype(DTYPES[t])
    text = f"""graph @equal(%a: {t}[{len(a)}, 12, 12]) {{
  %w, %v = eig %a
  %only = eigvals %a
  %t, %z = schur %a
  %left, %y = schur %a inside
  return %w, %v, %only, %t, %z, %left, %y
}}"""
    (w, v, only, triangle, z, inside, y), _ = exported(text, tmp_path, "equal", [a])
    for i, x in enumerate(a):
        assert_eigenvectors(x, w[i], v[i])
        assert_reconstructs(x, z[i], triangle[i], adjoint(z[i]))
        assert_reconstructs(x, y[i], inside[i], adjoint(y[i]))
        np.testing.assert_allclose(np.sum(only[i]), np.trace(x), atol=12 * bound(x))


@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("n", SIDES)
def test_triangles(n, t, tmp_path):
    """All eigenvalues of one matrix, and of two, in any order and with those of each name first."""
    options = {"": None, "left": "lhp", "right": "rhp", "inside": "iuc", "outside": "ouc"}
    lines = [f"  %t{i}, %z{i} = schur %a {option}" for i, option in enumerate(options)]
    lines += [f"  %s{i}, %r{i}, %n{i}, %d{i}, %q{i}, %y{i} = qz %a, %b {option}" for i, option in enumerate(options)]
    results = [f"%t{i}, %z{i}" for i in range(5)] + [f"%s{i}, %r{i}, %n{i}, %d{i}, %q{i}, %y{i}" for i in range(5)]
    text = "\n".join([f"graph @triangles(%a: {t}[{n}, {n}], %b: {t}[{n}, {n}]) {{", *lines, f"  return {', '.join(results)}", "}"])
    a, b = normal((n, n), DTYPES[t]), normal((n, n), DTYPES[t])
    got, wanted = exported(text, tmp_path, "triangles", [a, b])
    for i, first in enumerate(options.values()):
        assert_schur(a, *got[2 * i : 2 * i + 2], wanted[2 * i], first=first)
        if n <= 4 or a.dtype.itemsize > 8 or t == "f64":  # of many the sensitivity is beyond what f32 tells
            at = 10 + 6 * i
            assert_qz(a, b, got[at : at + 6], wanted[at : at + 6], first=first)


@pytest.mark.parametrize("t", ["f64", "c128"])
def test_triangles_of_infinite_eigenvalues(t, tmp_path):
    text = f"""graph @infinite(%a: {t}[9, 9], %b: {t}[9, 9]) {{
  %s, %r, %n, %d, %q, %z = qz %a, %b outside
  return %s, %r, %n, %d, %q, %z
}}"""
    a, b = normal((9, 9), DTYPES[t]), normal((9, 9), DTYPES[t])
    b[:, 4] = 0
    b[2] = b[5]
    got, wanted = exported(text, tmp_path, "infinite", [a, b])
    assert_qz(a, b, got, wanted, first="ouc")


@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("m, n", [(1, 1), (2, 3), (9, 6), (0, 2)])
def test_sylvester(m, n, t, tmp_path):
    text = f"""graph @equation(%a: {t}[{m}, {m}], %b: {t}[{n}, {n}], %c: {t}[{m}, {n}]) {{
  %s, %y = schur %a
  %r, %z = schur %b
  %x = sylvester %s, %r, %c
  return %s, %r, %x
}}"""
    dtype = DTYPES[t]
    a, b, c = normal((m, m), dtype), normal((n, n), dtype) + 9 * np.eye(n, dtype=dtype), normal((m, n), dtype)
    (s, r, x), _ = exported(text, tmp_path, "equation", [a, b, c])
    assert np.abs(s @ x + x @ r - c).max(initial=0) <= 20 * np.finfo(dtype).eps * (m + n) * np.abs(c).max(initial=0)


def test_what_is_not_finite_is_nan_or_said(tmp_path):
    text = """graph @f(%a: f64[3, 3], %b: c64[3, 3]) {
  %t, %z = schur %a
  %s, %r, %n, %d, %q, %y = qz %b, %b left
  return %t, %z, %s, %r, %n, %d, %q, %y
}"""
    a, b = np.eye(3), np.eye(3, dtype=np.complex64)
    a[1, 2], b[0, 1] = np.inf, np.nan
    wanted = inlay.compile(text)(a, b)
    got = [np.zeros_like(w) for w in wanted]
    inlay.export(text, tmp_path, "shared", name="f")
    assert Library(tmp_path, "f")([a, b], got) == 0
    assert all(np.isnan(x).all() for x in (*got, *wanted))
    inlay.export("graph @g(%a: f64[3, 3]) {\n  %w = eigvals %a\n  return %w\n}", tmp_path, "shared", name="g")
    library = Library(tmp_path, "g")
    assert "not finite" in library.message_with(library([a], [np.empty(3, complex)]), library.numbers)
