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

SIDE = 128

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


def of_pytensor(name, order, axis, mode, array):
    x = pt.tensor3("x", dtype=array.dtype)
    function = pytensor.function([x], GRAPHS[name](x.transpose(*order), axis), mode=mode, trust_input=True)
    return microseconds_per_call(function, array)


def of_jax(name, order, axis, array):
    try:
        import jax
    except ImportError:
        return None
    function = jax.jit(lambda x: jax_functions()[name](x.transpose(order), axis))
    on_device = jax.device_put(array)
    # XLA computes in a thread of its own.
    return microseconds_per_call(lambda: jax.block_until_ready(function(on_device)), clock=time.process_time)


def rows():
    """Yields (title, our microseconds, peer, its microseconds, goal)."""
    array = np.random.default_rng(3).normal(size=(SIDE, SIDE, SIDE))
    for name, axis, order in itertools.product(GRAPHS, range(3), itertools.permutations(range(3))):
        measure = functools.partial(of_pytensor, name, order, axis)
        ours = measure("INLAY", array)
        title = f"{name} of {SIDE}^3, transposed {order}, over axis {axis}"
        for i, (peer, theirs) in enumerate(
            {"PyTensor NUMBA": measure("NUMBA", array), "JAX": of_jax(name, order, axis, array)}.items()
        ):
            yield "" if i else title, ours, peer, theirs, 1
