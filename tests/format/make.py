"""Writes the files of tests/format/N, where N is the format that this inlay writes.

They are small, run on every x86-64, and stay as they were written: tests load them with every inlay that comes after.
So it writes no file that is there.
"""

from pathlib import Path

import inlay
import numpy as np
from inlay.files import dumps

# What x86-64 did not begin with, and this machine may have. (The level "sse2" leaves what has no vectors, as BMI.)
OLDEST = (
    "-sse3,-ssse3,-sse4.1,-sse4.2,-sse4a,-adx,-aes,-bmi,-bmi2,-cx16,-gfni,-lzcnt,-movbe,-pclmul,-popcnt,-sha,-tbm"
)

# Element by element, with sums along rows; a bound array goes along.
SHARES = """graph @shares(%x: f64[rows, n], %w: f64[n] bound) {
  %p = mul %x, %w
  %share = softmax %p, axes = [1]
  %most = reduce max %x [1] : f64
  return %share, %most
}"""
# A scatter, in place, with a check of each index.
COUNTS = """graph @counts(%bin: i64[n], %weight: f64[n], %to: f64[m] donated) {
  %count = scatter add %to[%bin], %weight
  return %count
}"""
# Two calls of the library, on matrices of the call's size.
FACTOR = """graph @factor(%a: f64[n, n]) {
  %t = transpose %a [1, 0]
  %square = matmul %a, %t
  %l = cholesky %square
  return %square, %l
}"""
FUNCTIONS = {
    "shares": (SHARES, {"w": np.array([1.0, 2.0])}),
    "counts": (COUNTS, None),
    "factor": (FACTOR, None),
}


def main():
    for name, (text, bound) in FUNCTIONS.items():
        data = dumps(inlay.compile(text, bound=bound, cpu=OLDEST))
        path = Path(__file__).parent / str(int.from_bytes(data[8:12], "little")) / f"{name}.inlayfn"
        if path.exists():
            print(path, "is there, and stays")
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        print(path, len(data), "bytes")


if __name__ == "__main__":
    main()
