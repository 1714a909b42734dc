"""PyTensor functions that are pickled with their code.

PyTensor pickles a function as its maker, with the whole graph, and compiles it again. Here the code goes along, and what a
call needs: containers, types, host functions. The maker is a pickle within the pickle, which is read when somebody asks
for the graph: for an error, a copy, `dprint`.
"""

import copy
import copyreg
import inspect
import lzma
import pickle
import threading
import time
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from pytensor import config
from pytensor.link.basic import Container

from .. import _inlay, errors
from ..files import pickled, program_of, unpickled
from .compiled import Compiled, find_compiled
from .found_sizes import WithFoundSizes
from .linker import vm_of
from .scalar_results import with_scalar_results

try:
    from pytensor.compile.executor import AliasedMemoryError, Function
    from pytensor.compile.maker import FunctionMaker
except ImportError:  # older versions
    from pytensor.compile.function.types import AliasedMemoryError, Function, FunctionMaker

MAKER = "maker"  # the section of the pickled maker


@dataclass
class _Saved:
    """What Python must know of a function besides its code and its maker."""

    containers: list  # of inputs; those of shared variables have their storage
    inputs: list  # the user's In, without the graphs of their updates
    outputs: list  # of each its type, and whether a node makes it
    defaults: list | None  # as older versions of PyTensor have them, with the container's position
    options: dict  # of the Function
    bound: list
    host_calls: list
    reasons: dict
    node_of_location: dict
    exceptions: dict
    allow_gc: bool


def is_ours(fn):
    return isinstance(fn, Function) and find_compiled(fn) is not None


def parts_of(fn, compress=lzma.compress):
    """What a file holds of a function: the module that restores it, its program, what Python must know, and sections.
    A file is written once: the maker is packed as well as it can be, though that takes ten times as long."""
    if fn.profile:
        raise errors.Unsupported("error[unsupported]: a file cannot hold the profile that a function keeps")
    state = _state_of(fn)
    # (A maker that was itself unpickled and not read is read now: it knows other objects.)
    maker = pickled(_read(fn.maker), _known(state))
    return ".pytensor.pickles", find_compiled(fn).program, state, {MAKER: compress(maker)}


def restored(file, state):
    """The function of a file that was read, and of what `parts_of` said of it."""
    return _restored(file, state, [_renewed(c) for c in state.containers], _known(state))


def restored_around(file, state, inputs, cells, known):
    """The function of a file, and of what `state_of_code` said of it: of these inputs, with these cells of
    values. `known`: what was not pickled with it, but bound arrays."""
    state = replace(
        state,
        inputs=inputs,
        containers=[Container(x.variable, cell) for x, cell in zip(inputs, cells, strict=True)],
        defaults=state.defaults and [(x.value is None, False, None) for x in inputs],
    )
    return _restored(file, state, state.containers, [*known, *state.bound])


def _restored(file, state, containers, known):
    start = time.perf_counter()
    maker = _unread_maker(file.section(MAKER), known)
    outputs = [_Result(*result) for result in state.outputs]
    program = program_of(file, state.bound, state.host_calls)
    vm = _vm(program, state, maker, containers, start)
    given = {
        "vm": with_scalar_results(vm, outputs),
        "input_storage": containers,
        "output_storage": [Container(x.type, [None], readonly=True) for x in outputs],
        "outputs": outputs,
        "maker": _Shell(state.inputs, outputs),
        "indices": [(x, None, [x]) for x in state.inputs],
        "defaults": state.defaults and [_default(x, containers) for x in state.defaults],
        **state.options,
    }
    fn = Function(**{name: given[name] for name in _PARAMETERS})
    fn.maker = maker
    return fn


_PARAMETERS = [name for name in inspect.signature(Function.__init__).parameters if name != "self"]
_OPTIONS = [p for p in ("unpack_single", "return_none", "output_keys", "trust_input", "name") if p in _PARAMETERS]


def _state_of(fn):
    fn.free()
    _warn_of_aliases(fn)
    storages = [c.storage for c in fn.input_storage]
    return replace(
        state_of_code(fn),
        containers=list(fn.input_storage),
        inputs=[_without_update(x) for x in fn.maker.inputs],
        defaults=[_default_of(x, storages) for x in fn.defaults] if "defaults" in _PARAMETERS else None,
    )


def state_of_code(fn):
    """Without what the caller gave: inputs and their values."""
    translation = find_compiled(fn).translation
    return _Saved(
        containers=[],
        inputs=[],
        outputs=[(c.type, x.owner is not None) for c, x in zip(fn.output_storage, fn.maker.fgraph.outputs, strict=True)],
        defaults=[()] if "defaults" in _PARAMETERS else None,
        options={name: getattr(fn, name) for name in _OPTIONS},
        bound=translation.bound,
        host_calls=translation.host_calls,
        reasons=translation.reasons,
        node_of_location=translation.node_of_location,
        exceptions=translation.exceptions,
        allow_gc=fn.vm.allow_gc,
    )


def _warn_of_aliases(fn):
    """As PyTensor does: arrays that share bytes are two afterwards."""
    strategy = fn.pickle_aliased_memory_strategy
    arrays = [c.storage[0] for c in fn.input_storage if isinstance(c.storage[0], np.ndarray)]
    for i, one in enumerate(arrays):
        for other in arrays[i + 1 :] if strategy != "ignore" else ():
            if one is other or not np.may_share_memory(one, other):
                continue
            said = f"aliased relationship between Function arguments {one}, {other}"
            if strategy != "warn":
                raise AliasedMemoryError(one, other)
            warnings.warn(f"{said} will not be preserved by un-pickling operation", stacklevel=2)


def _shared(state):
    """What others than the function may have too."""
    return [*(x.variable for x in state.inputs), *(c.storage for c in state.containers)]


def _known(state):
    """What the maker has in common with the rest: it is pickled once."""
    return [*_shared(state), *state.bound]


def _without_update(given):
    out = copy.copy(given)
    out.update = None if given.update is None else given.variable  # that there is one is all that a Function asks
    return out


def _default_of(default, storages):
    required, refeed, value = default
    at = [i for i, storage in enumerate(storages) if storage is getattr(value, "storage", ())]
    return required, refeed, at[0] if at else None


def _default(default, containers):
    required, refeed, at = default
    return required, refeed, None if at is None else containers[at]


def _renewed(container):
    """Without what a Function writes into one."""
    return Container(
        container.type, container.storage, readonly=container.readonly, strict=container.strict,
        allow_downcast=container.allow_downcast, name=container.name,
    )  # fmt: skip


def _vm(program, state, maker, containers, start):
    cells = [c.storage for c in containers]
    storage_map = _StorageMap(maker, cells)
    translation = SimpleNamespace(
        nodes=_Nodes(maker), host_calls=state.host_calls, bound=state.bound, reasons=state.reasons,
        node_of_location=state.node_of_location, exceptions=state.exceptions,
    )  # fmt: skip
    fgraph = _Graph(maker, [x.variable for x in state.inputs])
    compiled = Compiled(program, translation, fgraph, 0.0, time.perf_counter() - start)
    vm = vm_of(compiled, cells, storage_map, state.allow_gc)
    if not state.reasons:
        return vm

    def compile_again(found):
        linker = maker.linker
        order = linker.schedule(maker.fgraph)
        return linker._vm(maker.fgraph, order, cells, storage_map, found, time.perf_counter())

    return WithFoundSizes(compile_again, cells, vm)


@dataclass
class _Result:
    """An output, where nothing but its type is asked for."""

    type: Any
    is_made: bool

    @property
    def owner(self):
        return self if self.is_made else None


class _Shell:
    """What `Function.__init__` asks of a maker."""

    def __init__(self, inputs, outputs):
        self.inputs = self.expanded_inputs = inputs
        self.fgraph = SimpleNamespace(inputs=inputs, outputs=outputs, apply_nodes=())


class _UnreadMaker(FunctionMaker):
    """A maker that is unpickled, and is one of PyTensor's from then on, when something of it is asked for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _read(self)
        return getattr(self, name)

    def __reduce__(self):
        return _itself, (_read(self),)


def _unread_maker(data, known):
    maker = _UnreadMaker.__new__(_UnreadMaker)
    vars(maker)["_unread"] = data, known
    return maker


_READING = threading.RLock()


def _read(maker):
    """`maker`, after it was read. What cannot be unpickled now may be later."""
    with _READING:
        unread = vars(maker).get("_unread")
        if unread is not None:
            data, known = unread
            unpack = lzma.decompress if data.startswith(b"\xfd7zXZ") else zlib.decompress
            set_before = {name: x for name, x in vars(maker).items() if name != "_unread"}
            vars(maker).update({**vars(unpickled(unpack(data), known)), **set_before})
            maker.__class__ = FunctionMaker
            del vars(maker)["_unread"]
    return maker


def _itself(x):
    return x


class _Nodes(Sequence):
    """The nodes of a function in order."""

    def __init__(self, maker):
        self._maker = maker
        self._order = None

    def _all(self):
        if self._order is None:
            self._order = list(self._maker.linker.schedule(self._maker.fgraph))
        return self._order

    def __getitem__(self, at):
        return self._all()[at]

    def __len__(self):
        return len(self._all())


class _Graph:
    """The graph of a function, of which the inputs are known."""

    def __init__(self, maker, inputs):
        self._maker, self.inputs = maker, inputs

    def __getattr__(self, name):
        return getattr(self._maker.fgraph, name)


class _StorageMap(Mapping):
    """The cells of inputs by the variables of the graph."""

    def __init__(self, maker, cells):
        self._maker, self._cells = maker, cells

    def _all(self):
        return dict(zip(self._maker.fgraph.inputs, self._cells, strict=True))

    def __getitem__(self, variable):
        return self._all()[variable]

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._cells)


def _restore(data, known, state):
    if not config.unpickle_function:
        return None
    return restored(_inlay.read_function(data, "the pickled function"), unpickled(state, known))


def _reduce(fn):
    if not is_ours(fn) or fn.profile:
        return _PYTENSORS(fn)
    _, program, state, sections = parts_of(fn, zlib.compress)
    # What others may have too goes by their pickler, and is the same object for both afterwards.
    known = _shared(state)
    try:
        return _restore, (program.save(sections), known, pickled(state, known))
    except (errors.Unsupported, *_NOT_PICKLED):  # a function of the caller's lays out its memory, or a host function
        return _PYTENSORS(fn)


# What picklers raise for an object that they cannot write.
_NOT_PICKLED = (pickle.PicklingError, TypeError, AttributeError)


def register_pickles():
    copyreg.pickle(Function, _reduce)


_PYTENSORS = copyreg.dispatch_table[Function]
