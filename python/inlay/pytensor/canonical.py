"""Objects as text that is equal, in whichever process, where the objects are: what the key of the cache is made of.

Everything that an object holds is in its text, not only what its class calls its properties: an op may compare equal to
one that does something else. Whatever is not known to be told by text is refused (`NotText`): code and classes that are
not of `TRUSTED` packages, whose versions the key has beside them, and objects whose state is no data.
"""

import enum
import functools
import sys
import types
from collections.abc import Mapping

import numpy as np
from pytensor.graph.basic import Constant, NominalVariable, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.type import Type
from pytensor.tensor.type import TensorType

from .. import _inlay
from ..environment import NotText

TRUSTED = ("pytensor", "pymc", "pymc_extras", "inlay")
_LARGEST_PART = 8  # the arrays of a key take no more of the bytes of all entries than one of so many parts
_KNOWN = {*TRUSTED, "numpy", "scipy", "builtins"}

# What PyTensor makes of an object's other attributes, and keeps; of the class and those derived from it.
_DERIVED = {
    "pytensor.tensor.elemwise.Elemwise": {"nfunc", "ufunc"},
    "pytensor.tensor.blockwise.Blockwise": {"_gufunc"},
    "pytensor.compile.builders.OpFromGraph": {"_lop_op_cache", "_rop_op_cache", "_connection_pattern", "_fn"},
    "pytensor.scan.op.Scan": {"_fn", "_hash_inner_graph"},
    "pytensor.scalar.basic.ScalarInnerGraphOp": {"prepare_node_called", "_py_perform_fn", "_c_code", "_cached_hash"},
    "pytensor.link.c.op.ExternalCOp": {"func_files", "func_codes", "code_sections"},
    "pytensor.tensor.type.TensorType": {"numpy_dtype"},
}
# Of variables and nodes: where they came from, how tests compare them, and what was made to run one in Python. (The rest
# may steer a rewrite: `lower_triangular`, say, or what PyTensor found out about a constant, which it trusts also where
# the constant has changed since.)
_OF_NO_EFFECT = {
    "trace", "imported_by", "removed_by", "values_eq_approx", "connection_pattern", "test_value", "observations",
    "transform", "ufunc", "gufunc", "fake_node", "sig", "attr", "attr_filter",
}  # fmt: skip


class Text:
    """Texts of objects of one key. Arrays are not in them: `arrays` are, as bytes, and the text has their numbers."""

    def __init__(self):
        self.arrays = []
        self._room = _inlay.cache_limit_bytes() // _LARGEST_PART  # an entry has constants in its key and in its program
        self._numbers = {}  # of texts that have been said
        self._ops = {}
        self._around = []  # ids of the objects whose text is being made

    def of(self, x):
        kind = type(x)
        if kind in _SAID_BY_REPR:
            return repr(x)
        how = _WAYS.get(kind)
        if how is None:
            # (Not `issubclass`, which goes through all classes that are derived from an abstract one.)
            how = _WAYS[kind] = next((_WAYS_OF_BASES[c] for c in kind.__mro__ if c in _WAYS_OF_BASES), _by_its_class)
        return how(self, x)

    def op(self, op):
        known = self._ops.get(id(op))
        if known is not None:
            return known[0]
        text = self._instance(op, "the op")
        said = self._short(text)
        self._ops[id(op)] = self._short(text), op  # its number, by now (and the op lives as long as its id is used)
        return said

    def type(self, x):
        if type(x) is TensorType and x.name is None:
            return self._short(f"{x.dtype}{x.shape}")
        return self._short(self._instance(x, "the type"))

    def variable(self, x):
        """All but how it is computed."""
        name = "" if x.name is None else f" {x.name!r}"
        return f"{self._short(_name_of_variables(type(x)))} {self.type(x.type)}{name}{self._tag(x.tag)}"

    def node(self, node, numbers):
        """`numbers`: by id of variables. The results of the node get theirs."""
        read = ",".join([str(numbers[id(x)]) for x in node.inputs])
        made = ";".join([f"{numbers.setdefault(id(x), len(numbers))} {self.variable(x)}" for x in node.outputs])
        return f"{made}={self._short(name_of_class(type(node)))} {self.op(node.op)}({read}){self._tag(node.tag)}"

    def constant(self, x):
        return f"{self.variable(x)} {self.of(x.data)}"

    def array(self, x):
        dtype = _dtype(x.dtype)
        order = "F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C"
        return f"array {dtype} {x.shape} {order} {self.elements(x)}"

    def elements(self, x):
        self._room -= x.nbytes
        if self._room < 0:
            raise NotText("constants for which it has no room")
        self.arrays.append(x.tobytes())
        return f"#{len(self.arrays) - 1}"

    def inner_graph(self, fgraph):
        numbers = {}

        def number_of(x):
            return numbers.setdefault(id(x), len(numbers))

        lines = [f"{number_of(x)} {self.variable(x)}" for x in fgraph.inputs]
        nodes = fgraph.toposort()
        for x in [*(x for node in nodes for x in node.inputs), *fgraph.outputs]:
            if x.owner is None and id(x) not in numbers:
                lines.append(f"{number_of(x)} {self.leaf(x)}")
        lines += [self.node(node, numbers) for node in nodes]
        made = [number_of(x) for x in fgraph.outputs]
        return f"{{{' | '.join(lines)} -> {made} {self.of(getattr(fgraph, 'update_mapping', None))}}}"

    def leaf(self, x):
        if isinstance(x, Constant):
            return self.constant(x)
        raise NotText(f"{x}, which is no input of its graph")

    def name_of_function(self, x):
        module, name = getattr(x, "__module__", None), getattr(x, "__qualname__", x.__name__)
        if isinstance(x, np.ufunc):
            for module in ("numpy", "scipy.special"):
                if getattr(sys.modules.get(module), x.__name__, None) is x:
                    return f"{module}.{x.__name__}"
        elif module is not None and _is_found(x, module, name):
            return f"{module}.{name}"
        raise NotText(f"the function {name} of {module}, whose code may change under this name")

    def _short(self, text):
        """With a number where it is said for the first time, the number from then on."""
        number = self._numbers.get(text)
        if number is not None:
            return f"~{number}"
        self._numbers[text] = len(self._numbers)
        return f"~{len(self._numbers) - 1}:<{text}>"

    def _tag(self, tag):
        held = vars(tag)
        if not held or _OF_NO_EFFECT.issuperset(held):
            return ""
        return " " + ",".join(f"{k}={self.of(held[k])}" for k in sorted(held.keys() - _OF_NO_EFFECT))

    def mapping(self, x):
        is_plain = _are_said_by_repr(x) and _are_said_by_repr(x.values())
        said = repr(dict(x))[1:-1] if is_plain else ",".join([f"{self.of(k)}:{self.of(v)}" for k, v in x.items()])
        return f"{name_of_class(type(x))}{{{said}}}"

    def sequence(self, x):
        return repr(x) if _are_said_by_repr(x) else f"{type(x).__name__}({','.join(map(self.of, x))})"

    def function(self, x):
        return f"function {self.name_of_function(x)}"

    def instance(self, x):
        return self._instance(x, "an object of the class")

    def _instance(self, x, what):
        name = name_of_class(type(x), what)
        if id(x) in self._around:
            raise NotText(f"{what} {name}, which holds itself")
        self._around.append(id(x))
        try:
            if isinstance(x, FunctionGraph) or type(x).__name__ == "FrozenFunctionGraph":
                return name + self.inner_graph(x)
            content = self.of(tuple(x)) if isinstance(x, tuple | list) else ""
            said = [f"{k}={repr(v) if type(v) in _SAID_BY_REPR else self.of(v)}" for k, v in _state(x)]
            return f"{name}{content}({','.join(said)})"
        except NotText as error:
            if what != "the op":
                raise
            raise NotText(f"{what} {type(x).__qualname__} of {type(x).__module__} holds {error}") from None
        finally:
            self._around.pop()


def _by_its_class(text, x):
    return text.instance(x)


def _dtype(dtype):
    if dtype.kind not in "biufcMmSU":
        raise NotText(f"elements of dtype {dtype}")
    return dtype.str


_SAID_BY_REPR = {type(None), bool, int, float, str, bytes, type(Ellipsis), type(NotImplemented)}


def _are_said_by_repr(objects):
    return _SAID_BY_REPR.issuperset(map(type, objects))


# What else is data of Python's and NumPy's, each of its very class; what is said by the class that it is derived from.
_WAYS = {
    complex: lambda text, x: f"complex {x.real.hex()} {x.imag.hex()}",
    tuple: Text.sequence,
    list: Text.sequence,
    set: lambda text, x: f"{{{','.join(sorted(map(text.of, x)))}}}",
    frozenset: lambda text, x: f"frozen{{{','.join(sorted(map(text.of, x)))}}}",
    slice: lambda text, x: f"slice{text.of((x.start, x.stop, x.step))}",
    range: lambda text, x: f"range{text.of((x.start, x.stop, x.step))}",
    functools.partial: lambda text, x: f"partial{text.of((x.func, x.args, x.keywords))}",
    np.ndarray: Text.array,
}
_WAYS_OF_BASES = {
    Op: Text.op,
    Type: Text.type,
    type: lambda text, x: f"class {name_of_class(x)}",
    types.UnionType: lambda text, x: f"union{text.of(x.__args__)}",
    np.generic: lambda text, x: f"number {_dtype(x.dtype)} {x.tobytes().hex()}",
    np.dtype: lambda text, x: f"dtype {_dtype(x)}",
    enum.Enum: lambda text, x: f"{name_of_class(type(x))}.{x.name}={text.of(x.value)}",
    types.FunctionType: Text.function,
    types.BuiltinFunctionType: Text.function,
    np.ufunc: Text.function,
    dict: Text.mapping,
    Mapping: Text.mapping,
    Variable: lambda text, x: f"[{text.leaf(x)}]",
}


def _state(x):
    """What the object holds and nothing else of it says, in the order of names."""
    slots = _held_by(type(x))[0]
    held = getattr(x, "__dict__", None) or {}
    out = [(k, held[k]) for k in _said_names(type(x), tuple(held))]
    if not slots:
        return out
    of_slots = [(slot, v) for slot in slots if (v := getattr(x, slot, _ABSENT)) is not _ABSENT]
    return sorted({**dict(out), **dict(of_slots)}.items()) if out else of_slots


_ABSENT = object()


@functools.cache
def _said_names(cls, names):
    derived = _held_by(cls)[1]
    return [k for k in sorted(names) if k not in derived and not k.startswith("__")]


@functools.cache
def _held_by(cls):
    """Slots, and what is derived from other attributes, of objects of a class."""
    if cls is object or _holds_more(cls):
        raise NotText(f"an object of the class {cls.__module__}.{cls.__qualname__}")
    slots, derived = set(), set()
    for c in cls.__mro__:
        own_slots, own_derived = _held_by_own(c)
        slots.update(own_slots)
        derived.update(own_derived)
    return sorted(slots - derived), derived


@functools.cache
def _held_by_own(cls):
    """By what the class itself adds to its bases."""
    own = cls.__dict__.get("__slots__", ())
    own = [own] if isinstance(own, str) else own
    private = f"_{cls.__name__.lstrip('_')}"
    slots = [f"{private}{x}" if x.startswith("__") and not x.endswith("__") else x for x in own]
    derived = _DERIVED.get(f"{cls.__module__}.{cls.__qualname__}", ())
    return [x for x in slots if x not in ("__dict__", "__weakref__")], derived


def _holds_more(cls):
    """Whether some of it may be in no attribute: of a class that is written in C, or made from one."""
    return not all(c in (object, tuple, list) or _is_written_in_python(c) for c in cls.__mro__)


@functools.cache
def _is_written_in_python(cls):
    is_made_by_class = cls.__flags__ & (1 << 9)  # Py_TPFLAGS_HEAPTYPE; some that are written in C have it too
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    return bool(is_made_by_class) and file.endswith(".py")


def name_of_class(cls, what="an object of the class"):
    """NotText for a class that another may stand for in the next process."""
    name = _NAMES.get(cls)
    if name is None:
        if not _is_found(cls, cls.__module__, cls.__qualname__):
            raise NotText(f"{what} {cls.__qualname__} of {cls.__module__}, whose code may change under this name")
        name = f"{cls.__module__}.{cls.__qualname__}"
        if cls.__module__ != "__main__":
            _NAMES[cls] = name
    return name


_NAMES = {}


def _name_of_variables(cls):
    """Inner graphs have inputs of classes that PyTensor makes from that of the type's variables."""
    return name_of_class(NominalVariable if NominalVariable in cls.__mro__ else cls)


def _is_found(x, module, name):
    """Whether importing the module gives this object by its name, and the module is of a package whose version says which
    code that is."""
    if not module or module.partition(".")[0] not in _KNOWN:
        return False
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is x
