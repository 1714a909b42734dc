"""Every row of inlay's table of scalar ops: values, derivatives, dtypes and names. A row without one of them fails."""

import itertools
import math

import accuracy
import inlay
import mpmath as mp
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.special
from accuracy import FEATURES, OPS, native
from conftest import host_calls
from scalar_table import TABLE
from versions import OLD_PYTENSOR, OLD_SCIPY

DTYPES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f32": "float32", "f64": "float64",
}  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.0, 3.0, 5e-324, -5e-324, 1e300, -1e300, np.inf, -np.inf, np.nan]


def grid(values, arity):
    return [g.ravel() for g in np.meshgrid(*[values] * arity)]


def peer(name):
    """The function of the same meaning in NumPy or SciPy."""
    row = TABLE[name]
    return getattr(np, row.numpy) if row.numpy else getattr(scipy.special, row.scipy) if row.scipy else None


def test_every_op_is_in_both_tables():
    assert set(TABLE) == set(OPS)


@pytest.mark.parametrize("name", TABLE)
def test_every_op_has_native_code(name):
    dtypes = OPS[name]["dtypes"]
    assert dtypes
    if "f64" in dtypes:
        assert OPS[name]["f64"] in ("vector", "per lane")


# Values.

ROUNDING = [(name, samples) for name, row in TABLE.items() for samples in row.ranges]


@pytest.fixture(scope="module")
def documented():
    return accuracy.documented()


def test_the_page_has_a_row_for_each_op_that_rounds(documented):
    assert set(documented) == {accuracy.key(name, samples) for name, samples in ROUNDING}
    for begin, (vector, _) in documented.items():
        loop = OPS[begin.split("|")[1].strip()]["f64"]
        assert (vector is not None) == (loop == "vector"), begin


@pytest.mark.parametrize("how", FEATURES)
@pytest.mark.parametrize(("name", "samples"), ROUNDING, ids=[accuracy.key(*row) for row in ROUNDING])
def test_errors_are_what_the_page_says(name, samples, how, documented):
    if how != "vector" and OPS[name]["f64"] != "vector":
        return  # the same function for every lane
    vector, lane = documented[accuracy.key(name, samples)]
    bound = lane if vector is None else vector
    # Another machine's C library rounds a little differently.
    error = accuracy.largest_error(name, samples, 6 if TABLE[name].slow else 60, FEATURES[how])
    assert error <= 1.2 * bound + 1


TINY = 1e-300


def not_small(x):
    return ~(np.isfinite(x) & (abs(x) < 1e9) & ((abs(x) > TINY) | (x == 0)))


# Where inlay's value is not that of NumPy or SciPy, and why.
DIFFERENT = {
    "i0": (lambda x: np.isinf(x), "SciPy has nan at infinity, where the limit is infinite"),
    "i1": (lambda x: np.isinf(x) | (x == 0), "as i0; and SciPy loses the sign of zero"),
    "j0": (
        lambda x: np.isinf(x) | OLD_SCIPY & (abs(x) > 1e15),
        "SciPy has nan at infinity, where the limit is 0; older SciPy loses the phase",
    ),
    "j1": (lambda x: np.isinf(x) | OLD_SCIPY & (abs(x) > 1e15), "as j0"),
    "erfinv": (lambda x: x == 0, "SciPy loses the sign of zero"),
    "erfcinv": (lambda x: (x == 1) | (abs(x) < TINY), "SciPy has -0.0 at 1, and overflows early"),
    "ndtri": (lambda x: x == 0.5, "the sign of zero"),
    "gamma": (lambda x: np.isinf(x) | (x < -1e9), "SciPy's sign at huge negative numbers"),
    "lgamma": (lambda x: (x == -np.inf) | (abs(x) < TINY) & (x != 0), "SciPy has -inf at -inf, and overflows early"),
    "digamma": (lambda x: x == -np.inf, "there is no limit"),
    "polygamma": (lambda n, x: (n > 100) | ~np.isfinite(x) | (abs(n) < TINY), "large orders; SciPy takes 5e-324 for 0"),
    "beta": (lambda a, b: not_small(a) | not_small(b) | (a <= 0) & (b <= 0), "SciPy lets inf win over nan"),
    "lbeta": (lambda a, b: not_small(a) | not_small(b) | (a <= 0) & (b <= 0), "as beta"),
    "owens_t": (lambda h, a: a == 0, "SciPy loses the sign of zero"),
    "ndtri_exp": (lambda y: y == -5e-324, "SciPy rounds e^y to a double between"),
    "gammaincinv": (lambda a, p: not_small(a) | (a == 0) | not_small(p), "SciPy takes tiny numbers for 0"),
    "gammainccinv": (lambda a, p: not_small(a) | (a == 0) | not_small(p), "as gammaincinv"),
    "betaincinv": (lambda a, b, p: not_small(a) | not_small(b) | not_small(p), "SciPy's Boost is another version"),
    "hyp2f1": (
        lambda a, b, c, z: ~np.isfinite(a + b + c + z) | (c == -1) | (a == 0.5) & (b == 0.5) & (c == -2.5) & (z == 0.5),
        "SciPy has other values for the infinite, and for poles of the parameters that cancel; the last is a root",
    ),
    "jv": (lambda v, x: not_small(v) | not_small(x), "SciPy has nan at infinity, where the limit is 0"),
    "ive": (lambda v, x: not_small(v) | not_small(x), "as jv"),
    "kve": (lambda v, x: not_small(v) | not_small(x) | np.isnan(v), "as jv; SciPy has inf at 0 for nan"),
    "gammainc": (lambda a, x: (a > 0) & (a < TINY), "SciPy underflows"),
    "gammaincc": (lambda a, x: (a > 0) & (a < TINY), "SciPy underflows"),
}


def agree(got, want):
    """Zeros with their sign, infinities and nan exactly; the rest to the digits that SciPy has."""
    if want.dtype.kind != "f":
        return got == want
    if np.isnan(want) or np.isnan(got):
        return np.isnan(want) and np.isnan(got)
    if want == 0 or np.isinf(want):
        return got == want and np.signbit(got) == np.signbit(want)
    return abs(got - want) <= 1e-11 * abs(want) + 1e-300


@pytest.mark.parametrize("how", FEATURES)
@pytest.mark.parametrize("name", [name for name in TABLE if "f64" in OPS[name]["dtypes"] and peer(name) is not None])
def test_special_values_are_those_of_numpy_and_scipy(name, how):
    fewer = SPECIAL[:6] + SPECIAL[-3:]
    values = grid({1: SPECIAL, 2: SPECIAL, 3: fewer, 4: fewer[2:]}[OPS[name]["arity"]], OPS[name]["arity"])
    if name == "select":
        values[0] = values[0] > 0
    got = native(name, features=FEATURES[how])(*values)
    with np.errstate(all="ignore"):
        want = peer(name)(*values)
    assert got.dtype == want.dtype
    elsewhere = DIFFERENT.get(name, (lambda *x: np.zeros(x[0].shape, bool), ""))[0](*values)
    for *arguments, g, w, skip in zip(*values, got, want, elsewhere, strict=True):
        if skip:
            continue
        assert agree(g, w), f"{name}{tuple(map(float, arguments))} is {g}, not {w}"


def nasty(dtype):
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("f"):
        return np.array([0.0, -0.0, 1, -1.5, 2.5, -3.5, 0.1, 1e-40, 3e38, np.inf, -np.inf, np.nan], DTYPES[dtype])
    info = np.iinfo(DTYPES[dtype])
    values = {info.min, info.min + 1, 0, 1, 2, 3, 7, 8, 31, 63, 64, info.max - 1, info.max}
    values |= {-1, -2, -7} if info.min < 0 else set()
    return np.array([v for v in sorted(values) if info.min <= v <= info.max], DTYPES[dtype])


EXACT = [name for name, row in TABLE.items() if not row.ranges and peer(name) is not None]


@pytest.mark.parametrize("name", EXACT)
def test_ops_that_round_at_most_once_equal_numpys(name):
    for dtype, how in itertools.product(OPS[name]["dtypes"], FEATURES):
        if dtype not in DTYPES:
            continue
        values = grid(nasty(dtype), OPS[name]["arity"])
        if name == "select":
            values[0] = values[0] != 0
        got = native(name, dtype, FEATURES[how])(*values)
        with np.errstate(all="ignore"):
            want = peer(name)(*values)
        np.testing.assert_array_equal(got, want, err_msg=f"{name} {dtype}")
        if want.dtype.kind == "f":
            ordered = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got)[ordered], np.signbit(want)[ordered], f"{name} {dtype}")


@pytest.mark.parametrize("name", TABLE)
def test_float32_is_float64_rounded(name):
    if not {"f32", "f64"} <= set(OPS[name]["dtypes"]) or not TABLE[name].ranges:
        return
    with np.errstate(all="ignore"):
        values = [s.draw(50, 7).astype("float32") for s in TABLE[name].ranges[0]]
        wide = native(name)(*(x.astype("float64") for x in values)).astype("float32")
    np.testing.assert_allclose(native(name, "f32")(*values), wide, rtol=3e-7)


# Dtypes.


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.numpy])
def test_the_dtype_of_the_result_is_numpys(name):
    for dtype in OPS[name]["dtypes"]:
        if dtype not in DTYPES:
            continue
        operands = [np.ones(2, DTYPES[dtype])] * OPS[name]["arity"]
        if name == "select":
            operands[0] = operands[0] != 0
        with np.errstate(all="ignore"):
            want = peer(name)(*operands).dtype
        assert native(name, dtype)(*operands).dtype == want, dtype


# Derivatives.


def parse(text):
    """"mul(2, a)" -> ("mul", ["2", "a"])"""
    if "(" not in text:
        return text
    head, rest = text.split("(", 1)
    parts, depth, begin = [], 0, 0
    inside = rest[:-1]
    for i, c in enumerate(inside + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(inside[begin:i].strip())
            begin = i + 1
    return head, [parse(part) for part in parts]


def program(name, expression):
    """The graph whose result is the derivative, in inlay's text form."""
    lines = []

    def emit(e):
        if isinstance(e, tuple):
            statement = f"{e[0]} " + ", ".join([emit(operand) for operand in e[1]])
        elif e in "abcdr":
            return f"%{e}"
        else:
            statement = f"literal {e if '.' in e else e + '.0'} : f64"
        lines.append(f"  %t{len(lines)} = {statement}")
        return f"%t{len(lines) - 1}"

    operands = "abcd"[: OPS[name]["arity"]]
    result = emit(parse(expression))
    dtypes = {x: "bool" if name == "select" and x == "a" else "f64" for x in operands}
    params = ", ".join(f"%{x}: {dtype}[n]" for x, dtype in dtypes.items())
    op = f"  %r = {name} " + ", ".join(f"%{x}" for x in operands)
    last = [f"  %out = broadcast {result} : f64[n]", "  return %out"]
    return "\n".join([f"graph @main({params}) {{", op, *lines, *last, "}"])


DERIVATIVES = [(name, i) for name, row in OPS.items() for i in range(row["arity"])]


@pytest.mark.parametrize(("name", "operand"), DERIVATIVES)
def test_derivatives_are_those_that_mpmath_finds(name, operand):
    text = OPS[name]["derivatives"][operand]
    if text is None:
        assert OPS[name]["no_derivative"][operand]
        return
    samples = TABLE[name].ranges[0] if TABLE[name].ranges else None
    count = 3 if TABLE[name].slow else 12
    seeds = range(OPS[name]["arity"])
    if samples:
        values = [s.draw(count, 11 + i) for s, i in zip(samples, seeds, strict=True)]
    else:
        values = [np.random.default_rng(11 + i).uniform(-4, 4, count) for i in seeds]
    if name == "select":
        values[0] = values[0] > 0
    got = inlay.compile(program(name, text))(*values)
    for *arguments, g in zip(*(x.tolist() for x in values), got, strict=True):

        def along(t, arguments=arguments):
            return TABLE[name].exact(*(t if i == operand else x for i, x in enumerate(map(mp.mpf, arguments))))

        exact = mp.re(mp.diff(along, mp.mpf(arguments[operand])))
        assert math.isclose(g, float(exact), rel_tol=1e-9, abs_tol=1e-11), f"{text} at {arguments} is {g}, not {exact}"


# Names.


@pytest.mark.parametrize("name", TABLE)
def test_pytensors_op_of_that_name_is_native(name):
    theirs = TABLE[name].pytensor
    if not theirs:
        assert name == "clip" or not hasattr(pt, name)
        return
    if OLD_PYTENSOR and not hasattr(pt, theirs):
        pytest.skip(f"it has no {theirs}")
    row = OPS[name]
    dtype = "float64" if "f64" in row["dtypes"] else "int64"
    operands = [pt.vector(f"x{i}", dtype=dtype) for i in range(row["arity"])]
    if name == "polygamma":
        operands[0] = pt.lvector("n")
    fn = pytensor.function(operands, getattr(pt, theirs)(*operands), mode="INLAY")
    assert host_calls(fn) == {}
