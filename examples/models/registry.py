"""The example models, by name: what the tests check and `scripts/bench models` measures."""

import importlib.util
import pathlib

# In the order of the table: regressions, groups and spaces, time, whole distributions.
NAMES = (
    "hierarchical",
    "logistic",
    "poisson",
    "negative_binomial",
    "ordinal",
    "survival",
    "missing_values",
    "mixture",
    "dirichlet_multinomial",
    "lkj_cholesky",
    "spatial_car",
    "gaussian_process",
    "hsgp",
    "autoregression",
    "stochastic_volatility",
    "ode",
)


def load(name):
    """The module of that example; its names do not become those of top-level modules."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", pathlib.Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def model(name):
    return load(name).model()
