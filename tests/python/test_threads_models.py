"""The example models on any number of threads: the same bytes, of loops that are cut."""

import sys
from pathlib import Path

import inlay.pytensor
import numpy as np
import pytest
from inlay import profiling
from inlay.choices import Choices
from models import logp_and_gradient

sys.path.append(str(Path(__file__).parents[2] / "examples" / "models"))

import registry

COUNTS = (1, 2, 3, 4, 7, 64)
TOO_SMALL = {"poisson", "spatial_car", "autoregression"}  # their loops, of 307 points at most, are one branch of a sum


@pytest.fixture
def smallest_blocks(monkeypatch):
    """The models' own data would be one block or a few: here a loop of two points is two."""
    for_compiler = Choices._for_compiler
    monkeypatch.setattr(Choices, "_for_compiler", lambda self: {**for_compiler(self), "smallest_blocks": True})
    monkeypatch.setenv("INLAY_CACHE", "0")  # its key does not know of them


@pytest.fixture(autouse=True)
def threads_as_before():
    before = inlay.get_threads()
    yield
    inlay.set_threads(before)


def first_point(model):
    return np.concatenate([np.ravel(v) for v in model.initial_point().values()]).astype(float)


def as_bytes(results):
    return [np.asarray(a).tobytes() for a in results]


@pytest.mark.parametrize("name", registry.NAMES)
def test_a_model(name, smallest_blocks, monkeypatch):
    model = registry.model(name)
    alone = logp_and_gradient(model, inlay.pytensor.mode(threads=1))
    fn = logp_and_gradient(model, inlay.pytensor.mode(threads=64))
    start = first_point(model)
    points = [start, start + 0.1 * np.random.default_rng(20240607).standard_normal(start.size)]
    want = [as_bytes(alone(x)) for x in points]
    for count in COUNTS:
        inlay.set_threads(count)
        for x, expected in zip(points, want, strict=True):
            assert as_bytes(fn(x)) == expected, count
    monkeypatch.setattr(profiling, "_SECONDS", 0.0)
    monkeypatch.setattr(profiling, "machine_bandwidth", lambda: 1.0)
    assert (max(row.threads for row in inlay.profile(fn, start).rows) > 1) == (name not in TOO_SMALL)


def test_a_function_for_seven_threads(smallest_blocks):
    """By the number that the mode says, where the process has more."""
    inlay.set_threads(64)
    model = registry.model("hierarchical")
    of_each = [logp_and_gradient(model, inlay.pytensor.mode(threads=count)) for count in COUNTS]
    x = first_point(model) + 0.1
    first, *others = [as_bytes(fn(x)) for fn in of_each]
    assert all(other == first for other in others)
