"""Exported code that calls the BLAS and LAPACK of whoever links it: `--blas`."""

import ctypes
import subprocess

import inlay
import numpy as np
import pytest
from test_export import COMPILERS, FLAGS, Call, Library, require_alone, run, symbols, tool
from test_export_library import assert_near, broken, positive_definite

RNG = np.random.default_rng(11)
NAMES = {"f32": "s", "f64": "d"}


def libraries():
    """The flags of a BLAS with LAPACK that a C program links with here; None: there is none."""
    for flags in (["-lopenblas"], ["-llapack", "-lblas"]):
        program = "void dpotrf_(void), dgemm_(void); int main(void) { dpotrf_(); dgemm_(); return 0; }"
        linked = subprocess.run(["cc", "-x", "c", "-", *flags, "-o", "/dev/null"], input=program, text=True, capture_output=True)
        if linked.returncode == 0:
            return flags
    return None


BLAS = libraries()
needs_blas = pytest.mark.skipif(BLAS is None, reason="no BLAS to link with")


def exported(text, folder, name, compiler="cc", **more):
    """As a library, and what it takes from BLAS."""
    _, code = inlay.export(text, folder, name=name, blas=True, **more)
    run(compiler, *FLAGS, "-c", code, "-o", folder / f"{name}.o")
    called = {symbol for symbol in symbols(folder / f"{name}.o")["U"] if symbol.endswith("_") and not symbol.startswith("_")}
    library = folder / f"lib{name}.so"
    run(compiler, *FLAGS, "-shared", "-fPIC", "-Wl,-z,defs", code, *BLAS, "-lm", "-o", library)
    return Library(folder, name), called


ALGEBRA = """graph @algebra(%a: T[N, N], %b: T[N, 18], %many: T[3, N, N], %v: T[N]) {
  %at = transpose %a [1, 0]
  %bt = transpose %b [1, 0]
  %ab = matmul %at, %b
  %ba = matmul %bt, %a
  %abt = transpose %ab [1, 0]
  %av = matmul %a, %v
  %atv = matmul %at, %v
  %va = matmul %v, %a
  %vv = matmul %v, %v
  %each = matmul %many, %b
  %l = cholesky %many
  %u = cholesky %a upper
  %y = solve_triangular %l, %b
  %yv = solve_triangular %u, %v upper
  %z = solve_triangular %u, %b upper transposed
  %w = solve_triangular %at, %v unit_diagonal
  %wt = solve_triangular %at, %b unit_diagonal transposed
  %x = solve %at, %b
  %xv = solve %a, %v
  %xs = solve %many, %b
  %lu, %swaps = lu_factor %a
  %tall, %tall_swaps = lu_factor %b
  return %ab, %ba, %abt, %av, %atv, %va, %vv, %each, %l, %u, %y, %yv, %z, %w, %wt, %x, %xv, %xs, %lu, %tall, %swaps, %tall_swaps
}"""


@needs_blas
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("t", ["f32", "f64"])
@pytest.mark.parametrize("n", [0, 1, 2, 17, 33])
def test_products_and_systems(n, t, compiler, tmp_path):
    text = ALGEBRA.replace("T", t).replace("N", str(n))
    dtype = {"f32": np.float32, "f64": np.float64}[t]
    # Triangles of ones are far from singular where what is below them is small.
    a, many = positive_definite(n, dtype), positive_definite(n, dtype, (3,))
    arguments = [a / (4 * max(n, 1)), RNG.normal(size=(n, 18)).astype(dtype), many, RNG.normal(size=n).astype(dtype)]
    wanted = inlay.compile(text)(*arguments)
    library, called = exported(text, tmp_path, "algebra", compiler)
    if n > 16:  # short products are loops
        assert called == {NAMES[t] + name for name in ("gemm_", "gemv_", "trsm_", "potrf_", "getrf_")}
    got = [np.full_like(w, 77) for w in wanted]
    assert library(arguments, got) == 0
    for g, w in zip(got[:-2], wanted[:-2], strict=True):
        assert_near(g, w, n)
    for g, w in zip(got[-2:], wanted[-2:], strict=True):
        np.testing.assert_array_equal(g, w)


@needs_blas
def test_operands_as_they_lie(tmp_path):
    """Columns, rows from behind, a part of a matrix, one matrix for all of a batch."""
    text = """graph @f(%a: f64[40, 40], %b: f64[3, 20, 20]) {
  %part = slice %a[3:23, 7:27]
  %column = slice %a[0:20, 5]
  %back = slice %a[4, 19::-1]
  %p = matmul %b, %part
  %q = matmul %part, %column
  %r = matmul %back, %part
  %turned = transpose %b [0, 2, 1]
  %s = matmul %part, %turned
  %st = transpose %s [0, 2, 1]
  %x = solve %part, %b
  %l = cholesky %b
  %y = solve_triangular %l, %part
  return %p, %q, %r, %s, %st, %x, %y
}"""
    a, b = RNG.normal(size=(40, 40)) + 9 * np.eye(40, k=4), positive_definite(20, np.float64, (3,))
    wanted = inlay.compile(text)(a, b)
    library, called = exported(text, tmp_path, "f")
    assert called == {"dgemm_", "dgemv_", "dgetrf_", "dpotrf_", "dtrsm_"}
    got = [np.full_like(w, 77) for w in wanted]
    assert library([a, b], got) == 0
    for g, w in zip(got, wanted, strict=True):
        assert_near(g, w, 40)


@needs_blas
@pytest.mark.parametrize("op, kind", [("cholesky %a", "indefinite"), ("solve %a, %a", "singular"),
                                      ("solve_triangular %a, %a", "singular")])  # fmt: skip
def test_what_cannot_be_computed_is_said_as_by_code_alone(op, kind, tmp_path):
    text = f"graph @f(%a: f64[3, 20, 20]) {{\n  %r = {op}\n  return %r\n}}"
    a = broken(kind)
    inlay.export(text, tmp_path, "shared", name="alone")
    said = []
    for library in (exported(text, tmp_path, "f")[0], Library(tmp_path, "alone")):
        code = library([a], [np.empty_like(a)])
        assert code != 0
        said.append(library.message_with(code, library.numbers))
    assert said[0] == said[1]
    result = np.zeros_like(a)
    assert exported(text.replace(op, op + " nan"), tmp_path, "g")[0]([a], [result]) == 0
    np.testing.assert_array_equal(np.isnan(result).all((1, 2)), [False, True, False])


@needs_blas
def test_sizes_beyond_32_bits_are_refused_before_anything_is_read(tmp_path):
    text = "graph @f(%a: f64[n, 20], %b: f64[20, 20]) {\n  %c = matmul %a, %b\n  return %c\n}"
    library, _ = exported(text, tmp_path, "f")
    sizes, tables = np.array([2**31], np.int64), (ctypes.c_void_p * 2)()
    call = Call(*[ctypes.addressof(tables)] * 2, sizes.ctypes.data, ctypes.addressof(tables), ctypes.addressof(tables))
    assert library.c.f_entry(ctypes.byref(call)) != 0
    assert call.failure_site == 0
    assert "size-overflow: matmul: a size is beyond 2147483647" in library.message(256)


def test_code_that_needs_no_blas_is_the_same(tmp_path):
    """Sorts and what is computed by loops; QR and spectra lie in the code in both forms."""
    text = "graph @f(%a: f64[30, 20]) {\n  %q, %r = qr %a\n  %s = sort %r\n  %e = exp %q\n  return %s, %e\n}"
    codes = [inlay.export(text, tmp_path / str(blas), blas=blas)[1].read_text() for blas in (False, True)]
    assert codes[0] == codes[1]
    assert "BLAS" not in codes[0]


@pytest.mark.parametrize("kind, ending", [("c", "c"), ("object", "o")])
def test_the_command_line_asks_for_it_too(kind, ending, tmp_path):
    (tmp_path / "f.inlay").write_text("graph @f(%a: f32[20, 20]) {\n  %c = cholesky %a\n  %s = eigvalsh %a\n  return %c, %s\n}")
    tool("export", tmp_path / "f.inlay", "--blas", f"--kind={kind}", "-o", tmp_path)
    code = tmp_path / f"f.{ending}"
    if kind == "c":
        assert "Links with a BLAS and a LAPACK that have Fortran's names and integers of 32 bits, for: spotrf_." in code.read_text()
        run("cc", *FLAGS, "-c", code, "-o", tmp_path / "f.o")
    assert "spotrf_" in symbols(tmp_path / "f.o")["U"]
    inlay.export((tmp_path / "f.inlay").read_text(), tmp_path, "object", name="alone")
    require_alone(tmp_path / "alone.o")


def test_the_freestanding_form_has_it(tmp_path):
    text = "graph @f(%a: f32[20, 20], %b: f32[20, 20]) {\n  %c = matmul %a, %b\n  %x = solve %c, %b\n  return %x\n}"
    _, code = inlay.export(text, tmp_path, blas=True, freestanding=True)
    run("cc", *FLAGS, "-ffreestanding", "-c", code, "-o", tmp_path / "f.o")
    assert symbols(tmp_path / "f.o")["U"] >= {"sgemm_", "sgetrf_", "strsm_"}
