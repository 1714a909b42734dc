"""What a graph calls on the host: the functions, which nodes they are, and why."""

from contextlib import contextmanager

from .dtypes import sizes_of_type, type_of
from .registry import NotNative


class Calls:
    """The host functions of one translation."""

    def __init__(self):
        self.functions = []  # by the number that the graph's host calls carry
        self.reasons = {}  # number of a node -> why it is one
        self.is_all_native = False
        self._once = {}  # key -> what `once` holds, and how many functions there were then

    def add(self, function):
        """Its number."""
        self.functions.append(function)
        return len(self.functions) - 1

    def refuse(self, number, reason):
        """The node of this number runs in Python; NotNative where none may."""
        if self.is_all_native:
            raise NotNative(reason)
        self.reasons[number] = reason

    @contextmanager
    def all_native(self):
        """Where a part of what is translated within the block would run through Python, all of it shall."""
        before, self.is_all_native = self.is_all_native, True
        try:
            yield
        finally:
            self.is_all_native = before

    def once(self, key, make):
        """What `make` returns for a constant, or for the index of a value of the outermost graph (alone, or with what is
        wanted of it); the same each time, until a function that it added is forgotten."""
        if key not in self._once:
            made = make()
            self._once[key] = made, len(self.functions)
        return self._once[key][0]

    def held(self, key):
        """What `once` holds of the key; None: it was not asked."""
        return self._once.get(key, (None,))[0]

    def state(self):
        return len(self.functions), dict(self.reasons)

    def back_to(self, state):
        """What was begun natively runs as a whole through Python: its own calls are forgotten."""
        count, reasons = state
        del self.functions[count:]
        self._once = {key: held for key, held in self._once.items() if held[1] <= count}
        self.reasons = reasons


def call_function(t, function, operands, types, name):
    """The results of a call of `function`. `types`: of each its dtype and its shape; None is a size that the call finds."""
    number = t.calls.add(function)
    results = []
    for position, (dtype, shape) in enumerate(types):
        dims = [
            t.builder.symbol(t.names.unique(f"h{number}_{position}_{axis}")) if n is None else n
            for axis, n in enumerate(shape)
        ]
        results.append((dtype, dims))
    return t.builder.host_call(name, number, operands, results)


def call_node(t, node, call, operands):
    """The outputs of a node by `call`."""
    types = [(type_of(x)[0], sizes_of_type(shape)) for x, shape in zip(node.outputs, call.shapes, strict=True)]
    return call_function(t, call, operands, types, call.name)
