"""Library ops of exported code are C99 that lies in it; `programs_by_c_alone` of CTest runs all program tests with it."""

import re

import inlay
import numpy as np
import pytest
from factors import adjoint, assert_orthonormal, assert_reconstructs, assert_svd, of_reflections
from test_export import COMPILERS, FLAGS, Library, require_alone, run

RNG = np.random.default_rng(7)
SIDES = [0, 1, 2, 17, 33]
DTYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


def normal(shape, dtype):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def exported(text, folder, name, arguments, **more):
    """Its results, and those of compiled code, whose library ops are BLAS and LAPACK."""
    inlay.export(text, folder, "shared", name=name, **more)
    require_alone(folder / f"lib{name}.so")
    wanted = inlay.compile(text)(*arguments)
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    got = [np.full_like(w, 77) for w in wanted]
    assert Library(folder, name)(arguments, got) == 0
    return got, wanted


def assert_near(got, want, length):
    """Sums of `length` products, each rounded; the condition of what is solved here is below 10."""
    assert got.dtype == want.dtype
    size = np.abs(want).max(initial=1)
    np.testing.assert_allclose(got, want, rtol=0, atol=40 * max(length, 1) * np.finfo(want.dtype).eps * size)


def positive_definite(n, dtype, batch=()):
    x = normal((*batch, n, n), dtype)
    return x @ adjoint(x) + n * np.eye(n, dtype=dtype)


@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("n", SIDES)
def test_products_and_systems(n, t, tmp_path):
    text = f"""graph @algebra(%a: {t}[{n}, {n}], %b: {t}[{n}, 18], %many: {t}[3, {n}, {n}], %v: {t}[{n}]) {{
  %at = transpose %a [1, 0]
  %bt = transpose %b [1, 0]
  %ab = matmul %at, %b
  %ba = matmul %bt, %a
  %av = matmul %a, %v
  %each = matmul %many, %b
  %l = cholesky %many
  %u = cholesky %a upper
  %y = solve_triangular %l, %b
  %z = solve_triangular %u, %b upper transposed
  %w = solve_triangular %a, %v unit_diagonal
  %h = solve_triangular %l, %b adjoint
  %k = solve_triangular %u, %b upper adjoint
  %x = solve %at, %b
  %xs = solve %many, %b
  %lu, %swaps = lu_factor %a
  %order = pivots_to_permutation %swaps
  return %ab, %ba, %av, %each, %l, %u, %y, %z, %h, %k, %x, %xs, %lu, %swaps, %order
}}"""
    dtype = DTYPES[t]
    arguments = [positive_definite(n, dtype), normal((n, 18), dtype), positive_definite(n, dtype, (3,)), normal(n, dtype)]
    got, wanted = exported(text, tmp_path, "algebra", arguments)
    for g, w in zip(got[:-2], wanted[:-2], strict=True):
        assert_near(g, w, n)
    for g, w in zip(got[-2:], wanted[-2:], strict=True):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("t", ["f64", "c128"])
@pytest.mark.parametrize("m, n", [(0, 3), (1, 1), (5, 5), (30, 20), (20, 30)])
def test_orthogonal_factors(m, n, t, tmp_path):
    text = f"""graph @factors(%a: {t}[{m}, {n}]) {{
  %q, %r = qr %a
  %whole, %s = qr_complete %a
  %only = qr_r %a
  %turned, %t, %order = qr_pivoted %a
  %raw, %tau = qr_raw %a
  return %q, %r, %whole, %s, %only, %turned, %t, %order, %raw, %tau
}}"""
    a = normal((m, n), DTYPES[t])
    got, wanted = exported(text, tmp_path, "factors", [a])
    q, r, whole, s, only, turned, t, order, raw, tau = got
    for left, right in [(q, r), (whole, s)]:
        assert_orthonormal(left)
        assert_reconstructs(a, left, right)
    assert_reconstructs(a[:, order], turned, t)
    np.testing.assert_array_equal(order, wanted[7])
    for mine, theirs in zip((r, s, only, raw, tau), (wanted[1], wanted[3], wanted[4], wanted[8], wanted[9]), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)  # the signs are LAPACK's
    assert_reconstructs(a, *of_reflections(raw, tau))


SPECTRA = """graph @spectra(%a: T[2, m, n]) {
  %u, %s, %vh = svd %a
  %fu, %fs, %fvh = svd_full %a
  %only = singular_values %a
  return %u, %s, %vh, %fu, %fs, %fvh, %only
}"""


def matrices(kind, m, n, dtype):
    """Two of them, of the kinds on which rotations could go on for ever, or vectors be lost."""
    return of_kind(kind, normal((2, m, n), DTYPES[dtype]).astype(complex if dtype[0] == "c" else float), n).astype(DTYPES[dtype])


def of_kind(kind, a, n):
    if kind == "of rank 1":
        return a[:, :, :1] * a[:, :1, :]
    if kind == "graded":
        return a * 10.0 ** -np.linspace(0, 36, n)
    return a * {"any": 1, "zero": 0, "tiny": 1e-37, "huge": 1e36}[kind]


KINDS = ["any", "zero", "of rank 1", "graded", "tiny", "huge"]


@pytest.mark.parametrize("t", ["f32", "f64", "c128"])
@pytest.mark.parametrize("kind, m, n", [("any", *sides) for sides in [(0, 3), (3, 0), (1, 1), (7, 1), (40, 17), (17, 40)]]
                         + [(kind, 20, 12) for kind in KINDS] + [(kind, 12, 20) for kind in KINDS])  # fmt: skip
def test_singular_values(kind, m, n, t, tmp_path):
    a = matrices(kind, m, n, t)
    text = SPECTRA.replace("T", t).replace("m,", f"{m},").replace("n]", f"{n}]")
    (u, s, vh, fu, fs, fvh, only), wanted = exported(text, tmp_path, "spectra", [a])
    assert_svd(a, u, s, vh)
    assert_svd(a, fu, fs, fvh)
    scale = np.broadcast_to(a, (2, m, n))
    for values in (s, fs, only):
        assert (np.diff(values) <= 0).all() and (values >= 0).all()
        size = max(m, n, 1) * np.abs(scale).max(initial=0)
        np.testing.assert_allclose(values, wanted[1], rtol=0, atol=20 * np.finfo(a.dtype).eps * size)


@pytest.mark.parametrize("t", ["f32", "f64", "c64"])
@pytest.mark.parametrize("kind, n", [("any", n) for n in (0, 1, 2, 33)] + [(kind, 20) for kind in KINDS])
def test_symmetric_eigenvalues(kind, n, t, tmp_path):
    x = matrices(kind, n, n, t)
    a = x + adjoint(x)
    text = f"""graph @symmetric(%a: {t}[2, {n}, {n}], %b: {t}[2, {n}, {n}]) {{
  %w, %v = eigh %a
  %uw, %uv = eigh %b upper
  %only = eigvalsh %a
  return %w, %v, %uw, %uv, %only
}}"""
    # Of %b one triangle is read.
    b = np.triu(a) + np.tril(np.full_like(a, np.nan), -1)
    (w, v, uw, uv, only), wanted = exported(text, tmp_path, "symmetric", [a, b])
    for values, vectors in [(w, v), (uw, uv)]:
        assert_orthonormal(vectors)
        assert_reconstructs(a, vectors * values[..., None, :], adjoint(vectors))
    for values in (w, uw, only):
        assert (np.diff(values) >= 0).all()
        size = n * np.abs(a).max(initial=0)
        np.testing.assert_allclose(values, wanted[0], rtol=0, atol=20 * np.finfo(a.dtype).eps * size)


def laplacian(neighbours):
    """Of a graph, by which of its nodes are neighbours."""
    return np.diag(neighbours.sum(0)) - neighbours


def of_equal_eigenvalues(rows, columns, dtype):
    """By what they are, matrices of rows * columns: most of the eigenvalues of each are equal, or far below its others."""
    n, at = rows * columns, np.arange(rows * columns)
    q = np.linalg.qr(RNG.normal(size=(n, n)))[0]
    x = RNG.normal(size=(n, 2))
    apart = np.abs(at[:, None] - at)
    steps = np.abs(at[:, None] // columns - at // columns) + np.abs(at[:, None] % columns - at % columns)
    sizes = [np.exp(np.log(np.finfo(dtype).max) * np.linspace(-most, most, n)) for most in (0.6, 0.16)]
    any_order = RNG.permutation(n)
    each = {f"correlations of {rho}": (1 - rho) * np.eye(n) + rho for rho in (0.1, 0.5, 0.9, 0.999)} | {
        "what takes the mean away": np.eye(n) - 1 / n,
        "a complete graph": laplacian(1 - np.eye(n)),
        "a star": laplacian(1.0 * ((at == 0) ^ (at[:, None] == 0))),
        "a ring": laplacian(1.0 * ((apart == 1) | (apart == n - 1))),
        "a grid": laplacian(1.0 * (steps == 1)),
        "blocks": np.kron(np.eye(rows), np.eye(columns) + 0.5),
        "blocks, in any order": np.kron(np.eye(rows), np.eye(columns) + 0.5)[any_order][:, any_order],
        "a projection": q[:, : n // 3] @ q[:, : n // 3].T,
        "reflections": q * np.where(at % 2, 1, -1) @ q.T,
        "of rank 1": x[:, :1] @ x[:, :1].T,
        "of rank 2": x * [1, -1] @ x.T,
        "Hilbert's": 1 / (at[:, None] + at + 1.0),
        "graded": np.diag(sizes[0]),
        "zero": np.zeros((n, n)),
        "one number": 0.3 * np.eye(n),
    }
    for number, x in enumerate(sizes):
        each[f"graded, all elements, {number}"] = np.sqrt(x[:, None]) * (0.5 * np.eye(n) + 0.5) * np.sqrt(x)
    return {name: a.astype(dtype) for name, a in each.items()}


@pytest.mark.parametrize("t", ["f32", "f64"])
@pytest.mark.parametrize("rows, columns", [(1, 3), (4, 7), (8, 8)])
def test_equal_eigenvalues(rows, columns, t, tmp_path):
    """What rounding leaves beside the diagonal, or in rows far below others, is no reason for rotations without end."""
    each = of_equal_eigenvalues(rows, columns, {"f32": np.float32, "f64": np.float64}[t])
    n = rows * columns
    text = f"""graph @equal(%a: {t}[{len(each)}, {n}, {n}]) {{
  %w, %v = eigh %a
  %only = eigvalsh %a
  %u, %s, %vh = svd %a
  %lengths = singular_values %a
  return %w, %v, %only, %u, %s, %vh, %lengths
}}"""
    (w, v, only, u, s, vh, lengths), _ = exported(text, tmp_path, "equal", [np.stack([*each.values()])])
    for i, (name, a) in enumerate(each.items()):
        assert_orthonormal(v[i])
        assert_reconstructs(a, v[i] * w[i], v[i].T)
        assert_svd(a, u[i], s[i], vh[i])
        by_numpy = np.linalg.eigvalsh(a.astype(np.float64))
        near = 20 * np.finfo(a.dtype).eps * n * np.abs(a).max()
        for found, wanted in [(w[i], by_numpy), (only[i], by_numpy), (s[i], np.sort(np.abs(by_numpy))[::-1]),
                              (lengths[i], np.sort(np.abs(by_numpy))[::-1])]:  # fmt: skip
            np.testing.assert_allclose(found, wanted, rtol=0, atol=near, err_msg=name)
        assert (np.diff(w[i]) >= 0).all() and (np.diff(s[i]) <= 0).all(), name


@pytest.mark.parametrize("t", ["f32", "f64", "c64"])
@pytest.mark.parametrize("n, size", [(0, 1), (1, 1), (2, 30), (20, 0.01), (20, 1), (20, 3)])
def test_exponential(n, size, t, tmp_path):
    text = f"graph @f(%a: {t}[3, {n}, {n}]) {{\n  %x = expm %a\n  return %x\n}}"
    a = (size * normal((3, n, n), DTYPES[t])).astype(DTYPES[t])
    a[1:2, :1, :1] = np.inf
    (x,), (wanted,) = exported(text, tmp_path, "f", [a])
    assert np.isnan(x[1]).all()
    for i in (0, 2):
        # Each squaring doubles the error of the power before it.
        doubled = 1 + np.abs(a[i]).sum(-1).max(initial=0)
        off = np.abs(x[i] - wanted[i]).max(initial=0)
        assert off <= 10 * max(n, 1) * doubled * np.finfo(a.dtype).eps * np.abs(wanted[i]).max(initial=0)


def test_eigenvalues_of_what_is_not_finite_are_nan(tmp_path):
    inlay.export("graph @f(%b: c64[3, 3]) {\n  %w, %v = eigh %b\n  return %w, %v\n}", tmp_path, "shared", name="f")
    b = np.eye(3, dtype=np.complex64)
    b[2, 1] = 1j * np.nan
    got = [np.zeros(3, np.float32), np.zeros((3, 3), b.dtype)]
    assert Library(tmp_path, "f")([b], got) == 0
    for each in got:
        assert np.isnan(each).all()


@pytest.mark.parametrize("t, part", [("f32", np.nan), ("f64", -np.inf), ("c64", 1j * np.nan), ("c128", np.inf)])
@pytest.mark.parametrize("op, shapes", [("singular_values", [(2, 3)]), ("svd", [(2, 4, 3), (2, 3), (2, 3, 3)]),
                                        ("svd_full", [(2, 4, 4), (2, 3), (2, 3, 3)])])  # fmt: skip
def test_what_is_not_finite_has_no_singular_values(op, shapes, t, part, tmp_path):
    results = ", ".join(f"%r{i}" for i in range(len(shapes)))
    text = f"graph @f(%a: {t}[2, 4, 3]) {{\n  {results} = {op} %a\n  return {results}\n}}"
    inlay.export(text, tmp_path, "shared", name="f")
    dtype = np.dtype(f"{t[0]}{int(t[1:]) // 8}")
    a = RNG.normal(size=(2, 4, 3)).astype(dtype)
    reals = a.real.dtype
    got = [np.zeros(shape, reals if len(shape) == 2 else dtype) for shape in shapes]
    library = Library(tmp_path, "f")
    assert library([a], got) == 0
    a[1, 3, 1] = part
    code = library([a], got)
    assert "the singular values do not converge (matrix 1)" in library.message_with(code, library.numbers)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("t, op, results", [("f32", "svd", "%u, %s, %vh"), ("f32", "svd_full", "%u, %s, %vh"),
                                            ("f32", "singular_values", "%s"), ("f32", "eigh", "%w, %v"),
                                            ("f32", "eigvalsh", "%w"), ("f32", "expm", "%x"), ("f32", "schur", "%t, %z"),
                                            ("f32", "eig", "%w, %v"), ("c64", "svd", "%u, %s, %vh"), ("c64", "qr", "%q, %r"),
                                            ("c64", "schur", "%t, %z"), ("c64", "eig", "%w, %v"), ("c64", "sort", "%x")])  # fmt: skip
def test_spectra_for_small_machines(t, op, results, compiler, tmp_path):
    text = f"graph @f(%a: {t}[20, 20]) {{\n  {results} = {op} %a\n  return {results}\n}}"
    _, code = inlay.export(text, tmp_path, name="f", freestanding=True)
    run(compiler, *FLAGS, "-ffreestanding", "-c", code, "-o", tmp_path / "f.o")
    require_alone(tmp_path / "f.o")
    # In f32 throughout, but for constants that a compiler rounds; complex numbers, too.
    written = re.sub(r"/\*.*?\*/", "", code.read_text(), flags=re.DOTALL)
    assert not re.search(r"\bdouble\b|\w+_f64\b|\bsqrt\(", written)


@pytest.mark.parametrize("t", ["f32", "c64"])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_three_diagonals(n, t, tmp_path):
    text = f"""graph @three(%l: {t}[{n - 1}], %d: {t}[{n}], %u: {t}[{n - 1}], %b: {t}[{n}, 3]) {{
  %fl, %fd, %fu, %fuu, %pivots = tridiagonal_lu_factor %l, %d, %u
  %x = tridiagonal_lu_solve %fl, %fd, %fu, %fuu, %pivots, %b
  %y = tridiagonal_lu_solve %fl, %fd, %fu, %fuu, %pivots, %b transposed
  return %fl, %fd, %fu, %fuu, %pivots, %x, %y
}}"""
    phases = 1 if t == "f32" else 1 + 1j
    l, d, u = ((RNG.uniform(1, 2, size) * phases).astype(DTYPES[t]) for size in (n - 1, n, n - 1))
    d += 4 * (np.arange(n) % 3 > 0)  # else rows change places
    got, wanted = exported(text, tmp_path, "three", [l, d, u, normal((n, 3), DTYPES[t])])
    np.testing.assert_array_equal(got[4], wanted[4])
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_rows(n, tmp_path):
    text = f"""graph @rows(%x: f64[2, {n}], %f: f32[{n}], %k: i16[{n}], %big: u64[{n}], %flags: bool[{n}], %z: c64[{n}]) {{
  %xs = sort %x
  %at = argsort %x
  %fs = sort %f
  %ks = sort %k
  %kat = argsort %k
  %bigs = sort %big
  %flat = argsort %flags
  %left = searchsorted %fs, %f
  %right = searchsorted %ks, %k right
  %zs = sort %z
  %zat = argsort %z
  %among = searchsorted %zs, %z
  return %xs, %at, %fs, %ks, %kat, %bigs, %flat, %left, %right, %zs, %zat, %among
}}"""
    x = RNG.normal(size=(2, n))
    x[:, ::7], x[:, 3::11], x[:, 5::13] = np.nan, np.inf, 0.5
    arguments = [x, np.round(x[0], 1).astype(np.float32), RNG.integers(-99, 99, n).astype(np.int16),
                 RNG.integers(0, 2**64, n, dtype=np.uint64), RNG.integers(0, 2, n).astype(bool),
                 np.stack([RNG.integers(-3, 3, n), x[0]], -1).astype(np.float32).view(np.complex64)[:, 0]]  # fmt: skip
    got, _ = exported(text, tmp_path, "rows", arguments)
    x, f, k, big, flags, z = arguments
    by_numpy = [np.sort(x), np.argsort(x, kind="stable"), np.sort(f), np.sort(k), np.argsort(k, kind="stable"),
                np.sort(big), np.argsort(flags, kind="stable"), np.searchsorted(np.sort(f), f),
                np.searchsorted(np.sort(k), k, side="right"), np.sort(z), np.argsort(z, kind="stable"),
                np.searchsorted(np.sort(z), z)]  # fmt: skip
    for g, w in zip(got, by_numpy, strict=True):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("sizes", [(2, 3, 7, 5), (1, 1, 1, 1), (3, 0, 4, 2), (1, 65, 300, 9), (2, 2, 0, 3)])
def test_dot_products_of_bytes(sizes, tmp_path):
    b, m, k, n = sizes
    text = f"""graph @dots(%x: u8[{b}, {m}, {k}], %y: i8[{n}, {k}]) {{
  %d = row_dots %x, %y
  return %d
}}"""
    x, y = RNG.integers(0, 256, (b, m, k)).astype(np.uint8), RNG.integers(-128, 128, (n, k)).astype(np.int8)
    got, _ = exported(text, tmp_path, "dots", [x, y])
    np.testing.assert_array_equal(got[0], x.astype(np.int32) @ y.T.astype(np.int32))


@pytest.mark.parametrize("sizes", [(2, 3, 7, 5), (1, 1, 1, 1), (3, 0, 4, 2), (1, 65, 300, 9), (2, 2, 0, 3)])
def test_weighted_rows_of_bytes(sizes, tmp_path):
    rng = np.random.default_rng(2)
    b, m, k, n = sizes
    text = f"""graph @sums(%x: u8[{b}, {k}, {n}], %y: i8[{m}, {k}]) {{
  %d = weighted_rows %x, %y
  return %d
}}"""
    x, y = rng.integers(0, 256, (b, k, n)).astype(np.uint8), rng.integers(-128, 128, (m, k)).astype(np.int8)
    got, _ = exported(text, tmp_path, "sums", [x, y])
    np.testing.assert_array_equal(got[0], y.astype(np.int32) @ x.astype(np.int32))


def broken(kind):
    a = positive_definite(20, np.float64, (3,))
    if kind == "indefinite":
        a[1, 4, 4] = -1
    if kind == "singular":
        a[1, :, 3] = 0
    return a


@pytest.mark.parametrize("op, kind", [("cholesky %a", "indefinite"), ("solve %a, %a", "singular"),
                                      ("solve_triangular %a, %a", "singular")])  # fmt: skip
def test_what_cannot_be_computed_is_said_as_by_compiled_code(op, kind, tmp_path):
    text = f"graph @f(%a: f64[3, 20, 20]) {{\n  %r = {op}\n  return %r\n}}"
    a = broken(kind)
    with pytest.raises(inlay.InlayError) as caught:
        inlay.compile(text)(a)
    inlay.export(text, tmp_path, "shared", name="f")
    library = Library(tmp_path, "f")
    code = library([a], [np.empty_like(a)])
    assert code != 0
    said = library.message_with(code, library.numbers)
    assert str(caught.value).startswith("error[factorization-failed]: " + said.removeprefix("factorization-failed: ").removesuffix(" (<text>:2:3)"))
    text = text.replace(op, op + " nan")
    got, wanted = exported(text, tmp_path, "g", [a])
    np.testing.assert_array_equal(np.isnan(got[0]).all((1, 2)), np.isnan(wanted[0]).all((1, 2)))
    assert np.isnan(got[0]).all((1, 2)).sum() == 1


def test_nan_goes_through_or_fails(tmp_path):
    """As by LAPACK; OpenBLAS may not notice that a factor is NaN."""
    text = """graph @f(%a: f64[20, 20], %b: f64[20, 20]) {
  %l = cholesky %a nan
  %p = matmul %a, %b
  %x = solve %a, %b
  %t = solve_triangular %b, %a
  return %l, %p, %x, %t
}"""
    a, b = positive_definite(20, np.float64), positive_definite(20, np.float64)
    a[3, 2] = np.nan
    inlay.export(text, tmp_path, "shared", name="f")
    l, p, x, t = got = [np.empty_like(a) for _ in range(4)]
    assert Library(tmp_path, "f")([a, b], got) == 0
    assert np.isnan(l).all() and np.isnan(x).all()
    np.testing.assert_array_equal(np.isnan(p), np.isnan(a @ b))
    np.testing.assert_array_equal(np.isnan(t).any(0), np.isnan(a).any(0))
    inlay.export(text.replace(" nan", ""), tmp_path, "shared", name="g")
    library = Library(tmp_path, "g")
    assert "order 4 is not positive" in library.message_with(library([a, b], got), library.numbers)


def test_only_what_is_used_and_in_its_dtype(tmp_path):
    text = "graph @f(%a: f32[20, 20], %b: f32[20, 20]) {\n  %c = cholesky %a\n  %r = matmul %c, %b\n  return %r\n}"
    _, code = inlay.export(text, tmp_path, name="f")
    functions = set(re.findall(r"inlay_l_(\w+)\(const void", code.read_text()))
    assert functions == {"cholesky_f32", "matmul_f32"}
    assert not re.search(r"\bdouble\b|\w+_f64\b|\bsqrt\b", code.read_text())
