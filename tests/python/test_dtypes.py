"""How dtypes meet, wrap, divide and convert: NumPy's rules, in every width."""

import itertools

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
import pytest
from inlay import _inlay
from inlay.pytensor.translate.dtypes import INLAY_NAMES

SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float16", "float32", "float64"]


@pytest.mark.parametrize("a,b", itertools.product(INLAY_NAMES, repeat=2))
def test_promotion_is_that_of_numpy_and_pytensor(a, b):
    both = _inlay.promote(INLAY_NAMES[a], INLAY_NAMES[b])
    assert both == INLAY_NAMES[np.result_type(a, b).name]
    assert both == INLAY_NAMES[ps.upcast(a, b)]


def nasty(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    some = [low, low + 1, 0, 1, 2, 3, 7, high // 2, high - 1, high]
    return np.array(some + ([-1, -2, -3, -7] if low else []), dtype)


def pairs(dtype):
    return [g.ravel() for g in np.meshgrid(nasty(dtype), nasty(dtype))]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype, check):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    check([x, y], [x + y, x - y, x * y, -x, abs(x), pt.sqr(x), pt.sign(x)], *pairs(dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_follows_the_divisor_and_never_traps(dtype, check):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    check([x, y], [x // y, x % y], *pairs(dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_and_order(dtype, check):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    outputs = [x & y, x | y, x ^ y, ~x, pt.maximum(x, y), pt.minimum(x, y), x < y, x >= y, pt.eq(x, y)]
    check([x, y], outputs, *pairs(dtype))


@pytest.mark.parametrize("signed", SIGNED)
@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "neq"])
def test_uint64_against_signed_integers_is_exact(name, signed, check):
    x, y = pt.vector("x", dtype="uint64"), pt.vector("y", dtype=signed)
    a, b = (g.ravel() for g in np.meshgrid(nasty("uint64"), nasty(signed)))
    op = getattr(pt, name)
    check([x, y], [op(x, y), op(y, x), op(x, 0), op(x, -1)], a, b)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_reductions_of_integers(dtype, check):
    x = pt.vector("x", dtype=dtype)
    check([x], [x.sum(), x.prod(), x.max(), x.mean(), x.sum(dtype=dtype)], nasty(dtype))
    check([x], x.min(), nasty(dtype)[1:])  # PyTensor's own is -max(-x), wrong for the minimum
    empty = np.zeros(0, dtype)
    check([x], [x.sum(), x.prod(), pt.all(x), pt.any(x)], empty)


@pytest.mark.parametrize("dtype", SIGNED)
def test_a_negative_power_is_an_error(dtype, check_error):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    check_error(ValueError, [x, y], x**y, np.array([2, 3], dtype), np.array([1, -1], dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_wrap(dtype, check):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    base = nasty(dtype)
    check([x, y], x**y, base, np.arange(len(base)).astype(dtype))


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", ["bool", *INTEGERS, *FLOATS, "complex64"])
def test_integers_convert(source, target):
    # Against NumPy: older versions of PyTensor raise where a number does not fit.
    x = pt.vector("x", dtype=source)
    function = pytensor.function([x], pt.cast(x, target), mode="INLAY")
    assert inlay.pytensor.explain(function).host_calls == []
    with np.errstate(over="ignore"):  # u64 to float16
        expected = nasty(source).astype(target)
    found = function(nasty(source))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", ["bool", *INTEGERS, *FLOATS, "complex128"])
def test_floats_convert(source, target, check):
    x = pt.vector("x", dtype=source)
    check([x], pt.cast(x, target), np.array([0, -0.0, 0.5, 1.7, 100, 3]).astype(source))


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_nan_is_no_integer(source, target):
    x = pt.vector("x", dtype=source)
    fn = pytensor.function([x], pt.cast(x, target), mode="INLAY")
    with pytest.raises(ValueError, match="NaN"):
        fn(np.array([1, np.nan], source))


def test_float64_to_float16_rounds_once(check):
    x = pt.dvector("x")
    middle = 1 + 2.0**-11
    values = [middle, np.nextafter(middle, 2), np.nextafter(middle, 0), 65519.999, 65520, 3e-8, 2.0**-25, np.inf, np.nan]
    check([x], pt.cast(x, "float16"), np.array(values))


@pytest.mark.parametrize("a,b", [("uint64", "int64"), ("int8", "uint8"), ("int32", "float32"), ("int16", "float16")])
def test_mixed_operands_meet_in_a_wider_dtype(a, b, check):
    x, y = pt.vector("x", dtype=a), pt.vector("y", dtype=b)
    check([x, y], [x + y, x * y, pt.maximum(x, y), pt.switch(x, x, y)], np.array([1, 2, 100], a), np.array([3, 0, 7], b))


def test_python_numbers_bend_to_the_array(check):
    b, f = pt.bvector("b"), pt.fvector("f")
    values = np.array([1, 100, -128], "int8"), np.array([0.1, -2, 3], "float32")
    check([b, f], [b + 300, b * 2, b / b, pt.sqrt(abs(b)), f + 1, f * 0.1, f * np.float64(0.1), b + 1.5], *values)


HALVES = np.array([0, -0.0, 0.1, -2.5, 1000, 6e-8, 65504, np.inf, -np.inf, np.nan], "float16")


@pytest.mark.parametrize("name", ["abs", "neg", "sqr", "sqrt", "exp", "log", "sin", "tanh", "floor", "sign", "isnan"])
def test_half_precision_functions(name, check):
    x = pt.vector("x", dtype="float16")
    check([x], getattr(pt, name)(x), HALVES)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "true_div", "maximum", "minimum", "lt", "eq"])
def test_half_precision_arithmetic(name, check):
    x, y = pt.vector("x", dtype="float16"), pt.vector("y", dtype="float16")
    some = HALVES[HALVES != 0] if name in ("maximum", "minimum") else HALVES  # of 0.0 and -0.0 either may be the greater
    check([x, y], getattr(pt, name)(x, y), *[g.ravel() for g in np.meshgrid(some, some)])


def test_half_precision_sums_are_rounded_once(check):
    x = pt.vector("x", dtype="float16")
    many = np.full(4097, 0.1, "float16")
    check([x], [x.sum(), x.mean(), x.max(), (x * 0 + 1).prod()], many)
    check([x], [x.sum(), x.prod()], np.zeros(0, "float16"))
    m = pt.matrix("m", dtype="float16")
    check([m], [m @ m, m.sum(axis=0)], np.arange(9).reshape(3, 3).astype("float16"))
