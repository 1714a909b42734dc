"""One data set in shards on several workers, sampled as a whole."""

import contextlib

import numpy as np

from ..choices import a_kind
from ..fits.all_rows import AllRows
from ..fits.executors import refuse_for_shards
from ..fits.failures import SamplingFailed
from ..fits.fit import Work, fit
from ..fits.numbers_given import BadData
from ..fits.shards import NutsOnShards, held
from ..fits.table import refuse_columns
from .chosen_mode import compiled_in
from .methods import seed_for, settings_for

# Of a table with one fit, which no model has.
_DIM = "(all shards)"


def fit_shards(
    model,
    shards,
    *,
    draws=1000,
    tune=1000,
    chains=4,
    seed=None,
    executor=None,
    var_names=None,
    nuts_sampler_kwargs=None,
    mode=None,
):
    """Samples `model` on one data set whose rows are in `shards`, and returns the draws as an xarray.Dataset with the dims
    `chain` and `draw`. Each gradient is one round trip to all workers, which takes some thirty microseconds in threads here, and
    a millisecond on Dask: shards pay for very many rows (docs/many-fits.md says from what number on).

    `shards`: a list of data sets as `fit_many` takes them, each with some of the rows. All data that one names have the
    rows along their first axis. What no shard names is as in the model, and must not have rows.
    `executor`: where the shards are held. None: in threads here, as many as there are CPUs; a number: in so many; a
    `dask.distributed.Client`; the module `ray`. The others as in `fit_many`.

    Errors: ValueError for no shards, and where the number of parameters depends on the rows; TypeError for another
    executor; SamplingFailed, also where a worker is lost; and as `fit_many`.

    >>> draws = inlay.pymc.fit_shards(model, [{"x": x, "y": y} for x, y in files], executor=client)
    """
    from .fit_functions import fit_functions

    shards = list(shards)
    _refuse_shards(shards)
    refuse_for_shards(executor)
    settings = settings_for(nuts_sampler_kwargs, draws, tune, chains)
    with compiled_in(mode):
        functions = fit_functions(model, var_names)
    without_rows = {name: np.asarray(x)[:0] for name, x in shards[0].items()}
    try:
        start, _ = functions.loaded.start(functions.arrays(without_rows))
    except BadData as error:
        raise ValueError(f"shards: {error}") from error
    seed = seed_for(seed)
    with contextlib.closing(held(functions, shards, executor)) as holder:
        for i, size in enumerate(holder.call("number_of_parameters")):
            if size != start.size:
                raise ValueError(f"shard {i} has {size} parameters, and without rows there are {start.size}")
        keep = tuple(v.name for v in functions.results())
        work = Work(functions, seed, NutsOnShards(settings, holder, len(shards)), (), (), keep, dim=_DIM)
        refuse_columns(work)
        row = fit(work, 0, without_rows)
    if row.reason:
        raise SamplingFailed(row.reason)
    rows = AllRows(work)
    rows.put(row)
    return rows.opened().isel({_DIM: 0}, drop=True).drop_vars(["failed", "reason"])


def _refuse_shards(shards):
    if not shards:
        raise ValueError("fit_shards: there are no shards")
    for i, given in enumerate(shards):
        if not hasattr(given, "items"):
            raise TypeError(f"shard {i} is {a_kind(given)}, not a dict by the names of pm.Data")
        if given.keys() != shards[0].keys():
            raise ValueError(f"shard {i} has {', '.join(given) or 'nothing'}, and shard 0 {', '.join(shards[0]) or 'nothing'}")
        scalars = [name for name, x in given.items() if np.ndim(x) == 0]
        if scalars:
            raise ValueError(f"shard {i}: {scalars[0]} has no rows")
