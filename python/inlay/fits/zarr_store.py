"""Rows as a Zarr group, which xarray opens: an array for each column and each result, with the dim of the fits first.

The arrays grow as rows come, one after the other. What makes a row readable is one write, that of the group's
consolidated metadata, which has the shapes of all of them; and of a row that stands before others `failed` is written
last. So what a kill leaves is whole. After an exception the same rows are written again: what is known of the arrays
changes after them. Results are float64, since NaN stands for what is not there.
"""

import os
import shutil
import warnings

import numpy as np
import zarr

from .columns import COLUMNS
from .stream import MOST_BYTES, text
from .table import (
    as_labels,
    attributes,
    columns_of,
    coords_of,
    dims_of,
    dims_of_results,
    extent,
    joined,
    named_dim,
    names_of_results,
    refuse_names,
)

_CHUNK_ROWS = 4096
_CHUNK_BYTES = 4 << 20

# In the order in which they are written.
_COLUMNS = sorted(COLUMNS, key=lambda column: column.name == "failed")


class ZarrStore:
    def __init__(self, path, work, labels, coords):
        refuse_names("result", names_of_results(work), _no_name_of_array)
        refuse_names("dim", [work.dim, *dims_of_results(work)], _no_name_of_array)
        self._path, self._work, self._labels, self._coords = path, work, labels, coords
        self._arrays = {}  # by name: an array, and its dims
        self._sizes, self._varying = {self._work.dim: 0}, set()
        self._num_labelled = 0
        os.mkdir(path)
        try:
            self._group = zarr.open_group(path, mode="a", zarr_format=3, attributes=attributes(work))
            self._make(self._work.dim, (), (), *(("int64", 0) if labels is None else ("string", "")))
            for column in _COLUMNS:
                self._make(column.name, (), (), "string" if column.dtype == "text" else column.dtype, column.missing)
            self._commit()
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise

    def write(self, rows):
        numbers = np.array([row.number for row in rows])
        results = columns_of(rows)
        names = self._know(results)
        self._lengthen(int(numbers.max()) + 1)
        for name in names:
            self._put(name, numbers, results.parts(name))
        for column in _COLUMNS:
            self._array(column.name).oindex[numbers] = column.array(rows)
        self._commit()

    def finish(self, count):
        self._lengthen(count)
        self._write_coords()
        self._commit()

    def opened(self):
        import xarray

        return xarray.open_zarr(self._path, chunks=None)

    def _know(self, results):
        """Takes note of the dims and sizes of the rows' results, makes arrays of new ones, and returns their names."""
        known = dims_of(self._work, results)
        for name, dims in known.items():
            shape, is_padded = extent(results.parts(name))
            if name not in self._arrays:
                pairs, sizes = enumerate(zip(dims, shape, strict=True)), dict(self._sizes)
                dims = [named_dim(dim, size, name, i, sizes) for i, (dim, size) in pairs]
                self._make(name, dims, shape, "float64", np.nan)
            _, dims = self._arrays[name]
            for dim, size, padded in zip(dims, shape, is_padded, strict=True):
                if padded or size != self._sizes.get(dim, size):
                    self._varying.add(dim)
                self._sizes[dim] = max(self._sizes.get(dim, size), size)
        return list(known)

    def _array(self, name):
        return self._arrays[name][0]

    def _make(self, name, dims, shape, dtype, missing):
        size_bytes = 8 * max(1, int(np.prod(shape)))
        rows = min(_CHUNK_ROWS, max(1, _CHUNK_BYTES // size_bytes))
        array = self._group.create_array(
            name,
            shape=(self._sizes[self._work.dim], *shape),
            chunks=(rows, *(max(1, size) for size in shape)),
            dtype=dtype,
            fill_value=missing,
            dimension_names=[self._work.dim, *dims],
            overwrite=True,  # one that an exception left
        )
        self._arrays[name] = array, dims

    def _lengthen(self, count):
        self._sizes[self._work.dim] = max(self._sizes[self._work.dim], count)
        self._resize()
        self._label()

    def _resize(self):
        for array, dims in self._arrays.values():
            shape = tuple(self._sizes[dim] for dim in (self._work.dim, *dims))
            if array.shape != shape:
                array.resize(shape)

    def _label(self):
        """The data sets that have no label yet. Those that were not drawn get none."""
        begin, end = self._num_labelled, self._sizes[self._work.dim]
        if self._labels is None:
            self._array(self._work.dim)[begin:end] = np.arange(begin, end)
        else:
            labels = [text(label) for label in self._labels[begin:end]]
            self._array(self._work.dim)[begin : begin + len(labels)] = np.array(labels, object)
        self._num_labelled = end

    def _put(self, name, numbers, parts):
        """In halves where one long array would make much of many short ones."""
        at = np.sort(np.concatenate([places for places, _ in parts]))
        shape, _ = extent(parts)
        size_bytes = 8 * at.size * int(np.prod(shape))
        if size_bytes > MOST_BYTES and at.size > 1:
            for half in _halves(parts):
                self._put(name, numbers, half)
        elif size_bytes:
            here = [(np.searchsorted(at, places), array) for places, array in parts]
            self._array(name).oindex[(numbers[at], *map(slice, shape))] = joined(here, at.size, shape, np.float64)

    def _write_coords(self):
        import xarray

        coords = coords_of(self._work, self._sizes, self._varying, self._coords)
        coords = {dim: _writable(values) for dim, values in coords.items() if dim not in self._arrays}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that strings are no part of Zarr 3's core
            with_attributes = xarray.Dataset(coords=coords, attrs=attributes(self._work))
            with_attributes.to_zarr(self._path, mode="a", consolidated=False)

    def _commit(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that consolidated metadata are no part of Zarr 3's core
            zarr.consolidate_metadata(self._group.store)


def _halves(parts):
    """The shorter arrays, and the longer ones; or two halves of those that are all as long."""
    if len(parts) > 1:
        parts = sorted(parts, key=lambda part: part[1][0].size)
        return parts[: len(parts) // 2], parts[len(parts) // 2 :]
    ((places, array),) = parts
    half = len(places) // 2
    return [(places[:half], array[:half])], [(places[half:], array[half:])]


def _no_name_of_array(name):
    """Why there can be no array with this name."""
    if "/" in name or "\\" in name:
        return "and an array in a Zarr group has no / and no \\ in its name"
    if name in ("", ".", "..", "zarr.json") or name.startswith("__"):
        return "which is no name of an array in a Zarr group"
    if name != text(name):
        return "which UTF-8 cannot hold"
    return None


def _writable(labels):
    labels = as_labels(labels)
    return labels if labels.dtype.kind in "biufM" else np.array([text(label) for label in labels], object)
