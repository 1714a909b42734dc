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
print(json.dumps([len(threads.CASES), list(threads.rows(size_of=lambda case: 70, rounds=1))]))
"""


def test_all_rows():
    for package in ("numba", "jax"):
        pytest.importorskip(package)
    text = subprocess.run([sys.executable, "-c", _ALL_ROWS], check=True, stdout=subprocess.PIPE, text=True).stdout
    num_cases, rows = json.loads(text)
    assert len(rows) == 3 * num_cases + 1
    for work, ours, peer, theirs, unit, goal in rows:
        assert ours > 0 and theirs > 0, (work, peer)
    assert [row[2] for row in rows[:3]] == ["inlay, one thread", "numba prange", "JAX"]
    assert rows[0][0] == "hierarchical normal logp + gradient, 70 rows"


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
