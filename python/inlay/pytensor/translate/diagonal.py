"""Diagonals: reading them, arrays that are nothing else, writing them."""

from pytensor.tensor.basic import AllocDiag, ExtractDiag, Eye
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset

from .dtypes import INLAY_NAMES
from .registry import NotNative, register
from .sizes import known_sizes


@register(ExtractDiag)
def extract_diag(t, node):
    op = node.op
    x = t.value(node.inputs[0])
    return t.builder.compose("extract_diag", x, offset=op.offset, first=op.axis1, second=op.axis2)


@register(AllocDiag)
def alloc_diag(t, node):
    op = node.op
    x = t.value(node.inputs[0])
    return t.builder.compose("alloc_diag", x, offset=op.offset, first=op.axis1, second=op.axis2)


@register(Eye)
def eye(t, node):
    rows, columns = known_sizes(t, node.inputs[:2], node.outputs[0].type.shape)
    dtype = INLAY_NAMES[node.outputs[0].type.dtype]
    row, column = _rows_and_columns(t, rows, columns)
    on = t.builder.scalar("eq", [_plus(t, row, node.inputs[2]), column])
    return t.builder.cast(t.builder.broadcast(on, [rows, columns]), dtype)


@register(FillDiagonal)
def fill_diagonal(t, node):
    x, value = t.operands(node)
    return t.builder.compose("fill_diagonal", x, _scalar_of(t, value, x.dtype))


@register(FillDiagonalOffset)
def fill_diagonal_offset(t, node):
    x, value, offset = node.inputs
    x = t.value(x)
    row, column = _rows_and_columns(t, *x.dims)
    on = t.builder.scalar("eq", [_plus(t, row, offset), column])
    return t.builder.scalar("select", [on, _scalar_of(t, t.value(value), x.dtype), x])


def _rows_and_columns(t, rows, columns):
    """0, 1, ... down an axis, and along the one behind it."""
    return t.builder.reshape(t.builder.iota(rows, "i64"), [rows, 1]), t.builder.iota(columns, "i64")


def _plus(t, row, offset):
    """row + offset, a 0-d integer that may be known only at run time."""
    return t.builder.scalar("add", [row, t.cast(t.value(offset), "i64")])


def _scalar_of(t, value, dtype):
    if value.dims:
        raise NotNative("a diagonal filled with several values")
    return t.cast(value, dtype)
