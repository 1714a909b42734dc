"""One model fitted to many data sets: compiled once, sampled by nutpie's core on C pointers or fitted by another method,
here or on any executor."""

import contextlib

from ..choices import a_kind
from ..fits.all_rows import AllRows
from ..fits.datasets import DataSets
from ..fits.executors import refuse_others
from ..fits.fit import Work
from ..fits.function import Function
from ..fits.groups import in_groups, refuse_groups
from ..fits.kept import Kept
from ..fits.names import LOGLIK, PREDICTED, named
from ..fits.run import run
from ..fits.stream import Stream, refuse_path
from ..fits.summaries import SUMMARIES
from ..fits.table import refuse_columns
from .chosen_mode import compiled_in
from .methods import method_of, refuse_resume, seed_for, starts_of


class FitsEnded(RuntimeError):
    """The fits ended before all were done; `fits` has those that are, and the cause is what ended them."""

    def __init__(self, text, fits):
        super().__init__(text)
        self.fits = fits


def fit_many(
    model,
    datasets,
    *,
    by=None,
    method="nuts",
    draws=1000,
    tune=400,
    chains=4,
    seed=None,
    executor=None,
    reduce=None,
    keep=None,
    predictive=None,
    resume=None,
    to=None,
    dim="dataset",
    progress=True,
    var_names=None,
    nuts_sampler_kwargs=None,
    method_kwargs=None,
    initvals=None,
    as_datatree=False,
    mode=None,
):
    """Fits `model` to each of `datasets` and returns an xarray.Dataset with the dim `dim`. The model is compiled
    once, where PyMC does not make the fits.

    `method`: "nuts", by nutpie's core; by PyMC's own samplers where a variable is discrete or nutpie is not installed,
    which a line of PyMC's log says. "map": the maximum a posteriori of `pymc.find_MAP`, one chain of one draw; with
    `method_kwargs={"starts": n}` the best of what is found from n starting points. "smc":
    `pymc.sample_smc`, and "advi": `draws` of what `pymc.fit` finds, one chain, both by PyMC in the worker. Of `draws`,
    `tune` and `chains` a method reads what it has. `method_kwargs`: more settings of "map" (scipy's L-BFGS-B), of "smc"
    and of "advi", as {"n": 5000}. "prior": nothing is fitted, `draws` are of the prior at the data of each data set, one
    chain; with `predictive` those of what is observed.

    `datasets`: dicts from `pm.Data`, or their names, to arrays, also of other lengths, and of observed variables whose
    values are constants to arrays of the same shape (which of these are exchanged, the first data set says). What one does
    not name is as in the model. From a list, a generator, a dict by label, a DataFrame, an xarray.Dataset or a named
    DataArray with `by=`, or a GroupBy of pandas', also of a Series, whose name says which data it is. A data set may also
    have true values of the model's variables, for "ranks".

    `initvals`: where fits start, as PyMC takes it: a dict from names of free variables to values, which are those of the
    model and not of its transforms; a list of dicts, one for each chain of PyMC's own NUTS, or one for each starting point
    of "map"; or a function from the data set to one of these. The first data set says which variables have values; the
    others start where the model says. Chains of NUTS have PyMC's jitter besides.

    `draws`, `tune`, `chains`: of each fit; `nuts_sampler_kwargs`: more settings of nutpie's, as {"target_accept": 0.9}.
    `seed`: the draws of a fit depend on it, on the number of the data set and on the data, on nothing else; None: one
    is made, and is in `attrs`.

    `executor`: where fits run. None: in threads here, as many as there are CPUs; a number: in so many; an executor of
    `concurrent.futures`, or a function that makes one, which is called again when a worker was killed; a
    `dask.distributed.Client`; a `joblib.Parallel`; the module `ray`.

    `reduce`: what to make of a fit's draws where they arise: names of summaries ("mean", "sd", "quantiles", "ess",
    "rhat", "ranks", "loglik") and functions, or a dict of functions by name. A function takes the draws, arrays
    (chain, draw, ...) by name, and, where it has a second parameter, the data set; it returns a number or an array.
    None: mean and sd.
    `keep`: names of variables whose draws are kept too. `var_names`: what a draw records, which is what `reduce` sees;
    None: free variables and deterministics.

    `predictive`: True: a draw of each observed variable `y` is made for each draw of the fit, as `y_predicted`, at the
    data of the fit. A function from the data set to a dict of data: at these data, which may be of another length. The
    log likelihood of each observation is `y_loglik`, where "loglik" is in `reduce` or its name in `keep`.

    `resume`: a folder, which wants a seed. Each finished fit is kept there, and taken from there by a later call with
    the same model, settings and data set.

    `to`: a path that ends in .parquet or .zarr, where there is nothing yet. Fits are written there as they come, and
    are not kept in memory. The store is returned, open: of .zarr the xarray.Dataset, which reads from it; of .parquet, a
    folder of files, the pyarrow.dataset.Dataset. There the column `dim` is the data set's number and `label` its
    label; arrays are lists; rows stand in any order, and what was not done has none.

    `as_datatree`: the same as an xarray.DataTree in ArviZ's groups: kept draws in "posterior" (or "prior"),
    "posterior_predictive" (or "prior_predictive", or "predictions" at other data) and "log_likelihood", the rest of
    `reduce` in "summary", and what each fit has in the root.

    `mode`: how the model is compiled, as `inlay.pytensor.mode(cpu="avx2")` returns it; None: as "INLAY" is.

    A fit that fails is a row with `failed` and `reason`; Ctrl-C returns what is done, with the rest as "not done".

    Errors: NotImplementedError for a log density in float32 or with random draws, and for discrete variables with "map";
    ImportError without pyarrow or zarr; TypeError and ValueError for wrong arguments; FileExistsError and FileNotFoundError
    where `to` is, or its folder is not; FitsEnded, which has what is done, when workers were lost that nobody makes
    anew, or never start, when a worker has other versions of what makes the draws, when an iterator over data sets
    fails, where `resume` or `to` cannot be written, and after Ctrl-C in the last write.

    >>> fits = inlay.pymc.fit_many(model, [{"y": y} for y in series])
    >>> fits["slope_mean"].values
    """
    if getattr(model, "free_RVs", None) is None:
        raise TypeError(f"fit_many takes a PyMC model, not {a_kind(model)}")
    if not model.free_RVs:
        raise ValueError("fit_many: the model has no free variables: there is nothing to sample")
    refuse_others(executor)
    if to is not None:
        refuse_path(to, as_datatree)
    how, functions_of = method_of(model, method, draws, tune, chains, nuts_sampler_kwargs, method_kwargs)
    from .described import data_names, observations

    data = DataSets(datasets, by, data_names(model), model.named_vars_to_dims, model.coords)
    exchanged = [name for name in data.names_in_first() if name in observations(model)]
    names, reductions = _reductions(reduce)
    keep = [keep] if isinstance(keep, str) else list(keep or ())
    how, initvals = starts_of(model, how, initvals, method_kwargs, data.first)
    initial = {} if initvals is None else {"initial": initvals.names}
    with compiled_in(mode):
        functions = functions_of(model, var_names, exchanged, _after(model, names, keep, predictive), **initial)
    _refuse_unknown(keep, functions)
    refuse_resume(resume, seed)
    seed = seed_for(seed)
    predict_at = Function.of("predictive", predictive) if callable(predictive) else None
    work = Work(functions, seed, how, names, reductions, tuple(keep), predict_at, dim, initvals)
    _refuse_names(work, as_datatree)
    with Kept(resume, work) if resume is not None else contextlib.nullcontext() as kept:
        known = work, data.labels, data.coords
        rows = Stream(to, *known) if to is not None else AllRows(*known)
        count, ended = run(work, data.iterator, rows.put, executor, kept, progress, data.total)
        failure = _failure_of_finish(rows, count)
    fits = in_groups(rows.opened(), work) if as_datatree else rows.opened()
    if ended is None or isinstance(ended, KeyboardInterrupt):
        if failure is None:
            return fits
        ended = failure
    raise _early(ended, rows.done, fits) from ended


def _early(ended, done, fits):
    is_ctrl_c = isinstance(ended, KeyboardInterrupt)
    said = "Ctrl-C while the last rows were written" if is_ctrl_c else f"{type(ended).__name__}: {ended}"
    return FitsEnded(f"the fits ended early, {done} are done (`fits` of this error): {said}", fits)


def _refuse_names(work, as_datatree):
    refuse_columns(work)
    if as_datatree:
        refuse_groups(work)


def _failure_of_finish(rows, count):
    """What ended the last write of rows, or None."""
    try:
        rows.finish(count)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  (told to the caller, with what is done)
        return error
    return None


def _reductions(reduce):
    """Names of summaries, and the functions."""
    if reduce is None:
        return ("mean", "sd"), ()
    if isinstance(reduce, str) or callable(reduce):
        reduce = [reduce]
    items = reduce.items() if hasattr(reduce, "items") else [(_name(x), x) for x in reduce]
    names, functions = [], {}
    for name, given in items:
        if isinstance(given, str):
            if given not in SUMMARIES:
                raise ValueError(f"reduce has {given!r}, and the summaries are {', '.join(SUMMARIES)}")
            names.append(given)
        elif not callable(given):
            raise TypeError(f"reduce has {a_kind(given)}, neither the name of a summary nor a function")
        elif name in functions:
            raise ValueError(f"reduce has two functions named {name}: give a dict by name")
        else:
            functions[name] = Function.of(name, given)
    return tuple(dict.fromkeys(names)), tuple(functions.values())


def _name(given):
    return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__).strip("<>")


def _after(model, summaries, keep, predictive):
    """What is computed from draws."""
    if not (predictive is None or isinstance(predictive, bool) or callable(predictive)):
        raise TypeError(f"predictive is {a_kind(predictive)}, neither True nor a function of the data set")
    loglik = LOGLIK in summaries or any(named(v.name, LOGLIK) in keep for v in model.observed_RVs)
    after = [name for name, is_wanted in ((LOGLIK, loglik), (PREDICTED, predictive)) if is_wanted]
    if after and not model.observed_RVs:
        raise ValueError(f"the model observes nothing, so that there is no {' and no '.join(after)}")
    return after


def _refuse_unknown(keep, functions):
    known = [variable.name for variable in functions.results()]
    for name in known:
        if known.count(name) > 1:
            raise ValueError(f"the model has a variable {name}, and a result of the fits would be named {name}")
    for name in keep:
        if name not in known:
            raise KeyError(f"keep: a draw records no {name}; it records {', '.join(known)}")
