"""Every example model is native whole, and agrees with PyTensor's interpreter at two points."""

import sys
from pathlib import Path

import inlay.pytensor
import numpy as np
import pytest
from models import logp_and_gradient

sys.path.append(str(Path(__file__).parents[2] / "examples" / "models"))

import registry


def two_points(model):
    """PyMC's initial point, and one near it."""
    start = model.initial_point()
    first = np.concatenate([np.ravel(start[variable.name]) for variable in model.value_vars]).astype(float)
    return first, first + 0.1 * np.random.default_rng(20240607).standard_normal(first.size)


@pytest.mark.parametrize("name", registry.NAMES)
def test_example(name):
    model = registry.model(name)
    ours, theirs = logp_and_gradient(model, "INLAY"), logp_and_gradient(model, "FAST_COMPILE")
    for x in two_points(model):
        for got, want in zip(ours(x), theirs(x), strict=True):
            assert np.all(np.isfinite(got))
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
    view = inlay.pytensor.explain(ours)
    assert view.host_calls == []
    assert view.host_call_reasons == {}


def test_every_file_is_in_the_registry():
    files = {path.stem for path in Path(registry.__file__).parent.glob("*.py")}
    assert files - {"registry", "__main__"} == set(registry.NAMES)
