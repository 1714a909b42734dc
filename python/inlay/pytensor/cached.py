"""PyTensor functions from the cache: what makes functions for inlay's modes.

A function is looked for by what it was asked for, before any rewriting (cache_key.py). One that is there is restored
as an unpickled one is (pickles.py), around the variables and shared values that were given now; else PyTensor makes it
as ever, and it is kept for the next process. Nothing that goes wrong here is an error: PyTensor makes the function.
"""

import inspect
import logging
import operator
import pickle
import zlib

from pytensor import config
from pytensor.compile import mode as ptm

from .. import cache, errors
from ..files import pickled, unpickled
from . import pickles
from .cache_key import key_of
from .canonical import NotText
from .compiled import find_compiled
from .linker import InlayLinker
from .mode import Mode

_LOG = logging.getLogger("inlay")
_STATE = "python"
_OPTIONS = [name for name in inspect.signature(pickles.FunctionMaker).parameters][3:]
_NOT_IN_KEY = ("profile", "name")  # the name: older versions of PyTensor make one of the caller's line


def register_cache():
    """PyTensor asks a mode for what makes functions. PyMC makes plain modes of inlay's, with its linker."""
    of_others = ptm.Mode.__dict__.get("function_maker", property(lambda self: pickles.FunctionMaker))

    def function_maker(self):
        is_ours = type(self) in (ptm.Mode, Mode) and type(self.linker) is InlayLinker
        return CachedMaker if is_ours else of_others.__get__(self)

    ptm.Mode.function_maker = property(function_maker)


class CachedMaker:
    """What PyTensor calls as a class of makers: `create` gives a function."""

    def __init__(self, inputs, outputs, mode=None, *more, **options):
        options.update(zip(_OPTIONS, more, strict=False))
        self._given = inputs, outputs, mode
        self._options = options
        self._key = self._why_not = None
        self._maker = None
        self._file = self._looked_for()
        if self._file is None:
            self._made()

    def __getattr__(self, name):
        """What else a maker has: it is made for that."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._made(), name)

    def _made(self):
        """PyTensor's own maker, made when it is needed first."""
        if self._maker is None:
            self._maker = pickles.FunctionMaker(*self._given, **self._options)
        return self._maker

    def create(self, input_storage=None, storage_map=None):
        """`input_storage`: what older versions of PyTensor give, the values that the inputs have."""
        is_usual = storage_map is None and self._has_values(input_storage)
        fn = self._restored() if self._file is not None and is_usual else None
        if fn is not None:
            return fn
        fn = self._made().create(input_storage, storage_map)
        if is_usual:
            self._keep(fn)
        return fn

    def _has_values(self, input_storage):
        if input_storage is None:
            return True
        values = [getattr(x, "value", None) for x in _listed(self._given[0])]
        return len(values) == len(input_storage) and all(map(operator.is_, values, input_storage))

    def _looked_for(self):
        """The file of the function, if it is kept."""
        inputs, outputs, mode = self._given
        if not cache.is_on():
            return None
        try:
            reason = self._reason_against()
            if reason:
                raise NotText(reason)
            key, read = key_of(inputs, outputs, mode, {k: v for k, v in self._options.items() if k not in _NOT_IN_KEY})
            ignores = (self._options.get("on_unused_input") or config.on_unused_input) == "ignore"
            if not ignores and not all(is_read or x.update is not None for x, is_read in zip(inputs, read, strict=True)):
                raise NotText("an input that nothing reads")  # PyTensor raises, or warns
        except NotText as error:
            self._why_not = str(error)
            return None
        except Exception as error:  # what PyTensor makes of the graph is for PyTensor to say
            _LOG.debug("inlay has no key of a function", exc_info=True)
            self._why_not = f"{type(error).__name__} while its key was made"
            return None
        self._key = key
        return cache.find(key)

    def _reason_against(self):
        if self._options.get("profile") or config.profile_optimizer:
            return "a function that keeps a profile"
        if self._options.get("fgraph") is not None:
            return "a function of a graph that is not PyTensor's to copy"
        return None

    def _restored(self):
        inputs, outputs, mode = self._given
        try:
            results = [pickles.FunctionMaker.wrap_out(x) for x in _listed(outputs)]
            cells = [[None] if x.value is None else x.value.storage for x in inputs]
            known = _known(inputs, results, mode, cells)
            state = unpickled(self._file.section(_STATE), known)
            fn = pickles.restored_around(self._file, state, inputs, cells, known)
        except Exception:  # a class that is gone, say: what can be unpickled is not known
            _LOG.debug("inlay cannot restore a function from the cache", exc_info=True)
            return None
        fn.name = fn.maker.name = self._options.get("name")
        find_compiled(fn).cache = "taken from the cache"
        return fn

    def _keep(self, fn):
        compiled = find_compiled(fn)
        if compiled is None:
            return
        if self._key is not None:
            self._why_not = self._why_not_kept(fn, compiled.program)
        if self._why_not:
            compiled.cache = f"not kept in the cache: {self._why_not}"
        elif self._key is not None:
            compiled.cache = "kept in the cache"

    def _why_not_kept(self, fn, program):
        inputs, _, mode = self._given
        try:
            cells = [c.storage for c in fn.input_storage]
            known = _known(inputs, fn.maker.outputs, mode, cells)
            state = pickles.state_of_code(fn)
            maker = zlib.compress(pickled(fn.maker, [*known, *state.bound]), 1)
            sections = {_STATE: pickled(state, known), pickles.MAKER: maker}
            return cache.keep(self._key, program, sections)
        except (errors.Unsupported, pickle.PicklingError, TypeError, AttributeError) as error:
            return f"what it holds cannot be pickled ({error})"
        except Exception:
            _LOG.debug("inlay keeps nothing in the cache", exc_info=True)
            return "what it holds cannot be pickled"


def _listed(outputs):
    return [] if outputs is None else list(outputs) if isinstance(outputs, list | tuple) else [outputs]


def _known(inputs, outputs, mode, cells):
    """What is the caller's: it is not kept, and is the new caller's in a function from the cache."""
    return [*(x.variable for x in inputs), *cells, *inputs, *outputs, mode]
