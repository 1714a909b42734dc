"""What tells an op from others, in this process and in the next."""

import re
import sys
import types

from pytensor import dprint
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op

from ..fits.identity import identity_of

_LIBRARIES = ("pytensor", "pymc")


def without_addresses(text):
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def text_of_op(op):
    """What an op computes, as far as it can be seen. An op of PyTensor or PyMC counts by its name, and by what others gave it:
    functions, and the ops in it. Any other one also by its code and its state, of which its name may say nothing."""
    graph, state = getattr(op, "fgraph", None), vars(op)
    nodes = graph.toposort() if graph else []
    inner = [*(x for x in state.values() if isinstance(x, Op)), *(node.op for node in nodes)]
    constants = [x.data for node in nodes for x in node.inputs if isinstance(x, Constant)]
    is_library = _is_of_library(type(op))
    if is_library or graph:  # a graph has names that count its variables
        state = {name: x for name, x in state.items() if isinstance(x, types.FunctionType) and not _is_of_library(x)}
    state = {name: x for name, x in state.items() if not isinstance(x, Op)}
    code = "" if is_library else f"{identity_of(type(op))} {identity_of(type(op).perform)}"
    return f"{without_addresses(repr(op))} {code} {_text_of_state(state)} {identity_of(constants)} {[*map(text_of_op, inner)]}"


def _text_of_state(state):
    return {name: _text_of_value(x) for name, x in state.items()}


def _text_of_value(x):
    """A graph by what it computes: its objects hold the rewrites of all PyTensor too."""
    if hasattr(x, "maker"):  # a function of PyTensor's
        x = x.maker.fgraph
    if isinstance(x, Variable | FunctionGraph):
        return without_addresses(dprint(x, file="str", print_type=True))
    try:
        return identity_of(x)
    except RecursionError:  # such an object in another one
        return type(x).__qualname__


def _is_of_library(x):
    """A class that PyMC makes for a distribution of the user's has no place in its module."""
    name = x.__module__ or ""  # None of a function whose globals have no name
    module = sys.modules.get(name)
    return name.partition(".")[0] in _LIBRARIES and getattr(module, x.__qualname__, None) is x
