"""Fits as an xarray.DataTree, in the groups that ArviZ knows: draws that are kept by what they are of, all else as a row of
the root or a summary."""

import numpy as np

from .columns import COLUMNS
from .names import LOGLIK, PREDICTED, observed_of
from .table import dims_of_results, names_of_results

SUMMARY = "summary"


def refuse_groups(work):
    """Errors, before anything is fitted: ImportError where xarray has no DataTree, ValueError for a name that none has."""
    import xarray

    if not hasattr(xarray, "DataTree"):
        raise ImportError(f"as_datatree: xarray {xarray.__version__} has no DataTree: pip install -U xarray")
    for name in (*names_of_results(work), *dims_of_results(work), work.dim):
        if "/" in name:
            raise ValueError(f"as_datatree: a name in a DataTree has no slash, as {name} has: leave as_datatree out")


def in_groups(fits, work):
    """`fits`: the xarray.Dataset of all fits. What failed has NaN, as there."""
    import xarray

    places, groups = _places(work), {"/": {}}
    for name in fits.data_vars:
        group, variable = places.get(name, (SUMMARY, name))
        groups.setdefault(group, {})[name] = variable if variable not in fits.dims else name
    of_draws = {dim: np.arange(size) for dim, size in fits.sizes.items() if dim in ("chain", "draw")}
    tree = {}
    for group, names in groups.items():
        part = fits[list(names)].rename(names)
        part = part.assign_coords({dim: numbers for dim, numbers in of_draws.items() if dim in part.dims})
        tree[group] = part if group == "/" else part.drop_attrs(deep=False)
    return xarray.DataTree.from_dict(tree)


def _places(work):
    """By name of a result, its group and its name there; of summaries and functions nothing is said."""
    functions, of_prior = work.functions, work.method.name == "prior"
    elsewhere = "predictions" if work.predict_at is not None else None
    predictive = elsewhere or ("prior_predictive" if of_prior else "posterior_predictive")
    places = {name: ("/", name) for name in [*(column.name for column in COLUMNS), *work.method.also]}
    places |= {v.name: ("prior" if of_prior else "posterior", v.name) for v in functions.recorded}
    for name, group in ((LOGLIK, "log_likelihood"), (PREDICTED, predictive)):
        variables = functions.after[name].variables if name in functions.after else ()
        places |= {v.name: (group, observed_of(v.name, name)) for v in variables}
    return places
