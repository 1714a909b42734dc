"""Where fits start: the caller's values of the model's variables, as PyMC names and means them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..choices import a_kind
from .failures import Reason
from .function import Function


@dataclass
class Same:
    """A function of the data set that gives the same for all."""

    values: object

    def __call__(self, given):
        return self.values


@dataclass(frozen=True)
class Initvals:
    at: Function  # from a data set to a dict, or to a list of dicts
    names: tuple  # of the variables that all dicts have
    counts: tuple | None  # how many dicts the method takes; None: any number

    def of(self, given):
        """The dicts for one fit. Errors: Reason."""
        try:
            returned = self.at.itself(given)
        except Exception as error:
            raise Reason(f"initvals: {type(error).__name__}: {error}") from error
        try:
            dicts = dicts_of(returned)
            refuse_count(len(dicts), self.counts)
        except (TypeError, ValueError) as error:
            raise Reason(str(error)) from error
        for values in dicts:
            if values.keys() != set(self.names):
                names = ", ".join(values) or "nothing"
                raise Reason(f"initvals has values of {names}, and for the first data set of {', '.join(self.names)}")
        return dicts


def dicts_of(returned):
    """A list of dicts by name, of a dict or of a list of them. Errors: TypeError, ValueError."""
    many = returned if isinstance(returned, list | tuple) else [returned]
    if not many:
        raise ValueError("initvals is an empty list: give a dict by the names of variables, or some")
    for values in many:
        if not isinstance(values, Mapping):
            raise TypeError(f"initvals is {a_kind(values)}, not a dict by the names of variables, or a list of dicts")
    return [{getattr(name, "name", name): _numbers(name, value) for name, value in values.items()} for values in many]


def refuse_count(count, counts):
    """Errors: ValueError."""
    if counts is not None and count not in counts:
        wanted = "one dict" if counts == (1,) else f"one dict, or {counts[-1]}, one for each chain"
        raise ValueError(f"initvals is a list of {count} dicts, and the method takes {wanted}")


def _numbers(name, value):
    name = getattr(name, "name", name)
    try:
        array = np.asarray(value)
    except Exception as error:  # noqa: BLE001  (whatever an object's own code raises)
        raise TypeError(f"initvals: {name}: {type(error).__name__}: {error}") from error
    if array.dtype.kind not in "biuf":
        said = repr(value) if isinstance(value, str) else a_kind(value)
        raise TypeError(f"initvals: {name} is {said}, not numbers")
    return array
