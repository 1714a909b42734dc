"""bench/threads.py on arrays of a few elements: it compares the results of inlay and its peers before it times them."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"

# In a process of its own, as the bench itself: numba's threads of OpenMP and a later fork do not go together.
_ALL_ROWS = f"""
import functools, json, os, sys
os.environ["JAX_ENABLE_X64"] = "1"
sys.path.insert(0, {str(BENCH)!r})
import threads
threads.small_call = functools.partial(threads.small_call, calls=3)
goals = [[case.work, case.goal, case.or_bandwidth, case.out] for case in threads.CASES]
print(json.dumps([goals, list(threads.rows(size_of=lambda case: 70, rounds=1))]))
"""


def test_all_rows():
    for package in ("numba", "jax"):
        pytest.importorskip(package)
    text = subprocess.run([sys.executable, "-c", _ALL_ROWS], check=True, stdout=subprocess.PIPE, text=True).stdout
    cases, (bandwidth, *rows, alone, more) = json.loads(text)
    for work, ours, peer, theirs, unit, goal in (bandwidth, *rows, alone):
        assert ours > 0 and theirs > 0, (work, peer)
    gain = bandwidth[3] / bandwidth[1]
    assert bandwidth[0].startswith("b + a*c of 70") and bandwidth[5] is None
    at = iter(rows)
    for work, goal, or_bandwidth, out in cases:
        assert next(at)[0::2] == [work.format(n=70), "inlay, one thread", "ms"]
        peers = [] if out else [next(at)[2:] for _ in range(2)]
        assert [peer for peer, *_ in peers] == ([] if out else ["numba prange", "JAX"])
        assert {of_peer for *_, of_peer in peers} <= {1.2}
    assert next(at, None) is None
    by_thread = [row[5] for row in rows if row[2] == "inlay, one thread"]
    assert by_thread == [min(goal, gain) if or_bandwidth else goal for _, goal, or_bandwidth, _ in cases]
    assert rows[0][0] == "hierarchical normal logp + gradient, 70 rows" and rows[0][5] == 1.8
    assert more[1] == alone[1] - alone[3] and more[2:] == [None, None, "ns", 30]


@pytest.mark.parametrize("wrong", ["inlay", "numba prange", "JAX"])
def test_results_that_differ_are_not_timed(wrong):
    """Also where one of several elements, or the shape, is another."""
    sys.path.insert(0, str(BENCH))
    try:
        compare = importlib.import_module("threads").compare
    finally:
        sys.path.remove(str(BENCH))
    agree = {name: lambda: ([1.0, 2.0], 3.0) for name in ("inlay, one thread", "inlay", "numba prange", "JAX")}
    compare(agree)
    for other in (([1.0, 2.0001], 3.0), ([1.0, 2.0], 3.1), ([1.0, 2.0, 3.0], 3.0)):
        with pytest.raises(AssertionError, match=f"{wrong} and inlay, one thread"):
            compare({**agree, wrong: lambda other=other: other})
