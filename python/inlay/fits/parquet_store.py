"""Rows as a folder of Parquet files.

A Parquet file is read from its end, so a file that a kill left open would be lost. Here each file is whole: it is
written beside the folder and then moved into it. The last one is replaced until it is full, so that there are few of them.

All files have one schema, since readers take that of the first: where a later row has a result that no row had before,
or one of another dtype, the earlier files are written again.
"""

import json
import os
import shutil
import tempfile
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from .columns import COLUMNS
from .stream import MOST_BYTES, MOST_ROWS, text
from .table import attributes, columns_of, dims_of, names_of_results, own_dim, refuse_names

LABEL = "label"


class ParquetStore:
    def __init__(self, path, work, labels, coords):
        for kind, names in (("result", names_of_results(work)), ("dim", [work.dim])):
            refuse_names(kind, names, lambda name: _no_name_of_column(name, labels is not None))
        self._path, self._work, self._labels = path, work, labels
        self._results = {}  # by name: the dtype of a result, and its dims
        self._number, self._rows = 0, []  # of the last file
        self._written = set()  # the numbers of the rows of the last write
        os.mkdir(path)
        try:
            self._replace(0, self._table([], {}))  # so that there is something to read from the beginning
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise

    def write(self, rows):
        """After an exception, even at the very end, the same rows may come again."""
        rows = [row for row in rows if row.number not in self._written]
        if not rows:
            return
        written = {row.number for row in rows}
        rows = sorted([*self._rows, *rows], key=lambda row: row.number)
        results = self._results_with(rows)
        if results != self._results:
            schema = self._schema(results)
            for number in range(self._number):
                self._replace(number, _with_schema(pq.ParquetFile(self._file(number)).read(), schema))
            self._results = results
        self._replace(self._number, self._table(rows, results))
        is_full = len(rows) >= MOST_ROWS or sum(len(row.packed[1]) for row in rows) >= MOST_BYTES
        number, rows = (self._number + 1, []) if is_full else (self._number, rows)
        self._number, self._rows, self._written = number, rows, written

    def finish(self, count):
        """Rows that did not come are not there."""

    def opened(self):
        return pyarrow.dataset.dataset(self._path, format="parquet")

    def _results_with(self, rows):
        results, columns = dict(self._results), columns_of(rows)
        for name, dims in dims_of(self._work, columns).items():
            known = [results[name][0]] if name in results else []
            dtypes = {array.dtype for _, array in columns.parts(name)}
            dims = tuple(dim if dim is not None else own_dim(name, i) for i, dim in enumerate(dims))
            results[name] = _arrow_has(np.result_type(*known, *dtypes)), dims
        return results

    def _schema(self, results):
        fields = [pa.field(self._work.dim, pa.int64())]
        if self._labels is not None:
            fields.append(pa.field(LABEL, pa.string()))
        fields += [pa.field(column.name, _arrow_type(column)) for column in COLUMNS]
        for name, (dtype, dims) in results.items():
            nested = reduce(lambda inner, _: pa.list_(inner), dims, pa.from_numpy_dtype(dtype))
            fields.append(pa.field(name, nested, metadata={"dims": json.dumps(dims)}))
        return pa.schema(fields, {name: str(value) for name, value in attributes(self._work).items()})

    def _table(self, rows, results):
        schema = self._schema(results)
        numbers = [row.number for row in rows]
        columns = {self._work.dim: numbers, **{column.name: column.array(rows) for column in COLUMNS}}
        of_results = columns_of(rows)
        if self._labels is not None:
            columns[LABEL] = [text(self._labels[number]) for number in numbers]
        for name, (dtype, dims) in results.items():
            columns[name] = _nested(of_results.arrays(name), dtype, len(dims))
        return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema)

    def _file(self, number):
        return self._path / f"part-{number:05}.parquet"

    def _replace(self, number, table):
        # Beside the folder, since readers read all that is in it.
        with tempfile.TemporaryDirectory(dir=self._path.parent, prefix=self._path.name) as folder:
            file = os.path.join(folder, "part")
            pq.write_table(table, file)
            os.replace(file, self._file(number))


def _no_name_of_column(name, has_labels):
    """Why there can be no column with this name."""
    if has_labels and name == LABEL:
        return "as is the column of the data sets' labels"
    return None if name == text(name) else "which UTF-8 cannot hold"


def _arrow_type(column):
    return pa.string() if column.dtype == "text" else pa.from_numpy_dtype(column.dtype)


def _arrow_has(dtype):
    return np.dtype(np.float64) if dtype.kind == "f" and dtype.itemsize > 8 else dtype


def _nested(arrays, dtype, ndim):
    """A column of numbers, or of lists of lists, as deep as the arrays have dims; null where there is none."""
    is_missing = np.array([array is None for array in arrays], bool)
    present = [array for array in arrays if array is not None]
    flat = np.concatenate([np.zeros(0, dtype), *(array.ravel() for array in present)], dtype=dtype, casting="unsafe")
    if ndim == 0:
        values = np.zeros(len(arrays), dtype)
        values[~is_missing] = flat
        return pa.array(values, mask=is_missing)
    values = pa.array(flat)
    for axis in reversed(range(1, ndim)):
        lengths = [np.full(int(np.prod(array.shape[:axis])), array.shape[axis]) for array in present]
        values = pa.ListArray.from_arrays(_offsets(np.concatenate([np.zeros(0, int), *lengths])), values)
    lengths = np.array([0 if array is None else array.shape[0] for array in arrays], int)
    return pa.ListArray.from_arrays(_offsets(lengths), values, mask=pa.array(is_missing))


def _offsets(lengths):
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def _with_schema(table, schema):
    def column(field):
        if field.name not in table.column_names:
            return pa.nulls(len(table), field.type)
        return table[field.name].cast(field.type, safe=False)  # integers become floats, as where NumPy joins them

    return pa.table([column(field) for field in schema], schema)
