"""The rows of fits as columns: names, dims, coords, how sizes that differ are filled; and as one xarray.Dataset."""

import re

import numpy as np

from ..choices import a_kind
from . import summaries
from .columns import COLUMNS
from .names import PREDICTED
from .packed import Columns

_OWN_DIM = re.compile(r"(.*)_dim_\d+_*", re.DOTALL)  # as `named_dim` makes it


def refuse_columns(work):
    """Errors: TypeError where the name of a result or of the dim of the fits is no str; ValueError where a result or a dim
    would have the name of a column, or two results, or a result and a dim, have one name."""
    names, dims = names_of_results(work), dims_of_results(work)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"reduce: the name of a function is a str, not {a_kind(name)}")
    columns = {"chain", "draw", "quantile", *(column.name for column in COLUMNS)}
    _refuse_dim(work.dim, columns, names)
    columns.add(work.dim)
    taken = set(columns)
    for name in names:
        if name in taken:
            raise ValueError(f"two results would be named {name}: name that of reduce= otherwise, by a dict")
        taken.add(name)
    for dim, variable in dims.items():
        if dim in columns:
            otherwise = "name that of the fits otherwise, by dim=" if dim == work.dim else "name it otherwise"
            raise ValueError(f"the dim {dim} of {variable} is named as a column of the fits: {otherwise}")
        if dim in taken:
            raise ValueError(f"a result would be named {dim}, as is a dim of {variable}: name one of them otherwise")
    for name in names:
        own = _OWN_DIM.fullmatch(name)
        if own and own[1] in names:
            raise ValueError(f"a result would be named {name}, as may be a dim of {own[1]}: name one of them otherwise")


def _refuse_dim(dim, columns, results):
    if not isinstance(dim, str):
        raise TypeError(f"dim is {a_kind(dim)}, not a name")
    if dim in columns:
        raise ValueError(f"dim is {dim}, and the fits have a column or a dim of that name: name it otherwise")
    own = _OWN_DIM.fullmatch(dim)
    if dim in results or (own and own[1] in results):
        raise ValueError(f"dim is {dim}, as is a result or may be a dim of one: name it otherwise")


def refuse_names(kind, names, reason):
    """Errors: ValueError for a name of which the function `reason` says why a store cannot have it."""
    for name in names:
        if because := reason(name):
            raise ValueError(f"to: a {kind} is named {name!r}, {because}")


def names_of_results(work):
    """All that a row may have beside its columns."""
    summarized = [summaries.label(v.name, name) for name in work.summaries for v in work.functions.summarized(name)]
    return [*summarized, *work.keep, *(reduction.name for reduction in work.reductions), *work.method.also]


def table(work, columns, results, labels=None, coords=None):
    """`columns`: has those of all rows, as a Row has its own; `results`: Columns. `labels`: of the data sets; None: their
    numbers. `coords`: as in `coords_of`.

    What is of another size in another fit is filled with NaN up to the longest; integers become floats for that, as they
    do where a fit has failed.
    """
    import xarray

    variables = {column.name: ((work.dim,), column.whole(columns)) for column in COLUMNS}
    sizes, varying = {work.dim: results.count}, set()
    for name, dims in dims_of(work, results).items():
        parts = results.parts(name)
        shape, is_padded = extent(parts)
        dims = [named_dim(d, size, name, i, sizes) for i, (d, size) in enumerate(zip(dims, shape, strict=True))]
        varying.update(d for d, padded in zip(dims, is_padded, strict=True) if padded)
        dtype = _dtype(parts, any(is_padded), results.count)
        variables[name] = ((work.dim, *dims), joined(parts, results.count, shape, dtype))
    own = {work.dim: np.arange(results.count) if labels is None else as_labels(labels)}
    return xarray.Dataset(variables, own | coords_of(work, sizes, varying, coords), attributes(work))


def columns_of(rows):
    """Their results by name."""
    return Columns.of(row.packed for row in rows)


def refuse_another_rank(row, ranks):
    """The row has failed where `another_rank` says so."""
    if reason := another_rank(row.packed[0], ranks):
        row.reason, row.packed = reason, ((), b"")


def another_rank(layout, ranks):
    """A function of the user's may give a number for one fit and a vector for another: why the later row has failed.

    `ranks`: of the rows before, by name; grows.
    """
    for name, _, shape in layout:
        known = ranks.setdefault(name, len(shape))
        if len(shape) != known:
            return f"{name} has {len(shape)} dimensions, and {known} in an earlier fit"
    return ""


def coords_of(work, sizes, varying, given=None):
    """Of the dims with these sizes: of those that are as long in all fits, `varying` has the others. `given`: by dim, the
    labels that come with the data in place of the model's; None where those of data sets differ."""
    coords, given = {}, given or {}
    for dim, size in sizes.items():
        known = given[dim] if dim in given else work.functions.coords.get(dim)
        if dim == "quantile":
            coords[dim] = list(summaries.QUANTILES)
        elif known is not None and len(known) == size and dim not in varying and dim != work.dim:
            coords[dim] = as_labels(known)
    return coords


def attributes(work):
    method = work.method
    return {
        "seed": str(work.seed),
        "method": method.name,
        "draws": method.draws,
        "tune": method.tune,
        "chains": method.chains,
    }


def as_labels(labels):
    """One array of them: of objects, where NumPy has no other."""
    out = np.empty(len(labels), object)
    out[:] = labels
    try:
        plain = np.array(labels)
    except ValueError:
        return out
    return plain if plain.ndim == 1 else out


def dims_of(work, results):
    """Of each value that some row has, by name; None for those that only a function of the user's has."""
    known, reduced = _known_dims(work), {reduction.name for reduction in work.reductions}
    return {name: [None] * ndim if name in reduced else known[name] for name, ndim in results.dims().items()}


def dims_of_results(work):
    """The dims that variables give to results, each with such a variable."""
    kept = [v for v in work.functions.results() if v.name in work.keep]
    summarized = [v for name in work.summaries for v in work.functions.summarized(name)]
    return {dim: v.name for v in [*kept, *summarized] for dim in _dims_of_variable(work, v)}


def _dims_of_variable(work, variable):
    """Of predictions at other data than the fit's: not those of the model, whose coords are of its own data."""
    is_elsewhere = work.predict_at is not None and variable in work.functions.after[PREDICTED].variables
    return tuple(own_dim(variable.name, i) for i in range(variable.ndim)) if is_elsewhere else variable.dims


def _known_dims(work):
    """Of each result that is of variables, by name."""
    known = {name: () for name in work.method.also}
    for variable in work.functions.results():
        known[variable.name] = ("chain", "draw", *_dims_of_variable(work, variable))
    for summary in summaries.SUMMARIES:
        for variable in work.functions.summarized(summary):
            more = ("quantile",) if summary == "quantiles" else ()
            known[summaries.label(variable.name, summary)] = (*_dims_of_variable(work, variable), *more)
    return known


def named_dim(dim, size, name, axis, sizes):
    """A dim of this size: the one that was asked for, unless it has another size already. It is added to `sizes`."""
    if dim is None or sizes.get(dim, size) != size:
        dim = own_dim(name, axis)
    while sizes.get(dim, size) != size:  # the model has this one, too
        dim += "_"
    sizes[dim] = size
    return dim


def own_dim(name, axis):
    return f"{name}_dim_{axis}"


def extent(parts):
    """The shape that holds each of the arrays of Columns.parts, and for each axis whether some are shorter along it."""
    shapes = np.array([array.shape[1:] for _, array in parts], np.int64).reshape(len(parts), -1)
    longest = shapes.max(axis=0)
    return tuple(map(int, longest)), [bool(x) for x in (shapes != longest).any(axis=0)]


def _dtype(parts, is_padded, count):
    dtype = np.result_type(*{array.dtype for _, array in parts})
    is_lacking = np.unique(np.concatenate([at for at, _ in parts])).size < count
    return np.result_type(dtype, np.float64) if is_padded or is_lacking else dtype


def joined(parts, count, shape, dtype):
    """All arrays, each at its place of `count` and filled with NaN up to the shape."""
    out = np.zeros((count, *shape), dtype)
    out[...] = np.nan if out.dtype.kind == "f" else 0
    for at, array in parts:
        out[(at, *map(slice, array.shape[1:]))] = array
    return out
