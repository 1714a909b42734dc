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
