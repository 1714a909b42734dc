"""Random variables: NumPy's generators draw them, through their op's own Python code, bit by bit as in other modes.

PyTensor's op draws from a copy of its generator, so that the one that it was given stays as it was. Making that copy
takes fifty times as long as drawing ten numbers. Where nobody looks at the generator again, it is drawn from itself:
PyTensor's own modes do the same, by a rewrite that comes with those that decide about memory.
"""

import copy

from pytensor.graph.basic import Constant
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type_other import NoneTypeT


def may_draw_in_place(t, node):
    """Is the generator that `node` draws from read by it alone, and the function's to change? That is one that another
    random variable returned, or a shared variable with an update."""
    if not isinstance(node.op, RandomVariable) or node.op.inplace:
        return False
    generator = node.inputs[0]
    if len(t.clients.get(generator, ())) != 1:
        return False
    return generator in t.donated or (generator.owner is not None and isinstance(generator.owner.op, RandomVariable))


def drawer(node):
    """The op's `perform`, drawing from the generator itself."""
    op = copy.copy(node.op)
    op.inplace = True
    numbers = _numbers(node)

    def run(inputs):
        for i, number in numbers.items():
            inputs[i] = number
        outputs = [[None], [None]]
        op.perform(node, inputs, outputs)
        return outputs[0][0], outputs[1][0]

    return run


def _numbers(node):
    """Position of an input to its value, for parameters that are one constant number each and have been given axes to
    match the size. NumPy makes the same draws of plain numbers, in a loop that takes a sixth of the time that it needs
    to get arrays of one element ready. (Of `integers` it has two algorithms.)"""
    op = node.op
    size, *parameters = node.inputs[1:]
    if op.name == "integers" or type(op).rng_fn is not RandomVariable.rng_fn or any(op.ndims_params):
        return {}
    if isinstance(size.type, NoneTypeT) or not all(isinstance(p, Constant) and p.data.size == 1 for p in parameters):
        return {}
    return {i: p.data.reshape(()) for i, p in enumerate(parameters, start=2)}
