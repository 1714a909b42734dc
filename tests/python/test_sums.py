"""Sums: no worse than NumPy's, and the same number wherever a sum stands."""

import math

import inlay
import numpy as np
import pytest
from scipy.special import logsumexp

BACKENDS = {
    "llvm": {},
    "narrow": {"INLAY_CPU_FEATURES": "-avx512f"},
    "c": {"INLAY_BACKEND": "c"},
}
NATIVE = ["llvm", "narrow"]  # how a C compiler puts lanes together is its own
DTYPES = {"f64": np.float64, "f32": np.float32}
LONG_FLOAT = np.longdouble  # 64 binary digits: what it loses in 1e7 additions is no part of an f64's rounding


@pytest.fixture
def backend(request, monkeypatch):
    for name, value in BACKENDS[request.param].items():
        monkeypatch.setenv(name, value)


on_each_backend = pytest.mark.parametrize("backend", BACKENDS, indirect=True)
on_each_native = pytest.mark.parametrize("backend", NATIVE, indirect=True)


def equal(n, rng):
    return np.full(n, 0.1)


def one_large_first(n, rng):
    return np.concatenate([[1e16], np.ones(n - 1)])


def alternating(n, rng):
    return np.where(np.arange(n) % 2, -0.1, 0.1) + np.where(np.arange(n) == 0, 0.2, 0)


def offset(n, rng):
    return 1e8 + rng.normal(size=n)


def lognormal(n, rng):
    return rng.lognormal(0, 3, n)


def cauchy(n, rng):
    return rng.standard_cauchy(n)


def error(got, x):
    """In roundings of the sum of absolute values: what a sum can lose does not depend on what cancels."""
    exact = x.astype(LONG_FLOAT)
    return float(abs(got - exact.sum()) / abs(exact).sum()) / np.finfo(x.dtype).eps


def check_error(got, x):
    # NumPy adds 128 numbers in another order: what is exact there by luck may be a rounding or two here.
    floor = 2
    assert error(got, x) <= 2 * error(np.sum(x), x) + floor


def compiled(t, params, *lines):
    """Of a program of which `T` is the dtype."""
    return inlay.compile("\n".join([f"graph @main({params}) {{", *lines, "}"]).replace("T", t))


SUM = "%s = reduce add %x [0] : T"
VAR = "%s = var %x, axes=[0]"


def sum_of(t):
    return compiled(t, "%x: T[n]", SUM, "return %s")


@on_each_backend
@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("make", [equal, one_large_first, alternating, offset, lognormal, cauchy])
def test_is_no_worse_than_numpy(backend, t, make):
    f, rows = sum_of(t), compiled(t, "%x: T[2, n]", "%s = reduce add %x [1] : T", "return %s")
    for n in (1_000, 10_000, 100_000, 1_000_000, 10_000_000):
        x = make(n, np.random.default_rng(n)).astype(DTYPES[t])
        check_error(f(x), x)
        for got, row in zip(rows(x.reshape(2, -1)), x.reshape(2, -1), strict=True):
            check_error(got, row)


@on_each_backend
def test_equal_numbers(backend):
    x = np.full(10_000_000, 0.1)
    assert abs(float(sum_of("f64")(x)) / math.fsum(x) - 1) <= 1e-15
    x = np.full(1_000_000, 0.1, np.float32)
    assert abs(float(sum_of("f32")(x)) / math.fsum(x.astype(np.float64)) - 1) <= 5e-7


@on_each_backend
@pytest.mark.parametrize("t", DTYPES)
def test_what_is_made_of_sums(backend, t):
    squares = ["%xx = mul %x, %x", "%q = reduce add %xx [0] : T", "%norm = sqrt %q"]
    f = compiled(t, "%x: T[n]", *squares, "%mean = mean %x", "return %norm, %mean")
    eps = np.finfo(DTYPES[t]).eps
    for n in (1_000, 100_000, 1_000_000):
        x = np.full(n, 0.1, DTYPES[t])
        norm, mean = f(x)
        exact = x.astype(np.float64)
        assert abs(float(norm) / math.sqrt(math.fsum(exact * exact)) - 1) <= 3 * eps
        assert abs(float(mean) / exact[0] - 1) <= 3 * eps


PRODUCT = "%p = mul %x, %y"

def maximum_exponential(x):
    maximum = LONG_FLOAT(x.max())
    return maximum + np.log(np.exp(x - maximum).sum()), abs(maximum) + 1


# Of x and y: the program, NumPy's or SciPy's, and of long floats the exact value and what the error is compared with.
MADE_OF_SUMS = {
    "norm": (
        ["%xx = mul %x, %x", "%q = reduce add %xx [0] : T", "%s = sqrt %q"],
        lambda x, y: np.linalg.norm(x),
        lambda x, y: (np.sqrt((x * x).sum()), np.sqrt((x * x).sum())),
    ),
    "dot": ([PRODUCT, "%s = reduce add %p [0] : T"], np.dot, lambda x, y: ((x * y).sum(), abs(x * y).sum())),
    "mean": (["%s = mean %x"], lambda x, y: np.mean(x), lambda x, y: (x.mean(), abs(x).mean())),
    "var": (["%s = var %x"], lambda x, y: np.var(x), lambda x, y: (x.var(), x.var())),
    "logsumexp": (["%s = logsumexp %x"], lambda x, y: logsumexp(x), lambda x, y: maximum_exponential(x)),
}


@on_each_backend
@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("name", MADE_OF_SUMS)
def test_what_is_made_of_sums_is_no_worse_than_numpy(backend, t, name):
    lines, theirs, exactly = MADE_OF_SUMS[name]
    f = compiled(t, "%x: T[n], %y: T[n]", *lines, "return %s")
    for make in (one_large_first, alternating, offset, lognormal, cauchy):
        for n in (1_000, 30_000, 300_000, 1_000_000):
            rng = np.random.default_rng(n)
            x = make(n, rng).astype(DTYPES[t])
            y = rng.permutation(x)
            exact, scale = exactly(x.astype(LONG_FLOAT), y.astype(LONG_FLOAT))
            if not scale:
                continue  # the 1 is lost beside the 1e16 before anything is summed
            roundings = [float(abs(s - exact) / scale) / np.finfo(x.dtype).eps for s in (f(x, y), theirs(x, y))]
            assert roundings[0] <= 2 * roundings[1] + 2, (make, n)


@on_each_backend
@pytest.mark.parametrize("t", DTYPES)
def test_products_round_once_a_factor(backend, t):
    """Up or down by chance, in whatever order: half a unit each at most, so they add up to some 0.3 sqrt(n)."""
    f = compiled(t, "%x: T[n]", "%s = reduce mul %x [0] : T", "return %s")
    for n in (1_000, 100_000, 1_000_000):
        # The product is as large as e^20 or e^-20 on the way: next to 1, where the spacing changes, chance is not even.
        x = np.exp(np.random.default_rng(n).normal(0, 20 / math.sqrt(n), n)).astype(DTYPES[t])
        exact = x.astype(LONG_FLOAT).prod()
        assert abs(f(x) - exact) / abs(exact) / np.finfo(x.dtype).eps <= 1.5 * math.sqrt(n), n


@on_each_backend
@pytest.mark.parametrize("t", DTYPES)
def test_columns_are_no_worse_than_numpy(backend, t):
    f = compiled(t, "%x: T[n, 3]", SUM, "return %s")
    for make in (equal, one_large_first, alternating, offset, lognormal, cauchy):
        x = make(30_000, np.random.default_rng(3)).astype(DTYPES[t])
        columns = np.stack([x, x[::-1], -x], 1)
        for got, want, column in zip(f(columns), np.sum(columns, 0), columns.T, strict=True):
            # With C both add row to row; where inlay passes several rows at a time, in another order.
            assert error(got, column) <= 2 * error(want, column) + 2


@on_each_native
@pytest.mark.parametrize("t", DTYPES)
def test_columns_lose_little(backend, t):
    """The 8 rows of a group, the 8 groups of a block, and the blocks are added one after the other."""
    f = compiled(t, "%x: T[n, k]", SUM, "return %s")
    for columns in (3, 50):
        n = 100_000
        x = np.full((n, columns), 0.1, DTYPES[t])
        for s in f(x):
            assert error(s, x[:, 0]) <= (8 + 8 + n / 64) / 2  # half a rounding each at most


@on_each_native
@pytest.mark.parametrize("t", DTYPES)
def test_columns_are_the_same_bits_beside_others_and_among_any(backend, t):
    alone = compiled(t, "%x: T[n, k]", SUM, "return %s")
    beside = compiled(
        t, "%x: T[n, k]", SUM, "%e = exp %x", "%m = reduce max %x [0] : T", "return %s, %e, %m")
    rng = np.random.default_rng(7)
    for n in (2, 15, 16, 17, 63, 64, 65, 1000):
        x = rng.normal(size=(n, 70)).astype(DTYPES[t])
        want = alone(x)
        assert beside(x)[0].tobytes() == want.tobytes(), n
        for columns in (2, 7, 31, 69):
            assert alone(np.ascontiguousarray(x[:, :columns])).tobytes() == want[:columns].tobytes(), (n, columns)


LENGTHS = [*range(1, 70), 95, 96, 100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 543, 544, 545, 919]
LENGTHS += [1023, 1024, 1025, 2047, 2048, 2049, 5003, 99_999]
LONG = [524_287, 524_288, 1_048_576, 1_048_579, 1_050_624]  # whose pages are passed side by side

# A loop that has other outputs, of another number of sums and statements, or that runs in order.
NEIGHBOURS = {
    "an expensive function": ["%e = exp %x", "%u = reduce add %e [0] : T", "return %s, %u"],
    "an extreme": ["%m = reduce max %x [0] : T", "return %s, %m"],
    "several sums": [
        "%q = mul %x, %x",
        "%u = reduce add %q [0] : T",
        "%a = add %q, %x",
        "%v = reduce add %a [0] : T",
        "%m = reduce max %x [0] : T",
        "return %s, %u, %v, %m",
    ],
    "a vector": ["%e = add %x, %x", "return %s, %e"],
    "a running sum": ["%c = cumulative add %x [0] : T", "return %s, %c"],
}


on_each_fold = pytest.mark.parametrize("of", [SUM, VAR], ids=["sum", "variance"])


@on_each_native
@on_each_fold
@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_same_bits_beside_others(backend, t, of, neighbour):
    alone = compiled(t, "%x: T[n]", of, "return %s")
    beside = compiled(t, "%x: T[n]", of, *NEIGHBOURS[neighbour])
    rng = np.random.default_rng(1)
    for n in LENGTHS + LONG:
        x = rng.normal(size=n).astype(DTYPES[t])
        assert beside(x)[0].tobytes() == alone(x).tobytes(), n


@on_each_native
@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("neighbour", [None, *NEIGHBOURS])
def test_same_bits_of_known_lengths(backend, t, neighbour):
    alone = sum_of(t)
    rng = np.random.default_rng(6)
    for n in (1, 7, 8, 31, 33, 64, 100, 128, 255, 300, 511, 512, 513, 519, 520, 521, 1023, 1024, 1039, 1040, 2100):
        known = compiled(t, f"%x: T[{n}]", SUM, *NEIGHBOURS.get(neighbour, ["return %s"]))
        x = rng.normal(size=n).astype(DTYPES[t])
        got = known(x)
        assert (got[0] if neighbour else got).tobytes() == alone(x).tobytes(), n


@on_each_native
@pytest.mark.parametrize("t", DTYPES)
def test_same_bits_whatever_reads_the_product(backend, t):
    params, dot = "%x: T[n], %y: T[n]", ["%p = mul %x, %y", "%s = reduce add %p [0] : T"]
    alone, beside = compiled(t, params, *dot, "return %s"), compiled(t, params, *dot, "return %s, %p")
    rng = np.random.default_rng(2)
    for n in LENGTHS:
        x, y = rng.normal(size=(2, n)).astype(DTYPES[t])
        assert beside(x, y)[0].tobytes() == alone(x, y).tobytes(), n


@on_each_native
@pytest.mark.parametrize("t", DTYPES)
def test_same_bits_as_rows(backend, t):
    alone = sum_of(t)
    rows = compiled(t, "%x: T[m, n]", "%s = reduce add %x [1] : T", "return %s")
    rng = np.random.default_rng(3)
    for n in LENGTHS:
        x = rng.normal(size=(7, n)).astype(DTYPES[t])  # short ones go by four
        want = [alone(row).tobytes() for row in x]
        assert [s.tobytes() for s in rows(x)] == want, n
        assert rows(x[1:2])[0].tobytes() == want[1], n


@on_each_native
@pytest.mark.parametrize("t", DTYPES)
def test_same_bits_in_any_layout(backend, t):
    alone = sum_of(t)
    one = compiled(t, "%x: T[n, 1]", SUM, "return %s")
    turned = compiled(t, "%x: T[n]", "%y = slice %x[::-1]", "%s = reduce add %y [0] : T", "return %s")
    every_third = compiled(t, "%x: T[n]", "%y = slice %x[0:n:3]", "%s = reduce add %y [0] : T", "return %s")
    rng = np.random.default_rng(4)
    for n in LENGTHS:
        x = rng.normal(size=n).astype(DTYPES[t])
        want = alone(x).tobytes()
        assert one(x[:, None])[0].tobytes() == want, n
        assert turned(x[::-1].copy()).tobytes() == want, n
        spread = np.zeros(3 * n - 2, DTYPES[t])
        spread[::3] = x
        assert every_third(spread).tobytes() == want, n


@on_each_fold
@pytest.mark.parametrize("t", DTYPES)
def test_same_bits_in_narrower_vectors(monkeypatch, t, of):
    """Where both multiply and add with one rounding, as a variance does."""
    monkeypatch.setenv("INLAY_CPU_FEATURES", "")
    wide = compiled(t, "%x: T[n]", of, "return %s")
    monkeypatch.setenv("INLAY_CPU_FEATURES", "-avx512f")
    narrow = compiled(t, "%x: T[n]", of, "return %s")
    rng = np.random.default_rng(5)
    for n in LENGTHS + LONG:
        x = rng.normal(size=n).astype(DTYPES[t])
        assert narrow(x).tobytes() == wide(x).tobytes(), n


@pytest.mark.parametrize("t", DTYPES)
def test_columns_are_the_same_bits_in_narrower_vectors(monkeypatch, t):
    params, lines = "%x: T[n, k]", ["%p = mul %x, %x", "%s = reduce add %p [0] : T", "return %s"]
    monkeypatch.setenv("INLAY_CPU_FEATURES", "")
    wide = compiled(t, params, *lines)
    monkeypatch.setenv("INLAY_CPU_FEATURES", "-avx512f")
    narrow = compiled(t, params, *lines)
    rng = np.random.default_rng(8)
    for n, k in ((2, 100), (17, 5), (64, 33), (1000, 71)):
        x = rng.normal(size=(n, k)).astype(DTYPES[t])
        assert narrow(x).tobytes() == wide(x).tobytes(), (n, k)
