"""Writes through an index in exported code: they wait for a block of points, and add to each element in order."""

import inlay
import numpy as np
import pytest
from test_export import COMPILERS, FLAGS, Library, run

RNG = np.random.default_rng(5)
POINTS, GROUPS = 101, 7
SIMD = ["-ftree-vectorize", "-fno-math-errno", "-fopenmp-simd", "-DINLAY_SIMD"]
INDICES = {
    "sorted": np.sort(RNG.integers(0, GROUPS, POINTS)),
    "one": np.full(POINTS, 3),
    "random": RNG.integers(0, GROUPS, POINTS),
}

SUMS = """graph @sums(%x: f64[101], %y: f32[101], %t: f64[7], %g: i64[101] bound {min 0, max 6}) {
  %zero = literal 0.0 : f64
  %groups = broadcast %zero : f64[7]
  %ones = literal 1.0 : f32
  %products = broadcast %ones : f32[7]
  %at = gather %t[%g]
  %d = div %x, %at
  %q = div %d, %at
  %sum = reduce add %q [0] : f64
  %a = scatter add %groups[%g], %q
  %b = scatter set %groups[%g], %q
  %m = scatter max %groups[%g], %d
  %dy = div %y, %ones
  %ry = sqrt %dy
  %p = scatter mul %products[%g], %ry
  return %a, %b, %m, %p, %sum
}"""


def kernels(code):
    return code[code.index("/* kernel @k0") :]


def built(folder, compiler, flags):
    run(compiler, *FLAGS, *flags, "-shared", "-fPIC", folder / "sums.c", "-lm", "-o", folder / "libsums.so")
    return Library(folder, "sums")


@pytest.mark.parametrize("simd", [True, False])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("kind", INDICES)
def test_points_add_to_their_element_in_order(kind, compiler, simd, tmp_path):
    g = INDICES[kind]
    _, code = inlay.export(SUMS, tmp_path, name="sums", bound={"g": g})
    text = kernels(code.read_text())
    assert "_lanes[i - i_block]" in text
    assert ("_run" in text) == (kind != "random")
    x, y, t = RNG.normal(size=POINTS), RNG.uniform(0.5, 1.5, POINTS).astype("f4"), RNG.uniform(1, 2, GROUPS)
    a, b, m, total = np.zeros(GROUPS), np.zeros(GROUPS), np.zeros(GROUPS), np.zeros(1)
    p = np.ones(GROUPS, "f4")
    d = x / t[g]
    for i in range(POINTS):
        a[g[i]] += d[i] / t[g[i]]
        b[g[i]] = d[i] / t[g[i]]
        m[g[i]] = max(m[g[i]], d[i])
        p[g[i]] *= np.sqrt(y[i])
    results = [np.full_like(each, -1) for each in (a, b, m, p, total)]
    assert built(tmp_path, compiler, SIMD if simd else [])([x, y, t], results) == 0
    for result, expected in zip(results, [a, b, m, p], strict=False):
        assert result.tobytes() == expected.tobytes()
    assert abs(results[4][0] - (d / t[g]).sum()) <= POINTS * np.finfo(float).eps * abs(d / t[g]).sum()  # in another order


def exported(value, folder, **more):
    text = f"""graph @f(%x: f64[101], %g: i64[101] bound {{min 0, max 6}}) {{
      %zero = literal 0.0 : f64
      %groups = broadcast %zero : f64[7]
      %root = sqrt %x
      %value = {value}
      %a = scatter add %groups[%g], %value
      return %a
    }}"""
    _, code = inlay.export(text, folder, name="f", bound={"g": INDICES["sorted"]}, **more)
    return kernels(code.read_text())


def test_what_costs_no_more_than_a_block_waits_for_nothing(tmp_path):
    assert "_lanes[" in exported("div %root, %x", tmp_path)
    assert "_lanes[" not in exported("mul %x, %x", tmp_path)


def test_a_small_machine_has_no_vectors_and_keeps_no_block(tmp_path):
    assert "_lanes[" not in exported("div %root, %x", tmp_path, freestanding=True)
