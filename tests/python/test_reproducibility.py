"""What docs/reproducibility.md says, line by line: which results are the same bits, and how far apart others may be."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import inlay

# Every function that has code for vectors, and some of those that are called for each lane.
UNARY = """exp exp2 expm1 log log2 log10 log1p log1mexp sigmoid softplus logit sin cos tan arcsin arccos arctan sinh cosh
tanh arcsinh arccosh arctanh cbrt sqrt erf erfc erfcx ndtr log_ndtr lgamma digamma gamma erfinv i0 reciprocal""".split()
BINARY = "pow arctan2 xlogy xlog1py logaddexp div mod".split()
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


@pytest.fixture(scope="module", params=DTYPES)
def table(request):
    dtype = request.param
    x, y = arguments(dtype, 1000, 1), arguments(dtype, 1000, 2)
    fn = program(dtype, "[n]")
    return dtype, fn, x, y, fn(x, y)


def test_run_to_run_and_from_threads(table):
    _, fn, x, y, want = table
    for _ in range(5):
        expect_same(want, fn(x, y), "again")
    with ThreadPoolExecutor(8) as threads:
        for got in threads.map(lambda _: fn(x, y), range(24)):
            expect_same(want, got, "from a thread")


def test_one_number_is_what_an_element_is(table):
    dtype, _, x, y, want = table
    one = program(dtype, "")
    for i in range(len(x)):
        expect_same([r[i] for r in want], one(x[i : i + 1].reshape(()), y[i : i + 1].reshape(())), (x[i], y[i]))


def test_lengths_and_places(table):
    _, fn, x, y, want = table
    for n in range(1, 18):
        for start in (0, 1, 5, 900):
            part = slice(start, start + n)
            expect_same([r[part] for r in want], fn(x[part], y[part]), (n, start))


def test_layouts(table):
    _, fn, x, y, want = table
    for step in (2, 3, -1, -2):
        expect_same([r[::step] for r in want], fn(x[::step], y[::step]), step)
    for away in (1, 3):  # elements past an address that vectors like
        memory = np.empty((2, len(x) + away), x.dtype)
        memory[:, away:] = x, y
        expect_same(want, fn(*memory[:, away:]), away)


def test_matrices_and_orders_of_memory(table):
    dtype, _, x, y, want = table
    fn = program(dtype, "[n, m]")
    for shape in ((10, 100), (125, 8), (1000, 1), (1, 1000)):
        for order in "CF":
            square = [np.asarray(v.reshape(shape), order=order) for v in (x, y)]
            expect_same([r.reshape(shape) for r in want], fn(*square), (shape, order))


def test_neighbours_in_a_loop(table):
    dtype, _, x, y, want = table
    for i, op in enumerate(UNARY):
        alone = program(dtype, "[n]", [op], [])
        assert same(want[i], alone(x, y)), op
    for i, op in enumerate(BINARY):
        alone = program(dtype, "[n]", [], [op])
        assert same(want[len(UNARY) + i], alone(x, y)), op


ROWS = """graph @main(%x: f64[n, m]) {
  %sum = reduce add %x [1] : f64
  %greatest = reduce max %x [1] : f64
  %g = reshape %greatest : f64[n, 1]
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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("features", ["", "-avx512f", "-fma,-avx512f", "-avx2,-fma,-avx512f"])
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


@pytest.mark.parametrize("name, value", [("INLAY_CPU_FEATURES", "-avx512f"), ("INLAY_BACKEND", "c")])
def test_other_levels_and_the_c_backend_are_close(name, value, monkeypatch):
    """Not the same bits: vectors and lanes have other code. No function is off by more than 5 units, so 10 between two."""
    usual = [op for op in UNARY if op not in ("gamma", "digamma", "lgamma", "erfinv")]  # roots left of 0; 11 units
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


def test_products_of_matrices_are_close():
    """Not the same bits: BLAS chooses its kernel by the sizes."""
    fn = inlay.compile("graph @main(%a: f64[n, k], %b: f64[k, m]) {\n%c = matmul %a, %b\nreturn %c\n}")
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(64, 100)), rng.normal(size=(100, 50))
    together = fn(a, b)
    scale = np.abs(a) @ np.abs(b)
    for i in range(0, 64, 7):
        assert np.all(np.abs(fn(a[i : i + 1], b)[0] - together[i]) <= 100 * np.finfo(float).eps * scale[i])


def test_a_product_may_leave_the_range_by_lanes():
    factors = np.tile([10.0, 0.1], 1000)
    assert np.isclose(np.prod(factors), 1)
    by_lanes = inlay.compile("graph @main(%x: f64[n]) {\n%r = reduce mul %x [0] : f64\nreturn %r\n}")(factors)
    assert np.isnan(by_lanes) or np.isclose(by_lanes, 1)
    by_logarithms = inlay.compile("graph @main(%x: f64[n]) {\n%l = log %x\n%r = reduce add %l [0] : f64\nreturn %r\n}")(factors)
    assert abs(by_logarithms) < 1e-12
