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
