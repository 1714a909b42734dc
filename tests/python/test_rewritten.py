"""What PyTensor's rewrites are left in mode "INLAY" for: numbers that its own pipeline keeps finite stay so, and
docs/rewriting.md counts what is left out."""

import pathlib
import re

import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from inlay.pytensor.mode import DONE_BY_INLAY
from pytensor.compile.mode import optdb
from versions import OLD_PYTENSOR

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "rewriting.md"
PYTHON = pytensor.compile.Mode("py", "fast_run")


@pytest.mark.parametrize(("mu", "alpha"), [(1e-14, 1e2), (1e-10, 1e8), (1e-5, 1e15), (1e-17, 1.0), (1e-300, 1e3)])
def test_gradient_of_the_negative_binomial_where_the_mean_is_nothing_beside_alpha(mu, alpha):
    """It is a quotient by 1 - p, and p is 1: PyTensor cancels it (local_greedy_distributor)."""
    m, a = pt.dscalar("mu"), pt.dscalar("alpha")
    logp = pm.logp(pm.NegativeBinomial.dist(mu=m, alpha=a), 2.0)
    ours, theirs = (pytensor.function([m, a], [logp, *pytensor.grad(logp, [m, a])], mode=x) for x in ("INLAY", PYTHON))
    got = np.array(ours(mu, alpha))
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got[1], 2 / mu - 1, rtol=1e-4)
    np.testing.assert_allclose(got, theirs(mu, alpha), rtol=1e-6, atol=1e-14)


@pytest.mark.skipif(OLD_PYTENSOR, reason="has rewrites of other names")
def test_the_page_counts_the_rewrites_that_are_left_out():
    of_the_page = {
        name: int((re.search(r"less (\d+)", runs) or [0, 0])[1])
        for name, runs in re.findall(r"^\| `(canonicalize|specialize|stabilize)` \| (yes[^|]*) \|", PAGE.read_text(), re.M)
    }
    assert of_the_page == {name: sum(bool(optdb[name].__db__.get(rewrite)) for rewrite in DONE_BY_INLAY) for name in of_the_page}
    assert len(of_the_page) == 3
    assert "local_greedy_distributor" not in DONE_BY_INLAY


@pytest.mark.parametrize("factor", [-1, -2.5, 3])
@pytest.mark.parametrize(("axis", "keepdims"), [(None, False), (0, False), (1, True)])
def test_a_negated_maximum_of_what_is_negated_is_a_minimum(factor, axis, keepdims):
    """PyTensor multiplies by -1, and by other factors at once; its minimum is a negated maximum of what is negated, too."""
    x = pt.dmatrix("x")
    outputs = [factor * pt.max(-x, axis=axis, keepdims=keepdims), -pt.max(x * factor, axis=axis, keepdims=keepdims)]
    value = np.random.default_rng(3).normal(size=(5, 7))
    for out in outputs:
        function = pytensor.function([x], out, mode="INLAY")
        np.testing.assert_array_equal(function(value), pytensor.function([x], out, mode=PYTHON)(value))
        assert inlay.pytensor.explain(function).rewrites["extreme-of-negated"] == 1


@pytest.mark.parametrize(("axis", "keepdims"), [(None, False), (0, False), (1, True)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8", "uint16", "uint64"])
def test_a_minimum_of_integers_is_one(dtype, axis, keepdims):
    """PyTensor negates, subtracts from the maximum integer, or inverts each bit, before and behind a maximum."""
    x = pt.matrix("x", dtype=dtype)
    lowest, highest = (0, 2) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    value = np.random.default_rng(4).integers(lowest, highest, (5, 7), "int8" if dtype == "bool" else dtype).astype(dtype)
    value[2, 3] = lowest
    function = pytensor.function([x], x.min(axis=axis, keepdims=keepdims), mode="INLAY")
    np.testing.assert_array_equal(function(value), value.min(axis=axis, keepdims=keepdims), strict=True)
    text = inlay.pytensor.explain(function).text
    assert "reduce min %x" in text and "reduce max" not in text


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
def test_a_minimum_beside_the_maximum_of_what_is_turned_over_is_right(dtype):
    x = pt.matrix("x", dtype=dtype)
    value = np.array([[-128, 3, 0], [5, -7, 1]], "int8").view(dtype) if dtype != "bool" else np.eye(2, 3) > 0
    function = pytensor.function([x], [x.min(axis=0), x.argmin(axis=0), x.max(axis=0)], mode="INLAY")
    minimum, _, maximum = function(value)
    np.testing.assert_array_equal(minimum, value.min(axis=0), strict=True)
    np.testing.assert_array_equal(maximum, value.max(axis=0), strict=True)


@pytest.mark.parametrize("number", [1, 7, -3])
def test_a_minimum_plus_a_number_is_one(number):
    x = pt.matrix("x", dtype="uint8")
    out = x.min(axis=0) + number
    value = np.random.default_rng(5).integers(0, 255, (5, 7), "uint8")
    function = pytensor.function([x], out, mode="INLAY")
    np.testing.assert_array_equal(function(value), pytensor.function([x], out, mode=PYTHON)(value), strict=True)
    assert "reduce min %x" in inlay.pytensor.explain(function).text


@pytest.mark.parametrize("axis", [None, 0])
def test_a_minimum_in_a_difference_is_one(axis):
    x = pt.dmatrix("x")
    out = x.sum(axis=axis) - x.min(axis=axis)
    value = np.random.default_rng(6).normal(size=(5, 7))
    function = pytensor.function([x], out, mode="INLAY")
    np.testing.assert_allclose(function(value), value.sum(axis=axis) - value.min(axis=axis), rtol=1e-13)
    text = inlay.pytensor.explain(function).text
    assert "reduce min %x" in text and "neg %x" not in text


def test_a_gradient_reads_the_maximum_that_its_minimum_is_made_of():
    x = pt.dmatrix("x")
    out = [x.min(axis=0), pytensor.grad(x.min(axis=0).sum(), x)]
    value = np.random.default_rng(7).normal(size=(5, 7))
    minimum, slope = pytensor.function([x], out, mode="INLAY")(value)
    np.testing.assert_array_equal(minimum, value.min(axis=0))
    np.testing.assert_array_equal(slope, value == value.min(axis=0))
