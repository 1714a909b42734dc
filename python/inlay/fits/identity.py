"""What tells a function of the user's from another one, in this process and in the next: a text of all that its results
depend on, as far as it can be seen.

Of a Python function these are its code, its defaults, the values around it and the globals that it reads; functions and
classes of its own module are looked into, those of others count by name. Of an object it is the class and the state.
"""

import functools
import hashlib
import inspect
import pickle
import types

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def identity_of(x):
    return hashlib.sha256(_Walk(_home(x)).text(x).encode(errors="surrogatepass")).hexdigest()


class _Walk:
    def __init__(self, home):
        self._home = home  # the name of the module whose classes are looked into
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
            return " ".join(sorted(map(self._alone, x)))
        if isinstance(x, functools.partial):
            return self._all([x.func, x.args, x.keywords])
        if isinstance(x, types.MethodType):
            return self._all([x.__func__, x.__self__])
        if isinstance(x, types.FunctionType):
            return self._of_function(x)
        if isinstance(x, types.ModuleType):
            return x.__name__
        if isinstance(x, type) and x.__module__ == self._home and x.__flags__ & _HEAP_TYPE:
            return self._of_class(x)
        if isinstance(x, type | types.BuiltinFunctionType) or not hasattr(x, "__class__"):
            return _name(x)
        if isinstance(x, staticmethod | classmethod):
            return self.text(x.__func__)
        if isinstance(x, property):
            return self._all([x.fget, x.fset, x.fdel])
        return self._of_object(x)

    def _alone(self, x):
        """The same whichever member of its set comes first: numbers go on from those before the set."""
        known = len(self._seen)
        text = self.text(x)
        while len(self._seen) > known:
            self._seen.popitem()
        return text

    def _all(self, values):
        return ", ".join(self.text(y) for y in values)

    def _of_function(self, function):
        known = function.__globals__
        around = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
        read = {name: self._global(known[name], known) for name in sorted(_names(function.__code__)) if name in known}
        state = [function.__defaults__, function.__kwdefaults__, around, getattr(function, "__wrapped__", None)]
        return f"{_code(function.__code__)} {self._all(state)} {read}"

    def _global(self, x, known):
        is_code = isinstance(x, types.FunctionType) or (hasattr(x, "__wrapped__") and not _is_all_of(x))
        is_elsewhere = is_code and getattr(x, "__module__", None) != known.get("__name__")
        return _name(x) if is_elsewhere else self.text(x)

    def _of_class(self, cls):
        own = {name: x for name, x in vars(cls).items() if name not in _NO_CONTENT and not isinstance(x, _SLOT)}
        return f"{_name(cls)} {self._all([*cls.__bases__, type(cls)])} {self.text(own)}"

    def _of_object(self, x):
        kind = self.text(type(x))
        slots = [name for cls in type(x).__mro__ for name in _as_tuple(cls.__dict__.get("__slots__", ()))]
        state = getattr(x, "__dict__", {}) | {name: getattr(x, name) for name in slots if hasattr(x, name)}
        if _is_all_of(x):
            return f"{kind} {self.text(state)}"
        if hasattr(x, "__wrapped__"):  # a function behind functools.cache is pickled by its name
            kind = f"{kind} {self.text(x.__wrapped__)}"
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

_SLOT = types.MemberDescriptorType | types.GetSetDescriptorType

# What classes have that says nothing of results, or is in no order.
_NO_CONTENT = {
    *("__module__", "__qualname__", "__doc__", "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    *("__static_attributes__", "__firstlineno__", "__slots__", "__weakref__", "__dict__", "_abc_impl", "__abstractmethods__"),
}


def _home(x):
    """The name of the module that a function, or the class of an object, is of."""
    while isinstance(x, functools.partial | types.MethodType):
        x = x.func if isinstance(x, functools.partial) else x.__self__
    return getattr(x, "__module__", None)


def _name(x):
    return f"{x.__module__} {getattr(x, '__qualname__', type(x).__qualname__)}"


def _as_tuple(slots):
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _names(code):
    names = set(code.co_names)
    return names.union(*(_names(c) for c in code.co_consts if inspect.iscode(c)))


def _code(code):
    """Without places in files."""
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    caught = getattr(code, "co_exceptiontable", b"").hex()  # since Python 3.11
    constants = [_constant(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {counts} {caught} {code.co_names} {code.co_varnames} {constants}"


def _constant(x):
    """The members of a set of texts come in another order in each process."""
    if inspect.iscode(x):
        return _code(x)
    if isinstance(x, tuple):
        return f"({', '.join(_constant(y) for y in x)})"
    return f"{{{', '.join(sorted(_constant(y) for y in x))}}}" if isinstance(x, frozenset) else repr(x)
