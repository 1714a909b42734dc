#!/usr/bin/env python3
"""Makes coefficients.h: every table and polynomial of the vector math, from nothing but mpmath.

    python3 fit.py > coefficients.h

Each polynomial is the minimax one (Remez exchange) for the error that its caller cares about, fitted in 60 digits, then
rounded to doubles. The remaining error, in units of 2^-53 of the result, is printed beside it.
"""
import struct

from mpmath import mp, mpf
import mpmath

mp.dps = 60


def remez(f, weight, degree, low, high, rounds=20, points=1500):
    """Coefficients of the polynomial p that makes max |(p - f) * weight| on [low, high] least, and that maximum."""
    low, high = mpf(low), mpf(high)
    n = degree + 2
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / n) for i in range(n)]
    grid = [low + (high - low) * mpf(i) / points for i in range(points + 1)]
    target = [(x, f(x), weight(x)) for x in grid]
    for _ in range(rounds):
        rows, rhs = mp.matrix(n, n), mp.matrix(n, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                rows[i, j] = x**j
            rows[i, degree + 1] = (-1) ** i / weight(x)
            rhs[i] = f(x)
        solution = mp.lu_solve(rows, rhs)
        p = [solution[j] for j in range(degree + 1)]
        error = [(x, (mp.polyval(p[::-1], x) - y) * w) for x, y, w in target]
        # The new nodes: the largest error of every run of one sign.
        runs = []
        for x, e in error:
            if runs and (e >= 0) == (runs[-1][1] >= 0):
                if abs(e) > abs(runs[-1][1]):
                    runs[-1] = (x, e)
            else:
                runs.append((x, e))
        while len(runs) > n:
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        worst = max(abs(e) for _, e in error)
        if len(runs) < n or worst < abs(solution[degree + 1]) * mpf("1.0001"):
            break
        nodes = [x for x, _ in runs]
    return p, worst


def comment(text):
    print(f"\n// {text}")


def nearest_float(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


class Format:
    """Numbers as C writes them: `bits` of a significand, so many of them in a line of a table."""

    def __init__(self, c_type, bits, columns, text):
        self.c_type, self.bits, self.columns, self.text = c_type, bits, columns, text

    def scalar(self, name, value):
        print(f"#define {name} {self.text(value)}")

    def table(self, name, values):
        print(f"static const {self.c_type} {name}[{len(values)}] = {{")
        for i in range(0, len(values), self.columns):
            print("    " + " ".join(self.text(v) + "," for v in values[i : i + self.columns]))
        print("};")

    def rows(self, name, rows):
        """A row for each index, as many columns as the blocks of four that a lookup loads; what is absent is 0."""
        width = len(rows[0])
        columns = width if width <= 2 else -(-width // 4) * 4
        print(f"static const {self.c_type} {name}[{len(rows)}][{columns}] = {{")
        for row in rows:
            print("    {" + ", ".join(self.text(v) for v in row) + "},")
        print("};")

    def polynomial(self, name, f, weight, degree, low, high, about):
        p, worst = remez(f, weight, degree, low, high)
        error = f"{mp.nstr(worst * 2**self.bits, 2)} x 2^-{self.bits}"
        comment(f"{about} [{mp.nstr(mpf(low), 6)}, {mp.nstr(mpf(high), 6)}], error {error}")
        self.table(name, p)


def double_text(x):
    return float(x).hex()


def float_text(x):
    mantissa, exponent = double_text(nearest_float(x)).split("p")
    return f"{mantissa.rstrip('0') if mantissa != '0x0.0' else mantissa}p{exponent}f".replace(".p", ".0p")


DOUBLE = Format("double", 53, 3, double_text)
FLOAT = Format("float", 24, 4, float_text)


def rounded_at_first(p, half):
    """p with p[0] rounded to a double, and what that loses of r p(r) for |r| <= half in the terms behind it, but for an
    eleventh: r less its share of a Chebyshev polynomial has no linear term."""
    chebyshev = mp.taylor(lambda t: mp.chebyt(11, t), 0, 11)
    lost = p[0] - mpf(float(p[0]))
    moved = [lost * -c / chebyshev[1] / half**k for k, c in enumerate(chebyshev[1:])]
    return [mpf(float(p[0])), *(x + (moved[k] if k < 11 else 0) for k, x in enumerate(p) if k > 0)]


def pieces(name, f, degree, intervals, about, apart=0, wide=False):
    """One polynomial per interval: f(c + r) = first + (low + r Q(r)), c the middle. A row is first, low and the
    coefficients of Q, `...Terms` of them.

    In the first `apart` rows one r stands apart: f(c + r) = first + (r + (low + r Q(r))). In `wide` intervals r Q(0) is
    as large as f, and what rounding Q(0) loses is left to the other coefficients.

    `intervals`: (low, middle, high) by table index. The error is relative to f, which may be a list of functions, one
    for each interval.
    """
    functions = f if isinstance(f, list) else [f] * len(intervals)
    rows, worst = [], 0
    for row, (f, (low, middle, high)) in enumerate(zip(functions, intervals)):
        first = f(middle)

        def quotient(r, f=f, middle=middle, first=first, one=int(row < apart)):
            return ((f(middle + r) - first) / r if abs(r) > mpf(10) ** -20 else mp.diff(f, middle)) - one

        def weight(r, f=f, middle=middle):
            return (abs(r) + mpf(10) ** -4) / abs(f(middle + r) if middle + r != 0 else mpf(10) ** -4)

        p, error = remez(quotient, weight, degree, low - middle, high - middle, rounds=8, points=300)
        if wide:
            p = rounded_at_first(p, high - middle)
        rows.append([first, first - mpf(float(first)), *p])
        worst = max(worst, error)
    comment(f"{about}; error {mp.nstr(worst * 2**53, 2)} x 2^-53")
    DOUBLE.rows(name, rows)
    print(f"#define {name}Terms {degree + 1}")


def quarters_of_binades(lowest):
    """Four binades from `lowest` (a power of two) on, each in four: by the last two bits of the exponent and the first
    two of the mantissa, which is how four bits taken out of a double index them."""
    intervals = [None] * 16
    for binade in range(4):
        start = mpf(2) ** binade * lowest
        field = (1023 + int(mp.log(start, 2))) % 4
        for quarter in range(4):
            low = start * (1 + mpf(quarter) / 4)
            intervals[field * 4 + quarter] = (low, low + start / 8, low + start / 4)
    return intervals


def halves_of_binades(lowest):
    """Four binades from `lowest` on, each in two: by the last two bits of the exponent and the first of the mantissa."""
    quarters = quarters_of_binades(lowest)
    return [(low, high, 2 * high - low) for low, _, high in quarters[::2]]


def halves_of_eight_binades(lowest):
    """Eight binades from `lowest` on, each in two: by the last three bits of the exponent and the first of the mantissa."""
    intervals = [None] * 16
    for binade in range(8):
        start = mpf(2) ** binade * lowest
        field = (1023 + int(mp.log(start, 2))) % 8
        for half in range(2):
            low = start * (1 + mpf(half) / 2)
            intervals[field * 2 + half] = (low, low + start / 4, low + start / 2)
    return intervals


def rounded(x, bits):
    """x to a multiple of 2^-bits."""
    return mp.nint(x * mpf(2) ** bits) / mpf(2) ** bits


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


def sine_tail(z):  # (sin(r) - r) / r^3, z = r^2
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3 if z > mpf(10) ** -15 else -mpf(1) / 6 + z / 120


def cosine_tail(z):  # (cos(r) - 1 + r^2/2) / r^4
    r = mp.sqrt(z)
    return (mp.cos(r) - 1 + z / 2) / z**2 if z > mpf(10) ** -12 else mpf(1) / 24 - z / 720


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


def erf_tables():
    width = mpf(25) / 64
    intervals = [(max(0, j - mpf(1) / 2) * width, j * width, (j + mpf(1) / 2) * width) for j in range(16)]
    pieces("kErf", mp.erf, 11, intervals, "erf: |x| = 25/64 j + r", apart=2)
    DOUBLE.scalar("kErfWidth", width)
    DOUBLE.scalar("kErfInverseWidth", 1 / width)

    def erfcx(z):
        x = z - 2
        return mp.exp(x * x) * mp.erfc(x)

    pieces("kErfcx", erfcx, 13, quarters_of_binades(mpf(2)), "erfc: e^(x^2) erfc(x), by x + 2 in [2, 32)")


def normal_tables():
    root2 = mpf(float(mp.sqrt(2)))
    DOUBLE.scalar("kSqrt2", root2)

    def mills(x):
        return mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2)) / 2

    intervals = [tuple((z - 2) * root2 for z in interval) for interval in quarters_of_binades(mpf(2))]
    pieces("kMills", mills, 13, intervals, "ndtr: e^(x^2/2) ndtr(-x), by x / sqrt 2 + 2 in [2, 32)")

    def right(x):
        return mp.exp(x * x / 2) * mp.log1p(-mp.ncdf(-x))

    def left(y):
        return mp.log(mills(y))

    wide = [tuple((z - 2) * root2 for z in interval) for interval in halves_of_binades(mpf(2))]
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

    intervals = [tuple(z - 4 for z in interval) for interval in halves_of_eight_binades(mpf(4))]
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

    pieces("kBesselI0", scaled_i0, 13, quarters_of_binades(mpf(2)), "e^-x I_0(x), by x + 2 in [2, 32)")
    pieces("kBesselI1", scaled_i1, 13, quarters_of_binades(mpf(2)), "e^-x I_1(x) / x, by x + 2 in [2, 32)",
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
    for low, _, high in quarters_of_binades(mpf(1) / 2):
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


def gamma_tables():
    mp.dps = 70

    def lgamma(x):  # over (x - 1) (x - 2)
        near = min((abs(x - 1), mpf(1)), (abs(x - 2), mpf(2)))
        if near[0] < mpf(10) ** -25:
            r = near[1]
            return (mp.digamma(r) + (x - r) * mp.psi(1, r) / 2) / ((x - 2) if r == 1 else (x - 1))
        return mp.loggamma(x) / ((x - 1) * (x - 2))

    pieces("kLgamma", lgamma, 11, quarters_of_binades(mpf(1) / 2), "lgamma(x) / ((x - 1)(x - 2)), x in [1/2, 8)")

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

    pieces("kDigamma", digamma, 12, quarters_of_binades(mpf(1) / 2), "digamma(x) / (x - root), x in [1/2, 8)")

    def tail(t):
        if t == 0:
            return mpf(1) / 12
        x = 1 / mp.sqrt(t)
        return x * x * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))

    DOUBLE.polynomial("kDigammaTail", tail, lambda t: mpf(1) / 128, 5, mpf(10) ** -12, mpf(1) / 64,
               "x^2 (log(x) - 1/(2x) - digamma(x)), in 1/x^2 in")

    def trigamma(x):
        return mp.psi(1, x)

    pieces("kTrigamma", trigamma, 13, quarters_of_binades(mpf(1) / 2), "trigamma(x), x in [1/2, 8)")

    def trigamma_tail(t):
        x = 1 / mp.sqrt(t)
        return x**3 * (mp.psi(1, x) - 1 / x - 1 / (2 * x * x))

    DOUBLE.polynomial("kTrigammaTail", trigamma_tail, lambda t: mpf(1) / 64, 6, mpf(10) ** -12, mpf(1) / 64,
               "x^3 (trigamma(x) - 1/x - 1/(2x^2)), in 1/x^2 in")
    mp.dps = 60


def float_exp_tables():
    comment("exp of floats: x = k ln2 + r; k ln2 is subtracted exactly")
    ln2 = mp.log(2)
    FLOAT.scalar("kFloatInverseLn2", 1 / ln2)
    FLOAT.scalar("kFloatLn2", ln2)
    FLOAT.scalar("kFloatLn2Low", ln2 - nearest_float(ln2))

    def tail(r):  # (e^r - 1 - r) / r^2
        return mp.hyp1f1(1, 3, r) / 2

    half = ln2 / 2 * mpf("1.001")
    FLOAT.polynomial("kFloatExpPoly", tail, lambda r: r * r + half * half / 100, 4, -half, half,
                     "e^r = 1 + r + r^2 P(r) for r in")

    def cubic_tail(r):  # (e^r - 1 - r - r^2/2) / r^3
        return mp.hyp1f1(1, 4, r) / 6

    FLOAT.polynomial("kFloatExpCubic", cubic_tail, lambda r: r * r + half * half / 100, 4, -half, half,
                     "expm1: e^r = 1 + r + r^2/2 + r^3 P(r) for r in")

    def tail2(r):  # (2^r - 1 - r ln2) / r^2
        return tail(r * ln2) * ln2 * ln2

    FLOAT.polynomial("kFloatExp2Poly", tail2, lambda r: r * r + mpf(1) / 400, 4, -0.5, 0.5,
                     "2^r = 1 + r ln2 + r^2 P(r) for r in")

    def tanh_tail(z):  # (tanh(x) - x) / x^3, z = x^2
        x = mp.sqrt(z)
        return (mp.tanh(x) - x) / x**3 if z > mpf(10) ** -15 else -mpf(1) / 3 + z * 2 / 15

    FLOAT.polynomial("kFloatTanhPoly", tanh_tail, lambda z: z + mpf(1) / 100, 6, 0, mpf("0.8101"),
                     "tanh(x) = x + x^3 P(x^2), x^2 in")


def float_reciprocals(log, unit):
    """For each sixteenth of [1, 2) a float c near its reciprocal whose -log(c) is a whole number of 2^-21, as log(2)
    rounded to a float is, but for some 2^-34; so n log(2) - log(c) is exact up to 8. In the upper half it is off by what
    rounding loses of log(2), which is subtracted there for numbers just below 1."""
    mp.dps = 30
    lost = nearest_float(unit) - unit
    reciprocals, logs = [], []
    for j in range(16):
        middle = nearest_float(32 / (33 + 2 * mpf(j)))
        step = mpf(2) ** (-24 if middle < 1 else -23)
        best = []
        for i in range(-4096, 4096):
            c = middle + i * step
            exact = -log(c) + (lost if j >= 8 else 0)
            value = rounded(exact, 21)
            best.append((abs(value - exact), c, value))
        _, c, value = min(best)
        if j == 0:
            c, value = mpf(1), mpf(0)
        if j == 15:
            c, value = mpf(1) / 2, nearest_float(unit)
        reciprocals.append(c)
        logs.append(value)
    mp.dps = 60
    low = min((1 + mpf(j) / 16) * c - 1 for j, c in enumerate(reciprocals))
    high = max((1 + mpf(j + 1) / 16) * c - 1 for j, c in enumerate(reciprocals))
    return reciprocals, logs, low, high


def float_log_tables():
    comment("log of floats: c(j) near the reciprocal of [1 + j/16, 1 + (j+1)/16), -log(c) hardly rounded")
    reciprocals, logs, low, high = float_reciprocals(mp.log, mp.log(2))
    FLOAT.table("kFloatLogReciprocal", reciprocals)
    FLOAT.table("kFloatLogTable", logs)

    def tail(r):  # (log(1 + r) - r) / r^2
        return -mp.hyp2f1(1, 2, 3, -r) / 2

    FLOAT.polynomial("kFloatLogPoly", tail, lambda r: abs(r) + high / 100, 3, low, high,
                     "log(1 + r) = r + r^2 P(r) for r in")

    reciprocals, logs, low, high = float_reciprocals(lambda c: mp.log(c, 2), mpf(1))
    FLOAT.table("kFloatLog2Reciprocal", reciprocals)
    FLOAT.table("kFloatLog2Table", logs)
    log2e = 1 / mp.log(2)
    FLOAT.scalar("kFloatLog2E", log2e)
    FLOAT.scalar("kFloatLog2ELow", log2e - nearest_float(log2e))
    FLOAT.polynomial("kFloatLog2Poly", lambda r: tail(r) * log2e, lambda r: (abs(r) + high / 100) / log2e, 3, low, high,
                     "log2(1 + r) = r log2(e) + r^2 P(r) for r in")


def float_sin_tables():
    comment("sin, cos of floats: pi/2 in three parts")
    first = nearest_float(mp.pi / 2)
    second = nearest_float(mp.pi / 2 - first)
    FLOAT.scalar("kFloatTwoOverPi", 2 / mp.pi)
    FLOAT.scalar("kFloatHalfPi1", first)
    FLOAT.scalar("kFloatHalfPi2", second)
    FLOAT.scalar("kFloatHalfPi3", mp.pi / 2 - first - second)
    high = (mp.pi / 4 + mpf(1) / 60) ** 2  # n is rounded from a product with a rounded 2/pi
    FLOAT.polynomial("kFloatSinPoly", sine_tail, lambda z: z + mpf(1) / 100, 2, 0, high,
                     "sin(r) = r + r^3 P(r^2), r^2 in")
    FLOAT.polynomial("kFloatCosPoly", cosine_tail, lambda z: (z + mpf(1) / 100) ** 2, 2, 0, high,
                     "cos(r) = 1 - r^2/2 + r^4 P(r^2), r^2 in")


def float_erf_tables():
    width = mpf(33) / 128
    FLOAT.scalar("kFloatErfWidth", width)
    FLOAT.scalar("kFloatErfInverseWidth", 1 / width)
    firsts, lows, rows, worst = [], [], [], mpf(0)
    for j in range(16):
        middle, half = j * width, width / 2 * mpf("1.001")
        first = nearest_float(mp.erf(middle))

        def slope(r, j=j, middle=middle):
            if abs(r) < mpf(10) ** -20:
                return mp.diff(mp.erf, middle) - (j < 2)
            return (mp.erf(middle + r) - mp.erf(middle)) / r - (j < 2)

        def weight(r, middle=middle):
            return (abs(r) + mpf(10) ** -3) / max(mp.erf(middle + r), mpf(10) ** -3) if j else mpf(1)

        p, error = remez(slope, weight, 5, -half if j else 0, half, rounds=8, points=300)
        firsts.append(first)
        lows.append(mp.erf(middle) - first)
        rows.append(p)
        worst = max(worst, error)
    comment(f"erf of floats: |x| = 33/128 j + r; error {mp.nstr(worst * 2**24, 2)} x 2^-24")
    print("// For j = 0 and 1 it is first + (r + (low + r P(r))).")
    FLOAT.table("kFloatErfFirst", firsts)
    FLOAT.table("kFloatErfLow", lows)
    print("static const float kFloatErf[6][16] = {")
    for k in range(6):
        print("    {" + ", ".join(FLOAT.text(p[k]) for p in rows) + "},")
    print("};")


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
