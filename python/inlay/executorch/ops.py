"""Over which operands an op's kernel may write its result."""

import difflib

import torch

# Not tagged as pointwise, and computed element by element from these operands: result to positions of arguments. The
# statistics of a batch norm that is not being trained are operands of their own.
ELEMENT_BY_ELEMENT = {
    "aten.hardswish": {0: (0,)},
    "aten._native_batch_norm_legit_no_training": {0: (0,)},
}


class Ops:
    """Pointwise ops by PyTorch's own tag, those above, and what the user adds, over its first operand, or removes.

    `add`, `remove`: names ("aten.index_put") or overloads (torch.ops.aten.index_put.default). Raises ValueError for a name
    that no op has."""

    def __init__(self, add=(), remove=()):
        self.added, self.removed = _names("add_ops", add), _names("remove_ops", remove)

    def in_place(self, node, step, positions):
        """By result the positions among the step's reads. `positions`: of the arguments that are tensors, by their number."""
        overload = overload_of(node.target)
        if overload is None:
            return {}
        name = _name(overload)
        if name in self.removed:
            return {}
        if name in self.added:
            over = {0: (0,)}
        elif name in ELEMENT_BY_ELEMENT:
            over = ELEMENT_BY_ELEMENT[name]
        elif _is_pointwise(overload) and len(step.writes) == 1:
            return {0: list(positions.values())}
        else:
            return {}
        return {result: [positions[a] for a in arguments if a in positions] for result, arguments in over.items()}


def overload_of(target):
    """What a node calls, out of the wrapper of an edge dialect; None: it is no op of PyTorch's."""
    overload = target if isinstance(target, torch._ops.OpOverload) else getattr(target, "_op", None)
    return overload if isinstance(overload, torch._ops.OpOverload) else None


def _names(keyword, ops):
    if isinstance(ops, str):
        raise TypeError(f"{keyword}: a list of ops is expected, as [{ops!r}]")
    for op in ops:
        if isinstance(op, str) and not _is_known(op):
            raise ValueError(f"{keyword}: PyTorch has no op {op}{_near(op)}")
    return {_name(op) for op in ops}


def _is_known(name):
    """Whether it is an op that PyTorch has, or one that a library has told it, with or without an overload of it."""
    namespace, _, rest = name.replace("::", ".").partition(".")
    op, _, overload = rest.partition(".")
    if not op.isidentifier():
        return False
    packet = getattr(getattr(torch.ops, namespace), op, None)
    return isinstance(packet, torch._ops.OpOverloadPacket) and (not overload or overload in packet.overloads())


def _near(name):
    """The names that are spelled most like it, as the end of a message: as far as this PyTorch says what names it has."""
    known = {_name(each) for each in getattr(torch._C, "_dispatch_get_all_op_names", list)()}
    if _name(name) in known:  # and the overload is none
        near = [_name(name)]
    else:
        near = [f"aten.{name}"] if f"aten.{name}" in known else []  # "index_put"
        near += [each for each in difflib.get_close_matches(_name(name), sorted(known), n=3) if each not in near]
    return f"; did you mean {' or '.join(near[:3])}?" if near else ""


def _name(op):
    """Of all overloads of an op: "aten.add"."""
    if isinstance(op, str):
        return ".".join(op.replace("::", ".").split(".")[:2])
    if overload_of(op) is not None:
        return overload_of(op)._schema.name.replace("::", ".")
    if isinstance(op, torch._ops.OpOverloadPacket):
        return str(op)
    raise TypeError(f"an op is its name, as aten.add, or an overload of torch.ops, not {type(op).__name__}")


def _is_pointwise(overload):
    packet = overload.overloadpacket
    return any(torch.Tag.pointwise in getattr(packet, name).tags for name in packet.overloads())
