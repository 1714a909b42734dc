"""Functions of a PyMC model as the fits call them."""

from pymc.pytensorf import compile as compile_as_pymc
from pytensor.graph.basic import Constant

from ..files import pickled
from ..fits.after_draws import Draw
from ..fits.functions import Part
from ..pytensor.compiled import find_compiled
from .chosen_mode import chosen_mode
from .described import NotForFits
from .nutpie import warn_of_python
from .op_text import text_of_op, without_addresses


def function_of(model, inputs, outputs, **kwargs):
    """A PyTensor function. Errors: NotForFits for results in float32."""
    with model:
        fn = compile_as_pymc(inputs, outputs, mode=chosen_mode(), on_unused_input="ignore", **kwargs)
    for output in fn.maker.fgraph.outputs:
        if getattr(output, "dtype", None) == "float32":
            raise NotForFits(
                "nutpie computes in float64, and this model's log density is float32: make the model with "
                "pytensor.config.floatX = 'float64', and data of that dtype"
            )
    return fn


def part_of(fn, slots, what=None):
    """A compiled function as the fits call it. `what`: of one that nutpie calls, where code in Python is slow."""
    compiled = find_compiled(fn)
    if what is not None:
        warn_of_python(fn, what)
    calls = compiled.translation.host_calls
    travelling = [Draw(call.drawn, pickled(call)) if _needs_no_op(call) else call for call in calls]
    return Part.of(compiled.program, slots, compiled.translation.bound, travelling, [_text_of(call) for call in calls])


def _text_of(host_call):
    """What a call computes, as far as it can be seen: the op and its constants."""
    node = getattr(host_call, "node", None)
    if node is None:
        return getattr(host_call, "__qualname__", type(host_call).__qualname__)
    constants = [x.data for x in node.inputs if isinstance(x, Constant)]
    return [f"{text_of_op(node.op)} {without_addresses(repr([x.type for x in node.inputs]))}", constants]


def _needs_no_op(host_call):
    """Whether it draws a random variable from the generator itself, without Python code."""
    drawn = getattr(host_call, "drawn", None)
    return drawn is not None and host_call.draw is not None and drawn[-1] is None


def part_of_point(fn, data, what):
    """A function of a point, and of the data that it reads."""
    numbers = {variable: i for i, variable in enumerate(data)}
    return part_of(fn, [numbers.get(given.variable) for given in fn.maker.inputs], what)
