#!/usr/bin/env python3
"""Makes coefficients.h: every table and polynomial of the vector math, from nothing but mpmath.

    python3 fit.py > coefficients.h

Each polynomial is the minimax one (Remez exchange) for the error that its caller cares about, fitted in 60 digits, then
rounded to doubles. The remaining error, in units of 2^-53 of the result, is printed beside it. Here are the elementary
functions of doubles.
"""
from mpmath import mp, mpf

from fit_floats import float_erf_tables, float_exp_tables, float_log_tables, float_sin_tables
from fit_special import bessel_tables, erf_tables, gamma_tables, normal_tables, quantile_tables
from fitting import DOUBLE, comment, cosine_tail, parts_of_binades, rounded, sine_tail


def exp_tables():
    for name, parts in ("kExp", 4), ("kExpm1", 16):
        comment(f"{name[1:].lower()}: x = k ln2 / {parts} + r; 2^(j/{parts}) for j in 0..{parts - 1}, in two parts")
        powers = [mpf(2) ** (mpf(j) / parts) for j in range(parts)]
        DOUBLE.rows(name, [[p, p - mpf(float(p))] for p in powers])
    ln2 = mp.log(2)
    DOUBLE.scalar("kInverseLn2", 1 / ln2)
    DOUBLE.scalar("kLn2", ln2)
    DOUBLE.scalar("kLn2Low", ln2 - mpf(float(ln2)))
    short = rounded(ln2, 37)
    DOUBLE.scalar("kLn2Short", short)  # times any multiple of 1/16 below 1100 is exact
    DOUBLE.scalar("kLn2ShortLow", ln2 - short)

    def tail(r):  # (e^r - 1 - r) / r^2
        return mp.hyp1f1(1, 3, r) / 2

    half = ln2 / 8
    DOUBLE.polynomial("kExpPoly", tail, lambda r: r * r + half * half / 100, 6, -half * mpf("1.001"), half * mpf("1.001"),
               "exp: e^r = 1 + r + r^2 P(r) for r in")
    wide = 3 * ln2 / 32
    DOUBLE.polynomial("kExpm1Poly", tail, lambda r: abs(r) + wide / 100, 6, -wide * mpf("1.001"), wide * mpf("1.001"),
               "expm1: e^r - 1 = r + r^2 P(r) for r in")


def log_tables():
    comment("log: c(j) is near the reciprocal of [1 + j/16, 1 + (j+1)/16) and has 5 bits behind the point,")
    print("// so that m c - 1 is exact. The first is 1 and the last 1/2, so that nothing cancels near x = 1.")
    reciprocals = []
    for j in range(16):
        a, b = 1 + mpf(j) / 16, 1 + mpf(j + 1) / 16
        best = min((max(abs(a * i / 32 - 1), abs(b * i / 32 - 1)), i) for i in range(16, 33))[1]
        reciprocals.append(mpf(32 if j == 0 else 16 if j == 15 else best) / 32)
    low = min((1 + mpf(j) / 16) * c - 1 for j, c in enumerate(reciprocals))
    high = max((1 + mpf(j + 1) / 16) * c - 1 for j, c in enumerate(reciprocals))
    logs = [-mp.log(c) for c in reciprocals]
    DOUBLE.rows("kLog", [[c, rounded(l, 42), l - rounded(l, 42)] for c, l in zip(reciprocals, logs)])
    ln2 = rounded(mp.log(2), 42)
    DOUBLE.scalar("kLogLn2", ln2)
    DOUBLE.scalar("kLogLn2Low", mp.log(2) - ln2)

    def tail(r):  # (log(1 + r) - r) / r^2
        return -mp.hyp2f1(1, 2, 3, -r) / 2

    DOUBLE.polynomial("kLogPoly", tail, lambda r: abs(r) + high / 100, 8, low, high, "log: log(1 + r) = r + r^2 P(r) for r in")


def pow_tables():
    def tail(r):  # (log(1 + r) - r + r^2/2 - r^3/3) / r^4
        return -mp.hyp2f1(1, 4, 5, -r) / 4

    DOUBLE.polynomial("kLogQuartic", tail, lambda r: (abs(r) + mpf(1) / 1000) ** 3, 8, mpf("-0.0372"), mpf(1) / 16,
               "pow: log(1 + r) = r - r^2/2 + r^3/3 + r^4 P(r) for r in")
    DOUBLE.scalar("kThird", mpf(1) / 3)
    DOUBLE.scalar("kThirdLow", mpf(1) / 3 - mpf(1.0 / 3))


def sin_tables():
    comment("sin, cos: x = n pi/2 + r; pi/2 in three parts, the first times any n below 2^20 is exact")
    first = rounded(mp.pi / 2, 31)
    second = mpf(float(mp.pi / 2 - first))
    DOUBLE.scalar("kTwoOverPi", 2 / mp.pi)
    DOUBLE.scalar("kHalfPi1", first)
    DOUBLE.scalar("kHalfPi2", second)
    DOUBLE.scalar("kHalfPi3", mp.pi / 2 - first - second)

    high = (mp.pi / 4) ** 2 * mpf("1.0001")
    DOUBLE.polynomial("kSinPoly", sine_tail, lambda z: z + mpf(1) / 100, 5, 0, high, "sin(r) = r + r^3 P(r^2), r^2 in")
    DOUBLE.polynomial("kCosPoly", cosine_tail, lambda z: (z + mpf(1) / 100) ** 2, 5, 0, high,
               "cos(r) = 1 - r^2/2 + r^4 P(r^2), r^2 in")


def constants():
    comment("constants, with what rounding loses of them")
    for name, value in {
        "kSqrtHalf": mp.sqrt(mpf(1) / 2), "kPi": mp.pi, "kLog2E": 1 / mp.log(2), "kLog10E": 1 / mp.log(10),
    }.items():
        DOUBLE.scalar(name, value)
        DOUBLE.scalar(name + "Low", value - mpf(float(value)))


def sinh_tables():
    def tail(z):  # (sinh(x) - x) / x^3, z = x^2
        x = mp.sqrt(z)
        return (mp.sinh(x) - x) / x**3 if z > mpf(10) ** -15 else mpf(1) / 6 + z / 120

    DOUBLE.polynomial("kSinhPoly", tail, lambda z: z + mpf(1) / 100, 6, 0, mpf("1.0001"),
               "sinh(x) = x + x^3 P(x^2), x^2 in")


def arctan_tables():
    # By a / b + 1/2 in [1/2, 8); in the last piece, which reaches to infinity, the centre is infinite.
    comment("arctan: the centres of the pieces, 1 and 0 for an infinite one, and their angles")
    rows, most = [], mpf(0)
    for low, _, high in parts_of_binades(mpf(1) / 2, 4, 4):
        low, high = mp.atan(low - mpf(1) / 2), mp.atan(high - mpf(1) / 2)
        if high > mp.atan(mpf(7.4)):
            centre, angle, most = None, mp.pi / 2, max(most, mp.pi / 2 - low)
        else:
            angle = mpf(0) if low == 0 else (low + high) / 2
            centre = mpf(float(mp.tan(angle)))
            angle = mp.atan(centre)
            most = max(most, angle - low, high - angle)
        scaled = (mpf(1), mpf(0)) if centre is None else (centre, mpf(1))
        rows.append([*scaled, angle, angle - mpf(float(angle))])
    DOUBLE.rows("kArctan", rows)

    def tail(z):  # (arctan(t) - t) / t^3, z = t^2
        t = mp.sqrt(z)
        return (mp.atan(t) - t) / t**3 if z > mpf(10) ** -15 else -mpf(1) / 3 + z / 5

    high = (mp.tan(most) * mpf("1.0001")) ** 2
    DOUBLE.polynomial("kArctanPoly", tail, lambda z: z + mpf(1) / 1000, 6, 0, high, "arctan(t) = t + t^3 P(t^2), t^2 in")


def arcsin_tables():
    def tail(z):  # (arcsin(s) - s) / s^3, z = s^2
        s = mp.sqrt(z)
        return (mp.asin(s) - s) / s**3 if z > mpf(10) ** -15 else mpf(1) / 6 + z * 3 / 40

    DOUBLE.polynomial("kArcsinPoly", tail, lambda z: z + mpf(1) / 200, 11, 0, mpf(1) / 4, "arcsin(s) = s + s^3 P(s^2), s^2 in")
    DOUBLE.scalar("kHalfPi", mp.pi / 2)
    # What rounding lost of pi / 2, and of 0 and pi too, over the number.
    DOUBLE.scalar("kPiLost", mp.pi / mpf(float(mp.pi)) - 1)


def cbrt_tables():
    DOUBLE.polynomial("kCbrtPoly", mp.cbrt, lambda m: 1 / mp.cbrt(m), 5, 1, 2, "cbrt(m), m in")
    DOUBLE.scalar("kCbrt2", mp.cbrt(2))
    DOUBLE.scalar("kCbrt4", mp.cbrt(4))


def main():
    print("#pragma once")
    print("// Made by fit.py; do not edit. docs/math.md says what the tables are for.")
    print("// clang-format off")
    exp_tables()
    log_tables()
    pow_tables()
    sin_tables()
    erf_tables()
    constants()
    normal_tables()
    quantile_tables()
    sinh_tables()
    arctan_tables()
    arcsin_tables()
    cbrt_tables()
    gamma_tables()
    bessel_tables()
    float_exp_tables()
    float_log_tables()
    float_sin_tables()
    float_erf_tables()


if __name__ == "__main__":
    main()
