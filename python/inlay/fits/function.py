"""A function of the user's, as bytes that any process reads."""

import inspect
from dataclasses import dataclass
from functools import cached_property

from ..files import pickled, unpickled
from .identity import identity_of
from .sent import Sent

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


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
        """The function as one of draws and data set: its second parameter, or one by keyword that is named `data`."""
        function = self.itself
        kinds = {p.name: p.kind for p in inspect.signature(function).parameters.values()}
        if sum(kind in _BY_POSITION for kind in kinds.values()) > 1:
            return lambda draws, data: function(draws, data)
        if kinds.get("data") is inspect.Parameter.KEYWORD_ONLY:
            return lambda draws, data: function(draws, data=data)
        return lambda draws, data: function(draws)
