"""What is registered with PyTensor and with inlay when a function is compiled: rewrites and translations, which are part
of the key of the cache. Those of packages whose version is known are told by their names; of others nobody knows."""

import hashlib
import marshal
import sys
import types

from pytensor.compile import mode as ptm
from pytensor.graph.rewriting.basic import FromFunctionNodeRewriter, Rewriter
from pytensor.graph.rewriting.db import RewriteDatabase

from .canonical import TRUSTED, NotText, Text
from .translate.registry import translations_of_users

# Of a rewriter: which nodes it is asked about, how tests compare what it makes, what it does with a failure, and what it
# noted of its last run.
_OF_NO_EFFECT = {
    "_tracked_op_pattern_types", "_tracked_op_patterns", "_tracked_ops", "_tracked_types", "_tracks", "failure_callback",
    "get_nodes", "node_tracker", "pre_profile", "profile", "requirements", "tracker", "values_eq_approx", "warned",
}  # fmt: skip


def require_own_translations():
    """For ops that functions in the cache may have. (One with an op of somebody's is not kept anyway.)"""
    for op_class, translation in translations_of_users():
        if str(op_class.__module__).partition(".")[0] in TRUSTED:
            raise NotText(f"a translation of {op_class.__name__} that is not inlay's ({translation!r})")


# What is registered of assumptions about matrices, by which PyTensor rewrites inverses and solutions.
_OF_ASSUMPTIONS = (
    "KEY_REGISTRY", "ASSUMPTION_INFER_REGISTRY", "UNIVERSAL_RULES", "IMPLIES", "CONSTANT_INFER_REGISTRY",
    "CLIENT_INFER_REGISTRY",
)  # fmt: skip


def registered_assumptions():
    """A hash of them all."""
    core = sys.modules.get("pytensor.assumptions.core")
    said = [_said(getattr(core, name, None)) for name in _OF_ASSUMPTIONS]
    return hashlib.blake2b("".join(said).encode()).hexdigest()


def _said(x):
    if type(x) is types.FunctionType and (name := _name_of_code(x)):  # most are
        return name
    if isinstance(x, type):
        return f"{x.__module__}.{x.__qualname__}"
    if isinstance(x, dict):
        return f"{{{','.join([f'{_said(k)}:{_said(v)}' for k, v in x.items()])}}}"
    if isinstance(x, (tuple, list)):
        return f"({','.join(map(_said, x))})"
    if x is None or isinstance(x, str):
        return repr(x)
    if type(x).__name__ == "AssumptionKey":
        return f"key {x.name}"
    name = _name_of_code(x)
    if name is None:
        raise NotText("an assumption about matrices that is not PyTensor's")
    return name


def _name_of_code(x):
    """Of a function of a trusted package, by its code: its `__module__` may be one that it took from another function.
    None for others."""
    if type(x) is types.MethodType:
        x = x.__func__
    if not isinstance(x, types.FunctionType):
        x = getattr(x, "__wrapped__", None)  # of one that remembers its results
    if not isinstance(x, types.FunctionType):
        return None
    place = x.__globals__.get("__name__") or ""
    if place == "functools" and x.__module__:  # one of several functions by the type of an argument
        place = x.__module__
    if place.partition(".")[0] not in TRUSTED:
        return None
    return f"{place}.{x.__code__.co_qualname}:{x.__code__.co_firstlineno}"


_last = [], ""


def registered_rewrites():
    """A hash of all rewrites that are registered. It is made anew where others are than when it was asked for last."""
    global _last
    found = _registered()
    before, text = _last
    if len(before) != len(found) or not all(map(_is_same, before, found)):
        try:
            text = _text_of(found)
        except NotText as error:
            text = error
        _last = found, text
    if isinstance(text, NotText):
        raise text.with_traceback(None)
    return text


def _is_same(x, y):
    return x is y or (type(x) is str and x == y)


def _registered():
    """The databases, each behind None and before its names and tags with their rewriters."""
    databases, found = [ptm.optdb], []
    for database in databases:  # grows while it is walked
        found += (None, database)
        found.append(repr(sorted(getattr(database, "__position__", {}).items())))
        inner = [getattr(database, "db", None)]
        for name, rewriters in database.__db__.items():
            here = list(getattr(rewriters, "values", rewriters))  # (its iterator is a generator in Python)
            if here:  # a query leaves empty ones behind
                found.append(name)
                found += here
            for x in here:
                if type(x) is FromFunctionNodeRewriter:  # most are, and have neither
                    continue
                if getattr(x, "external_simplifiers", None):
                    found.append(_added_to(x))
                if RewriteDatabase in type(x).__mro__:
                    inner.append(x)
        databases += [x for x in dict.fromkeys(inner) if x is not None and x not in databases]
    return found


def _added_to(rewriter):
    """To one that is registered already."""
    names = [(name, _name_of_code(f)) for name, f in rewriter.external_simplifiers]
    for name, of_code in names:
        if of_code is None:
            raise NotText(f"the simplifier {name}, which is not PyTensor's")
    return repr(names)


def _text_of(found):
    """In parts, each of which is gone before the next: fresh memory costs more than what is written into it."""
    text, digest = _RewriteText(), hashlib.blake2b()
    starts = [i for i, x in enumerate(found) if x is None]
    for start, end in zip(starts, [*starts[1:], len(found)], strict=True):
        said = text.database(found[start + 1], found[start + 2 : end])
        digest.update(marshal.dumps(said, 0))  # of version 0: later ones say which texts are one object
    return digest.hexdigest()


def _require_trusted(x):
    if type(x).__module__.partition(".")[0] not in TRUSTED:
        raise NotText(f"the rewrite {x.name}, a {type(x).__qualname__} of {type(x).__module__}")


# What older versions of PyTensor write patterns in: tuples, and variables that have names.
_MODULES_OF_PATTERNS = ("etuples.core", "unification.variable")


class _RewriteText(Text):
    """The text of a rewriter says what code it runs, and the graphs that it looks for and makes."""

    def __init__(self):
        super().__init__()
        self.numbers = {}  # of rewriters that have been said, by id

    def database(self, database, found):
        """`found`: what follows it, where all databases are found."""
        _require_trusted(database)
        known, lines = self.numbers.get, [self.registered(database)]
        lines += [x if type(x) is str else self.registered(x) if (n := known(id(x))) is None else n for x in found]
        ways = [(k, v) for k, v in sorted(vars(database).items()) if type(v) in (dict, bool, str) or isinstance(v, type)]
        return lines, type(database).__qualname__, self.of(ways)

    def registered(self, x):
        """The text where it is asked for first, its number from then on."""
        number = self.numbers.get(id(x))
        if number is not None:
            return number
        self.numbers[id(x)] = len(self.numbers)
        return f"database {x.name!r}" if RewriteDatabase in type(x).__mro__ else self._rewriter(x)

    def instance(self, x):
        if hasattr(x, "__wrapped__") or type(x) is types.MethodType:  # a function with a memory, or an object
            return self.function(x)
        if type(x).__module__ in _MODULES_OF_PATTERNS:
            return f"{type(x).__name__}{self.of(x._tuple if hasattr(x, '_tuple') else x.token)}"
        return str(self.registered(x)) if Rewriter in type(x).__mro__ else super().instance(x)

    def elements(self, x):
        """Their digest: no entry has them, so they take no room."""
        return hashlib.blake2b(x.tobytes()).hexdigest()

    def _rewriter(self, x):
        _require_trusted(x)
        if type(x) is FromFunctionNodeRewriter:  # most are, and all else that they hold is of no effect
            return _name_of_code(x.fn) or f"rewriter{self._held(x, 'fn', x.fn)}"
        held = [(k, v) for k, v in vars(x).items() if k not in _OF_NO_EFFECT and not k.startswith("__")]
        said = ",".join([f"{k}={self._held(x, k, v)}" for k, v in held])
        return f"{type(x).__module__}.{type(x).__qualname__}({said})"

    def name_of_function(self, x):
        """Also one that no name leads to: which it is is said by where its code stands."""
        return _name_of_code(x) or super().name_of_function(x)

    def _held(self, x, name, value):
        try:
            return self.of(value)
        except NotText as error:
            raise NotText(f"the rewrite {x.name}, of which {name} is {error}") from None
