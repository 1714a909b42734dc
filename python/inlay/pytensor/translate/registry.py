"""Which function translates which PyTensor op.

A translation takes the `Translator` and the node and returns the value of its output, or a sequence of values.
It is found by the class of the op or the nearest base class. One that meets a form it does not know raises
`NotNative`; the node then runs through its own `perform`, as one without a translation does.
"""

import importlib

from ... import errors

_TRANSLATIONS = {}
_ON_DEMAND = {"pytensor.sparse": ".sparse"}  # a package that not everybody imports -> the module that translates its ops


class NotNative(Exception):
    """This node has no native form; the message says why, and `explain` shows it."""


def why_not_native(error):
    """Why a node runs through Python whose translation raised `error`, NotNative or what inlay refuses while the graph
    is built: two constant sizes that differ, say. PyTensor's own op says what is wrong then, when it runs."""
    if isinstance(error, errors.Internal):
        raise error
    return str(error) if isinstance(error, NotNative) else str(error).splitlines()[0]


def register(*op_classes):
    """Make the decorated function the translation of these op classes."""

    def add(function):
        for op_class in op_classes:
            _TRANSLATIONS[op_class] = function
        return function

    return add


def translation_of(op):
    """The translation of `op`, or None."""
    for op_class in type(op).__mro__:
        package = ".".join(op_class.__module__.split(".")[:2])
        if package in _ON_DEMAND:
            importlib.import_module(_ON_DEMAND[package], __package__)
        if op_class in _TRANSLATIONS:
            return _TRANSLATIONS[op_class]
    return None


def translations_of_users():
    """Those that were registered by others than inlay, each with the class of its ops."""
    return [(c, f) for c, f in _TRANSLATIONS.items() if _module_of(f).partition(".")[0] != "inlay"]


def _module_of(function):
    return getattr(getattr(function, "func", function), "__module__", None) or ""  # of what a functools.partial calls
