"""The rows of all fits in memory, which become one xarray.Dataset.

Of a hundred thousand fits with a few numbers each, the objects that hold these would take many times what they do. So
what rows hold lies in runs of bytes, one for each layout that results have, which are few.
"""

import struct

import numpy as np

from .fit import NOT_DONE
from .packed import Columns
from .table import another_rank, table

_HEAD = struct.Struct("=qqd")
_FIELDS = np.dtype([("number", np.int64), ("divergences", np.int64), ("seconds", np.float64)])


class AllRows:
    """`labels`: of the data sets, a list that grows with them, or None; `coords`: as in `table`."""

    def __init__(self, work, labels=None, coords=None):
        self._work, self._labels, self._coords = work, labels, coords
        self._blocks = {}  # by layout: heads of its rows, and their results
        self._reasons = {}  # by number, of rows that have one
        self._count = 0

    def put(self, row):
        layout, data = row.packed
        heads, results = self._blocks.setdefault(layout, (bytearray(), bytearray()))
        if row.reason:
            self._reasons[row.number] = row.reason
        results.extend(data)
        heads.extend(_HEAD.pack(row.number, row.divergences, row.seconds))  # last: Ctrl-C may come between

    def finish(self, count):
        """All rows are there; of `count` those that are not were not done."""
        self._count = count

    @property
    def done(self):
        return sum(len(heads) // _HEAD.size for heads, _ in self._blocks.values()) - len(self._reasons)

    def opened(self):
        blocks = [(np.frombuffer(heads, _FIELDS), layout, data) for layout, (heads, data) in self._blocks.items()]
        numbers = [heads["number"] for heads, _, _ in blocks]
        count = max([self._count, *(int(of.max()) + 1 for of in numbers if of.size)])
        columns = _Columns(count)
        for heads, _, _ in blocks:
            columns.put(heads)
        for number, reason in self._reasons.items():
            columns.reason[number] = reason
        kept, ranks = [], {}
        for heads, layout, data in sorted(blocks, key=lambda block: block[0]["number"].min(initial=count)):
            if reason := another_rank(layout, ranks):
                columns.reason[heads["number"]] = reason
            else:
                kept.append((heads["number"], layout, data))
        labels = self._labels
        if labels is not None:
            labels = [labels[number] if number < len(labels) else None for number in range(count)]
        return table(self._work, columns, Columns(count, kept), labels, self._coords)


class _Columns:
    """The columns of all fits, as those of one are attributes of a Row."""

    def __init__(self, count):
        self.divergences, self.seconds = np.zeros(count, np.int64), np.zeros(count)
        self.reason = np.full(count, NOT_DONE, object)

    def put(self, heads):
        numbers = heads["number"]
        self.divergences[numbers], self.seconds[numbers], self.reason[numbers] = heads["divergences"], heads["seconds"], ""
