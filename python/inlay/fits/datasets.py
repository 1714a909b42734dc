"""Data sets from what they come in: an iterator over dicts, their labels and their number, and the coords of xarray's."""

import itertools
from collections.abc import Mapping, Sized

import numpy as np

from .executors import is_instance
from .failures import WrongDataSet
from .table import as_labels

NO_DATA_SET = object()  # in place of the first one where there is none: a None is a wrong one, and a row


class DataSets:
    """`iterator` yields dicts; `total` is their number where it is known; `labels` grows as they are drawn, and is None
    where they have none but their numbers. `coords`: by dim of the model the labels that data of xarray have, which grow too;
    None where data sets differ."""

    def __init__(self, given, by, names, dims=None, coords=None):
        self._names = names  # of what a data set may give
        self._dims = dims or {}  # how the model calls their axes, by name, where it does
        self._of_model = dict(coords or {})  # its labels, by dim: an array from the first time that they are looked at
        self.coords, self._has_coords = {}, False
        self.total = len(given) if isinstance(given, Sized) else None
        self.labels = None
        iterator = self._iterator(given, by)
        self.first = next(iterator, NO_DATA_SET)
        self.iterator = iterator if self.first is NO_DATA_SET else itertools.chain([self.first], iterator)

    def names_in_first(self):
        """What the first data set gives, of the names."""
        keys = self.first.keys() if isinstance(self.first, Mapping) else ()
        return [name for name in self._names if name in keys]

    def _noted(self, given):
        """The same by names and with axes in the model's order, after note was taken of its coords."""
        given = by_names(given)
        if isinstance(given, Mapping):
            arrays = {name: given[name] for name in self._names if is_instance(given.get(name), "xarray", "DataArray")}
            axes = {name: self._axes(name, array.dims) for name, array in arrays.items()}
            self._note({name: (axes[name], array.coords) for name, array in arrays.items()})
            turned = {name: array.transpose(*axes[name]) for name, array in arrays.items() if axes[name] != array.dims}
            if turned:
                given = given.assign(turned) if is_instance(given, "xarray", "Dataset") else {**given, **turned}
        return given

    def _note(self, axes):
        """Of one data set: by name, the dims and the coords of an array of xarray's."""
        here = {}
        for name, (dims, coords) in axes.items():
            for dim, own in zip(self._dims.get(name) or (), dims, strict=False):
                if dim is not None and own in coords:
                    labels = coords[own].values
                    here[dim] = labels if _are_same(here.get(dim, labels), labels) else None
        known = self.coords if self._has_coords else here
        for dim in {*here, *known} if here or known else ():
            one, other = (of[dim] if dim in of else self._labels_of_model(dim) for of in (known, here))
            self.coords[dim] = one if _are_same(one, other) else None
        self._has_coords = True

    def _labels_of_model(self, dim):
        labels = self._of_model.get(dim)
        if labels is not None and not isinstance(labels, np.ndarray):
            self._of_model[dim] = labels = as_labels(labels)
        return labels

    def _axes(self, name, own):
        """The dims of an array, in the order of the model's where it calls them so too."""
        dims = self._dims.get(name)
        return tuple(dims) if dims is not None and len(own) == len(dims) and set(own) == set(dims) else tuple(own)

    def _iterator(self, given, by):
        if isinstance(given, str | bytes):
            raise TypeError(f"datasets is a {type(given).__name__}, not data sets")
        if hasattr(given, "groupby") and hasattr(given, "columns"):  # pandas.DataFrame
            if by is None:
                raise TypeError("datasets is a DataFrame: by= says which column tells data sets apart")
            given = _grouped(given, by)
        elif hasattr(given, "isel") and hasattr(given, "dims"):  # xarray.Dataset, or a DataArray
            return self._of_xarray(given if hasattr(given, "data_vars") else _as_dataset(given), by)
        elif by is not None and not hasattr(given, "obj"):
            raise TypeError(f"by= goes with a DataFrame or an xarray.Dataset, not with {type(given).__name__}")
        if hasattr(given, "obj") and hasattr(given, "groups"):  # what groupby of a DataFrame or a Series gives
            self.total = given.ngroups
            self._refuse_no_data(given.obj.columns if hasattr(given.obj, "columns") else [given.obj.name])
            return self._labelled((label, self._columns(part)) for label, part in given)
        if isinstance(given, Mapping):
            return map(self._noted, self._labelled(given.items()))
        return map(self._noted, given)

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
        own = {name: [dim for dim in given[name].dims if dim != by] for name in names}
        self._note({name: (self._axes(name, dims), given[name].coords) for name, dims in own.items()})
        parts = ({name: self._part(name, given[name], by, i) for name in names} for i in range(self.total))
        return self._labelled(zip(labels, parts, strict=True))

    def _part(self, name, array, dim, i):
        """What all data sets have in common has no such dim."""
        part = array.isel({dim: i}) if dim in array.dims else array
        return part.transpose(*self._axes(name, part.dims)).values


def by_names(given):
    """A data set whose keys may be variables of the model. (Those hold all graphs that they are part of.)"""
    if not isinstance(given, Mapping) or all(isinstance(key, str) for key in given):
        return given
    names = [getattr(key, "name", None) or key for key in given]
    for name in names:
        if names.count(name) > 1:
            return WrongDataSet(f"a data set has {name} twice, as a name and as a variable: give it once")
    return dict(zip(names, given.values(), strict=True))


def _grouped(frame, by):
    try:
        groups = frame.groupby(by)
    except KeyError as error:
        raise KeyError(f"by: datasets has no column {error}; it has {', '.join(map(str, frame.columns))}") from None
    lost = len(frame) - int(groups.size().sum())
    if lost:
        rows = "1 row" if lost == 1 else f"{lost} rows"
        raise ValueError(f"by: {rows} of datasets would be in no data set, as by= has no value there: drop or fill them")
    return groups


def _as_dataset(array):
    """Of a DataArray, whose name says which data it is."""
    if array.name is None:
        raise TypeError("datasets is a DataArray without a name, which would say which of the model's data it is")
    return array.to_dataset()


def _are_same(one, other):
    """Of the labels of a dim, arrays or None."""
    if one is None or other is None:
        return one is other
    if one is other or one.shape != other.shape:
        return one is other
    if "O" in (one.dtype.kind, other.dtype.kind):
        return all(map(_is_same_label, one.flat, other.flat))
    return np.array_equal(one, other, equal_nan=all(x.dtype.kind in "fcmM" for x in (one, other)))


def _is_same_label(x, y):
    """Missing values too, of which NaN is not equal to itself and pandas.NA says of nothing whether it is."""
    try:
        return x is y or bool(x == y) or bool(x != x and y != y)  # noqa: PLR0124
    except (TypeError, ValueError):
        return False
