"""Reductions of an array of three axes, over each of them and in each order of memory, as PyTensor graphs in f64.

`rows` measures each in mode INLAY beside PyTensor's NUMBA mode and JAX, which are to take no less. The order is that of
a transpose in the graph: what the caller hands over is row-major, since PyTensor's peers and inlay copy what is not.
"""

import functools
import itertools
import time

import numpy as np
import pytensor
import pytensor.tensor as pt

import inlay.pytensor  # the mode "INLAY"
from timing import microseconds_per_call

CUBE = (128, 128, 128)
SHORT = [(48, 48, 48), (1000, 10, 10), (4000, 4, 4)]  # of var and argmax: rows of a few points, over whichever axis
ROWS = [(50_000, 2), (20_000, 5), (12_500, 8), (6250, 16), (3000, 32), (1500, 64)]

GRAPHS = {
    "var": lambda x, axis: x.var(axis),
    "logsumexp": lambda x, axis: pt.logsumexp(x, axis=axis),
    "softmax": lambda x, axis: pt.special.softmax(x, axis=axis),
    "argmax": lambda x, axis: pt.argmax(x, axis=axis),
}


def jax_functions():
    import jax

    return {
        "var": lambda x, axis: x.var(axis),
        "logsumexp": lambda x, axis: jax.scipy.special.logsumexp(x, axis=axis),
        "softmax": lambda x, axis: jax.nn.softmax(x, axis=axis),
        "argmax": lambda x, axis: jax.numpy.argmax(x, axis=axis),
    }


def of_pytensor(name, order, axis, mode):
    """Nobody says how large the arrays are: one function for all of them."""
    x = pt.TensorType("float64", (None,) * len(order))("x")
    graph = GRAPHS[name](x.transpose(*order), axis)
    function = pytensor.function([x], graph, mode=mode, trust_input=True)
    return functools.partial(microseconds_per_call, function)


def of_jax(name, order, axis):
    try:
        import jax
    except ImportError:
        return lambda array: None
    function = jax.jit(lambda x: jax_functions()[name](x.transpose(order), axis))

    def measure(array):
        on_device = jax.device_put(array)
        # XLA computes in a thread of its own.
        return microseconds_per_call(lambda: jax.block_until_ready(function(on_device)), clock=time.process_time)

    return measure


def rows_of(name, order, axis, shapes):
    ours = of_pytensor(name, order, axis, "INLAY")
    peers = {"PyTensor NUMBA": of_pytensor(name, order, axis, "NUMBA"), "JAX": of_jax(name, order, axis)}
    for shape in shapes:
        array = np.random.default_rng(3).normal(size=shape)
        took = ours(array)
        title = f"{name} of {'x'.join(map(str, shape))}, transposed {order}, over axis {axis}"
        for i, (peer, measure) in enumerate(peers.items()):
            yield "" if i else title, took, peer, measure(array), 1


def rows():
    """Yields (title, our microseconds, peer, its microseconds, goal)."""
    for name, axis, order in itertools.product(GRAPHS, range(3), itertools.permutations(range(3))):
        yield from rows_of(name, order, axis, [CUBE, *SHORT] if name in ("var", "argmax") else [CUBE])
    for name in ("var", "argmax"):
        yield from rows_of(name, (0, 1), 1, ROWS)
