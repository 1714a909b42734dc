"""Networks in ONNX files as compiled functions.

`inlay.onnx.compile("net.onnx")` reads a network and compiles it: its inputs are the function's arguments, by name or in
their order, its outputs the results. Nothing of the package `onnx` is needed.
"""

import hashlib
import logging
import operator
import os
import pickle
import time
from typing import NamedTuple

import numpy as np

from . import _inlay, cache, environment, files, progress, text
from .choices import Choices, a_kind
from .errors import Unsupported

__all__ = ["compile", "ops"]

_LOG = logging.getLogger("inlay")


def compile(
    model,
    *,
    fixed=None,
    donated=(),
    windows=True,
    planner=None,
    upper=None,
    backend=None,
    fuse=None,
    order=None,
    may_share=None,
    verify=None,
    dump=None,
    cpu=None,
    threads=None,
    single_precision=None,
):
    """The function that a network in an ONNX file describes.

    `model`: the path of a file; or its bytes; or a ModelProto of the package `onnx`. Weights of a file are mapped, not
    read, and those in files beside it (external data) are found from its folder.

    The function takes the network's inputs that are not fixed, and returns its outputs: one array, or a tuple of
    several, with the names `fn.results`. A network that draws takes a `seed` (u64) behind them, on which all that it
    draws hangs. Sizes that the file names (`batch`) or leaves open are those of the arguments of each call.

    `fixed`: for inputs, by name, what they are in all calls: they are no arguments then. And for sizes, by name,
    their numbers: `fixed={"rate": 16000, "batch": 1}`. An array is of the dtype and the sizes that the network
    declares, in any memory layout and byte order, and takes the place of a default; a number is each element of an input of known sizes. The ranks of a
    network, the axes of its ops and the branches of its `If` may hang on such an input (a sampling rate, a shape)
    or size; loops over sizes that are known are faster.

    `donated`: names of inputs whose bytes a call may overwrite, such as the state of a recurrent network or the keys and
    values of a decoder: a result that takes them over is that array, changed in place.

    `windows=False`: convolutions store no windows for products of matrices, and are sums that read them where they lie:
    for exports to small devices, where memory is short and products are loops anyway. Weights of one or two bytes
    stay such, and products of integers are summed as i32.

    The other choices are those of `inlay.compile`: `upper={"batch": 32}` lays out memory once for all calls up to that
    size.

    Errors: NotImplementedError (Unsupported) names every op of the network that inlay does not have, or the inputs and
    sizes that must be fixed; ValueError (InvalidFile) for what is no network, with the node.

    >>> fn = inlay.onnx.compile("net.onnx")
    >>> fn(np.zeros((1, 3, 224, 224), np.float32)).shape
    (1, 1000)
    """
    start = time.perf_counter()
    choices = Choices(
        backend=backend, fuse=fuse, planner=planner, order=order, may_share=may_share, upper=upper, verify=verify, dump=dump,
        cpu=cpu, threads=threads, single_precision=single_precision,
    )  # fmt: skip
    name, contents = _contents(model)
    network = _read(name, contents)
    reading = _Reading(_fixed(network, fixed), _names(donated), bool(windows))
    key = _key(name, network, reading, choices)
    kept = _kept(key, network)
    if kept is not None:
        return kept
    graph, weights, places = _imported(network, reading)
    with progress.shown(f"inlay compiles {name}"):
        program = choices.compile(graph, weights, [])
    compilation = text.Compilation(program, weights, [], time.perf_counter() - start, arguments=None)
    fn = text.function_of_graph(graph, compilation)
    if key is not None:
        cache.keep(key, program, {_STATE: files.pickled(_state(fn, places))})
    return fn


def ops():
    """The ops that are read: of each its domain ("": ONNX's own), its name and the first version of the operators."""
    return _inlay.onnx_ops()


class _Reading(NamedTuple):
    """How a network becomes a graph, in the order of `OnnxModel.imported`."""

    fixed: dict  # by name: arrays of inputs, ints of sizes
    donated: list
    windows: bool

    def text(self):
        fixed = [(name, x) if isinstance(x, int) else (name, str(x.dtype), x.shape, x.tobytes()) for name, x in sorted(self.fixed.items())]
        return repr((fixed, *self[1:]))


def _contents(model):
    """Its name for messages, and its bytes; of a file the path and None."""
    if isinstance(model, str | os.PathLike):
        return os.fspath(model), None
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if not isinstance(model, bytes | bytearray | memoryview):
        raise TypeError(f"inlay.onnx.compile takes a path, bytes or a ModelProto, not {a_kind(model)}")
    return "the network", bytes(model)


def _read(name, contents):
    return _inlay.read_onnx(name) if contents is None else _inlay.read_onnx_bytes(contents, name, "")


_STATE = "onnx"  # the section of an entry of the cache that has what Python must know


def _key(name, network, reading, choices):
    """The bytes that are equal where the function is; None where nothing is kept. Files are told by their digests."""
    if not cache.is_on():
        return None
    try:
        digests = [hashlib.sha256(data).hexdigest() for data in network.contents]
        parts = digests, reading.text(), environment.choices_of(choices), environment.variables(), environment.of(("inlay",))
        return f"inlay.onnx 2\n{parts!r}".encode(errors="surrogatepass")
    except environment.NotText as reason:
        _LOG.debug("inlay does not keep %s in the cache: %s", name, reason)
        return None


class _Lying(NamedTuple):
    """A weight as an entry of the cache has it: where it lies in a network of the same contents."""

    contents: int
    offset: int
    type: int
    dims: list


def _state(fn, places):
    """What Python must know of the function, of which the network says the weights that lie in it."""
    _, _, (*names, bound, functions), _ = text.parts_of(fn)
    weights = [array if place is None else _Lying(*place) for array, place in zip(bound, places, strict=True)]
    return *names, weights, functions


def _kept(key, network):
    file = cache.find(key) if key is not None else None
    if file is None:
        return None
    try:
        *names, weights, functions = pickle.loads(file.section(_STATE))
        bound = [network.weight_at(*x) if isinstance(x, _Lying) else x for x in weights]
        return text.restored(file, (*names, bound, functions))
    except Exception:  # what was pickled is of another Python, say
        _LOG.debug("inlay cannot restore a network from the cache", exc_info=True)
        return None


def _names(donated):
    if isinstance(donated, str) or not all(isinstance(name, str) for name in donated):
        raise TypeError(f"donated= takes a list of names, not {a_kind(donated)}")
    return sorted(set(donated))


_TYPES = {"bool": np.bool_} | {
    kind: np.dtype(kind).type
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
}


def _fixed(network, given):
    """Arrays of the inputs' own types; ints of sizes. A number for an input of known sizes is each of its elements."""
    inputs = {name: rest for name, *rest in network.inputs}
    arrays = {}
    for name, value in text.by_name("fixed", given).items():
        if name not in inputs:
            arrays[name] = operator.index(value)
            continue
        array = text.own_array(name, value, "fixed")
        kind, sizes = inputs[name]
        wanted = _TYPES.get(kind)
        if wanted is not None and not isinstance(value, np.ndarray):
            array = array.astype(wanted)  # a number, or a list of numbers, has no type of its own
            if array.ndim == 0 and all(isinstance(size, int) and size >= 0 for size in sizes):
                array = np.full(sizes, array)
        arrays[name] = array
    return arrays


def _imported(network, reading):
    graph, *rest = network.imported(*reading)
    if graph is None:
        names, why = rest
        example = ", ".join(f"{name!r}: ..." for name in names)
        raise Unsupported(f"{why}\n  help: inlay.onnx.compile(model, fixed={{{example}}})")
    return graph, *rest
