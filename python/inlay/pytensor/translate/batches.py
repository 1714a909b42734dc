"""A Blockwise of an op that works on no batches: the core's own graph, vectorized, or a loop of the core."""

from math import prod

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import io_toposort
from pytensor.tensor.basic import constant
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.type import integer_dtypes, tensor

from .bodies import Body
from .branches import has_branches
from .dims import known_equal
from .registry import NotNative
from .sizes import has_one_element


def batch_of(t, node):
    """The values of the outputs of a Blockwise. Each element of the batch takes a branch of its own, and that one alone is
    computed; of a whole batch both would be."""
    core = node.op.core_op
    if isinstance(core, OpFromGraph) and not has_branches(core, within=OpFromGraph):
        try:
            return _vectorized(t, node)
        except (NotNative, NotImplementedError, ValueError):
            pass  # PyTensor, or inlay, knows nothing of batches of something in there
    return _loop(t, node)


def _vectorized(t, node):
    inner = node.op.core_op.fgraph
    outputs = vectorize_graph(inner.outputs, dict(zip(inner.inputs, node.inputs, strict=True)))
    with t.calls.all_native():
        return t.inline(node.inputs, io_toposort(node.inputs, outputs), outputs, t.operands(node))


def _loop(t, node):
    b, op = t.builder, node.op
    rank = op.batch_ndim(node)
    operands = t.operands(node)
    batch = [_size_of_batch(operands, axis) for axis in range(rank)]
    count = prod(batch)
    core = op.core_op.make_node(*(_core_input(x, rank) for x in node.inputs))
    body = Body(t)
    rows = [_rows(t, x, batch, count) for x in operands]
    with body:
        step = body.builder.step("element", count)
        values = t.scope.values
        for var, row in zip(core.inputs, rows, strict=True):
            if not isinstance(var, Constant):
                inside = body.bring_in(row)
                values[var] = inside if len(row.dims) == var.type.ndim else t.builder.gather(inside, [step])
        results = _results(t, core)
        for value in results:
            body.builder.output(value)
    stacked = b.loop(count, [], body.captured, body.builder.finish())
    return [b.reshape(x, [*batch, *x.dims[1:]]) for x in stacked]


def _results(t, core):
    """Of the core, which fails as it does elsewhere."""
    place = t.place.state()
    t.place.enter_part(core)
    t.builder.at(t.place.location)
    try:
        with t.calls.all_native():
            return t.translate_node(core)
    finally:
        t.place.back_to(place)


def _core_input(var, rank):
    """What stands for an input of the Blockwise in its core: where it is the same for the whole batch a constant, or the
    variable that has been given axes for the batch; how that was computed tells sizes that depend on it."""
    dims = var.type.shape[rank:]
    if var.owner is not None and isinstance(var.owner.op, DimShuffle):
        if list(var.owner.op.new_order) == ["x"] * rank + list(range(len(dims))):
            return var.owner.inputs[0]
    if isinstance(var, Constant) and all(n == 1 for n in var.type.shape[:rank]):
        return constant(var.data.reshape(dims))
    if not dims and var.type.dtype in integer_dtypes and has_one_element(var):
        return var.dimshuffle()  # a size perhaps: how it was computed tells
    return tensor(dtype=var.type.dtype, shape=dims)


def _size_of_batch(operands, axis):
    return next((x.dims[axis] for x in operands if not known_equal(x.dims[axis], 1)), 1)


def _rows(t, x, batch, count):
    """x as one row for each element of the batch; as it is within one where they all have the same."""
    rank = len(batch)
    core = x.dims[rank:]
    if all(known_equal(n, 1) for n in x.dims[:rank]):
        return t.builder.reshape(x, core)
    if any(not known_equal(have, want) for have, want in zip(x.dims, batch)):
        x = t.builder.broadcast(x, [*batch, *core])
    return x if rank == 1 else t.builder.reshape(x, [count, *core])
