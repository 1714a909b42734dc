"""What becomes of a float that the integer dtype cannot hold: the table of docs/dtypes.md, in both backends, in a vector and
by itself."""

import os
import pathlib
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "dtypes.md"
CASTS = """
import inlay, numpy as np
values = {values}
for dtype, wanted in {rows}:
    cast = "graph @m(%x: f64[n], %s: f64) {{\\n %a = cast %x : DTYPE\\n %b = cast %s : DTYPE\\n return %a, %b\\n}}"
    run = inlay.compile(cast.replace("DTYPE", dtype))
    for value, number in zip(values, wanted, strict=True):
        many, one = run(np.full(37, value), np.array(value))
        assert many.tolist() == [number] * 37, (dtype, value, many[:2], number)
        assert one.tolist() == number, (dtype, value, one, number)
print("as documented")
"""


def table():
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith("|")]
    head = next(i for i, line in enumerate(lines) if "-1.7" in line)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[head : head + 8]]
    columns = [column.split(", ") for column in cells[0][1:]]
    values = [float(value) for column in columns for value in column]
    rows = []
    for row in cells[2:]:
        numbers = [int(eval(cell.replace("^", "**"))) for cell in row[1:]]
        rows.append((row[0], [n for n, column in zip(numbers, columns, strict=True) for _ in column]))
    assert [dtype for dtype, _ in rows] == ["i8", "u8", "i32", "u32", "i64", "u64"]
    return values, rows


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_floats_beyond_the_dtype(backend):
    values, rows = table()
    values = "[" + ", ".join(f"float('{value}')" for value in values) + "]"
    done = subprocess.run(
        [sys.executable, "-c", CASTS.format(values=values, rows=rows)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "INLAY_BACKEND": backend},
    )
    assert done.stdout == "as documented\n", done.stderr


CLIPPED = """
import inlay, numpy as np
edges = [(-128, 127), (0, 255), (-2147483000, 2147483000), (-2147483648, 2147483648), (-1e10, 3e9)]
for source, (low, high) in [(source, edge) for source in ("f32", "f64") for edge in edges]:
    numbers = np.dtype(source.replace("f32", "f4").replace("f64", "f8"))
    x = np.array([low - 1, low, low + 0.5, -1.7, -0.0, 0.5, 2.5, high - 0.5, high, 2.0 * high, np.inf, -np.inf] * 5, numbers)
    clipped = np.clip(x, numbers.type(low), numbers.type(high))
    for form in ("%c = clip %x, %l, %h", "%d = max %x, %l\\n %c = min %d, %h"):
        for dtype in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
            limits = f"%l = literal {{float(low)}} : {{source}}\\n %h = literal {{float(high)}} : {{source}}"
            run = inlay.compile(f"graph @m(%x: {{source}}[n]) {{{{\\n {{limits}}\\n {{form}}\\n %y = cast %c : {{dtype}}\\n return %y\\n}}}}")
            kind = np.dtype(dtype[0] + str(int(dtype[1:]) // 8))
            wanted = [int(v) % 2 ** (8 * kind.itemsize) for v in clipped]
            got = run(x)
            assert [int(v) % 2 ** (8 * kind.itemsize) for v in got] == wanted, (form, source, dtype, low, high)
            try:
                run(np.array([1, np.nan], numbers))
            except ValueError as error:
                assert "NaN" in str(error)
            else:
                raise AssertionError("NaN is no integer")
print("as documented")
"""


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_floats_that_were_clipped(backend):
    """What is known to lie in the range of an i32 is converted by other instructions: to the same numbers."""
    done = subprocess.run(
        [sys.executable, "-c", CLIPPED.format()], capture_output=True, text=True, env=os.environ | {"INLAY_BACKEND": backend}
    )
    assert done.stdout == "as documented\n", done.stderr
