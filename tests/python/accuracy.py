"""The accuracy table of docs/math.md: the largest error of each op that rounds, against mpmath.

    python tests/python/accuracy.py            # prints the rows
    python tests/python/accuracy.py --write    # puts them into docs/math.md

What is measured is compiled code: whole vectors of this machine, of AVX2 and of SSE2; and the functions that are called
for each lane, for ops that have no form of vectors.
"""

import contextlib
import math
import os
import pathlib
import sys
import zlib

import inlay
import mpmath as mp
import numpy as np
from inlay import _inlay
from scalar_table import TABLE

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "math.md"
BEGIN, END = "<!-- made by tests/python/accuracy.py -->\n", "<!-- until here -->\n"
SAMPLES, SLOW_SAMPLES = 2000, 150
FEATURES = {"vector": "", "narrow vector": "-avx512f", "two lanes": "-sse3"}

OPS = {row["name"]: row for row in _inlay.scalar_ops()}


@contextlib.contextmanager
def cpu_without(features):
    before = os.environ.get("INLAY_CPU_FEATURES")
    os.environ["INLAY_CPU_FEATURES"] = ",".join(filter(None, [before, features]))
    yield
    if before is None:
        del os.environ["INLAY_CPU_FEATURES"]
    else:
        os.environ["INLAY_CPU_FEATURES"] = before


def native(name, dtype="f64", features=""):
    """The compiled op on arrays of one length."""
    operands = "abcd"[: OPS[name]["arity"]]
    dtypes = ["bool" if name == "select" and x == "a" else dtype for x in operands]
    params = ", ".join(f"%{x}: {t}[n]" for x, t in zip(operands, dtypes, strict=True))
    names = ", ".join(f"%{x}" for x in operands)
    with cpu_without(features):
        return inlay.compile(f"graph @main({params}) {{\n  %r = {name} {names}\n  return %r\n}}")


def largest_error(name, samples, count, features=""):
    """In units of the last place, of `count` random arguments; infinite where a value must not be nan or infinite."""
    row = TABLE[name]
    operands = [s.draw(count, zlib.crc32(f"{name} {s} {i}".encode())) for i, s in enumerate(samples)]
    got = native(name, features=features)(*operands)
    worst = 0.0
    for arguments in zip(*(x.tolist() for x in operands), got.tolist(), strict=True):
        *arguments, value = arguments
        exact = mp.re(row.exact(*map(mp.mpf, arguments)))
        rounded = float(exact)
        if math.isinf(rounded):
            continue  # at the border of overflow
        if not math.isfinite(value):
            return math.inf
        unit = max(math.ulp(rounded), math.ulp(row.minimum) if row.minimum else 0)
        worst = max(worst, float(abs(mp.mpf(value) - exact) / unit))
    return worst


def key(name, samples):
    arguments = ", ".join(map(str, samples))
    return f"| {name} | {arguments} |"


def figure(error):
    return "" if error is None else f"{error:.2f}" if error < 100 else f"{error:.0f}"


def rows(count=None):
    """(op, range) to the largest errors: as vectors of any length, or else, where there is no vector form, lane by lane."""
    for name, row in TABLE.items():
        for samples in row.ranges:
            n = count or (SLOW_SAMPLES if row.slow else SAMPLES)
            if OPS[name]["f64"] == "vector":
                yield key(name, samples), max(largest_error(name, samples, n, f) for f in FEATURES.values()), None
            else:
                yield key(name, samples), None, largest_error(name, samples, n)


def documented():
    """What the page says: key to (vector, per lane), one of them None."""
    table = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    found = {}
    for line in table.splitlines()[2:]:
        _, name, arguments, vector, lane, _ = (cell.strip() for cell in line.split("|"))
        found[f"| {name} | {arguments} |"] = (float(vector) if vector else None, float(lane) if lane else None)
    return found


def main():
    lines = ["| op | operands | vector | per lane |\n", "| --- | --- | --- | --- |\n"]
    for begin, vector, lane in rows():
        lines.append(f"{begin} {figure(vector)} | {figure(lane)} |\n")
        print(lines[-1], end="", flush=True)
    if "--write" in sys.argv:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + "".join(lines) + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
