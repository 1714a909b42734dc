"""Sizes that the graph computes with: `x.shape[0] - 1` as an expression, not as a value.

inlay's dims are expressions over the sizes of inputs, and code is planned with them. So arithmetic on shapes is
followed back to where the shapes come from. A size that comes from the elements of a tensor has no such expression: it
is known only when its value is, and what follows is planned then.
"""

from math import prod

import numpy as np
import pytensor.scalar as ps
from pytensor.graph.basic import Constant
from pytensor.tensor.basic import Join, MakeVector, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import Subtensor

from .dims import dim_max, dim_min, known_equal
from .dtypes import is_tensor
from .index_entries import constant_slice, filled, integer
from .origin import scan_name
from .registry import NotNative

_ARITHMETIC = {
    ps.Add: lambda *xs: sum(xs),
    ps.Sub: lambda a, b: a - b,
    ps.Mul: lambda *xs: prod(xs),
    ps.Maximum: dim_max,
    ps.Minimum: dim_min,
}

_KEEPS_SIZES = (ps.Add, ps.Mul, ps.Maximum, ps.Minimum)


def size_of(t, var, late=True):
    """The dim that a variable of one element stands for. `late`: it may be one that only its value tells."""
    if isinstance(var, Constant):
        return int(np.asarray(var.data).item())
    if var in t.scope.sizes:
        return t.scope.sizes[var]
    try:
        return _expression(t, var, late)
    except NotNative:
        if not late or var.type.dtype[0] not in "iu":
            raise
        return late_size(t, t.value(var), t.users.scan_of_steps(var))


def has_one_element(var):
    return is_tensor(var.type) and all(n == 1 for n in var.type.shape)


def _expression(t, var, late):
    node = var.owner
    if node is None:
        raise NotNative(f"a size that is the value of {var}")
    if isinstance(node.op, Shape_i):
        return t.dims(node.inputs[0])[node.op.i]
    if isinstance(node.op, ScalarFromTensor | TensorFromScalar):
        return size_of(t, node.inputs[0], late)
    if isinstance(node.op, DimShuffle) and has_one_element(node.inputs[0]):
        return size_of(t, node.inputs[0], late)
    if isinstance(node.op, MakeVector) and len(node.inputs) == 1:
        return size_of(t, node.inputs[0], late)
    if isinstance(node.op, Subtensor):
        return _element(t, node)
    scalar_op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    _refuse_narrow(var)
    if isinstance(scalar_op, ps.Cast) and node.inputs[0].type.dtype.startswith(("int", "uint")):
        return size_of(t, node.inputs[0], late)
    if isinstance(scalar_op, ps.IntDiv) and isinstance(node.inputs[1], Constant) and int(node.inputs[1].data) > 0:
        return _of_sizes(t, node, late)[0] // int(node.inputs[1].data)
    if isinstance(scalar_op, ps.Switch):
        return _chosen(t, node, late)
    if type(scalar_op) in _ARITHMETIC:
        return _ARITHMETIC[type(scalar_op)](*_of_sizes(t, node, late))
    raise NotNative(f"a size computed by {node.op}")


def _refuse_narrow(var):
    """Numbers of so few bits wrap around where sizes do not."""
    if var.type.dtype in ("bool", "int8", "uint8", "int16", "uint16"):
        raise NotNative(f"a size computed in {var.type.dtype}")


def _chosen(t, node, late):
    """switch(a < b, x, y), the length of a slice say: x or y where all sizes decide, and max(b - a, 0)."""
    condition, then, otherwise = node.inputs
    compared = condition.owner
    scalar_op = getattr(compared.op, "scalar_op", compared.op) if compared is not None else None
    if not isinstance(scalar_op, ps.LT | ps.LE | ps.GT | ps.GE):
        raise NotNative(f"a size chosen by {condition}")
    a, b = _of_sizes(t, compared, late=False)
    if isinstance(scalar_op, ps.GT | ps.GE):
        a, b = b, a
    minimum = b - a if isinstance(scalar_op, ps.LE | ps.GE) else b - a - 1  # the condition: it is not negative
    if known_equal(dim_min(minimum, 0), 0):
        return size_of(t, then, late)
    if known_equal(dim_max(minimum, -1), -1):
        return size_of(t, otherwise, late)
    then, otherwise = (size_of(t, x, late=False) for x in (then, otherwise))
    if known_equal(otherwise, 0) and known_equal(then, b - a):
        return dim_max(then, 0)
    raise NotNative("a size chosen by other sizes")


def _of_sizes(t, node, late):
    """The operands of arithmetic on sizes. One that is only a value may be negative, and the result yet a size (`-n`,
    `n * n`): so besides a product of it with sizes, and what is a size by itself, all of it is a value."""
    is_product = isinstance(getattr(node.op, "scalar_op", node.op), ps.Mul)
    of_a_product = late and is_product and sum(not _is_size(t, x) for x in node.inputs) == 1
    return [size_of(t, x, of_a_product or (late and _is_size(t, x))) for x in node.inputs]


def _is_size(t, var):
    """Is it never negative? (A number of steps is not: the Scan refuses it.)"""
    if isinstance(var, Constant):
        return int(np.asarray(var.data).item()) >= 0
    if t.users.scan_of_steps(var) is not None:
        return True
    if var.owner is None:
        return False
    op = var.owner.op
    scalar_op = getattr(op, "scalar_op", op)
    return isinstance(op, Shape_i) or (
        type(scalar_op) in _KEEPS_SIZES and all(_is_size(t, x) for x in var.owner.inputs)
    )


def _element(t, node):
    """shape[2], shape[-1]"""
    entry, *others = filled(node.op.idx_list, node.inputs[1:])
    position = None if others or isinstance(entry, slice) else integer(entry)
    if position is None:
        raise NotNative("a size read at a position that is not constant")
    return sizes_of(t, node.inputs[0])[position]


def sizes_of(t, var):
    """The dims that a vector of integers stands for."""
    if isinstance(var, Constant):
        return [int(n) for n in var.data]
    node = var.owner
    if node is None:
        raise NotNative(f"sizes that are the elements of {var}")
    if isinstance(node.op, Shape):
        return list(t.dims(node.inputs[0]))
    if isinstance(node.op, MakeVector):
        return [size_of(t, x) for x in node.inputs]
    if isinstance(node.op, Join):
        tensors = node.inputs if hasattr(node.op, "axis") else node.inputs[1:]
        return [size for x in tensors for size in sizes_of(t, x)]
    if isinstance(node.op, DimShuffle) and node.inputs[0].type.ndim == 0:
        return [size_of(t, node.inputs[0])]
    if isinstance(node.op, Subtensor):
        return _part(t, node)
    if isinstance(node.op, SpecifyShape) or (isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, ps.Cast)):
        _refuse_narrow(var)
        return sizes_of(t, node.inputs[0])
    raise NotNative(f"sizes computed by {node.op}")


def _part(t, node):
    """shape[1:]"""
    (entry,) = filled(node.op.idx_list, node.inputs[1:])
    if not isinstance(entry, slice):
        raise NotNative("sizes read at a position")
    return sizes_of(t, node.inputs[0])[slice(*constant_slice(entry))]


def known_sizes(t, variables, static):
    """The dims that 0-d variables stand for; those that PyTensor knows are taken from `static`."""
    return [size_of(t, v) if s is None else s for v, s in zip(variables, static, strict=True)]


def given_sizes(t, inside, outside):
    """The inputs `inside` of a graph within a graph stand for variables of this one: those that are sizes here are the
    same sizes there."""
    sizes = {}
    for x, var in zip(inside, outside, strict=True):
        if getattr(var.type, "ndim", 0) == 0 and getattr(var.type, "dtype", "")[:3] in ("int", "uin"):
            try:
                sizes[x] = size_of(t, var, late=False)
            except NotNative:
                pass  # a value
    return sizes


# Sizes that only values tell.


def elements(t, vector, count):
    """The elements of a vector of integers, of which there are to be `count`: sizes that only its value tells."""
    vector = t.require_dims(t.cast(t.value(vector), "i64"), [count])
    return [t.builder.slice(vector, [i]) for i in range(count)]


def late_size(t, value, scan=None):
    """An integer value of one element as a size that is known once the value is: the same size for the same value.
    `scan`: the node that makes that many steps, if there is one; it is what fails where the value is negative."""
    made = t.scope.late_sizes
    if value.index not in made:
        number = t.builder.reshape(value, []) if value.dims else value
        checked = number if scan is None else _number_of_steps(t, number, scan)
        made[value.index] = t.builder.late_size(checked)
    return made[value.index]


def _number_of_steps(t, value, scan):
    b = t.builder
    value = t.cast(value, "i64")
    message = f"{scan_name(scan)}: n_steps is {{0}}"
    b.at(t.place.location_of(scan))
    value = b.assert_(value, b.scalar("ge", [value, b.literal(0, "i64")]), message, "negative-size", [value])
    b.at(t.place.location)
    return value
