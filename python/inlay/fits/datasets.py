"""Data sets from what they come in: an iterator over dicts, their labels and their number."""

import itertools
from collections.abc import Mapping, Sized

NO_DATA_SET = object()  # in place of the first one where there is none: a None is a wrong one, and a row


class DataSets:
    """`iterator` yields dicts; `total` is their number where it is known; `labels` grows as they are drawn, and is None
    where they have none but their numbers."""

    def __init__(self, given, by, names, dims=None):
        self._names = names  # of what a data set may give
        self._dims = dims or {}  # how the model calls their axes, by name, where it does
        self.total = len(given) if isinstance(given, Sized) else None
        self.labels = None
        iterator = self._iterator(given, by)
        self.first = next(iterator, NO_DATA_SET)
        self.iterator = iterator if self.first is NO_DATA_SET else itertools.chain([self.first], iterator)

    def names_in_first(self):
        """What the first data set gives, of the names."""
        keys = self.first.keys() if isinstance(self.first, Mapping) else ()
        return [name for name in self._names if name in keys]

    def _iterator(self, given, by):
        if isinstance(given, str | bytes):
            raise TypeError(f"datasets is a {type(given).__name__}, not data sets")
        if hasattr(given, "groupby") and hasattr(given, "columns"):  # pandas.DataFrame
            if by is None:
                raise TypeError("datasets is a DataFrame: by= says which column tells data sets apart")
            given = _grouped(given, by)
        elif hasattr(given, "isel") and hasattr(given, "dims"):  # xarray.Dataset
            return self._of_xarray(given, by)
        elif by is not None and not hasattr(given, "obj"):
            raise TypeError(f"by= goes with a DataFrame or an xarray.Dataset, not with {type(given).__name__}")
        if hasattr(given, "obj") and hasattr(given, "groups"):  # what groupby of a DataFrame or a Series gives
            self.total = given.ngroups
            self._refuse_no_data(given.obj.columns if hasattr(given.obj, "columns") else [given.obj.name])
            return self._labelled((label, self._columns(part)) for label, part in given)
        if isinstance(given, Mapping):
            return self._labelled(given.items())
        return iter(given)

    def _labelled(self, pairs):
        self.labels = []

        def draw():
            for label, data in pairs:
                self.labels.append(label)
                yield data

        return draw()

    def _columns(self, part):
        """Of a DataFrame, or of a Series, which is one column."""
        if not hasattr(part, "columns"):
            return {part.name: part.to_numpy()}
        return {name: part[name].to_numpy() for name in self._names if name in part.columns}

    def _refuse_no_data(self, given):
        """All fits would be of the model's own data."""
        if not any(name in given for name in self._names):
            has, known = ", ".join(map(str, given)), ", ".join(self._names)
            raise ValueError(f"datasets has {has or 'nothing'}, and none of the model's data, which are {known or 'none'}")

    def _of_xarray(self, given, by):
        if by not in given.dims:
            raise TypeError(f"datasets is an xarray.Dataset: by= is one of its dims, {', '.join(map(str, given.dims))}")
        self.total = given.sizes[by]
        self._refuse_no_data(given.variables)
        names = [name for name in self._names if name in given.variables]
        labels = given[by].values if by in given.coords else range(self.total)
        parts = ({name: _part(given[name], by, i, self._dims.get(name)) for name in names} for i in range(self.total))
        return self._labelled(zip(labels, parts, strict=True))


def _grouped(frame, by):
    try:
        return frame.groupby(by)
    except KeyError as error:
        raise KeyError(f"by: datasets has no column {error}; it has {', '.join(map(str, frame.columns))}") from None


def _part(array, dim, i, dims):
    """What all data sets have in common has no such dim. Axes that the model calls so too are in its order."""
    part = array.isel({dim: i}) if dim in array.dims else array
    return (part.transpose(*dims) if dims is not None and set(part.dims) == set(dims) else part).values
