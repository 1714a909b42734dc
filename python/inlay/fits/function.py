"""A function of the user's, as bytes that any process reads."""

import inspect
from dataclasses import dataclass
from functools import cached_property

from ..files import pickled, unpickled
from .identity import identity_of
from .sent import Sent


@dataclass(frozen=True)
class Function(Sent):
    name: str
    function: bytes
    identity: str  # the same in another process that has the same function

    @classmethod
    def of(cls, name, function):
        return cls(name, pickled(function), f"{name} {identity_of(function)}")

    @cached_property
    def itself(self):
        return unpickled(self.function)

    @cached_property
    def loaded(self):
        """The function as one of draws and data set."""
        function = self.itself
        takes_data = len([p for p in inspect.signature(function).parameters.values() if p.default is p.empty]) > 1
        return (lambda draws, data: function(draws, data)) if takes_data else (lambda draws, data: function(draws))
