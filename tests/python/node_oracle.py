"""What a PyTensor graph is worth: its nodes run by their own `perform`, one after another, without any rewrite. The oracle of
random_graphs.py, and the judge's."""

from collections import Counter

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant
from pytensor.scalar import Add, Cast, Mul, ScalarMaximum, ScalarMinimum, Second, Switch
from pytensor.scalar.basic import Abs, Ceil, Floor, Identity, Neg, RoundHalfToEven, Sign, Trunc
from pytensor.scan.op import Scan
from pytensor.sparse import math as sparse
from pytensor.tensor import subtensor
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.special import LogSoftmax, Softmax
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor, IncSubtensor, Subtensor

try:
    from pytensor.conditional.op import IfElse
except ImportError:  # older versions
    from pytensor.ifelse import IfElse

try:
    from pytensor.graph.traversal import ancestors
except ImportError:  # older versions
    from pytensor.graph.basic import ancestors


class Unfit(Exception):
    """This construct does not fit what there is; another one may. Of arguments: what is right for them is not known."""


def run(outputs, known, zero=None, random=None):
    """What `outputs` are worth, by `perform` of the nodes that they need. Of an IfElse those are its branch taken. `zero`:
    what the result of an op is that has either zero, 0.0 or -0.0 (None: as NumPy has it). `random`: what rounds makes some
    units more of rounding, drawn from it."""
    worth = dict(known)

    def value(x):
        if isinstance(x, Constant):
            return x.data
        if x not in worth:
            made = perform(x.owner, value, zero, random)
            made = with_zero(made, zero) if has_either_zero(x.owner.op) else made
            worth.update(zip(x.owner.outputs, shaken(made, random) if rounds(x.owner.op) else made, strict=True))
        return worth[x]

    return [np.asarray(value(x)) for x in outputs]


def needed_by_several_branches(outputs):
    """The variables that two branches need, of one IfElse or of two: inlay computes them before either (docs/errors.md).
    Of an IfElse within a branch they are those of the branch around it."""
    choices = {x.owner for x in ancestors(outputs) if x.owner and isinstance(x.owner.op, IfElse)}
    branches = {}
    for node in choices:
        n = len(node.outputs)
        branches[node] = [set(ancestors(node.inputs[1 : 1 + n])), set(ancestors(node.inputs[1 + n :]))]
    within = {x.owner for pair in branches.values() for needed in pair for x in needed}
    times = Counter(x for node in choices - within for needed in branches[node] for x in needed)
    return [x for x, count in times.items() if count > 1]


def has_either_zero(op):
    """Of 0.0 and -0.0 a maximum is either. So is a sum whose terms are all -0.0 (docs/reproducibility.md)."""
    if isinstance(op, Blockwise):
        return has_either_zero(op.core_op)
    if isinstance(op, CAReduce | Elemwise) and isinstance(op.scalar_op, ScalarMaximum | ScalarMinimum):
        return True
    return isinstance(op, Dot | sparse.Dot | sparse.StructuredDot) or isinstance(op, CAReduce) and isinstance(op.scalar_op, Add)


def with_zero(arrays, zero):
    return arrays if zero is None else [np.where(a == 0, a.dtype.type(zero), a) if a.dtype.kind == "f" else a for a in arrays]


# What moves elements or chooses among them.
EXACT = (Abs, Cast, Ceil, Floor, Identity, Neg, RoundHalfToEven, ScalarMaximum, ScalarMinimum, Second, Sign, Switch, Trunc)


def rounds(op):
    if isinstance(op, Blockwise):
        return rounds(op.core_op)
    if isinstance(op, CAReduce | Elemwise):
        return not isinstance(op.scalar_op, EXACT)
    return isinstance(op, CumOp | Dot | LogSoftmax | Softmax | sparse.Dot | sparse.StructuredDot)


def shaken(arrays, random):
    def units(a):
        return random.choice([-4, -3, -2, -1, 1, 2, 3, 4], a.shape) * np.finfo(a.dtype).eps

    return arrays if random is None else [a * (1 + units(a)).astype(a.dtype) if a.dtype.kind == "f" else a for a in arrays]


def perform(node, value, zero, random):
    if isinstance(node.op, IfElse):  # has a thunk and no `perform`
        condition, *branches = node.inputs
        count = len(node.outputs)
        return [value(x) for x in (branches[:count] if value(condition) else branches[count:])]
    arguments = [value(i) for i in node.inputs]
    if isinstance(node.op, OpFromGraph):  # its own `perform` compiles
        return run(node.op.fgraph.outputs, dict(zip(node.op.fgraph.inputs, arguments, strict=True)), zero, random)
    if isinstance(node.op, Scan) and arguments[0] == 0 and any(x.type.ndim > 1 for x in node.op.outer_nitsot_outs(node.outputs)):
        raise Unfit  # of no steps PyTensor's own loop knows no rows: (0, 0) of what is not carried
    if isinstance(getattr(node.op, "scalar_op", None), Cast) and node.outputs[0].type.dtype[0] in "iu":
        return [as_integers(*arguments, node.outputs[0].type.dtype)]
    if len(arguments) > 2 and isinstance(node.op, Elemwise):
        # By two at a time NumPy adds bools as bools; compiled modes add all in the dtype of the sum.
        arguments = [a.astype(node.outputs[0].type.dtype) if a.dtype == bool and adds(node.op) else a for a in arguments]
    if index_arguments(node):
        arguments = stretched(node, with_fitting_masks(node, arguments))
    try:
        return perform_with(node, arguments)
    except IndexError:
        if not index_arguments(node):
            raise
        return touching_nothing(node, arguments)


def adds(op):
    return isinstance(op.scalar_op, (Add, Mul))


def perform_with(node, arguments):
    storage = {x: [a] for x, a in zip(node.inputs, arguments, strict=True)} | {o: [None] for o in node.outputs}
    node.op.prepare_node(node, storage, None, "py")
    with np.errstate(all="ignore"):
        node.op.perform(node, arguments, [storage[o] for o in node.outputs])
    # Some ops leave NumPy's scalars.
    return [np.asarray(v) if isinstance(v, np.generic) else v for (v,) in (storage[o] for o in node.outputs)]


def as_integers(x, dtype):
    """As docs/dtypes.md has it: NumPy leaves to C what the dtype cannot hold, and has some number for NaN."""
    if x.dtype.kind != "f":
        return x.astype(dtype)
    if np.isnan(x).any():
        raise ValueError("NaN has no integer value")
    fits = (x >= -(2.0**63)) & (x < 2.0**63)
    return np.where(fits, np.where(fits, x, 0).astype("int64"), np.iinfo("int64").min).astype(dtype)


def index_arguments(node):
    """Which inputs say where an indexed read or write goes."""
    before = {Subtensor: 1, IncSubtensor: 2, AdvancedSubtensor: 1, AdvancedIncSubtensor: 2}.get(type(node.op))
    return range(before, len(node.inputs)) if before else ()


def index_of(node, arguments):
    return tuple(subtensor.unflatten_index_variables([arguments[k] for k in index_arguments(node)], node.op.idx_list))


def with_fitting_masks(node, arguments):
    """The arguments, where each mask fits. A mask is as long as the axes that it stands for. NumPy takes one of no elements
    for any length; inlay only where its type says 1 and no element of the array is meant (docs/errors.md)."""
    axis, fitting = 0, list(arguments)
    for index, variable in zip(index_of(node, arguments), index_of(node, node.inputs), strict=True):
        is_mask = getattr(index, "dtype", None) == bool
        covered = arguments[0].shape[axis:][: index.ndim] if is_mask else None
        if is_mask and index.shape != covered:
            said = variable.type.shape
            is_nothing = index.size == 0 and 0 in covered
            if not is_nothing or any(m != n and s != 1 for m, n, s in zip(index.shape, covered, said, strict=True)):
                raise IndexError(f"mask of {index.shape} for {covered}")
            fitting = [np.zeros(covered, bool) if a is index else a for a in fitting]
        axis += index.ndim if is_mask else 1
    return fitting


def stretched(node, arguments):
    """The arguments, a vector that is written through indices of several dims in the shape of these: NumPy's add.at reads
    beyond its end."""
    if node.op.__class__ is not AdvancedIncSubtensor or not arguments[0].ndim == arguments[1].ndim == 1:
        return arguments
    x, y, *indices = arguments
    (index,) = index_of(node, arguments)
    return [x, np.broadcast_to(y, index.shape), *indices] if getattr(index, "ndim", 1) > 1 else arguments


def is_known_from_sizes(x):
    if isinstance(x, Constant) or x.owner is None:
        return isinstance(x, Constant)
    return isinstance(x.owner.op, Shape | Shape_i) or all(map(is_known_from_sizes, x.owner.inputs))


def touching_nothing(node, arguments):
    """What comes of a read or write of no elements at all, whose indices are not looked at (docs/errors.md). An
    IndexError where it is of some. Not known where sizes alone say where it is: some checks of them stay."""
    axis, shape, zeros = 0, list(arguments[0].shape), list(arguments)
    for entry, variable in zip(index_of(node, arguments), index_of(node, node.inputs), strict=True):
        if getattr(entry, "ndim", 1) == 0 and not -shape[axis] <= entry < shape[axis] and is_known_from_sizes(variable):
            raise Unfit
        if getattr(entry, "dtype", np.dtype(bool)).kind in "iu":
            shape[axis] = max(1, shape[axis])  # NumPy finds no 0 in an axis of length 0
            zeros = [np.zeros_like(a) if a is entry else a for a in zeros]
        axis += entry.ndim if getattr(entry, "dtype", None) == bool else 1
    zeros[0] = np.zeros(shape, arguments[0].dtype)
    if zeros[0][index_of(node, zeros)].size:
        raise IndexError("an index is out of bounds")
    result = perform_with(node, zeros)
    return [arguments[0].copy()] if isinstance(node.op, IncSubtensor | AdvancedIncSubtensor) else result
