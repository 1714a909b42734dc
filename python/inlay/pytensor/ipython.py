"""How IPython shows the functions that inlay compiled for PyTensor and PyMC.

Their classes are PyTensor's and PyMC's, and know nothing of inlay; but IPython lets anyone say how a class is shown. A
function of another mode is shown as ever.
"""

import sys

from pytensor.compile import Function

from .. import notebook, screen
from ..explanation import explain
from .compiled import find_compiled, function_of

# By name: PyMC may not be there, and is imported later or never.
_WRAPPERS = (("pymc.model.core", "ValueGradFunction"), ("pymc.pytensorf", "PointFunc"))


def register_formatters():
    """Where inlay is imported within IPython; else nothing is to be done."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    if shell is not None:
        register_with(shell.display_formatter.formatters)


def register_with(formatters):
    """`formatters`: those of a DisplayFormatter, by the type of what they make."""
    for kind, show in (("text/plain", _pretty), ("text/html", _html)):
        formatters[kind].for_type(Function, show)
        for module, name in _WRAPPERS:
            formatters[kind].for_type_by_name(module, name, show)


def _text(fn):
    inputs = ", ".join(f"{x.name or 'input'}: {x.type}" for x in function_of(fn).maker.fgraph.inputs)
    outputs = ", ".join(str(x.type) for x in function_of(fn).maker.fgraph.outputs)
    return f"<PyTensor function of inlay ({inputs}) -> ({outputs})>"


def _pretty(fn, printer, cycle):
    if cycle or not find_compiled(fn):
        printer.text(repr(fn))
        return
    printer.text(_text(fn))
    for line in screen.head(explain(fn)):
        printer.break_()
        printer.text(line)


def _html(fn):
    return notebook.function_html(_text(fn), screen.head(explain(fn))) if find_compiled(fn) else None
