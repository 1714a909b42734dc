"""Files of every format that inlay has written (tests/format/N, by make.py there) are loaded by this inlay."""

import platform
from pathlib import Path

import inlay
import numpy as np
import pytest
from inlay.files import dumps

KEPT = Path(__file__).parents[1] / "format"
FORMATS = sorted(KEPT.glob("[0-9]*"))
NAMES = ["shares", "counts", "factor"]


def format_of(data):
    return int.from_bytes(data[8:12], "little")


def test_files_of_the_format_that_is_written_are_kept():
    """Whoever changes the format runs tests/format/make.py, which adds a folder, and the older ones stay."""
    newest = format_of(dumps(inlay.compile("graph @p(%x: f64) {\n  return %x\n}")))
    assert [int(folder.name) for folder in FORMATS] == list(range(1, newest + 1))
    for folder in FORMATS:
        files = {path.stem: format_of(path.read_bytes()) for path in folder.glob("*.inlayfn")}
        assert files == dict.fromkeys(NAMES, int(folder.name))


@pytest.fixture(params=FORMATS, ids=[folder.name for folder in FORMATS])
def load(request):
    return lambda name: inlay.load(request.param / f"{name}.inlayfn")


def test_shares_with_an_array_that_went_along(load):
    x = np.array([[0.0, 1.0], [np.log(4.0), 0.0], [2.0, -3.0]])
    share, most = load("shares")(x)
    e = np.exp(x * [1.0, 2.0])
    np.testing.assert_allclose(share, e / e.sum(axis=1, keepdims=True), rtol=1e-14)
    np.testing.assert_array_equal(most, x.max(axis=1))


def test_counts_in_place_and_an_index_that_is_out_of_bounds(load):
    counts, to = load("counts"), np.array([10.0, 20.0, 30.0])
    np.testing.assert_array_equal(counts([0, -1, 0], [1.0, 2.0, 4.0], to), [15.0, 20.0, 32.0])
    with pytest.raises(inlay.errors.IndexOutOfBounds) as caught:
        counts([0, 3, 0], [1.0, 2.0, 4.0], np.zeros(3))
    message, place = str(caught.value).splitlines()[:2]
    assert message == "error[index-out-of-bounds]: scatter: index 3 is out of bounds for axis 0 with size 3"
    assert place == "  at     <text>:2:3"
    with pytest.raises(inlay.errors.ShapeMismatch):
        counts([0, 1], [1.0], np.zeros(3))


def test_factors_by_calls_of_the_library(load):
    square, lower = load("factor")(np.array([[2.0, 0.0], [1.0, 2.0]]))
    np.testing.assert_array_equal(square, [[4.0, 2.0], [2.0, 5.0]])
    np.testing.assert_array_equal(lower, [[2.0, 0.0], [1.0, 2.0]])


@pytest.mark.parametrize("name", NAMES)
def test_what_it_was_is_explained(load, name):
    f = load(name)
    told = inlay.explain(f)
    assert told.steps
    assert f"graph @{name}(" in told.graph
    if platform.machine() == "x86_64":
        assert "sse2" in told.target
