"""A thousand calls of one function, over the constructs that own memory: none may leave anything behind."""

import gc
import itertools
import sys

import inlay
import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.raise_op import Assert

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # older versions
    from pytensor.ifelse import ifelse

CALLS = 1000
X = np.random.default_rng(1).normal(size=(12, 12))
COVARIANCE = X @ X.T + 12 * np.eye(12)
LONG = np.random.default_rng(2).normal(size=2000)


class Raises(pytensor.graph.op.Op):
    """An op of the user's: doubles its input; raises for a negative one."""

    __props__ = ()

    def make_node(self, x):
        return pytensor.graph.basic.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        if inputs[0][0] < 0:
            raise KeyError("negative")
        outputs[0][0] = inputs[0] * 2


def scan(step, *args, **kwargs):
    return pytensor.scan(step, *args, return_updates=False, **kwargs)


def late_sizes():
    x = pt.dvector("x")
    return [x], [x[x > 0].sum(), pt.exp(x[x > 0]), (x > 0).nonzero()[0]], [LONG]


def cumulative():
    x = pt.dvector("x")
    return [x], [pt.cumsum(x), pt.cumprod(x), pt.arange(x.shape[0])], [LONG]


def factorizations():
    a = pt.dmatrix("a")
    u, s, vh = pt.linalg.svd(a)
    w, v = pt.linalg.eigh(a)
    return [a], [pt.linalg.cholesky(a), pt.linalg.solve(a, a[0]), u, s, vh, w, v, pt.linalg.det(a)], [COVARIANCE]


def sorting():
    x = pt.dvector("x")
    return [x], [pt.sort(x), pt.argsort(x)], [LONG]


def traced_loop():
    x = pt.dvector("x")
    states = scan(lambda s: s * 0.5 + x, outputs_info=[x], n_steps=20)
    return [x], [states, states[-1].sum()], [LONG[:100]]


def while_loop():
    from pytensor.scan.utils import until

    x = pt.dvector("x")

    def halve(s):
        return s * 0.5, until(s.sum() < 1)

    return [x], [scan(halve, outputs_info=[x], n_steps=50)], [np.abs(LONG)]


def branches():
    c, x = pt.lscalar("c"), pt.dvector("x")
    return [c, x], [ifelse(c, pt.cumsum(x), x[::-1] * 2)], [1, LONG]


def complex_numbers():
    z = pt.zvector("z")
    return [z], [z * pt.conj(z), pt.exp(z).sum(), abs(z)], [LONG + 1j * LONG[::-1]]


def foreign_op():
    x = pt.dvector("x")
    return [x], [Raises()(x) + 1, Raises()(pt.exp(x)).sum()], [np.abs(LONG)]


def failed_assert():
    x = pt.dvector("x")
    return [x], [Assert("x is long")(pt.exp(x), x.shape[0] < 10)], [LONG]


def failed_factorization():
    a = pt.dmatrix("a")
    return [a], [pt.exp(a), pt.linalg.inv(a)], [0 * COVARIANCE]


def failed_host_call():
    x = pt.dvector("x")
    return [x], [pt.exp(x), Raises()(x * 2)], [-np.abs(LONG)]


def failed_in_a_loop():
    x, i = pt.dvector("x"), pt.lvector("i")
    return [x, i], [scan(lambda k, s: s + x[k], sequences=[i], outputs_info=[x])], [LONG, np.array([0, 1, 10**6])]


def failed_in_a_branch():
    c, x, i = pt.lscalar("c"), pt.dvector("x"), pt.lscalar("i")
    return [c, x, i], [ifelse(c, x[i] * x, x)], [1, LONG, 10**6]


def failed_late_size():
    x, y = pt.dvector("x"), pt.dvector("y")
    return [x, y], [x[x > 0] + y], [LONG, LONG]


def resident_bytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def growth(call):
    """Of Python objects and of the resident size, by a thousand calls."""
    gc.collect()
    objects, resident = sys.getallocatedblocks(), resident_bytes()
    for _ in range(CALLS):
        call()
    gc.collect()
    return sys.getallocatedblocks() - objects, resident_bytes() - resident


def assert_leaves_nothing(call):
    """Neither bytes (an array per call would be 10 MB) nor Python objects. Caches fill at first; a leak goes on."""
    for _ in range(3):
        objects, resident = growth(call)
        if objects < CALLS // 10 and resident < 2**18:
            return
    pytest.fail(f"{CALLS} calls leave {objects} objects and {resident} bytes")


@pytest.mark.parametrize(
    "make",
    [late_sizes, cumulative, factorizations, sorting, traced_loop, while_loop, branches, complex_numbers, foreign_op],
)
def test_calls_leave_nothing(make):
    inputs, outputs, values = make()
    fn = pytensor.function(inputs, outputs, mode="INLAY")
    assert_leaves_nothing(lambda: fn(*values))


@pytest.mark.parametrize(
    ("make", "exception"),
    [
        (failed_assert, AssertionError),
        (failed_factorization, np.linalg.LinAlgError),
        (failed_host_call, KeyError),
        (failed_in_a_loop, IndexError),
        (failed_in_a_branch, IndexError),
        (failed_late_size, ValueError),
    ],
)
def test_calls_that_fail_leave_nothing(make, exception):
    inputs, outputs, values = make()
    fn = pytensor.function(inputs, outputs, mode="INLAY")

    def call():
        with pytest.raises(exception):
            fn(*values)

    assert_leaves_nothing(call)


HOST_CALLS = """
graph @main(%x: f64[n]) {
  %y = host_call "half" (%x) : f64[k]
  %r = loop %i < 3 carry (%c = %y) {
    %w = host_call "same" (%c) : f64[k]
    return %w
  }
  %s = exp %r
  return %s, %y
}
"""


@pytest.mark.parametrize("failing", ["", "raises", "dtype", "shape"])
def test_host_calls_of_a_program_leave_nothing(failing):
    def same(x):
        if failing == "raises":
            raise KeyError("mine")
        return x.astype("float32") if failing == "dtype" else x[1:] if failing == "shape" else x * 1.0

    fn = inlay.compile(HOST_CALLS, host_functions={"half": lambda x: x[::2], "same": same})

    def call():
        if not failing:
            return fn(LONG)
        with pytest.raises((KeyError, TypeError, ValueError, inlay.InlayError)):
            fn(LONG)

    assert_leaves_nothing(call)


def test_the_last_results_may_be_kept():
    inputs, outputs, values = late_sizes()
    fn = pytensor.function(inputs, outputs, mode="INLAY")
    kept = []

    def call():
        kept[:] = fn(*values)

    assert_leaves_nothing(call)


def test_arguments_that_are_refused_leave_nothing():
    fn = inlay.compile("graph @main(%x: f64[n], %y: f64[n]) {\n %z = add %x, %y\n return %z\n}")

    def call():
        for wrong in ((LONG, LONG[1:]), (LONG,), (LONG, "text"), (LONG, LONG.astype("float32"))):
            with pytest.raises((TypeError, ValueError)):
                fn(*wrong)

    assert_leaves_nothing(call)


def test_fits_leave_nothing():
    """A thousand fits in a worker: those of an odd number fail."""
    pytest.importorskip("nutpie")
    from inlay.fits.fit import Work, fit
    from inlay.fits.methods import Nuts
    from inlay.pymc.fit_functions import fit_functions

    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("likelihood", pm.Normal("mu", 0, 10), 1, observed=y)
    settings = {"num_draws": 5, "num_tune": 5, "num_chains": 1}
    work = Work(fit_functions(model, after=["predicted"]), 1, Nuts(settings), ("mean",), (), ("mu",))
    data, numbers = [{"y": np.arange(20.0)}, {"y": np.full(3, np.nan)}], itertools.count()

    def call():
        number = next(numbers)
        reason = fit(work, number, data[number % 2]).reason
        assert reason if number % 2 else reason in ("", "every draw is a divergence")  # five draws may all be

    assert_leaves_nothing(call)
