"""Digits that rewrites keep, against mpmath: each expression loses them as it is written."""

import inlay
import mpmath as mp
import numpy as np
import pytest


def compiled(*lines):
    return inlay.compile("graph @main(%x: f64[n], %y: f64[n]) {\n" + "\n".join(lines) + "\nreturn %r\n}")


def errors(got, exact, *arguments):
    with mp.workdps(40):
        want = [exact(*(mp.mpf(float(a)) for a in pair)) for pair in zip(*arguments, strict=True)]
        return [abs((mp.mpf(float(g)) - w) / mp.mpf(float(np.spacing(abs(float(w)))))) for g, w in zip(got, want, strict=True)]


@pytest.mark.parametrize("first", ["x", "y"])
def test_x_less_logaddexp(first):
    """As written 30 units at x = 1, y = -3, and all digits at x = 40."""
    fn = compiled("%l = logaddexp %x, %y", f"%r = sub %{first}, %l")
    rng = np.random.default_rng(1)
    x = np.concatenate([[1.0, 40.0, -745.0, 3.0], rng.uniform(-30, 30, 500)])
    y = np.concatenate([[-3.0, 0.0, 700.0, 3.0], np.round(rng.uniform(-30, 30, 500), 3)])
    got = fn(x, y)
    exact = lambda x, y: -mp.log1p(mp.exp(y - x)) if first == "x" else -mp.log1p(mp.exp(x - y))  # noqa: E731
    # The difference y - x is rounded to half a unit, which a softplus of -60 makes 60 / 2 units: its exponential.
    assert max(errors(got, exact, x, y)) <= 40


@pytest.mark.parametrize("line", ["%u = div %x, %c", "%u = mul %x, %c"])
@pytest.mark.parametrize("sign", [1, -1])
def test_half_of_erfc(line, sign):
    """As written, 9 to 65 units at 20 below the mean: of the rounding of x / sqrt(2)."""
    c = sign * (2.0**0.5 if "div" in line else 1 / 2.0**0.5)
    fn = compiled(f"%c = literal {c!r} : f64", line, "%e = erfc %u", "%h = literal 0.5 : f64", "%r = mul %h, %e")
    x = np.linspace(-37, 37, 300)
    got = fn(x, x)
    # Its error is that of ndtr, which is another where a CPU has no AVX-512 (docs/math.md).
    ndtr = compiled(*(["%m = neg %x", "%r = ndtr %m"] if sign > 0 else ["%r = ndtr %x"]))
    np.testing.assert_array_equal(got, ndtr(x, x))


def test_logarithm_of_one_less_erfc():
    """As written all digits at 1e-17, where erfc is 1, and 1e-8 of them at 1e-8."""
    fn = compiled("%e = erfc %x", "%n = neg %e", "%r = log1p %n")
    x = np.concatenate([10.0 ** np.arange(-300, 1, 7.0), np.linspace(0.4, 0.6, 200), np.linspace(0.6, 26, 100)])
    got = fn(x, x)
    # Two functions of 1.4 units or less, and of a result of 0.65 the operand's half unit.
    assert max(errors(got, lambda x, _: mp.log1p(-mp.erfc(x)) if x > 0.5 else mp.log(mp.erf(x)), x, x)) <= 4
    np.testing.assert_array_equal(fn([0.0, -0.0, np.inf, -1.0, np.nan], np.zeros(5)), [-np.inf, -np.inf, 0, np.nan, np.nan])
