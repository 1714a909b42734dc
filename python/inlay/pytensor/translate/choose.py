"""Elements that an array of positions picks: out of the row beside it, or out of several arrays."""

from pytensor.graph.basic import Apply
from pytensor.tensor.basic import Choose, PermuteRowElements
from pytensor.typed_list import MakeList

from .dims import known_equal
from .dtypes import is_tensor
from .registry import NotNative, register


@register(PermuteRowElements)
def permute_row_elements(t, node):
    """out[..., j] = x[..., y[..., j]]; the inverse is a write: out[..., y[..., j]] = x[..., j]."""
    x, y = t.operands(node)
    y = t.cast(y, "i64")
    if not node.op.inverse:
        return t.builder.compose("take_along_axis", x, y, axis=-1)
    dims = [b if isinstance(a, int) and a == 1 else a for a, b in zip(x.dims, y.dims, strict=True)]
    x, y = (t.builder.stretch(v, dims, "PermuteRowElements") for v in (x, y))
    index = [_along(t, axis, dims) for axis in range(len(dims) - 1)] + [y]
    zeros = t.builder.broadcast(t.builder.literal(0, x.dtype), dims)
    return t.builder.scatter("set", zeros, index, x)


def _along(t, axis, dims):
    """The positions along an axis, beside axes of size 1."""
    shape = [d if a == axis else 1 for a, d in enumerate(dims)]
    return t.builder.reshape(t.builder.iota(dims[axis], "i64"), shape)


@register(Choose)
def choose(t, node):
    """out[i, ...] = choices[a[i, ...], i, ...]; what `a` holds beyond the choices is wrapped, clipped or an error."""
    if not is_tensor(node.inputs[1].type):
        return _chosen_of_list(t, node)
    a, choices = t.operands(node)
    a = _position(t, node, t.cast(a, "i64"), t.builder.size(choices.dims[0]))
    rank = max(len(a.dims), len(choices.dims) - 1)
    a = t.builder.reshape(a, [1] * (1 + rank - len(a.dims)) + list(a.dims))
    first, *rest = choices.dims
    choices = t.builder.reshape(choices, [first, *[1] * (rank - len(rest)), *rest])
    out = t.builder.compose("take_along_axis", choices, a, axis=0)
    return t.builder.reshape(out, out.dims[1:])


@register(MakeList)
def make_list(t, node):
    for user, _ in t.users.of(node.outputs[0]) or [(None, 0)]:
        if not (isinstance(user, Apply) and isinstance(user.op, Choose)):
            raise NotNative("makes a Python object; Choose takes its elements natively")
    return [None]  # Choose looks at what it is made of


def _chosen_of_list(t, node):
    """The same of arrays that broadcast with `a`, each of its own shape."""
    made = node.inputs[1].owner
    if made is None or not isinstance(made.op, MakeList):
        raise NotNative("choices that are a list given by the caller")
    choices = [t.value(x) for x in made.inputs]
    a = _position(t, node, t.cast(t.value(node.inputs[0]), "i64"), t.builder.literal(len(choices), "i64"))
    rank = max(len(x.dims) for x in (a, *choices))
    a, *choices = (t.builder.reshape(x, [*[1] * (rank - len(x.dims)), *x.dims]) for x in (a, *choices))
    dims = [next((n for n in sizes if not known_equal(n, 1)), 1) for sizes in zip(*(x.dims for x in (a, *choices)))]
    a, *choices = (t.builder.stretch(x, dims, "Choose") for x in (a, *choices))
    out = choices[-1]
    for i, x in reversed(list(enumerate(choices[:-1]))):
        is_it = t.builder.scalar("eq", [a, t.builder.literal(i, "i64")])
        out = t.builder.scalar("select", [is_it, x, out])
    return out


def _position(t, node, a, count):
    """`a`, each element of it one of `count` positions."""
    if node.op.mode == "wrap":
        a = t.builder.scalar("mod", [a, count])
    elif node.op.mode == "clip":
        last = t.builder.scalar("sub", [count, t.builder.literal(1, "i64")])
        a = t.builder.scalar("clip", [a, t.builder.literal(0, "i64"), last])
    else:
        # Negative positions do not count from the end here.
        is_choice = t.builder.scalar(
            "and", [t.builder.scalar("ge", [a, t.builder.literal(0, "i64")]), t.builder.scalar("lt", [a, count])]
        )
        every = t.builder.reduce("and", is_choice, list(range(len(a.dims))), "bool") if a.dims else is_choice
        t.place.fails_as(ValueError)
        a = t.builder.assert_(a, every, "Choose: a position is none of the choices")
    return a
