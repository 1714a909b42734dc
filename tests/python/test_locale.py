"""A host that writes numbers with a comma (half of Europe does, once somebody calls setlocale): a process of its own each,
since the locale is the process's."""

import os
import subprocess
import sys

import pytest

LOCALE = "de_DE.UTF-8"
PROGRAM = """
import locale, sys
import inlay, inlay.pytensor, numpy as np, pytensor, pytensor.tensor as pt

def compile_one():
    inlay.compile("graph @m(%x: f64) {\\n %e = exp %x\\n return %e\\n}")

if sys.argv[1] == "after the first compile":
    compile_one()
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
compile_one()

text = inlay.compile('''graph @m(%x: f64) {
  %a = literal [1.5, 2.75, 1e-300, 1e300] : f64[4]
  %z = literal [(1.5, -2.25)] : c128[1]
  %h = literal [0.1] : f32[1]
  %e = add %a, %x
  return %e, %z, %h
}''')
sums, complex_, narrow = text(np.array(0.25))
np.testing.assert_array_equal(sums, [1.75, 3.0, 0.25, 1e300])
np.testing.assert_array_equal(complex_, [1.5 - 2.25j])
np.testing.assert_array_equal(narrow, np.array([0.1], np.float32))

x = pt.dvector()
value = np.full(3, 0.25)
def run(output):
    return pytensor.function([x], output, mode="INLAY")(value)
np.testing.assert_allclose(run(pt.exp(x * 2.5) + 0.75), np.exp(value * 2.5) + 0.75, rtol=1e-15)
np.testing.assert_array_equal(run(pt.switch(x > 0.125, 1.5, 2.5) * x), [0.375] * 3)
np.testing.assert_allclose(run(pt.grad(pt.special.softmax(x * 0.5)[0] ** 1.5, x)).sum(), 0, atol=1e-16)
print("same")
"""


@pytest.fixture(scope="session")
def locales(tmp_path_factory):
    """A folder that has the locale, whatever is installed."""
    folder = tmp_path_factory.mktemp("locales")
    try:
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / LOCALE], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no localedef")
    if not (folder / LOCALE).exists():
        pytest.skip(f"localedef made no locale (its sources are in the Debian package `locales`): {made.stderr}")
    return folder


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("when", ["before the first compile", "after the first compile"])
def test_numbers_keep_their_point(locales, backend, when):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, when],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "LOCPATH": str(locales), "INLAY_BACKEND": backend},
    )
    assert done.stdout == "same\n", done.stderr


ROUNDING = """
import ctypes, ctypes.util, sys
import inlay, numpy as np
FE = {"upward": 0x800, "downward": 0x400, "towards zero": 0xC00}[sys.argv[1]]
libm = ctypes.CDLL(ctypes.util.find_library("m"))
TEXT = '''graph @m(%x: f64[n], %h: f32[n]) {
  %a = literal [0.1, 0.7, 1e-320, 1.7976931348623157e308] : f64[4]
  %f = literal [0.1, 0.7] : f32[2]
  %s = sin %x
  %c = cos %x
  %e = exp %x
  %g = sin %h
  %t = add %x, %x
  %r = reduce add %x [0] : f64
  %half = literal 0.5 : f64
  %third = literal 3.0 : f64
  %folded = div %half, %third
  return %a, %f, %s, %c, %e, %g, %r, %folded
}'''
x = np.concatenate([np.linspace(-30, 30, 1001), [5e-324, 1e-310, 1e-300, 1e5, 3e5]])
h = x.astype(np.float32)
plain = inlay.compile(TEXT)
want = [np.array(v) for v in plain(x, h)]
libm.fesetround(FE)
during = plain(x, h)
compiled = inlay.compile(TEXT)
fresh = compiled(x, h)
still = libm.fegetround()
libm.fesetround(0)
assert still == FE, still
for got in (during, fresh, compiled(x, h)):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
print("same")
"""


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("mode", ["upward", "downward", "towards zero"])
def test_rounding_is_to_nearest_whatever_the_host_sets(backend, mode):
    environment = {**os.environ, "INLAY_BACKEND": backend}
    done = subprocess.run([sys.executable, "-c", ROUNDING, mode], capture_output=True, text=True, timeout=300, env=environment)
    assert done.stdout == "same\n", done.stderr
