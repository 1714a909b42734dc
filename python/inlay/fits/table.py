"""The rows of all fits as one xarray.Dataset."""

import numpy as np

from . import summaries

DATASET = "dataset"
COLUMNS = ("divergences", "failed", "reason", "seconds")


def refuse_columns(work):
    """Errors: ValueError where a result would have the name of a column, or two have one name."""
    taken = {DATASET, "chain", "draw", "quantile", *COLUMNS}
    summarized = [summaries.label(v.name, name) for name in work.summaries for v in work.functions.summarized(name)]
    for name in [*summarized, *work.keep, *(reduction.name for reduction in work.reductions)]:
        if name in taken:
            raise ValueError(f"two results would be named {name}: name that of reduce= otherwise, by a dict")
        taken.add(name)


def table(work, rows, labels=None):
    """`labels`: of the data sets; None: their numbers.

    What is of another size in another fit is filled with NaN up to the longest; integers become floats for that, as they
    do where a fit has failed.
    """
    import xarray

    _refuse_other_ranks(rows)
    columns = {
        "divergences": np.array([row.divergences for row in rows], np.int64),
        "failed": np.array([bool(row.reason) for row in rows], bool),
        "reason": np.array([row.reason for row in rows], object),
        "seconds": np.array([row.seconds for row in rows], np.float64),
    }
    variables = {name: ((DATASET,), column) for name, column in columns.items()}
    coords = {DATASET: np.arange(len(rows)) if labels is None else _labels(labels)}
    sizes, varying = {DATASET: len(rows)}, set()
    for name, dims in _dims(work, rows).items():
        arrays = [row.values().get(name) for row in rows]
        joined, is_padded = _joined(arrays)
        dims = [_dim(d, size, name, i, sizes) for i, (d, size) in enumerate(zip(dims, joined.shape[1:], strict=True))]
        varying.update(d for d, padded in zip(dims, is_padded, strict=True) if padded)
        variables[name] = ((DATASET, *dims), joined)
    for dim, size in sizes.items():
        known = work.functions.coords.get(dim)
        if dim == "quantile":
            coords[dim] = list(summaries.QUANTILES)
        elif known is not None and len(known) == size and dim not in varying and dim not in coords:
            coords[dim] = known
    return xarray.Dataset(variables, coords, _attributes(work))


def _refuse_other_ranks(rows):
    """A function of the user's may give a number for one fit and a vector for another: the later row has failed."""
    ranks = {}
    for row in rows:
        for name, _, shape in row.packed[0]:
            known = ranks.setdefault(name, len(shape))
            if len(shape) != known:
                row.reason = f"{name} has {len(shape)} dimensions, and {known} in an earlier fit"
                row.packed = ((), b"")
                break


def _attributes(work):
    settings = work.settings
    return {
        "seed": str(work.seed),
        "draws": settings["num_draws"],
        "tune": settings["num_tune"],
        "chains": settings["num_chains"],
    }


def _labels(labels):
    out = np.empty(len(labels), object)
    out[:] = labels
    try:
        plain = np.array(labels)
    except ValueError:
        return out
    return plain if plain.ndim == 1 else out


def _dims(work, rows):
    """Of each value that some row has, by name."""
    known = {}
    for variable in work.functions.results():
        known[variable.name] = ("chain", "draw", *variable.dims)
    for summary in summaries.SUMMARIES:
        for variable in work.functions.summarized(summary):
            more = ("quantile",) if summary == "quantiles" else ()
            known[summaries.label(variable.name, summary)] = (*variable.dims, *more)
    reduced = {reduction.name for reduction in work.reductions}
    shapes = {name: shape for layout in {row.packed[0] for row in rows} for name, _, shape in layout}
    names = dict.fromkeys(name for row in rows for name, _, _ in row.packed[0])
    return {name: [None] * len(shapes[name]) if name in reduced else known[name] for name in names}


def _dim(dim, size, name, axis, sizes):
    """A dim of this size: the one that was asked for, unless it has another size already."""
    if dim is None or sizes.get(dim, size) != size:
        dim = f"{name}_dim_{axis}"
    sizes[dim] = size
    return dim


def _joined(arrays):
    """All arrays, one after the other, and for each of their axes whether some are shorter along it than others."""
    present = [array for array in arrays if array is not None]
    shapes = np.array([array.shape for array in present], np.int64).reshape(len(present), -1)
    shape = tuple(map(int, shapes.max(axis=0)))
    is_padded = [bool(x) for x in (shapes != shapes.max(axis=0)).any(axis=0)]
    dtype = np.result_type(*{array.dtype for array in present})
    if len(present) < len(arrays) or any(is_padded):
        dtype = np.result_type(dtype, np.float64)
    joined = np.zeros((len(arrays), *shape), dtype)
    joined[...] = np.nan if dtype.kind == "f" else 0
    for i, array in enumerate(arrays):
        if array is not None:
            joined[(i, *map(slice, array.shape))] = array
    return joined, is_padded
