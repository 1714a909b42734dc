"""What tells a function of the user's from another one, in this process and in the next: a text of all that its results
depend on, as far as it can be seen.

Of a Python function these are its code, its defaults, the values around it and the globals that it reads; functions of its
own module are looked into, those of others count by name. Of an object it is the class and the state.
"""

import functools
import hashlib
import inspect
import pickle
import types

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def identity_of(x):
    return hashlib.sha256(_Walk().text(x).encode(errors="surrogatepass")).hexdigest()


class _Walk:
    def __init__(self):
        self._seen = {}  # by id: its number, and itself, so that no other object gets this id

    def text(self, x):
        if isinstance(x, _PLAIN):
            return f"{type(x).__name__} {x!r}"
        if id(x) in self._seen:
            return f"again {self._seen[id(x)][0]}"
        self._seen[id(x)] = len(self._seen), x
        return f"{type(x).__name__}({self._parts(x)})"

    def _parts(self, x):
        if isinstance(x, np.ndarray) and x.dtype != object:
            return f"{x.dtype.str} {x.shape} {hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()}"
        if isinstance(x, dict):
            return self._all(y for item in x.items() for y in item)
        if isinstance(x, list | tuple):
            return self._all(x)
        if isinstance(x, set | frozenset):
            return " ".join(sorted(_Walk().text(y) for y in x))
        if isinstance(x, functools.partial):
            return self._all([x.func, x.args, x.keywords])
        if isinstance(x, types.MethodType):
            return self._all([x.__func__, x.__self__])
        if isinstance(x, types.FunctionType):
            return self._of_function(x)
        if isinstance(x, types.ModuleType):
            return x.__name__
        if isinstance(x, type | types.BuiltinFunctionType) or not hasattr(x, "__class__"):
            return f"{x.__module__} {x.__qualname__}"
        return self._of_object(x)

    def _all(self, values):
        return ", ".join(self.text(y) for y in values)

    def _of_function(self, function):
        known = function.__globals__
        read = {name: self._global(known[name], known) for name in sorted(_names(function.__code__)) if name in known}
        around = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
        return f"{_code(function.__code__)} {self._all([function.__defaults__, function.__kwdefaults__, around])} {read}"

    def _global(self, x, known):
        is_code = isinstance(x, types.FunctionType | type)
        if is_code and x.__module__ != known.get("__name__"):
            return f"{x.__module__} {x.__qualname__}"
        return self.text(x)

    def _of_object(self, x):
        kind = f"{type(x).__module__} {type(x).__qualname__}"
        slots = [name for cls in type(x).__mro__ for name in _as_tuple(cls.__dict__.get("__slots__", ()))]
        state = getattr(x, "__dict__", {}) | {name: getattr(x, name) for name in slots if hasattr(x, name)}
        if _is_all_of(x):
            return f"{kind} {self.text(state)}"
        try:
            return f"{kind} {hashlib.sha256(pickle.dumps(x, protocol=5)).hexdigest()}"
        except Exception:  # noqa: BLE001  (whatever an object's own code raises)
            return f"{kind} {self.text(state)}"


def _is_all_of(x):
    """Whether an object is its attributes, with no state behind them and no say in how it is pickled."""
    kind = type(x)
    plain = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
    return plain and kind.__flags__ & _HEAP_TYPE and all(cls is object or cls.__flags__ & _HEAP_TYPE for cls in kind.__mro__)


_HEAP_TYPE = 1 << 9  # of a class that Python code has made


def _as_tuple(slots):
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _names(code):
    names = set(code.co_names)
    return names.union(*(_names(c) for c in code.co_consts if inspect.iscode(c)))


def _code(code):
    """Without places in files."""
    constants = [_code(c) if inspect.iscode(c) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"
