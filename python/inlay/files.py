"""Compiled functions as files: `save`, `load`, and what pickling makes of them.

A file holds the machine code, what a call must know, the kernels as text (to explain the function, and to compile it for
another CPU) and, as a pickle, what Python must know: bound arrays, host functions, names. docs/file.md has the format.
"""

import importlib
import io
import os
import pickle
import sys

import numpy as np

from . import _inlay, errors

_PYTHON = "python"  # the section of what Python must know


def save(fn, path):
    """Writes the compiled function `fn` to a file, which `load` makes a function of again: what `inlay.compile` returned,
    or a PyTensor function that inlay compiled, with the present values of its shared variables.

    `path`: a str or a path. The file that stood there is replaced once the new one is complete, and stays where writing
    fails. Like a pickle, the file is code: load only what you trust.

    Errors: TypeError for what inlay did not compile; NotImplementedError where a function of yours lays out its memory
    (`planner=` with a function or with offsets) or chose what shares bytes (`may_share=`), which a file cannot hold, or
    where it keeps a profile; OSError where the file cannot be written; what pickle raises for a host function or an op
    that cannot be pickled, and for a PyTensor graph that is a chain of some thousands of nodes ("excessively deep
    recursion", or RecursionError): pickle goes down it.
    """
    write_whole(os.fspath(path), dumps(fn))


def write_whole(path, data):
    """Replaces the contents of a file at once; OSError leaves what was there."""
    failure = _inlay.write_whole_file(os.fsencode(path), data)
    if failure:
        raise OSError(failure, os.strerror(failure), path)


def load(path):
    """The function that `save` wrote to a file: it is called as the other was, and needs no compilation where the CPU has
    what its code uses; else its kernels are compiled for this CPU, once, which the logger "inlay" notes at debug level.

    Like a pickle, the file is code: load only what you trust. Nothing of a damaged file is used.

    Errors: ValueError for a file that is no compiled function, is damaged or was written in another format, with its
    name; OSError where it cannot be read.
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        data = file.read()
    return loads(data, os.fsdecode(path))


def dumps(fn):
    """The bytes that `save` writes."""
    kind, program, state, sections = _door_of(fn).parts_of(fn)
    return program.save({_PYTHON: pickled((kind, state)), **sections})


def loads(data, name="the function"):
    """The function that `dumps` made bytes of. `name` is for messages."""
    name = name.encode(errors="replace").decode()  # a path may have bytes that are no text
    file = _inlay.read_function(bytes(data), name)
    state = file.section(_PYTHON)
    if state is None:
        raise errors.InvalidFile(
            f"error[invalid-file]: {name} was saved by another API, and does not say what Python must know"
        )
    kind, state = pickle.loads(state)
    return importlib.import_module(kind, __package__).restored(file, state)


def program_of(file, bound, host_functions):
    """The `_inlay.Program` of a file that was read."""
    if file.why_not_here:
        import logging  # which takes as long to import as the rest of this module

        logging.getLogger("inlay").debug("inlay compiles a function from a file once more: %s", file.why_not_here)
    return file.program(bound, host_functions)


def pickled(state, known=()):
    """`state` as bytes: by cloudpickle where it is installed, which takes lambdas. Instead of objects in `known` their
    positions are written, for `unpickled` with the same objects; instead of a ufunc that NumPy has made of a function,
    which a node of PyTensor's keeps when it was performed and makes anew, None."""
    try:
        from cloudpickle import Pickler
    except ImportError:
        from pickle import Pickler

    positions = {id(x): i for i, x in enumerate(known)}

    class WithKnown(Pickler):
        def persistent_id(self, x):
            return positions.get(id(x))

        def reducer_override(self, x):
            if type(x) is np.ufunc and x.__name__.endswith(" (vectorized)"):
                return type(None), ()
            return super().reducer_override(x) if hasattr(Pickler, "reducer_override") else NotImplemented

    buffer = io.BytesIO()
    WithKnown(buffer, protocol=5).dump(state)
    return buffer.getvalue()


def unpickled(data, known=()):
    class WithKnown(pickle.Unpickler):
        def persistent_load(self, position):
            return known[position]

    return WithKnown(io.BytesIO(data)).load()


def _door_of(fn):
    from . import functions, text

    if text.compilation_of(fn) is not None:
        return text
    pickles = _pytensor_pickles()
    if pickles is not None and pickles.is_ours(fn):
        return pickles
    raise functions.not_compiled(fn)


def _pytensor_pickles():
    return importlib.import_module(".pytensor.pickles", __package__) if "inlay.pytensor" in sys.modules else None
