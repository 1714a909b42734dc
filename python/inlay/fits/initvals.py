"""Where fits start: the caller's values of the model's variables, as PyMC names and means them."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..choices import a_kind
from .failures import Reason
from .function import Function
from .numbers_given import BadData, numbers


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
        except (Exception, SystemExit) as error:
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
    return [_by_name(values) for values in many]


def _by_name(values):
    numbers_by_name = {}
    for variable, value in values.items():
        name = getattr(variable, "name", variable)
        if name in numbers_by_name:
            raise ValueError(f"initvals has {name} twice, as a name and as a variable: give it once")
        try:
            numbers_by_name[name] = numbers(name, value)
        except BadData as error:
            raise TypeError(f"initvals: {error}") from error
    return numbers_by_name


def refuse_count(count, counts):
    """Errors: ValueError."""
    if counts is not None and count not in counts:
        wanted = "one dict" if counts == (1,) else f"one dict, or {counts[-1]}, one for each chain"
        raise ValueError(f"initvals is a list of {count} dicts, and the method takes {wanted}")
