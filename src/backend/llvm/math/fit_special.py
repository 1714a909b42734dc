"""Tables of error functions, quantiles, Bessel functions and those of gamma, for fit.py."""
from mpmath import mp, mpf

from fitting import DOUBLE, parts_of_binades, pieces


def erf_tables():
    width = mpf(25) / 64
    intervals = [(max(0, j - mpf(1) / 2) * width, j * width, (j + mpf(1) / 2) * width) for j in range(16)]
    pieces("kErf", mp.erf, 11, intervals, "erf: |x| = 25/64 j + r", apart=2)
    DOUBLE.scalar("kErfWidth", width)
    DOUBLE.scalar("kErfInverseWidth", 1 / width)

    def erfcx(z):
        x = z - 2
        return mp.exp(x * x) * mp.erfc(x)

    pieces("kErfcx", erfcx, 13, parts_of_binades(mpf(2), 4, 4), "erfc: e^(x^2) erfc(x), by x + 2 in [2, 32)")


def normal_tables():
    root2 = mpf(float(mp.sqrt(2)))
    DOUBLE.scalar("kSqrt2", root2)

    def mills(x):
        return mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2)) / 2

    intervals = [tuple((z - 2) * root2 for z in interval) for interval in parts_of_binades(mpf(2), 4, 4)]
    pieces("kMills", mills, 13, intervals, "ndtr: e^(x^2/2) ndtr(-x), by x / sqrt 2 + 2 in [2, 32)")

    def right(x):
        return mp.exp(x * x / 2) * mp.log1p(-mp.ncdf(-x))

    def left(y):
        return mp.log(mills(y))

    wide = [tuple((z - 2) * root2 for z in interval) for interval in parts_of_binades(mpf(2), 4, 2)]
    pieces("kLogNdtr", [right] * 8 + [left] * 8, 20, wide + wide,
           "log_ndtr: e^(x^2/2) log ndtr(x), then log(e^(x^2/2) ndtr(-x)), by x / sqrt 2 + 2 in [2, 32)", wide=True)


def quantile_tables():
    def slope(w):  # erfinv(x) / x; from 2 on by Newton's method for the logarithm of erfc, which has 1 - |x| exact
        if w == 0:
            return mp.sqrt(mp.pi) / 2
        x = mp.sqrt(-mp.expm1(-w))
        if w < 2:
            return mp.erfinv(x) / x
        log_rest = -w - mp.log1p(x)
        y, step = mp.sqrt(w), mpf(1)
        while abs(step) > mpf(10) ** -35:
            rest = mp.erfc(y)
            step = (mp.log(rest) - log_rest) * rest * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
            y += step
        return y / x

    intervals = [tuple(z - 4 for z in interval) for interval in parts_of_binades(mpf(4), 8, 2)]
    pieces("kQuantile", slope, 15, intervals, "erfinv(x) / x, by w + 4 in [4, 1024) where w = -log(1 - x^2)", wide=True)
    DOUBLE.scalar("kSqrt8", mp.sqrt(8))
    DOUBLE.scalar("kSqrt8Low", mp.sqrt(8) - mpf(float(mp.sqrt(8))))


def bessel_tables():
    def scaled_i0(z):
        x = z - 2
        return mp.exp(-x) * mp.besseli(0, x)

    def scaled_i1(z):  # over x
        x = z - 2
        return mp.exp(-x) * mp.hyp0f1(2, x * x / 4) / 2

    pieces("kBesselI0", scaled_i0, 13, parts_of_binades(mpf(2), 4, 4), "e^-x I_0(x), by x + 2 in [2, 32)")
    pieces("kBesselI1", scaled_i1, 13, parts_of_binades(mpf(2), 4, 4), "e^-x I_1(x) / x, by x + 2 in [2, 32)",
           wide=True)

    constant = 1 / mp.sqrt(2 * mp.pi)
    DOUBLE.scalar("kBesselConstant", constant)
    DOUBLE.scalar("kBesselConstantLow", constant - mpf(float(constant)))
    for order in 0, 1:
        def tail(q, order=order):
            x = 1 / q
            return x * (mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x) - constant)

        DOUBLE.polynomial(f"kBesselI{order}Tail", tail, lambda q: (q + mpf(1) / 3000) / constant, 8, mpf(10) ** -12,
                          mpf(1) / 30, f"x (sqrt(x) e^-x I_{order}(x) - 1 / sqrt(2 pi)), in 1/x in")


def gamma_tables():
    mp.dps = 70

    def lgamma(x):  # over (x - 1) (x - 2)
        near = min((abs(x - 1), mpf(1)), (abs(x - 2), mpf(2)))
        if near[0] < mpf(10) ** -25:
            r = near[1]
            return (mp.digamma(r) + (x - r) * mp.psi(1, r) / 2) / ((x - 2) if r == 1 else (x - 1))
        return mp.loggamma(x) / ((x - 1) * (x - 2))

    pieces("kLgamma", lgamma, 11, parts_of_binades(mpf(1) / 2, 4, 4), "lgamma(x) / ((x - 1)(x - 2)), x in [1/2, 8)")

    def stirling(t):  # t = 1 / x^2
        if t == 0:
            return mpf(1) / 12
        x = 1 / mp.sqrt(t)
        return x * (mp.loggamma(x) - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)

    DOUBLE.polynomial("kStirling", stirling, lambda t: mpf(1) / 128, 5, mpf(10) ** -12, mpf(1) / 64,
               "x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi)/2), in 1/x^2 in")
    constant = mp.log(2 * mp.pi) / 2 - mpf(1) / 2
    DOUBLE.scalar("kStirlingConstant", constant)  # log(2 pi) / 2 - 1/2

    root = mp.findroot(mp.digamma, mpf("1.4616321449683623"))
    DOUBLE.scalar("kDigammaRoot", root)
    DOUBLE.scalar("kDigammaRootLow", root - mpf(float(root)))

    def digamma(x):
        if abs(x - root) < mpf(10) ** -25:
            return mp.psi(1, root) + (x - root) * mp.psi(2, root) / 2
        return mp.digamma(x) / (x - root)

    pieces("kDigamma", digamma, 12, parts_of_binades(mpf(1) / 2, 4, 4), "digamma(x) / (x - root), x in [1/2, 8)")

    def tail(t):
        if t == 0:
            return mpf(1) / 12
        x = 1 / mp.sqrt(t)
        return x * x * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))

    DOUBLE.polynomial("kDigammaTail", tail, lambda t: mpf(1) / 128, 5, mpf(10) ** -12, mpf(1) / 64,
               "x^2 (log(x) - 1/(2x) - digamma(x)), in 1/x^2 in")

    def trigamma(x):
        return mp.psi(1, x)

    pieces("kTrigamma", trigamma, 13, parts_of_binades(mpf(1) / 2, 4, 4), "trigamma(x), x in [1/2, 8)")

    def trigamma_tail(t):
        x = 1 / mp.sqrt(t)
        return x**3 * (mp.psi(1, x) - 1 / x - 1 / (2 * x * x))

    DOUBLE.polynomial("kTrigammaTail", trigamma_tail, lambda t: mpf(1) / 64, 6, mpf(10) ** -12, mpf(1) / 64,
               "x^3 (trigamma(x) - 1/x - 1/(2x^2)), in 1/x^2 in")
    mp.dps = 60
