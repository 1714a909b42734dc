"""Where a node comes from, in words: its op, its number in dprint, and the user's line."""

import os

from pytensor.scan.op import Scan

from ..traces import traces_of
from ..user_lines import INLAY, is_library


def location(node, number, line):
    """ "Exp #7 alpha, model.py:41": unique within a function."""
    text = f"{_op_name(node.op)} #{number}"
    name = next((x.name for x in node.outputs if x.name), None)
    if name:
        text += f" {name}"
    return f"{text}, {line}" if line else text


_LONGEST_NAME = 32


def short_name(op):
    """How an op that runs as Python is called: as PyTensor prints it, without its properties where that is long."""
    text = str(op)
    if len(text) <= _LONGEST_NAME:
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
    return type(op).__name__


def source_line(node, fgraph=None):
    """The line outside PyTensor and PyMC that made the node of `fgraph`; what PyTensor keeps of the stack ends at the
    innermost.

    The line that asked PyMC for the log density of a model made none of its nodes: those come from the model, whose
    lines they have where `pymc/lines.py` has kept them.
    """
    stack = user_stack(node, fgraph)
    return None if stack is None else _user_line(stack)


def user_stack(node, fgraph=None):
    """The stack that `source_line` is found in, or None."""
    stacks = (stack for stacks in traces_of(node, fgraph) for stack in stacks)
    return next((stack for stack in stacks if _user_line(stack)), None)


def _user_line(stack):
    callee = None
    for frame in reversed(stack):
        if not is_library(frame[0]):
            derives = callee is not None and _derives(callee)
            return None if derives else f"{os.path.basename(frame[0])}:{frame[1]}"
        callee = frame
    return None


def _derives(frame):
    """Is it a method of PyMC's Model that makes graphs of the model (logp, compile_logp, ...), or a way to nutpie?"""
    if frame[0].startswith(INLAY) or f"{os.sep}nutpie{os.sep}" in frame[0]:
        return True
    is_model = frame[0].endswith(os.path.join("pymc", "model", "core.py"))
    return is_model and ("logp" in frame[2] or frame[2].startswith("compile"))
