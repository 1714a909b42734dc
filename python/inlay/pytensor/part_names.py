"""Names of the parts of a vector: which slice of PyMC's one vector is `alpha`.

PyMC and nutpie join the variables of a model into one vector, and their gradients into another, before they compile,
and nothing in the graph says what the slices are. Both know it while they compile. So a rewrite that changes nothing looks
who asks PyTensor to compile, and notes the names at the vector. Where it finds nobody, there are no names.
"""

import os
import sys

import numpy as np
from pytensor.compile.mode import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.tensor.basic import Join
from pytensor.tensor.subtensor import Subtensor

from .. import progress
from .scan_rewrites import TAG
from .translate.index_entries import filled, integer


def names_in(fgraph):
    """Names, by variable: of slices of a vector that has names noted, and of what is joined to their gradient. A vector
    of one part is that part: PyTensor's rewrites leave no slice of it, and nothing to join."""
    names = {}
    for vector in fgraph.inputs:
        parts = getattr(vector.tag, "inlay_parts", None)
        if not parts:
            continue
        for user, _ in fgraph.clients.get(vector, ()):
            name = parts.get(_range(user)) if _is_slice_of(user, vector) else None
            if name is not None:
                names[user.outputs[0]] = name
        for output in fgraph.outputs:
            joined = _joined(output)
            if len(joined) == len(parts):
                names.update(zip(joined, (f"{name}_grad" for name in parts.values()), strict=True))
        if len(parts) == 1:
            (names[vector],) = parts.values()
    return names


class NoteParts(GraphRewriter):
    """Changes nothing. The first that inlay hears of a compilation, so its progress begins here."""

    def add_requirements(self, fgraph):
        pass

    def apply(self, fgraph):
        progress.begin("PyTensor rewrites the graph", _maker(sys._getframe(1)))
        vectors = [v for v in fgraph.inputs if getattr(v.type, "ndim", None) == 1]
        parts = _joined_variables() if vectors else None
        if parts is None:
            return
        ranges = _ranges(parts)
        for vector in vectors:
            slices = {_range(user) for user, _ in fgraph.clients[vector] if _is_slice_of(user, vector)}
            if slices and slices <= ranges.keys():
                vector.tag.inlay_parts = ranges
                return


def _maker(frame):
    """The frame that makes the function, from rewriting to linking: the outermost of PyTensor's without a break."""
    found = frame
    while frame is not None and f"{os.sep}pytensor{os.sep}" in frame.f_code.co_filename:
        found, frame = frame, frame.f_back
    return found


def _joined_variables():
    """(name, length) of the variables that are joined, in order, as those know them who compile; None: nobody does."""
    frame = sys._getframe(1)
    while frame is not None:
        for file, of_frame in _WHO_JOINS.items():
            if frame.f_code.co_filename.endswith(file):
                found = of_frame(frame.f_locals)
                if found is not None:
                    return found
        frame = frame.f_back
    return None


def _of_pymc(local):
    """In the constructor of ValueGradFunction."""
    variables, point = local.get("grad_vars"), local.get("initial_point")
    if not isinstance(variables, list | tuple) or not isinstance(point, dict):
        return None
    names = [getattr(variable, "name", None) for variable in variables]
    return [(name, int(np.size(point[name]))) for name in names] if all(name in point for name in names) else None


def _of_nutpie(local):
    """In _make_functions."""
    names, slices = local.get("joined_names"), local.get("joined_slices")
    if not isinstance(names, list) or not isinstance(slices, list) or len(names) != len(slices):
        return None
    return [(name, part.stop - part.start) for name, part in zip(names, slices, strict=True)]


_WHO_JOINS = {
    os.path.join("pymc", "model", "core.py"): _of_pymc,
    os.path.join("nutpie", "compile_pymc.py"): _of_nutpie,
}


def _ranges(parts):
    """(start, stop) -> name, of what lies side by side."""
    found, start = {}, 0
    for name, length in parts:
        found[start, start + length] = name
        start += length
    return found


def _joined(var):
    """What is put side by side in a vector."""
    node = var.owner
    if getattr(var.type, "ndim", None) != 1:
        return []
    if node is None or not isinstance(node.op, Join):
        return [var]
    return node.inputs[1:] if len(node.inputs) > 1 and node.inputs[0].type.ndim == 0 else node.inputs


def _is_slice_of(node, vector):
    if not hasattr(node, "op") or not isinstance(node.op, Subtensor) or node.inputs[0] is not vector:
        return False
    return _range(node) is not None


def _range(node):
    """(start, stop) of a slice of constants; None: it is another one."""
    (entry,) = filled(node.op.idx_list, node.inputs[1:])
    if not isinstance(entry, slice):
        at = integer(entry)
        return None if at is None or at < 0 else (at, at + 1)
    (size,) = node.inputs[0].type.shape

    def end(part, default):
        if part is None or (isinstance(part, Constant) and part.data is None):
            return default
        at = integer(part)
        return size + at if at is not None and at < 0 and size is not None else at

    start, stop, step = end(entry.start, 0), end(entry.stop, size), end(entry.step, 1)
    if step != 1 or start is None or stop is None or not 0 <= start < stop:
        return None
    return (start, stop)


def register_part_names():
    """Before the first of PyTensor's own."""
    optdb.register("inlay_note_parts", NoteParts(), TAG, use_db_name_as_tag=False, position=-1)
