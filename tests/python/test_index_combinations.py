"""Every combination of ranges, positions and index arrays over three axes, read and written, against NumPy."""

import itertools

import inlay
import numpy as np
import pytest

SHAPE = (3, 4, 5)
# Text and NumPy index for an axis of any of the sizes; arrays are of ranks 0, 1 and 2 and broadcast together.
ITEMS = {
    ":": slice(None),
    "1:3": slice(1, 3),
    "2:-1:-2": slice(2, None, -2),
    "1": 1,
    "%zero": np.array(-1),
    "%line": np.array([2, 0, -3]),
    "%column": np.array([[1], [-2]]),
}
ARRAYS = {"zero": ITEMS["%zero"], "line": ITEMS["%line"], "column": ITEMS["%column"]}
PARAMS = "%zero: i64, %line: i64[3], %column: i64[2, 1]"
COMBINES = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def combinations(first):
    return [(first, *rest) for rest in itertools.product(ITEMS, repeat=2)]


def compiled(statements, params=PARAMS):
    lines = [f"  %r{k} = {statement}" for k, statement in enumerate(statements)]
    returned = ", ".join(f"%r{k}" for k in range(len(statements)))
    text = f"graph @main(%x: f64[3, 4, 5], {params}) {{\n" + "\n".join(lines) + f"\n  return {returned}\n}}\n"
    return inlay.compile(text)


def base():
    return np.sin(np.arange(60.0)).reshape(SHAPE)


@pytest.mark.parametrize("first", ITEMS)
def test_reads(first):
    combos = combinations(first)
    ops = ["gather" if any("%" in item for item in combo) else "slice" for combo in combos]
    fn = compiled([f"{op} %x[{', '.join(combo)}]" for op, combo in zip(ops, combos, strict=True)])
    x = base()
    for combo, got in zip(combos, fn(x, *ARRAYS.values()), strict=True):
        np.testing.assert_array_equal(got, x[tuple(ITEMS[item] for item in combo)], err_msg=str(combo))


@pytest.mark.parametrize("combine", ["set", *COMBINES])
@pytest.mark.parametrize("first", ITEMS)
def test_writes(first, combine):
    x = base()
    cases = []
    for combo in combinations(first):
        where = tuple(ITEMS[item] for item in combo)
        want = x.copy()
        value = np.cos(np.arange(float(x[where].size))).reshape(x[where].shape)
        if combine == "set":
            want[where] = value
        else:
            COMBINES[combine].at(want, where, value)
        cases.append((combo, value, want))
    types = ", ".join(f"%v{k}: f64[{', '.join(map(str, v.shape))}]".replace("f64[]", "f64") for k, (_, v, _) in enumerate(cases))
    statements = []
    for k, (combo, _, _) in enumerate(cases):
        op = "scatter" if any("%" in item for item in combo) else "update"
        statements.append(f"{op} {combine} %x[{', '.join(combo)}], %v{k}")
    fn = compiled(statements, f"{PARAMS}, {types}")
    got = fn(x, *ARRAYS.values(), *(value for _, value, _ in cases))
    for (combo, _, want), result in zip(cases, got, strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-14, err_msg=str(combo))
