"""The rows of all fits in memory, which become one xarray.Dataset."""

from .fit import NOT_DONE, Row
from .table import table


class AllRows:
    """`labels`: of the data sets, a list that grows with them, or None."""

    def __init__(self, work, labels):
        self._work, self._labels, self._rows = work, labels, {}
        self._layouts = {}  # each once, however many fits have it

    def put(self, row):
        layout, data = row.packed
        row.packed = self._layouts.setdefault(layout, layout), data
        self._rows[row.number] = row

    def finish(self, count):
        """All rows are there; of `count` those that are not were not done."""
        for number in range(count):
            self._rows.setdefault(number, Row(number, NOT_DONE))

    @property
    def done(self):
        return sum(row.reason == "" for row in self._rows.values())

    def opened(self):
        rows, labels = [self._rows[number] for number in sorted(self._rows)], self._labels
        if labels is not None:
            labels = [labels[row.number] if row.number < len(labels) else None for row in rows]
        return table(self._work, rows, labels)
