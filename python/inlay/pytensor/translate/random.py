"""Random variables: NumPy's generators draw them, bit by bit as in other modes.

Most of PyTensor's own are drawn natively, by the functions that NumPy's generators are made of. The others run through
their op's Python code: those of SciPy's general methods and of users, permutations, and `multivariate_normal`, whose bits
come from NumPy's LAPACK and its einsum.

PyTensor's op draws from a copy of its generator, so that the one that it was given stays as it was. Making that copy
takes fifty times as long as drawing ten numbers. Where nobody looks at the generator again, it is drawn from itself:
PyTensor's own modes do the same, by a rewrite that comes with those that decide about memory.
"""

import copy
from collections import Counter

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.scan.op import Scan
from pytensor.tensor.random import op as pytensor_op
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.type_other import NoneTypeT

from .calls import call_function

_OWN = "pytensor.tensor.random.basic"  # whose ops' Python code is known
_DRAWN = {"float64": "f64", "float32": "f32", "int64": "i64"}
_INTEGERS = {"binomial": 1, "hypergeometric": 3, "multinomial": 1}  # of how many parameters, from the first, NumPy makes integers
_COPY = getattr(pytensor_op, "custom_rng_deepcopy", copy.deepcopy)  # what PyTensor's op makes to draw from


def may_draw_in_place(t, node):
    """Is the generator that `node` draws from read by it alone, and the function's to change? That is one that another
    random variable returned, or a shared variable with an update."""
    return isinstance(node.op, RandomVariable) and not node.op.inplace and _is_drawable(t, node.inputs[0])


def _is_drawable(t, generator):
    if t.scope.drawable is not None:
        return generator in t.scope.drawable
    return len(t.users.of(generator)) == 1 and (generator in t.users.donated or _is_fresh(generator))


def _is_fresh(generator):
    """Did a node make it, or draw from it alone? (What a Scan carries is its own.)"""
    return generator.owner is not None and isinstance(generator.owner.op, RandomVariable | Scan)


def drawable_in(fgraph, inputs):
    """The generators in the body of a loop that may be drawn from themselves: of `inputs`, which it has for itself, and
    of those that its nodes make, what one node reads."""
    read = Counter(x for node in fgraph.toposort() for x in node.inputs)
    read.update(fgraph.outputs)
    return frozenset(x for x in read if read[x] == 1 and (x in inputs or _is_fresh(x)))


def drawable_value(t, var):
    """The value of `var`; of a generator, one that may be drawn from itself."""
    if not isinstance(var.type, RandomType) or _is_drawable(t, var):
        return t.value(var)
    return call_function(t, _COPY, [t.value(var)], [("opaque", ())], "copy of a generator")[0]


def arguments_of_draw(node, variables, in_place):
    """Of `_inlay.draw`, for what draws `node` without Python code, from the values of `variables`; None where its own code
    has to."""
    op = node.op
    generator, size, *parameters = node.inputs if isinstance(op, RandomVariable) else [None, None]
    dtype = _DRAWN.get(node.outputs[1].type.dtype) if type(op).__module__ == _OWN else None
    if dtype is None or generator not in variables or not _are_taken(op.name, parameters):
        return None
    return (
        op.name,
        variables.index(generator),
        None if isinstance(size.type, NoneTypeT) else _part(size, variables),
        [_part(x, variables) for x in parameters],
        dtype,
        None if in_place else _COPY,
    )


def _are_taken(name, parameters):
    """Does NumPy take parameters of these dtypes as the numbers that they are?"""
    if name == "invgamma" and not _has_exact_reciprocal(parameters[1]):
        return False
    if name == "categorical" and parameters[0].type.dtype == "float32":  # NumPy sums them in f32
        return False
    wanted = ["int64"] * _INTEGERS.get(name, 0) + ["float64"] * len(parameters)
    return all(
        x.type.dtype != "float16" and np.can_cast(x.type.dtype, dtype, "safe")
        for x, dtype in zip(parameters, wanted, strict=False)
    )


def _has_exact_reciprocal(scale):
    """Is 1/scale the number that it is in f64? PyTensor's op divides before NumPy makes it one."""
    if scale.type.dtype != "float32":
        return True
    return isinstance(scale, Constant) and bool((1 / scale.data == 1 / scale.data.astype(float)).all())


def _part(var, variables):
    """Which of `variables` it is; of a constant, its values and its shape."""
    if isinstance(var, Constant):
        return var.data.astype(float).ravel().tolist(), list(var.data.shape)
    return variables.index(var)


def drawing_in_place(op):
    """The op, drawing from the generator itself."""
    op = copy.copy(op)
    op.inplace = True
    return op
