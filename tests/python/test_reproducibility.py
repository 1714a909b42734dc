"""What docs/reproducibility.md says, line by line: which results are the same bits, and how far apart others may be. More of
sums is in test_sums.py."""

import functools
import os
import pathlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import inlay

# Every function that has code for vectors, and some of those that are called for each lane.
UNARY = """exp exp2 expm1 log log2 log10 log1p log1mexp sigmoid softplus logit sin cos tan arcsin arccos arctan sinh cosh
tanh arcsinh arccosh arctanh cbrt sqrt erf erfc erfcx erfinv erfcinv ndtr ndtri log_ndtr lgamma digamma trigamma
gamma i0 i1 reciprocal""".split()
BINARY = "pow arctan2 xlogy xlog1py logaddexp ive div mod".split()
DTYPES = {"f64": np.float64, "f32": np.float32}


def program(dtype, shape, unary=UNARY, binary=BINARY):
    body = [f"%{op} = {op} %x" for op in unary] + [f"%{op} = {op} %x, %y" for op in binary]
    names = ", ".join(f"%{op}" for op in [*unary, *binary])
    return inlay.compile(f"graph @main(%x: {dtype}{shape}, %y: {dtype}{shape}) {{\n" + "\n".join(body) + f"\nreturn {names}\n}}")


def arguments(dtype, size, seed=1):
    """By interval and by exponent; some are outside of domains, some are zeros, infinite or nan."""
    rng = np.random.default_rng(seed)
    pieces = [rng.uniform(-4, 4, size), rng.uniform(0, 1, size), rng.uniform(-40, 40, size), rng.normal(size=size) * 1e-3,
              rng.choice([-1.0, 1.0], size) * 10.0 ** rng.uniform(-30, 30, size), -(rng.uniform(0, 3, size) ** 2),
              rng.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 5e-324, 709.0], size)]
    return rng.choice(np.concatenate(pieces), size).astype(DTYPES[dtype])


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    bits = "u8" if a.dtype == np.float64 else "u4"
    return a.shape == b.shape and bool(np.all((a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b))))


def expect_same(want, got, what):
    for op, a, b in zip([*UNARY, *BINARY], want, got, strict=True):
        assert same(a, b), (op, what)


@functools.cache
def made_table(dtype, backend):
    """The program and its results, by the backend that the environment says."""
    x, y = arguments(dtype, 1000, 1), arguments(dtype, 1000, 2)
    fn = program(dtype, "[n]")
    return dtype, fn, x, y, fn(x, y)


@pytest.fixture
def backend(request, monkeypatch):
    monkeypatch.setenv("INLAY_BACKEND", request.param)
    return request.param


on_each_backend = pytest.mark.parametrize("backend", ["llvm", "c"], indirect=True)
on_each_dtype = pytest.mark.parametrize("dtype", DTYPES)


@pytest.fixture
def table(dtype, backend):
    return made_table(dtype, backend)


@on_each_backend
@on_each_dtype
def test_run_to_run_and_from_threads(table):
    _, fn, x, y, want = table
    for _ in range(5):
        expect_same(want, fn(x, y), "again")
    with ThreadPoolExecutor(8) as threads:
        for got in threads.map(lambda _: fn(x, y), range(24)):
            expect_same(want, got, "from a thread")


@on_each_backend
@on_each_dtype
def test_one_number_is_what_an_element_is(table):
    dtype, _, x, y, want = table
    one = program(dtype, "")
    for i in range(len(x)):
        expect_same([r[i] for r in want], one(x[i : i + 1].reshape(()), y[i : i + 1].reshape(())), (x[i], y[i]))


@on_each_backend
@on_each_dtype
def test_lengths_and_places(table):
    _, fn, x, y, want = table
    for n in range(1, 18):
        for start in (0, 1, 5, 900):
            part = slice(start, start + n)
            expect_same([r[part] for r in want], fn(x[part], y[part]), (n, start))


@on_each_backend
@on_each_dtype
def test_layouts(table):
    _, fn, x, y, want = table
    for step in (2, 3, -1, -2):
        expect_same([r[::step] for r in want], fn(x[::step], y[::step]), step)
    for away in (1, 3):  # elements past an address that vectors like
        memory = np.empty((2, len(x) + away), x.dtype)
        memory[:, away:] = x, y
        expect_same(want, fn(*memory[:, away:]), away)


@on_each_backend
@on_each_dtype
def test_matrices_and_orders_of_memory(table):
    dtype, _, x, y, want = table
    fn = program(dtype, "[n, m]")
    for shape in ((10, 100), (125, 8), (1000, 1), (1, 1000)):
        for order in "CF":
            square = [np.asarray(v.reshape(shape), order=order) for v in (x, y)]
            expect_same([r.reshape(shape) for r in want], fn(*square), (shape, order))


@on_each_backend
@on_each_dtype
def test_neighbours_in_a_loop(table, backend):
    dtype, _, x, y, want = table
    every = 8 if backend == "c" else 1  # each is a run of the C compiler
    for i, op in list(enumerate(UNARY))[::every]:
        alone = program(dtype, "[n]", [op], [])
        assert same(want[i], alone(x, y)), op
    for i, op in list(enumerate(BINARY))[::every]:
        alone = program(dtype, "[n]", [], [op])
        assert same(want[len(UNARY) + i], alone(x, y)), op


ROWS = """graph @main(%x: f64[n, m]) {
  %sum = reduce add %x [1] : f64
  %maximum = reduce max %x [1] : f64
  %g = reshape %maximum : f64[n, 1]
  %centred = sub %x, %g
  %e = exp %centred
  %total = reduce add %e [1] : f64
  %t = reshape %total : f64[n, 1]
  %softmax = div %e, %t
  return %sum, %softmax
}"""


@pytest.mark.parametrize("columns", [1, 3, 8, 17, 100])
def test_rows_of_a_batch(columns):
    fn = inlay.compile(ROWS)
    x = np.random.default_rng(3).normal(size=(33, columns)) * 3
    want = fn(x)
    for rows in (slice(0, 1), slice(7, 8), slice(5, 22), slice(None, None, -2)):
        for a, b in zip(want, fn(x[rows]), strict=True):
            assert same(a[rows], b), rows


def compiled(params, *lines):
    return inlay.compile("\n".join([f"graph @main({params}) {{", *lines, "}"]))


# One of each kind: sums of a tree, of columns, in one pass and by functions; products by BLAS, of one and of many.
OF_MATRICES = """graph @main(%x: f64[n, n], %b: f64[k, m, m]) {
  %total = reduce add %x [0, 1] : f64
  %rows = reduce add %x [1] : f64
  %columns = reduce add %x [0] : f64
  %variance = var %x
  %maximum = logsumexp %x
  %each = logsumexp %x, axes=[1]
  %product = matmul %x, %x
  %products = matmul %b, %b
  return %total, %rows, %columns, %variance, %maximum, %each, %product, %products
}"""


@on_each_backend
def test_sums_and_products_run_to_run_and_from_threads(backend):
    fn = inlay.compile(OF_MATRICES)
    rng = np.random.default_rng(8)
    x, b = rng.normal(size=(130, 130)), rng.normal(size=(5, 20, 20))
    want = fn(x, b)
    with ThreadPoolExecutor(8) as threads:
        for got in [fn(x, b), *threads.map(lambda _: fn(x, b), range(24))]:
            for i, (w, g) in enumerate(zip(want, got, strict=True)):
                assert same(w, g), i


# Around the ends of vectors, of quarters and of blocks.
LENGTHS = [1, 2, 7, 8, 9, 15, 17, 31, 33, 64, 100, 255, 257, 512, 519, 1000, 1025, 5003]
FUSED = ["", "-avx512f"]  # CPU features with fused multiply-add
UNFUSED = ["-avx2,-fma", "-sse3"]


@pytest.mark.parametrize("features", [*FUSED, *UNFUSED])
@on_each_dtype
def test_a_dot_product_in_any_layout(dtype, features, monkeypatch):
    monkeypatch.setenv("INLAY_CPU_FEATURES", features)
    dot = ["%p = mul %x, %y", f"%s = reduce add %p [0] : {dtype}", "return %s"]
    alone = compiled(f"%x: {dtype}[n], %y: {dtype}[n]", *dot)
    as_matmul = compiled(f"%x: {dtype}[n], %y: {dtype}[n]", "%s = matmul %x, %y", "return %s")
    of_rows = compiled(f"%x: {dtype}[m, n], %y: {dtype}[m, n]", *(line.replace("[0]", "[1]") for line in dot))
    of_columns = {k: compiled(f"%x: {dtype}[n, {k}], %y: {dtype}[n, {k}]", *dot) for k in (1, 3)}
    backwards = compiled(f"%x0: {dtype}[n], %y: {dtype}[n]", "%x = slice %x0[::-1]", *dot)
    strided = compiled(f"%x0: {dtype}[n], %y: {dtype}[m]", "%x = slice %x0[0:n:3]", *dot)
    for n in LENGTHS:
        x, y = np.random.default_rng(n).normal(size=(2, 3, n)).astype(DTYPES[dtype])
        want = np.array([alone(*rows) for rows in zip(x, y, strict=True)])
        assert same(want[0], as_matmul(x[0], y[0])), n
        assert same(want, of_rows(x, y)), n
        assert same(want[1:2], of_rows(x[1:2], y[1:2])), n
        assert same(want, of_rows(np.asfortranarray(x), y)), n
        for k, fn in of_columns.items():
            assert same(want[:k], fn(x[:k].T, y[:k].T)), n
        assert same(want[0], backwards(x[0][::-1].copy(), y[0])), n
        spread = np.zeros(3 * n - 2, DTYPES[dtype])
        spread[::3] = x[0]
        assert same(want[0], strided(spread, y[0])), n
        assert same(want[0], alone(spread[::3], y[0])), n


@on_each_dtype
def test_sums_on_other_cpus(dtype, monkeypatch):
    lines = [
        f"%sum = reduce add %x [0] : {dtype}",
        "%p = mul %x, %y",
        f"%dot = reduce add %p [0] : {dtype}",
        "%var = var %x",
        f"%columns = reduce add %m [0] : {dtype}",
        "%mm = mul %m, %m",
        f"%squares = reduce add %mm [0] : {dtype}",
    ]
    by_features = {}
    for features in [*FUSED, *UNFUSED]:
        monkeypatch.setenv("INLAY_CPU_FEATURES", features)
        params = f"%x: {dtype}[n], %y: {dtype}[n], %m: {dtype}[n, k]"
        by_features[features] = compiled(params, *lines, "return %sum, %columns, %dot, %var, %squares")
    for n in LENGTHS:
        rng = np.random.default_rng(n)
        x, y = rng.normal(size=(2, n)).astype(DTYPES[dtype])
        m = rng.normal(size=(n, 21)).astype(DTYPES[dtype])
        results = {features: fn(x, y, m) for features, fn in by_features.items()}
        want = results[""]
        for features, got in results.items():
            like = results[FUSED[0] if features in FUSED else UNFUSED[0]]
            for i in range(5):
                assert same(got[i], (want if i < 2 else like)[i]), (n, features, i)
            # Without fused multiply-add each product is rounded: half a unit more.
            scales = [np.abs(x * y).sum(), of_variance(x, want[3]), (m * m).sum(0)]
            for i, scale in enumerate(scales, 2):
                assert np.all(apart(want[i], got[i]) <= (0.5 + roundings(n)) * scale), (n, features, i)


@on_each_dtype
def test_sums_of_a_few_columns(dtype):
    total = [f"%s = reduce add %x [0] : {dtype}", "return %s"]
    alone = compiled(f"%x: {dtype}[n]", *total)
    for columns in (1, 2, 5, 16):
        fn = compiled(f"%x: {dtype}[n, {columns}]", *total)
        for n in LENGTHS:
            x = np.random.default_rng(n).normal(size=(n, columns)).astype(DTYPES[dtype])
            assert same([alone(column) for column in x.T], fn(x)), (n, columns)


def test_a_sum_in_f64_of_f32_numbers():
    wide = ["%w = cast %x : f64", "%s = reduce add %w [0] : f64"]
    alone = compiled("%x: f32[n]", *wide, "return %s")
    beside = compiled("%x: f32[n]", *wide, "%e = exp %x", "%u = reduce add %e [0] : f32", "return %s, %u, %e")
    rows = compiled("%x: f32[m, n]", "%w = cast %x : f64", "%s = reduce add %w [1] : f64", "return %s")
    of_f64 = compiled("%x: f64[n]", "%s = reduce add %x [0] : f64", "return %s")
    for n in LENGTHS:
        x = np.random.default_rng(n).normal(size=n).astype(np.float32)
        want = of_f64(x.astype(np.float64))
        assert same(want, alone(x)), n
        assert same(want, beside(x)[0]), n
        assert same(want, rows(np.stack([x, x]))[1]), n


def roundings(n):
    """How far apart two sums of n numbers may be, in units of the sum of their absolute values: that many additions of each,
    by a tree or by columns (docs/codegen.md, "Sums of floats"), lose half a unit at most."""
    return 1 + 8 + 8 + n / 64


def apart(a, b):
    return np.abs(np.float64(a) - np.float64(b)) / np.finfo(a.dtype).eps


def of_sum(x, _):
    return np.abs(x).sum()


def of_variance(_, variance):
    return 6 * variance  # six operations a point where a sum takes one (docs/fusion.md)


def of_log_sum_exp(_, log):
    return 2 + abs(log)  # a relative error of the sum, and one of each exponential, are absolute ones of the logarithm


def by(params, line, given=lambda x: x):
    return compiled(params, line, "return %s"), given


def of_parts(fn):
    return lambda x: fn(x[:1000], x[1000:])


# A vector's result in two orders: the programs, how each is given the vector, and what the errors are compared with.
SUM, VAR, LOG_SUM_EXP = "%s = reduce add %x [0] : f64", "%s = var %x", "%s = logsumexp %x"
F64_BESIDE = "%w = cast %x : f64\n%e = exp %w\n%u = reduce add %e [0] : f64\nreturn %s, %u"
IN_OTHER_ORDERS = {
    "a sum of more than 16 columns": lambda: (
        by("%x: f64[n]", SUM), by("%x: f64[n, 17]", SUM, lambda x: np.stack([x] * 17, 1)), of_sum),
    "a sum of as many columns as a call brings": lambda: (
        by("%x: f64[n]", SUM), by("%x: f64[n, m]", SUM, lambda x: x[:, None]), of_sum),
    "an f32 sum beside one in f64": lambda: (
        by("%x: f32[n]", "%s = reduce add %x [0] : f32", np.float32),
        (compiled("%x: f32[n]", "%s = reduce add %x [0] : f32", F64_BESIDE), np.float32),
        of_sum,
    ),
    "a sum of two parts": lambda: (
        by("%x: f64[n]", SUM),
        (of_parts(compiled("%a: f64[n], %b: f64[m]", "%x = concat 0 %a, %b", SUM + "\nreturn %s")), lambda x: x),
        of_sum,
    ),
    "a variance of a row": lambda: (
        by("%x: f64[n]", VAR), by("%x: f64[m, n]", "%s = var %x, axes=[1]", lambda x: x[None]), of_variance),
    "a variance of a column": lambda: (
        by("%x: f64[n]", VAR), by("%x: f64[n, m]", "%s = var %x, axes=[0]", lambda x: x[:, None]), of_variance),
    "a variance of a length known to be short": lambda: (by("%x: f64[n]", VAR), by("%x: f64[4095]", VAR), of_variance),
    "a log-sum-exp of a row": lambda: (
        by("%x: f64[n]", LOG_SUM_EXP), by("%x: f64[m, n]", "%s = logsumexp %x, axes=[1]", lambda x: x[None]), of_log_sum_exp),
    "a log-sum-exp of a length known to be short": lambda: (
        by("%x: f64[n]", LOG_SUM_EXP), by("%x: f64[4095]", LOG_SUM_EXP), of_log_sum_exp),
    "a log-sum-exp beside another output": lambda: (
        by("%x: f64[n]", LOG_SUM_EXP), (compiled("%x: f64[n]", LOG_SUM_EXP, "%e = exp %x\nreturn %s, %e"), lambda x: x),
        of_log_sum_exp,
    ),
}  # fmt: skip


def first_number(results):
    return np.ravel(results[0] if isinstance(results, list | tuple) else results)[0]


@pytest.mark.parametrize("name", IN_OTHER_ORDERS)
def test_other_orders_are_close(name):
    """And not the same bits: if they are, the page can say so."""
    one, other, scale = IN_OTHER_ORDERS[name]()
    differ = False
    for seed in range(50):
        x = np.random.default_rng(seed).normal(size=4095)
        a, b = (first_number(fn(given(x))) for fn, given in (one, other))
        assert apart(a, b) <= roundings(x.size) * scale(x, a), seed
        differ |= a != b
    assert differ or scale is of_log_sum_exp  # a logarithm hides nearly all: 4 of 100 differ


@pytest.mark.parametrize("line", [VAR, LOG_SUM_EXP])
def test_one_pass_from_4096_numbers_on(line):
    alone, known = compiled("%x: f64[n]", line, "return %s"), compiled("%x: f64[4096]", line, "return %s")
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=4096)
        assert same(alone(x), known(x)), seed


@on_each_dtype
def test_a_sum_beside_others_with_the_c_backend_is_close(dtype, monkeypatch):
    """Not the same bits with every C compiler: it may add in lanes, or in order."""
    monkeypatch.setenv("INLAY_BACKEND", "c")
    total = f"%s = reduce add %x [0] : {dtype}"
    alone = compiled(f"%x: {dtype}[n]", total, "return %s")
    beside = compiled(f"%x: {dtype}[n]", total, "%e = exp %x", f"%u = reduce add %e [0] : {dtype}", "return %s, %u")
    for n in LENGTHS:
        x = np.random.default_rng(n).normal(size=n).astype(DTYPES[dtype])
        # In order it loses n roundings, each half a unit.
        assert apart(alone(x), beside(x)[0]) <= n * np.abs(x).sum(), n


@on_each_dtype
@pytest.mark.parametrize("features", ["", "-avx512f", "-fma,-avx512f", "-avx2,-fma,-avx512f", "-sse3"])
def test_division_by_one_number_is_division(dtype, features, monkeypatch):
    monkeypatch.setenv("INLAY_CPU_FEATURES", features)
    fn = inlay.compile(f"graph @main(%x: {dtype}[n], %s: {dtype}) {{\n%q = div %x, %s\n%f = floor %q\nreturn %q, %f\n}}")
    real = DTYPES[dtype]
    rng = np.random.default_rng(5)
    whole = np.arange(-3000, 3000).astype(real)
    info = np.finfo(real)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, info.smallest_subnormal, 1, 49], real)
    x = np.concatenate([whole, edges, arguments(dtype, 2000)])
    divisors = [*edges, real(info.tiny) * real(0.7), real(info.max) * real(0.7), *arguments(dtype, 60), *rng.integers(2, 99, 20)]
    for s in np.array(divisors, real):
        with np.errstate(all="ignore"):
            want = x / s
            for a, b in zip((want, np.floor(want)), fn(x, np.array(s)), strict=True):
                assert same(a, b), s
            for x_alone in edges:  # other elements of a vector may hide what becomes of one
                assert same(fn(np.full(5, x_alone), np.array(s))[0], np.full(5, x_alone / s)), (x_alone, s)


def test_division_by_a_literal_is_division():
    fn = inlay.compile("graph @main(%x: f64[n]) {\n%s = literal 49.0 : f64\n%q = div %x, %s\nreturn %q\n}")
    x = np.arange(1e5)
    assert same(fn(x), x / 49.0)


def units_apart(a, b):
    with np.errstate(all="ignore"):
        return np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b) / np.spacing(np.maximum(np.abs(a), 2.0**-4)))


HAS_EIGHT_LANES = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() and "INLAY_CPU_FEATURES" not in os.environ


@pytest.mark.skipif(not HAS_EIGHT_LANES, reason="the CPU, or what is made of it, has no lanes of eight")
@on_each_dtype
def test_functions_of_eight_and_of_four_lanes(dtype, monkeypatch):
    x = arguments(dtype, 1000)
    wide = program(dtype, "[n]", UNARY, BINARY)(x, x[::-1].copy())
    monkeypatch.setenv("INLAY_CPU_FEATURES", "-avx512f")
    narrow = program(dtype, "[n]", UNARY, BINARY)(x, x[::-1].copy())
    expect_same(wide, narrow, dtype)


CONSTANTS = "exp log log1p sigmoid softplus tanh sin cos arctan erf erfc ndtr log_ndtr lgamma digamma sinh arcsinh cbrt".split()


@pytest.mark.parametrize("shape", ["", "[2]"])
@pytest.mark.parametrize("cpu", [None, "sse2"])
@on_each_dtype
def test_a_constant_is_the_number_of_an_argument(dtype, cpu, shape):
    x = arguments(dtype, 40)
    x = x[np.isfinite(x)][:16]
    if dtype == "f64":
        x = np.append(x, [0.3, 7.48, -1.3, 2.0])
    lines = [f"%c{i} = literal {float(v)!r} : {dtype}" for i, v in enumerate(x)]
    if shape:  # element by element: each number and its neighbour
        lines = [f"%c{i} = literal [{float(v)!r}, {float(v)!r}] : {dtype}[2]" for i, v in enumerate(x)]
    for op in CONSTANTS:
        body = [*lines, *(f"%y{i} = {op} %c{i}" for i in range(len(x)))]
        names = ", ".join(f"%y{i}" for i in range(len(x)))
        made = inlay.compile("graph @main() {\n" + "\n".join(body) + f"\nreturn {names}\n}}", backend="llvm", cpu=cpu)
        constants = np.array([np.ravel(y)[0] for y in made()], x.dtype)
        fn = inlay.compile(f"graph @main(%x: {dtype}[n]) {{\n%y = {op} %x\nreturn %y\n}}", backend="llvm", cpu=cpu)
        assert same(constants, fn(x)), op


@on_each_dtype
def test_trigamma_left_of_0_in_both_backends(dtype):
    text = f"graph @main(%x: {dtype}[n]) {{\n%y = trigamma %x\nreturn %y\n}}"
    x = np.concatenate([-np.random.default_rng(1).uniform(0, 30, 5001), [-1.0, -0.0, -1e-170, -np.inf, np.nan]]).astype(DTYPES[dtype])
    assert same(inlay.compile(text, backend="llvm")(x), inlay.compile(text, backend="c")(x))


def complex_results(dtype, backend, cpu):
    text = f"""graph @main(%x: {dtype}[n], %y: {dtype}[n]) {{
      %p = mul %x, %y
      %c = conj %x
      %norm = mul %c, %x
      %d = div %x, %y
      %r = reciprocal %x
      %s = square %x
      return %p, %norm, %d, %r, %s
    }}"""
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=20_001) + 1j * rng.normal(size=20_001) for _ in range(2))
    kind = np.complex128 if dtype == "c128" else np.complex64
    return [v.view(v.real.dtype) for v in inlay.compile(text, backend=backend, cpu=cpu)(x.astype(kind), y.astype(kind))]


@pytest.mark.parametrize("dtype", ["c128", "c64"])
def test_complex_products_and_quotients_on_every_cpu_and_in_both_backends(dtype):
    want = complex_results(dtype, "llvm", "sse2")
    assert not want[1][1::2].any()  # the imaginary part of a number times its conjugate
    for backend, cpu in [("llvm", None), ("c", None)]:
        for name, a, b in zip("mul norm div reciprocal square".split(), want, complex_results(dtype, backend, cpu), strict=True):
            assert same(a, b), (name, backend)


@pytest.mark.parametrize("name, value", [("INLAY_CPU_FEATURES", "-fma"), ("INLAY_BACKEND", "c")])
def test_other_levels_and_the_c_backend_are_close(name, value, monkeypatch):
    """Not the same bits: vectors and lanes have other code. No function is off by more than 5 units, so 10 between two."""
    usual = [op for op in UNARY if op not in ("gamma", "digamma", "lgamma")]  # roots left of 0
    x = arguments("f64", 1000)
    want = program("f64", "[n]", usual, [])(x, x)
    monkeypatch.setenv(name, value)
    for op, a, b in zip(usual, want, program("f64", "[n]", usual, [])(x, x), strict=True):
        assert units_apart(a, b).max() <= 10, op


@pytest.mark.parametrize("size, is_negative", [("2", True), ("8", True), ("n", False)])
def test_the_sign_of_a_sum_of_negative_zeros(size, is_negative):
    body = "%p = mul %x, %y\n%sum = reduce add %p [0] : f64\n%dot = matmul %x, %y\nreturn %sum, %dot"
    fn = inlay.compile(f"graph @main(%x: f64[{size}], %y: f64[{size}]) {{\n{body}\n}}")
    n = 2 if size == "n" else int(size)
    for total in fn(-np.ones(n), np.zeros(n)):
        assert total == 0
        assert np.signbit(total) == is_negative


def test_the_sign_of_a_product_of_negative_zeros_by_blas():
    fn = compiled("%a: f64[n, k], %b: f64[k, m]", "%c = matmul %a, %b", "return %c")
    assert same(fn(-np.ones((20, 20)), np.zeros((20, 20))), np.zeros((20, 20)))


def test_products_of_matrices_are_close():
    """Not the same bits: BLAS chooses its kernel by the sizes. A batch with one matrix is one product of all rows."""
    fn = compiled("%a: f64[n, k], %b: f64[k, m]", "%c = matmul %a, %b", "return %c")
    batch = compiled("%a: f64[l, n, k], %b: f64[k, m]", "%c = matmul %a, %b", "return %c")
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(64, 100)), rng.normal(size=(100, 50))
    together = fn(a, b)
    # On a term's way are its product and 99 additions at most, half a unit each; of both.
    allowed = 100 * np.finfo(float).eps * (np.abs(a) @ np.abs(b))
    for i in range(0, 64, 7):
        assert np.all(np.abs(fn(a[i : i + 1], b)[0] - together[i]) <= allowed[i])
    of_pairs = batch(a.reshape(32, 2, 100), b)
    for i in range(0, 32, 3):
        rows = slice(2 * i, 2 * i + 2)
        assert np.all(np.abs(of_pairs[i] - fn(a[rows], b)) <= allowed[rows])


def test_products_on_several_threads_of_blas():
    """The same bits for one number of them, whatever inlay's is; close for another, by which BLAS shares the work."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    fn = inlay.compile("graph @main(%x: f64[n, n]) {\n%p = matmul %x, %x\n%e = exp %p\nreturn %p, %e\n}", threads=2)
    x = np.random.default_rng(13).uniform(-0.1, 0.1, size=(700, 700))
    found = {}
    for blas in (1, 2):
        with threadpoolctl.threadpool_limits(blas, user_api="blas"):
            found[blas] = fn(x)
            for threads in (1, 2):
                assert all(map(same, fn(x, threads=threads), found[blas])), (blas, threads)
    # On a term's way are its product and 699 additions at most, half a unit each; of both.
    allowed = 700 * np.finfo(float).eps * (np.abs(x) @ np.abs(x))
    assert np.all(np.abs(found[1][0] - found[2][0]) <= allowed)


def test_a_matrix_by_rows_and_transposed_is_close():
    """Not the same bits: BLAS has a function for each."""
    by_rows = compiled("%a: f64[n, k], %x: f64[k]", "%y = matmul %a, %x", "return %y")
    transposed = compiled("%t: f64[k, n], %x: f64[k]", "%a = transpose %t [1, 0]", "%y = matmul %a, %x", "return %y")
    rng = np.random.default_rng(11)
    a, x = rng.normal(size=(300, 500)), rng.normal(size=500)
    # On a term's way are its product and 499 additions at most, half a unit each; of both.
    assert np.all(np.abs(by_rows(a, x) - transposed(a.T.copy(), x)) <= 500 * np.finfo(float).eps * (np.abs(a) @ np.abs(x)))


@pytest.mark.parametrize("elements", [20, 20000])
@on_each_dtype
def test_sums_by_indices_are_close(dtype, elements, monkeypatch):
    """Not the same bits: each machine keeps as many partial tables as suit it. On one they are, run to run."""
    rng = np.random.default_rng(12)
    x, at = rng.normal(size=20000).astype(DTYPES[dtype]), rng.integers(0, elements, 20000)
    sums, sizes = np.zeros(elements), np.zeros(elements)
    np.add.at(sums, at, x.astype(float))
    np.add.at(sizes, at, np.abs(x.astype(float)))
    # Each of the terms of an element is added once at most, with half a unit; what is rounded is no more than `sizes`.
    allowed = 0.5 * np.bincount(at, minlength=elements) * np.finfo(x.dtype).eps * sizes
    for setting, value in (("INLAY_BACKEND", "llvm"), *(("INLAY_CPU_FEATURES", f) for f in FUSED + UNFUSED), ("INLAY_BACKEND", "c")):
        monkeypatch.setenv(setting, value)
        fn = compiled(f"%z: {dtype}[m], %x: {dtype}[n], %i: i64[n]", "%y = scatter add %z[%i], %x", "return %y")
        got = fn(np.zeros(elements, x.dtype), x, at)
        assert np.all(np.abs(got - sums) <= allowed), (setting, value)
        assert same(got, fn(np.zeros(elements, x.dtype), x, at)), (setting, value)


@pytest.mark.parametrize("n, k, m", [(3, 3, 3), (16, 16, 16), (5, 50, 1)])
def test_products_of_known_sizes_are_close(n, k, m):
    """Not the same bits: a small one is a loop, which adds in an order of its own."""
    known = compiled(f"%a: f64[{n}, {k}], %b: f64[{k}, {m}]", "%c = matmul %a, %b", "return %c")
    brought = compiled("%a: f64[n, k], %b: f64[k, m]", "%c = matmul %a, %b", "return %c")
    rng = np.random.default_rng(10)
    a, b = rng.normal(size=(n, k)), rng.normal(size=(k, m))
    # On a term's way are its product and k - 1 additions at most, half a unit each; of both.
    assert np.all(np.abs(known(a, b) - brought(a, b)) <= k * np.finfo(float).eps * (np.abs(a) @ np.abs(b)))


@on_each_dtype
def test_members_of_a_batch_of_products(dtype):
    batch = compiled(f"%a: {dtype}[l, n, k], %b: {dtype}[l, k, m]", "%c = matmul %a, %b", "return %c")
    alone = compiled(f"%a: {dtype}[n, k], %b: {dtype}[k, m]", "%c = matmul %a, %b", "return %c")
    rng = np.random.default_rng(9)
    for n, k, m in ((2, 3, 4), (10, 100, 10), (1, 50, 1), (5, 50, 1), (1, 300, 300), (17, 100, 33)):
        a, b = rng.normal(size=(7, n, k)).astype(DTYPES[dtype]), rng.normal(size=(7, k, m)).astype(DTYPES[dtype])
        want = batch(a, b)
        for i in range(7):
            assert same(want[i], alone(a[i], b[i])), (n, k, m)
            assert same(want[i : i + 1], batch(a[i : i + 1], b[i : i + 1])), (n, k, m)


def test_a_product_may_leave_the_range_by_lanes():
    factors = np.tile([10.0, 0.1], 1000)
    assert np.isclose(np.prod(factors), 1)
    by_lanes = inlay.compile("graph @main(%x: f64[n]) {\n%r = reduce mul %x [0] : f64\nreturn %r\n}")(factors)
    assert np.isnan(by_lanes) or np.isclose(by_lanes, 1)
    by_logarithms = inlay.compile("graph @main(%x: f64[n]) {\n%l = log %x\n%r = reduce add %l [0] : f64\nreturn %r\n}")(factors)
    assert abs(by_logarithms) < 1e-12
