"""What every scalar op should be: its exact value in mpmath, where to sample it, and its names elsewhere.

The tests walk inlay's table beside this one, so an op that is missing here fails.
"""

import dataclasses
import functools
from collections.abc import Callable

import mpmath as mp
import numpy as np
import scipy.special

mp.mp.dps = 40


@dataclasses.dataclass(frozen=True)
class Samples:
    """Arguments from `low` to `high`: evenly, by exponent (of both signs, or of negative numbers), or whole numbers."""

    how: str
    low: float
    high: float

    def draw(self, count, seed):
        random = np.random.default_rng(seed)
        if self.how == "whole":
            return random.integers(self.low, self.high, count, endpoint=True).astype(float)
        if self.how == "even":
            return random.uniform(self.low, self.high, count)
        # A row for each sample, so that fewer samples are the first of more.
        bits = random.integers(0, 2**62, (count, 2)) / 2.0**62
        x = np.exp(np.log(self.low) + bits[:, 0] * (np.log(self.high) - np.log(self.low)))
        x = np.clip(x, self.low, self.high)
        if self.how == "below":
            return -x
        return np.where(bits[:, 1] < 0.5, -x, x) if self.how == "both" else x

    def __str__(self):
        sign = {"both": "±", "below": "-"}.get(self.how, "")
        by = {"even": "", "whole": ", whole"}.get(self.how, " by exponent")
        return f"{sign}[{self.low:g}, {self.high:g}]{by}"


even, spread, both, below, whole = (functools.partial(Samples, h) for h in ("even", "spread", "both", "below", "whole"))


@dataclasses.dataclass(frozen=True)
class Row:
    exact: Callable | None = None  # in mpmath; None: tests of its own judge it
    ranges: tuple = ()  # each a tuple of Samples, one for an operand; none where equality is tested
    numpy: str = ""  # the ufunc that means the same
    scipy: str = ""  # of scipy.special
    pytensor: str = ""  # of pytensor.tensor
    minimum: float = 0  # errors count in units of the last place of at least this: the op has roots
    slow: bool = False  # the oracle


def one(*ranges):
    return tuple((samples,) for samples in ranges)


def _log1mexp(a):
    return mp.log(-mp.expm1(a)) if a > -1 else mp.log1p(-mp.exp(a))


def _gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def _betainc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def _erfcx(a):
    if a < 1e4:
        return mp.exp(a * a) * mp.erfc(a)
    t = 1 / (2 * a * a)
    return (1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t)))) / (a * mp.sqrt(mp.pi))


_SQRT2 = mp.sqrt(2)


def _inverse(function, slope, start):
    """Where `function` is 0, by Newton's method from a double that SciPy finds."""
    x = mp.mpf(float(start))
    for _ in range(6):
        x -= function(x) / slope(x)
    return x


def _gamma_density(a, x):
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def _gammaincinv(a, p):
    start = scipy.special.gammaincinv(float(a), float(p))
    return _inverse(lambda x: _gammainc(a, x) - p, lambda x: _gamma_density(a, x), start)


def _gammainccinv(a, q):
    start = scipy.special.gammainccinv(float(a), float(q))
    upper = functools.partial(mp.gammainc, a, regularized=True)
    return _inverse(lambda x: q - upper(x, mp.inf), lambda x: _gamma_density(a, x), start)


def _betaincinv(a, b, p):
    start = scipy.special.betaincinv(float(a), float(b), float(p))
    return _inverse(lambda x: _betainc(a, b, x) - p, lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b), start)


def _ndtri_exp(y):
    lower = lambda x: mp.erfc(-x / _SQRT2) / 2
    density = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
    return _inverse(lambda x: mp.log(lower(x)) - y, lambda x: density(x) / lower(x), scipy.special.ndtri_exp(float(y)))


def _hyp2f1(a, b, c, z):
    with mp.workdps(250):  # with the digits asked for alone it ends its series before a small c + n
        return mp.hyp2f1(a, b, c, z)


def _owens_t(h, a):
    pieces = mp.linspace(0, a, 2 + int(abs(a) * (1 + abs(h))))
    return mp.quad(lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), pieces) / (2 * mp.pi)

TABLE = {
    # Exact, or one rounding: tests of equality judge them; the ranges serve the derivatives.
    "neg": Row(lambda a: -a, numpy="negative", pytensor="neg"),
    "abs": Row(abs, numpy="abs", pytensor="abs"),
    "sign": Row(mp.sign, numpy="sign", pytensor="sign"),
    "reciprocal": Row(lambda a: 1 / a, one(even(0.5, 4), both(1e-300, 1e300)), numpy="reciprocal", pytensor="reciprocal"),
    "square": Row(lambda a: a * a, one(even(-4, 4), both(1e-140, 1e140)), numpy="square", pytensor="sqr"),
    "sqrt": Row(mp.sqrt, one(even(0.5, 4), spread(5e-324, 1e308)), numpy="sqrt", pytensor="sqrt"),
    "floor": Row(mp.floor, numpy="floor", pytensor="floor"),
    "ceil": Row(mp.ceil, numpy="ceil", pytensor="ceil"),
    "round": Row(mp.nint, numpy="rint", pytensor="round"),
    "trunc": Row(lambda a: mp.sign(a) * mp.floor(abs(a)), numpy="trunc", pytensor="trunc"),
    "deg2rad": Row(lambda a: a * mp.pi / 180, one(even(-720, 720)), numpy="deg2rad", pytensor="deg2rad"),
    "rad2deg": Row(lambda a: a * 180 / mp.pi, one(even(-13, 13)), numpy="rad2deg", pytensor="rad2deg"),
    "isnan": Row(numpy="isnan", pytensor="isnan"),
    "isinf": Row(numpy="isinf", pytensor="isinf"),
    "isfinite": Row(numpy="isfinite", pytensor="isfinite"),
    "signbit": Row(numpy="signbit"),
    "not": Row(numpy="invert", pytensor="invert"),
    "add": Row(lambda a, b: a + b, numpy="add", pytensor="add"),
    "sub": Row(lambda a, b: a - b, numpy="subtract", pytensor="sub"),
    "mul": Row(lambda a, b: a * b, numpy="multiply", pytensor="mul"),
    "div": Row(lambda a, b: a / b, numpy="divide", pytensor="true_div"),
    "floor_div": Row(lambda a, b: mp.floor(a / b), numpy="floor_divide", pytensor="int_div"),
    "mod": Row(lambda a, b: a - b * mp.floor(a / b), numpy="remainder", pytensor="mod"),
    "max": Row(max, numpy="maximum", pytensor="maximum"),
    "min": Row(min, numpy="minimum", pytensor="minimum"),
    "copysign": Row(lambda a, b: abs(a) * mp.sign(b), numpy="copysign"),
    "nextafter": Row(numpy="nextafter"),
    "eq": Row(numpy="equal", pytensor="eq"),
    "ne": Row(numpy="not_equal", pytensor="neq"),
    "lt": Row(numpy="less", pytensor="lt"),
    "le": Row(numpy="less_equal", pytensor="le"),
    "gt": Row(numpy="greater", pytensor="gt"),
    "ge": Row(numpy="greater_equal", pytensor="ge"),
    "and": Row(numpy="bitwise_and", pytensor="and_"),
    "or": Row(numpy="bitwise_or", pytensor="or_"),
    "xor": Row(numpy="bitwise_xor", pytensor="xor"),
    "left_shift": Row(numpy="left_shift"),
    "right_shift": Row(numpy="right_shift"),
    # PyTensor's clip means something else where the bounds cross; it is made of comparisons.
    "clip": Row(lambda a, b, c: min(max(a, b), c), numpy="clip"),
    "select": Row(lambda a, b, c: b if a else c, numpy="where", pytensor="switch"),
    # Complex numbers and their parts: test_complex.py judges them.
    "real": Row(pytensor="real"),
    "imag": Row(pytensor="imag"),
    "conj": Row(numpy="conjugate", pytensor="conj"),
    "angle": Row(pytensor="angle"),
    "complex": Row(pytensor="complex"),
    # Exponentials and logarithms.
    "cbrt": Row(lambda a: mp.sign(a) * mp.cbrt(abs(a)), one(even(-8, 8), both(5e-324, 1e308)), numpy="cbrt"),
    "exp": Row(
        mp.exp, one(even(-1, 1), even(-708, 709.7), even(-745, -708), both(1e-20, 1)), numpy="exp", pytensor="exp"
    ),
    "exp2": Row(
        lambda a: mp.mpf(2) ** a,
        one(even(-1, 1), even(-1022, 1023.9), even(-1074, -1022)),
        numpy="exp2",
        pytensor="exp2",
    ),
    "expm1": Row(mp.expm1, one(even(-1, 1), even(-40, 709.7), both(1e-300, 1)), numpy="expm1", pytensor="expm1"),
    "log": Row(mp.log, one(even(0.5, 2), spread(5e-324, 1e308)), numpy="log", pytensor="log"),
    "log2": Row(lambda a: mp.log(a, 2), one(even(0.5, 2), spread(5e-324, 1e308)), numpy="log2", pytensor="log2"),
    "log10": Row(mp.log10, one(even(0.5, 2), spread(5e-324, 1e308)), numpy="log10", pytensor="log10"),
    "log1p": Row(mp.log1p, one(even(-0.9, 2), both(1e-300, 0.9), spread(1, 1e308)), numpy="log1p", pytensor="log1p"),
    "log1mexp": Row(
        _log1mexp, one(even(-3, 0), even(-700, 0), below(1e-300, 1)), pytensor="log1mexp"
    ),
    "sigmoid": Row(
        lambda a: 1 / (1 + mp.exp(-a)), one(even(-4, 4), even(-700, 700)), scipy="expit", pytensor="sigmoid"
    ),
    "softplus": Row(lambda a: mp.log1p(mp.exp(a)), one(even(-4, 4), even(-700, 700)), pytensor="softplus"),
    "logit": Row(
        lambda a: mp.log(a) - mp.log1p(-a), one(even(0, 1), even(0.49, 0.51), spread(1e-300, 0.5)), scipy="logit"
    ),
    "logaddexp": Row(
        lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
        ((even(-4, 4), even(-4, 4)), (even(-700, 700), even(-700, 700))),
        numpy="logaddexp",
        pytensor="logaddexp",
        minimum=0.5,
    ),
    "xlogy": Row(
        lambda a, b: a * mp.log(b), ((even(-4, 4), even(0, 4)), (both(1e-9, 1e9), spread(1e-300, 1e300))), scipy="xlogy"
    ),
    "xlog1py": Row(
        lambda a,
        b: a * mp.log1p(b),
        ((even(-4, 4), even(-0.9, 4)), (both(1e-9, 1e9), spread(1e-290, 1e300))),
        scipy="xlog1py",
    ),
    "pow": Row(
        lambda a, b: a**b,
        ((even(0, 4), even(-4, 4)), (spread(1e-3, 1e3), even(-100, 100)), (spread(1e-300, 1e300), even(-1, 1))),
        numpy="power",
        pytensor="pow",
    ),
    # Circular and hyperbolic functions.
    "sin": Row(
        mp.sin,
        one(even(-4, 4), even(-500000, 500000), both(1e-300, 1), spread(1e6, 1e300)),
        numpy="sin",
        pytensor="sin",
    ),
    "cos": Row(
        mp.cos,
        one(even(-4, 4), even(-500000, 500000), both(1e-300, 1), spread(1e6, 1e300)),
        numpy="cos",
        pytensor="cos",
    ),
    "tan": Row(
        mp.tan,
        one(even(-4, 4), even(-500000, 500000), both(1e-300, 1), spread(1e6, 1e300)),
        numpy="tan",
        pytensor="tan",
    ),
    "arcsin": Row(mp.asin, one(even(-1, 1), both(1e-300, 1), even(0.999, 1)), numpy="arcsin", pytensor="arcsin"),
    "arccos": Row(mp.acos, one(even(-1, 1), even(0.999, 1)), numpy="arccos", pytensor="arccos"),
    "arctan": Row(mp.atan, one(even(-4, 4), both(1e-300, 1e300)), numpy="arctan", pytensor="arctan"),
    "arctan2": Row(
        mp.atan2,
        ((even(-4, 4), even(-4, 4)), (both(1e-9, 1e9), both(1e-9, 1e9)), (both(1e-140, 1e140), both(1e-140, 1e140))),
        numpy="arctan2",
        pytensor="arctan2",
    ),
    "sinh": Row(mp.sinh, one(even(-4, 4), even(-710, 710), both(1e-300, 1)), numpy="sinh", pytensor="sinh"),
    "cosh": Row(mp.cosh, one(even(-4, 4), even(-710, 710)), numpy="cosh", pytensor="cosh"),
    "tanh": Row(mp.tanh, one(even(-4, 4), even(-20, 20), both(1e-300, 1)), numpy="tanh", pytensor="tanh"),
    "arcsinh": Row(mp.asinh, one(even(-4, 4), both(1e-300, 1e300)), numpy="arcsinh", pytensor="arcsinh"),
    "arccosh": Row(mp.acosh, one(even(1, 4), even(1, 1.001), spread(1, 1e300)), numpy="arccosh", pytensor="arccosh"),
    "arctanh": Row(mp.atanh, one(even(-1, 1), both(1e-300, 1)), numpy="arctanh", pytensor="arctanh"),
    # The error function and the normal distribution.
    "erf": Row(mp.erf, one(even(-4, 4), both(1e-300, 1)), scipy="erf", pytensor="erf"),
    "erfc": Row(mp.erfc, one(even(-4, 4), even(4, 26.5), both(1e-300, 1)), scipy="erfc", pytensor="erfc"),
    "erfcx": Row(
        _erfcx, one(even(-4, 4), even(-26, 4), even(4, 30), spread(30, 1e300)), scipy="erfcx", pytensor="erfcx"
    ),
    "erfinv": Row(
        mp.erfinv, one(even(-1, 1), even(0.999, 1), both(1e-300, 1)), scipy="erfinv", pytensor="erfinv", slow=True
    ),
    "erfcinv": Row(
        lambda a: mp.erfinv(1 - a),
        one(even(0.01, 1.99), spread(1e-9, 1)),
        scipy="erfcinv",
        pytensor="erfcinv",
        slow=True,
        minimum=1 / 16,
    ),
    "ndtr": Row(lambda a: mp.erfc(-a / _SQRT2) / 2, one(even(-4, 4), even(-37, -4)), scipy="ndtr"),
    "ndtri": Row(
        lambda a: _SQRT2 * mp.erfinv(2 * a - 1),
        one(even(0.01, 0.99), spread(1e-9, 0.5)),
        scipy="ndtri",
        slow=True,
        minimum=1 / 16,
    ),
    "ndtri_exp": Row(
        _ndtri_exp,
        one(even(-4, 0), even(-700, -4), below(1e-20, 1e8)),
        scipy="ndtri_exp",
        pytensor="ndtri_exp",
        slow=True,
        minimum=1 / 16,
    ),
    "owens_t": Row(
        _owens_t,
        ((even(-4, 4), even(-3, 3)), (both(1e-3, 6), both(1e-3, 20))),
        scipy="owens_t",
        pytensor="owens_t",
        slow=True,
    ),
    "log_ndtr": Row(
        lambda a: mp.log1p(-mp.erfc(a / _SQRT2) / 2) if a > 0 else mp.log(mp.erfc(-a / _SQRT2) / 2),
        one(even(-4, 4), even(-37, 4), even(4, 37)),
        scipy="log_ndtr",
    ),
    # Gamma and beta functions.
    "lgamma": Row(
        lambda a: mp.re(mp.loggamma(a)),
        one(even(0.5, 4), spread(1e-300, 1e300), even(-20, 0)),
        scipy="gammaln",
        pytensor="gammaln",
        minimum=1 / 16,
    ),
    "gamma": Row(
        mp.gamma, one(even(0.5, 4), even(-20, 0), even(4, 171), both(1e-300, 1)), scipy="gamma", pytensor="gamma"
    ),
    "digamma": Row(mp.digamma, one(even(0.5, 4), spread(1e-300, 1e300), even(-20, 0)), scipy="psi", pytensor="psi"),
    "trigamma": Row(
        lambda a: mp.polygamma(1, a), one(even(0.5, 4), spread(1e-150, 1e150), even(-20, 0)), pytensor="tri_gamma"
    ),
    "polygamma": Row(
        lambda n, a: mp.polygamma(int(n), a),
        ((whole(2, 6), even(0.5, 4)), (whole(2, 30), spread(1e-3, 1e3)), (whole(2, 6), even(-10, 0))),
        scipy="polygamma",
        pytensor="polygamma",
        minimum=1,
        slow=True,
    ),
    "beta": Row(
        mp.beta,
        ((even(0.1, 4), even(0.1, 4)), (spread(1e-3, 300), spread(1e-3, 300)), (even(-8, 0), even(0.1, 8))),
        scipy="beta",
        minimum=1 / 16,
    ),
    "lbeta": Row(
        lambda a, b: mp.log(abs(mp.beta(a, b))),
        ((even(0.1, 4), even(0.1, 4)), (spread(1e-3, 1e6), spread(1e-3, 1e6)), (even(-8, 0), even(0.1, 8))),
        scipy="betaln",
        minimum=1,
    ),
    "gammainc": Row(
        _gammainc,
        ((even(0.1, 4), even(0, 4)), (even(0.1, 50), even(0, 50)), (spread(1e-3, 1e3), spread(1e-3, 1e3))),
        scipy="gammainc",
        pytensor="gammainc",
        slow=True,
    ),
    "gammaincc": Row(
        lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
        ((even(0.1, 4), even(0, 4)), (even(0.1, 50), even(0, 50)), (spread(1e-3, 200), spread(1e-3, 200))),
        scipy="gammaincc",
        pytensor="gammaincc",
        slow=True,
    ),
    "gammainc_da": Row(
        lambda a,
        x: mp.diff(lambda t: _gammainc(t, x), a),
        ((even(0.1, 4), even(0, 4)), (even(0.1, 50), even(0, 50))),
        slow=True,
        minimum=1 / 1024,
    ),
    "betainc": Row(
        _betainc,
        ((even(0.1, 4), even(0.1, 4), even(0, 1)), (even(0.1, 50), even(0.1, 50), even(0, 1))),
        scipy="betainc",
        pytensor="betainc",
        slow=True,
    ),
    "betainc_da": Row(
        lambda a,
        b,
        x: mp.diff(lambda t: _betainc(t, b, x), a),
        ((even(0.1, 4), even(0.1, 4), even(0, 1)),),
        slow=True,
        minimum=1 / 1024,
    ),
    "betainc_db": Row(
        lambda a,
        b,
        x: mp.diff(lambda t: _betainc(a, t, x), b),
        ((even(0.1, 4), even(0.1, 4), even(0, 1)),),
        slow=True,
        minimum=1 / 1024,
    ),
    "gammaincinv": Row(
        _gammaincinv,
        ((even(0.1, 4), even(0, 1)), (even(0.1, 50), even(0, 1)), (even(0.1, 4), spread(1e-30, 1))),
        scipy="gammaincinv",
        pytensor="gammaincinv",
        slow=True,
    ),
    "gammainccinv": Row(
        _gammainccinv,
        ((even(0.1, 4), even(0, 1)), (even(0.1, 50), even(0, 1)), (even(0.1, 4), spread(1e-30, 1))),
        scipy="gammainccinv",
        pytensor="gammainccinv",
        slow=True,
    ),
    "betaincinv": Row(
        _betaincinv,
        ((even(0.1, 4), even(0.1, 4), even(0, 1)), (even(0.1, 50), even(0.1, 50), even(0, 1))),
        scipy="betaincinv",
        pytensor="betaincinv",
        slow=True,
    ),
    "hyp2f1": Row(
        _hyp2f1,
        (
            (even(0.1, 4), even(0.1, 4), even(0.1, 8), even(-1, 1)),
            (even(0.1, 4), even(0.1, 4), even(0.1, 8), below(1e-3, 1e6)),
            (even(0.1, 4), even(0.1, 4), even(0.1, 8), even(0.99, 1)),
            (even(0.1, 300), even(0.1, 300), even(0.1, 300), even(0, 1)),
            (even(-5, 5), even(-5, 5), even(-5, 5), even(-1, 1)),
            (even(-30, 30), even(-30, 30), even(-30, 30), even(0, 1)),
            (even(-30, 30), even(-30, 30), even(-30, 30), even(0.99, 1)),
            (even(-30, 30), even(-30, 30), even(-30, 30), below(1e-3, 1e6)),
            (even(-100, 100), even(-100, 100), even(-100, 100), even(-1, 1)),
        ),
        scipy="hyp2f1",
        pytensor="hyp2f1",
        slow=True,
    ),
    # Bessel functions.
    "i0": Row(lambda a: mp.besseli(0, a), one(even(-4, 4), even(-700, 700)), scipy="i0", pytensor="i0"),
    "i1": Row(
        lambda a: mp.besseli(1, a), one(even(-4, 4), even(-700, 700), both(1e-300, 1)), scipy="i1", pytensor="i1"
    ),
    "j0": Row(lambda a: mp.besselj(0, a), one(even(-4, 4), even(-1000, 1000)), scipy="j0", pytensor="j0", minimum=1 / 16),
    "j1": Row(
        lambda a: mp.besselj(1, a),
        one(even(-4, 4), even(-1000, 1000), both(1e-300, 1)),
        scipy="j1",
        pytensor="j1",
        minimum=1 / 1024,
    ),
    "jv": Row(
        mp.besselj,
        ((even(0, 5), even(0, 10)), (even(-8, 0), even(0.1, 10)), (whole(-5, 9), even(-10, 10)), (even(0, 50), even(0, 100))),
        scipy="jv",
        pytensor="jv",
        minimum=1 / 64,
        slow=True,
    ),
    "ive": Row(
        lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)),
        (
            (even(0, 5), even(0, 10)),
            (even(-8, 0), even(0.1, 10)),
            (whole(-5, 9), even(-10, 10)),
            (whole(-1, 1), even(-40, 40)),
            (even(0, 50), even(0, 100)),
            (spread(1e-3, 300), spread(400, 1e5)),
        ),
        scipy="ive",
        pytensor="ive",
        slow=True,
    ),
    "kve": Row(
        lambda v, x: mp.besselk(v, x) * mp.exp(x),
        ((even(-5, 5), even(0.1, 10)), (even(0, 50), even(0, 100)), (spread(1e-3, 300), spread(400, 1e5))),
        scipy="kve",
        pytensor="kve",
        slow=True,
    ),
}  # fmt: skip
