"""Softmax and its logarithm, which PyTensor keeps as one op each."""

from pytensor.tensor import special
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
    """Over one axis, several, none or all; a 0-d array has none, whatever is named."""
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    x = t.cast(t.value(node.inputs[0]), arithmetic_dtype(out))
    if x.dims:
        return t.cast(t.builder.compose(name, x, axes=_axes(node.op.axis, x)), out)
    return t.cast(t.builder.compose(name, x), out)


def _axes(axis, x):
    if axis is None:
        return list(range(len(x.dims)))
    return list(axis) if isinstance(axis, tuple | list) else [axis]


def softmax_grad(t, node):
    """An op of its own in older versions."""
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    b = t.builder
    slope, made = (t.cast(t.value(x), arithmetic_dtype(out)) for x in node.inputs)
    axes = _axes(node.op.axis, made)
    weighted = b.scalar("mul", [slope, made])
    total = t.broadcast_like(b.compose("sum", weighted, axes=axes, keep=True), made)
    return t.cast(b.scalar("sub", [weighted, b.scalar("mul", [total, made])]), out)


if hasattr(special, "SoftmaxGrad"):
    register(special.SoftmaxGrad)(softmax_grad)
