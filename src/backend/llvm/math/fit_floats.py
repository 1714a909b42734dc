"""Tables of the functions of floats, for fit.py."""
from mpmath import mp, mpf

from fitting import FLOAT, comment, cosine_tail, nearest_float, remez, rounded, sine_tail


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
