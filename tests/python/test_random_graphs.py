"""Random PyTensor graphs in mode "INLAY" against the same nodes run one by one; see random_graphs.py.

    INLAY_FUZZ_SECONDS=600 INLAY_FUZZ_SEED=1 pytest tests/python/test_random_graphs.py
"""

import os
import time

import numpy as np
import pytensor
import pytest
from random_graphs import Grower, Unfit, run
from versions import OLD_PYTENSOR

SECONDS = float(os.environ.get("INLAY_FUZZ_SECONDS", 5))
SEED = int(os.environ.get("INLAY_FUZZ_SEED", 0))

# A value is a part of what it is made of, or of the largest number near it, where that cancels.
RELATIVE = {"float64": 1e-9, "float32": 2e-4, "float16": 1e-2}


def graph(seed):
    grower = Grower(seed)
    for _ in range(grower.rng.integers(1, 25)):
        try:
            grower.grow()
        except Unfit:
            pass
    made = [x for x in grower.values if x not in grower.inputs]
    if not made:
        return None
    count = min(len(made), int(grower.rng.integers(1, 5)))
    outputs = [made[-1]] + [grower.some(made) for _ in range(count - 1)]
    return grower, outputs


def differ(got, want, largest):
    """What is wrong with `got`, or None."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f":
        return None if np.array_equal(got, want) else "other values"
    relative = RELATIVE[want.dtype.name]
    near = np.isclose(got, want, rtol=relative, atol=relative * largest, equal_nan=True)
    return None if near.all() else f"{got[~near][:3]} instead of {want[~near][:3]}"


def outcome(call):
    """What a call gives, or the error that it ends with."""
    try:
        with np.errstate(all="ignore"):
            return call()
    except Exception as error:
        return error


def disagreement(ours, theirs, largest):
    """What is wrong with `ours`, where `theirs` is right, or None. Which error it is, is for other tests."""
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        same = isinstance(ours, Exception) and isinstance(theirs, Exception)
        if "Split sizes sum" in str(theirs):
            return None  # inlay does not look at a part that nothing reads
        return None if same else f"{ours!r} instead of {theirs!r}"
    wrong = [differ(g, w, largest) for g, w in zip(ours, theirs, strict=True)]
    return str(wrong) if any(wrong) else None


def largest_of(values):
    floats = [v for v in values if v.dtype.kind == "f"]
    finite = max((np.abs(v[np.isfinite(v)]).max(initial=0) for v in floats), default=0)
    # What was rounded to a float32 and then goes on as a float64 keeps that error.
    return finite * (1e5 if any(v.dtype == np.float32 for v in floats) else 1)


def other_arguments(grower):
    """The arguments with one of another size, or other values, of what it may be.

    Integers stay within those that were, but for one now and then that may be an index out of bounds (only where nothing
    is empty: of a read of no elements NumPy looks at the indices all the same). No size becomes 0 or 1: NumPy takes an
    empty mask for any length, and stretches an array of indices that turns out to have one.
    """
    x = grower.some(grower.inputs)
    value = grower.values[x]
    shape = tuple(n if said is not None else grower.some([n, n + 1]) if n > 1 else n for n, said in zip(value.shape, x.type.shape, strict=True))
    other = grower.random_array(shape, value.dtype.name)
    if value.dtype.kind in "iu" and value.size:
        other = np.asarray(grower.rng.choice(value.ravel(), shape), value.dtype)
        if value.ndim and grower.chance(0.3) and all(v.size for v in grower.values.values()):
            other.ravel()[grower.rng.integers(other.size)] = 100
    return {**{i: grower.values[i] for i in grower.inputs}, x: other}


def judge(seed):
    made = graph(seed)
    if made is None:
        return
    grower, outputs = made
    ours = pytensor.function(grower.inputs, outputs, mode="INLAY", on_unused_input="ignore")
    first = {x: grower.values[x] for x in grower.inputs}
    for arguments in (first, other_arguments(grower), first):
        values = list(arguments.values())
        before = [v.copy() for v in values]
        got = outcome(lambda: ours(*values))
        for value, copy in zip(values, before, strict=True):
            np.testing.assert_array_equal(value, copy, f"INLAY_FUZZ_SEED={seed}: an argument was changed")
        largest = largest_of(grower.values.values())
        wrong = disagreement(got, outcome(lambda: run(outputs, arguments)), largest)
        if wrong:
            # PyTensor's rewrites may keep a number where the nodes by themselves give none, and leave out what fails.
            theirs = pytensor.function(grower.inputs, outputs, mode=REWRITTEN, on_unused_input="ignore")
            wrong = disagreement(got, outcome(lambda: theirs(*values)), largest) and wrong
        assert not wrong, f"INLAY_FUZZ_SEED={seed}: {wrong}"


REWRITTEN = pytensor.compile.Mode("py", pytensor.compile.mode.get_mode("INLAY")._optimizer)


@pytest.mark.skipif(OLD_PYTENSOR, reason="its rewrites come to no end on some graphs (local_log_add_exp)")
def test_random_graphs(record_property, monkeypatch):
    monkeypatch.setenv("INLAY_VERIFY", "1")
    seed, end = SEED, time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            judge(seed)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"INLAY_FUZZ_SEED={seed}") from error
        seed += 1
    assert seed > SEED
    record_property("graphs", seed - SEED)
