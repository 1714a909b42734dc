"""Random ONNX networks beside onnx's reference evaluator; see onnx_random.py.

    INLAY_FUZZ_SECONDS=600 INLAY_FUZZ_SEED=1 INLAY_ONNX_CHOICES="backend=c" pytest tests/python/test_onnx_random.py
"""

import os
import re
import time

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx_cases  # noqa: E402
import onnx_random_bodies  # noqa: E402
from inlay.errors import ShapeMismatch  # noqa: E402
from onnx_random import Grower, Unfit, moved  # noqa: E402
from onnx_random_layers import NARROW  # noqa: E402

SECONDS = float(os.environ.get("INLAY_FUZZ_SECONDS", 0))
SEED = int(os.environ.get("INLAY_FUZZ_SEED", 0))
CHOICES = dict(word.split("=") for word in os.environ.get("INLAY_ONNX_CHOICES", "").split())

# Of a value: what one node that rounds is off by, a few times. float16 is rounded to at other places than in the evaluator.
RELATIVE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3}

# A size that is 1 in all three calls beside one of the same names: it does not stretch (docs/onnx.md).
ONE_BY_CHANCE = re.compile(r"dim \d+ is (1 on the left|\d+ on the left and 1 on the right)")


def grown(seed):
    """A network, and its inputs and outputs for each of the numbers."""
    grower = Grower(seed)
    for _ in range(grower.rng.integers(1, 20)):
        try:
            grower.some(onnx_random_bodies.ALL)(grower)
        except Unfit:
            pass
    known = [name for name, value in grower.values.items() if value.dtype not in NARROW]
    made = [name for name in known if name not in grower.inputs and name not in grower.constants]
    if not made:
        return None
    also = [grower.some(known) for _ in range(grower.rng.integers(0, 4))]
    outputs = list(dict.fromkeys([made[-1], *also]))
    return grower, outputs


def judge(seed, **choices):
    """None, or why inlay refuses the network. Of one in four all sizes are fixed. Errors: AssertionError."""
    made = grown(seed)
    if made is None:
        return None
    grower, outputs = made
    case = onnx_cases.Case(str(seed), grower.network(outputs).SerializeToString(), list(grower.inputs), [], 0, 0)
    fixed = {name for dims in grower.inputs.values() for name in dims if isinstance(name, str)} if seed % 4 == 0 else set()
    fn = None
    for i in range(3):
        given = {name: grower.values[name].plain[i] for name in grower.inputs}
        if fn is None or fixed:
            try:
                fn, fixed = compiled(case, given | {name: sizes[i] for name, sizes in grower.symbols.items()}, fixed, choices)
            except onnx_cases.Refused as refused:
                return str(refused)
        try:
            got = fn(**{name: array for name, array in given.items() if name not in fixed})
        except ShapeMismatch as error:
            if ONE_BY_CHANCE.search(str(error)):
                return str(error)
            raise
        for name, array in zip(outputs, got if isinstance(got, tuple) else (got,), strict=True):
            wrong = difference(array, grower.values[name], i)
            assert not wrong, f"`{name}` of call {i} {wrong}"
    return None


def compiled(case, given, names, choices):
    """With these inputs and sizes fixed, and those that inlay asks for."""
    fn, others = onnx_cases.compiled(case, given, {name: given[name] for name in names}, **choices)
    return fn, set(others)


def difference(got, value, i):
    """What is wrong with `got`, or None."""
    want, shaken = value.plain[i], value.shaken[i]
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"is {got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f" or value.is_exact:
        return None if np.array_equal(got, want) else f"is {got} instead of {want}"
    off = np.abs(np.float64(got) - np.float64(want))
    near = off <= 4 * moved(want, shaken) + RELATIVE[want.dtype.name] * np.abs(np.float64(want))
    return None if near.all() else f"has {got[~near][:3]} instead of {want[~near][:3]}"


def test_random_networks(record_property, monkeypatch):
    monkeypatch.setenv("INLAY_VERIFY", "1")
    seed, end, reasons = SEED, time.monotonic() + SECONDS, []
    while time.monotonic() < end or not SECONDS and seed < SEED + 60:
        try:
            reasons.append(judge(seed, **CHOICES))
        except Exception as error:
            raise AssertionError(f"INLAY_FUZZ_SEED={seed}") from error
        seed += 1
    refused = [reason for reason in reasons if reason]
    assert len(refused) <= 2 + len(reasons) / 50, refused
    record_property("networks", seed - SEED)
