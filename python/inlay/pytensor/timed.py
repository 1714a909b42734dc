"""A PyTensor function compiled once more, with clocks around its steps, whose calls change nothing of the given one's."""

import copy

from .. import errors
from .compiled import function_of
from .linker import InlayLinker
from .pickles import FunctionMaker


def timed(fn):
    """The timed form of `fn`, which may be what PyMC wraps around a Function, and the Function in it; whether a call of
    it may overwrite arguments.

    Shared variables with an update are copies. Errors: NotImplementedError where the graph cannot be had.
    """
    given = function_of(fn)
    maker = _timed_maker(given.maker)
    cells = zip(maker.inputs, given.input_storage, strict=True)
    function = maker.create([_value(declared, container) for declared, container in cells])
    function.trust_input = given.trust_input
    overwrites = any(x.mutable and not x.implicit for x in maker.inputs)
    return _with_function(fn, given, function), function, overwrites


def _timed_maker(given):
    """A maker of the same graph, which is rewritten already. (`copy.copy` would begin with the user's graph.)"""
    try:
        fgraph, linker = given.fgraph, given.linker  # of a function from a file it is read now
    except Exception as error:  # a class that is gone, say
        raise errors.Unsupported(
            "error[unsupported]: this function comes from a file and cannot be compiled once more, with clocks: "
            f"its graph cannot be read ({error})"
        ) from error
    maker = FunctionMaker.__new__(FunctionMaker)
    vars(maker).update(vars(given))
    maker.profile = None  # the user's, of the given function
    maker.linker = InlayLinker(allow_gc=linker.allow_gc, choices=linker.choices).accept(fgraph, profile=True)
    return maker


def _value(declared, container):
    """What the maker begins an input with: a cell in common where nothing writes to it."""
    if declared.update is not None:
        return copy.deepcopy(container.storage[0])
    return container if declared.implicit else declared.value


def _with_function(fn, given, function):
    """`fn` with another Function in the place of the `given` one."""
    if fn is given:
        return function
    wrapper = copy.copy(fn)
    for attribute in ("_pytensor_function", "logp_func", "f"):
        inside = getattr(fn, attribute, None)
        if inside is not None:
            setattr(wrapper, attribute, _with_function(inside, given, function))
    return wrapper
