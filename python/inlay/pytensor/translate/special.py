"""Softmax and its logarithm, which PyTensor keeps as one op each."""

from pytensor.tensor.special import LogSoftmax, Softmax

from .dtypes import INLAY_NAMES, arithmetic_dtype
from .registry import register


@register(Softmax)
def softmax(t, node):
    return _along_axes(t, node, "softmax")


@register(LogSoftmax)
def log_softmax(t, node):
    return _along_axes(t, node, "log_softmax")


def _along_axes(t, node, name):
    """Over one axis, several or all; of a 0-d array there is none, and its softmax is that of one element."""
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    axis = node.op.axis
    x = t.cast(t.value(node.inputs[0]), arithmetic_dtype(out))
    axes = [] if axis is None else list(axis) if isinstance(axis, tuple | list) else [axis]
    if x.dims:
        return t.cast(t.builder.compose(name, x, axes=axes), out)
    one = t.builder.compose(name, t.builder.reshape(x, [1]))
    return t.cast(t.builder.reshape(one, []), out)
