"""Three things that PyTensor does for every variable or node, with the same results at a part of the cost.

Half of the time up to a model's first gradient is PyTensor and PyMC making graphs, outside of any rewriting. A good part
of all of it is:

- the lines that made a variable. PyTensor looks up the text of each frame of the stack in its file, though the variables
  of a model are made by the same lines again and again;
- the dtypes of the results of an elementwise op, for which PyTensor makes a scalar node each time, with variables of its
  own and their lines;
- the tags of a clone: `pytensor.function` clones the whole graph, and a tag is copied as by pickling it, and asked for an
  attribute by a function in Python.

What a version of PyTensor does not have in this form stays as it is, and with INLAY_QUICKER=0 all of it does.
"""

import linecache
import sys
from inspect import signature

from pytensor import config
from pytensor.graph import utils
from pytensor.tensor.elemwise import Elemwise

_LINES = {}  # (file, number, function) -> what linecache had of the file, and the entry of a trace
_SKIPPED = {}  # (file, what is skipped) -> whether that file is
_MOST = 10_000  # of each: each cell of a notebook is a file of its own


def _keep(known, key, value):
    """What is full begins anew."""
    if len(known) >= _MOST:
        known.clear()
    known[key] = value
    return value


def extract_stack(f=None, limit=None, skips=None):
    """`simple_extract_stack`: (file, number, function, line) of the innermost frames, outermost first, less those at the
    inner end whose files are skipped."""
    frame = sys._getframe(1) if f is None else f
    if limit is None:
        limit = getattr(sys, "tracebacklimit", None)
    skips = tuple(skips or ())
    trace = []
    while frame is not None and (limit is None or len(trace) < limit):
        code = frame.f_code
        if trace or not skips or not _is_skipped(code.co_filename, skips):
            trace.append(_entry(frame, code))
        frame = frame.f_back
    trace.reverse()
    return trace


def _is_skipped(file, skips):
    found = _SKIPPED.get((file, skips))
    if found is None:
        found = _keep(_SKIPPED, (file, skips), "tests" not in file and any(part in file for part in skips))
    return found


def _entry(frame, code):
    key = (code.co_filename, frame.f_lineno, code.co_name)
    known = _LINES.get(key)
    if known is not None and known[0] is linecache.cache.get(key[0]):  # which is another when the file was read again
        return known[1]
    line = linecache.getline(key[0], key[1], frame.f_globals)
    entry = (*key, line.strip() if line else None)
    return _keep(_LINES, key, (linecache.cache.get(key[0]), entry))[1]


class _WithKnownDtypes:
    """Stands in for an Elemwise that is asked for what its node is like."""

    _scalar_nodes = {}  # (class, scalar op, dtypes, settings) -> its node

    def __init__(self, op):
        self._op = op

    def __getattr__(self, name):
        return getattr(self._op, name)

    def make_scalar_node(self, *inputs):
        if type(self._op).make_scalar_node is not Elemwise.make_scalar_node:
            return self._op.make_scalar_node(*inputs)  # a user's class: it may look at what the key does not have
        dtypes = tuple([x.type.dtype for x in inputs])
        key = (type(self._op), self._op.scalar_op, dtypes, config.floatX, config.cast_policy)
        known = self._scalar_nodes.get(key)
        return _keep(self._scalar_nodes, key, self._op.make_scalar_node(*inputs)) if known is None else known


def _know_dtypes():
    theirs = getattr(Elemwise, "get_output_info", None)
    if theirs is None or not hasattr(Elemwise, "make_scalar_node"):
        return

    def get_output_info(self, *inputs):
        return theirs(_WithKnownDtypes(self), *inputs)

    Elemwise.get_output_info = get_output_info


def _copied(tag):
    out = object.__new__(type(tag))
    out.__dict__.update(tag.__dict__)
    return out


def _copy_tags():
    tags = getattr(utils, "Scratchpad", None)
    if tags is None or hasattr(tags, "__copy__") or tags.__reduce_ex__ is not object.__reduce_ex__:
        return
    tags.__copy__ = _copied
    asks = getattr(vars(tags).get("__getattribute__"), "__code__", None)
    if asks is not None and asks.co_names == ("super", "__getattribute__"):
        del tags.__getattribute__  # it does what every object does, and is there for mypy


def register_quicker():
    theirs = getattr(utils, "simple_extract_stack", None)
    if theirs is not None and list(signature(theirs).parameters) == list(signature(extract_stack).parameters):
        utils.simple_extract_stack = extract_stack
    _know_dtypes()
    _copy_tags()
