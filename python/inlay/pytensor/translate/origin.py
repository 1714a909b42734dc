"""Where a node comes from, in words: its op, its number in dprint, and the user's line."""

from pytensor.compile.ops import FromFunctionOp
from pytensor.scan.op import Scan



def location(node, number, line, which=1):
    """ "Exp #7 alpha, model.py:41": unique within a function. `which`: of nodes within node `number` that read alike.
    What follows the first comma and blank is the line (src/compiler/origins.cpp), so a name has none."""
    text = f"{_op_name(node.op)} #{number}"
    if which > 1:
        text += f" ({which})"
    name = next((x.name for x in node.outputs if x.name), None)
    if name:
        text += f" {name.replace(', ', ',')}"
    return f"{text}, {line}" if line else text


_LONGEST_NAME = 32


def short_name(op):
    """How an op that runs as Python is called: as PyTensor prints it, without its properties where that is long."""
    text = str(op)
    if len(text) <= _LONGEST_NAME or isinstance(op, FromFunctionOp):
        return text
    name = text[: min(text.index(mark) if mark in text else len(text) for mark in "{(")]
    of = getattr(op, "core_op", None)
    inner = short_name(of) if of is not None else op.name if isinstance(op, Scan) and op.name else ""
    return f"{name}{{{inner}}}" if inner else name


def scan_name(node):
    """A Scan in a message."""
    return f"Scan `{node.op.name}`" if node.op.name else "Scan"


def _op_name(op):
    scalar_op = getattr(op, "scalar_op", None)
    if scalar_op is not None and type(op).__name__ == "Elemwise":
        return type(scalar_op).__name__
    return str(op) if isinstance(op, FromFunctionOp) else type(op).__name__  # the name of the user's function
