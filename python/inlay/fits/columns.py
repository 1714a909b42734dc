"""What each row has beside its results, as columns."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .fit import NOT_DONE


@dataclass(frozen=True)
class Column:
    name: str
    dtype: str  # of NumPy, or "text"
    of: Callable  # the value of a Row, or the values of what has arrays of many
    missing: object  # the value of a fit that was not done

    def array(self, rows):
        return np.array([self.of(row) for row in rows], self._stored)

    def whole(self, columns):
        return np.asarray(self.of(columns), self._stored)

    @property
    def _stored(self):
        return object if self.dtype == "text" else self.dtype


COLUMNS = (
    Column("divergences", "int64", lambda row: row.divergences, 0),
    Column("failed", "bool", lambda row: row.reason != "", True),
    Column("reason", "text", lambda row: row.reason, NOT_DONE),
    Column("seconds", "float64", lambda row: row.seconds, 0.0),
)
