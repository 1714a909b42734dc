"""What `inlay.plan` takes for numbers and names, and what its plan says of them."""

import json

import inlay
import numpy as np
import pytest


def test_integers_of_numpy():
    buffers = [inlay.Storage("a", np.int64(64), np.int8(0), np.uint32(2), np.int64(8), cost=np.int16(3)), ("b", 16, 1, 3)]
    plan = inlay.plan(buffers)
    same = inlay.plan([("a", 64, 0, 2, 8, None, "", None, None, 3), ("b", 16, 1, 3)])
    told = plan.to_dict()
    assert [type(told["storages"][0][key]) for key in ("size", "lower", "upper", "alignment", "cost")] == [int] * 5
    assert told["storages"] == json.loads(json.dumps(told["storages"]))
    assert [s.offset for s in plan.storages] == [s.offset for s in same.storages]
    assert inlay.plan([("a", 64, 0, 2)], capacity=np.int64(64), budget_ms=np.int64(1)).to_dict()["pools"][0]["capacity"] == 64


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: inlay.plan([("a", 4, 0, 2)], budget_ms=2**70), f"inlay.plan: budget_ms, {2**70}, does not fit in 63 bits"),
        (lambda: inlay.plan([("a", 4, 0, 2)], capacity=2**63), f"inlay.plan: capacity, {2**63}, does not fit in 63 bits"),
        (lambda: inlay.plan([("\ud800", 4, 0, 2)]), "the name of buffer 0 is no UTF-8: a character is half of a pair"),
        (lambda: inlay.plan([(3, 4, 0, 2)]), "the name of buffer 0 is an int, and no text"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value).removeprefix("error[wrong-dtype]: ") == said


def test_what_takes_no_bytes_is_no_part_of_the_peak():
    nothing = [inlay.Storage("empty", 0, 0, 2, offset=500), inlay.Storage("never", 100, 3, 3, offset=300)]
    assert inlay.plan([("a", 64, 0, 2), *nothing]).peak == 64
