"""Fixtures: the same graph compiled by inlay and by PyTensor's own Python mode, and the difference."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

# The user's cache is neither filled nor read. With a folder in INLAY_TEST_CACHE a second run takes its functions from there.
os.environ["INLAY_CACHE"] = os.environ.get("INLAY_TEST_CACHE", "0")

# What a shell runs in the background ignores Ctrl-C, and so do its children: tests send it to theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)

import inlay.pytensor
import numpy as np
import pytensor
import pytest
import reasons
from pytensor.compile import FunctionMaker

# Some hundred roundings: sums of a test's few numbers in another order, and functions that are right to a few units. A
# wrong element or a lost term is off by its own size. A float16 is rounded once, from a float32.
RTOL = 1e-13
COARSE = {"float16": 1e-3, "float32": 1e-5, "complex64": 1e-5}
PYTHON_MODE = "FAST_COMPILE"  # no rewrites that change values, no C


@pytest.fixture(scope="session")
def without_reason():
    """What `explain` says of the functions that are compiled, and docs/fusion.md does not explain."""
    found, create = [], FunctionMaker.create

    def looked_at(self, *args, **kwargs):
        fn = create(self, *args, **kwargs)
        if isinstance(self.linker, inlay.pytensor.InlayLinker):
            found.extend(reasons.unexplained(inlay.pytensor.explain(fn)))
        return fn

    FunctionMaker.create = looked_at
    yield found
    FunctionMaker.create = create


@pytest.fixture(autouse=True)
def everything_has_a_reason(without_reason):
    without_reason.clear()
    yield
    assert without_reason == []


def on_eight_threads(work):
    """Calls `work(i)`, i from 0 to 7, all at once, and raises what one of them raises."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def host_calls(fn):
    """The reasons for which nodes of `fn` run as Python; empty: the whole function is native."""
    return dict(fn.vm.compiled.translation.reasons)


def assert_same(got, want, rtol=RTOL):
    assert isinstance(got, np.ndarray), type(got)
    want = np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=COARSE.get(want.dtype.name, rtol), atol=1e-300)
        zeros = (want == 0) & (got == 0)
        if want.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))
    else:
        np.testing.assert_array_equal(got, want)


@pytest.fixture
def check():
    """check(inputs, outputs, *values): inlay computes what PyTensor's Python mode does, natively.

    Each call of the function must leave its arguments as they were, and give new arrays.
    """

    def run(inputs, outputs, *values, native=True, rtol=RTOL, mode_kwargs=None):
        outputs = outputs if isinstance(outputs, list) else [outputs]
        ours = pytensor.function(inputs, outputs, mode="INLAY", on_unused_input="ignore")
        theirs = pytensor.function(inputs, outputs, mode=PYTHON_MODE, on_unused_input="ignore")
        if native:
            assert host_calls(ours) == {}
        before = [np.array(v) for v in values]
        got, again = ours(*values), ours(*values)
        with np.errstate(all="ignore"):
            want = theirs(*values)
        for g, w in zip(got, want, strict=True):
            assert_same(g, w, rtol)
        for g, a in zip(got, again, strict=True):
            np.testing.assert_array_equal(g, a)
            assert not np.shares_memory(g, a)
            assert not any(np.shares_memory(g, v) for v in values)
        for v, b in zip(values, before, strict=True):
            np.testing.assert_array_equal(v, b)
        return ours

    return run


@pytest.fixture
def check_error():
    """check_error(exception, inputs, output, *values): both modes raise that class, and both work afterwards on
    `good`."""

    def run(exception, inputs, output, *values, good=None):
        ours = pytensor.function(inputs, output, mode="INLAY", on_unused_input="ignore")
        theirs = pytensor.function(inputs, output, mode=PYTHON_MODE, on_unused_input="ignore")
        before = [np.array(v) for v in values]
        with pytest.raises(exception):
            theirs(*values)
        with pytest.raises(exception) as raised:
            ours(*values)
        for v, b in zip(values, before, strict=True):
            np.testing.assert_array_equal(v, b)
        if good is not None:
            assert_same(ours(*good), theirs(*good))
        return raised.value

    return run
