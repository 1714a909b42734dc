"""What fit.py and its parts are made of: minimax polynomials, and their text in C."""
import struct

from mpmath import mp, mpf

mp.dps = 60


def remez(f, weight, degree, low, high, rounds=20, points=1500):
    """Coefficients of the polynomial p that makes max |(p - f) * weight| on [low, high] smallest, and that maximum."""
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


def parts_of_binades(lowest, binades, parts):
    """So many binades from `lowest` (a power of two) on, each in so many parts: by the last bits of the exponent and the
    first of the mantissa, which is how bits taken out of a double index them."""
    intervals = [None] * (binades * parts)
    for binade in range(binades):
        start = mpf(2) ** binade * lowest
        field = (1023 + int(mp.log(start, 2))) % binades
        for part in range(parts):
            low = start * (1 + mpf(part) / parts)
            intervals[field * parts + part] = (low, low + start / (2 * parts), low + start / parts)
    return intervals


def rounded(x, bits):
    """x to a multiple of 2^-bits."""
    return mp.nint(x * mpf(2) ** bits) / mpf(2) ** bits


def sine_tail(z):  # (sin(r) - r) / r^3, z = r^2
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3 if z > mpf(10) ** -15 else -mpf(1) / 6 + z / 120


def cosine_tail(z):  # (cos(r) - 1 + r^2/2) / r^4
    r = mp.sqrt(z)
    return (mp.cos(r) - 1 + z / 2) / z**2 if z > mpf(10) ** -12 else mpf(1) / 24 - z / 720
