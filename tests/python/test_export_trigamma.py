"""trigamma left of 0 in exported C, which brings a function of its own for it."""

import inlay
import mpmath as mp
import numpy as np
from test_export import Library, require_alone


def trigamma(x):
    """By reflection: mpmath goes to the right of a large negative x step by step."""
    return mp.psi(1, x) if x > 0 else (mp.pi / mp.sinpi(x)) ** 2 - mp.psi(1, 1 - x)


def test_trigamma_left_of_0_lies_in_the_code(tmp_path):
    usual = np.concatenate([np.linspace(-30.05, 4, 701), -np.logspace(-150, 15, 200)])
    usual = usual[usual != np.round(usual)]
    x = np.concatenate([usual, [-0.0, 0.0, -1, -7, -(2.0**60), -1e-170, -np.inf, np.nan]])
    text = "graph @t(%x: f64[n], %f: f32[n]) {\n  %y = trigamma %x\n  %g = trigamma %f\n  return %y, %g\n}"
    inlay.export(text, tmp_path, "shared", sizes={"n": len(x)})
    require_alone(tmp_path / "libt.so")
    y, g = np.empty_like(x), np.empty_like(x, np.float32)
    assert Library(tmp_path, "t")([x, x.astype(np.float32)], [y, g]) == 0
    with mp.workprec(200):
        wanted = np.array([float(trigamma(mp.mpf(float(v)))) for v in usual])
    np.testing.assert_allclose(y[: len(usual)], wanted, rtol=4 * 2.0**-53)
    np.testing.assert_array_equal(y[len(usual) :], [np.inf] * 7 + [np.nan])
    inside, inside_f32 = inlay.compile(text)(x, x.astype(np.float32))
    np.testing.assert_allclose(y, inside, rtol=10 * 2.0**-53)  # the errors of both
    np.testing.assert_allclose(g, inside_f32, rtol=2.0**-23)
