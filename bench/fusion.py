"""Work that is worth fusing, by inlay and its peers: each as a PyTensor graph, in f64 and f32.

A case says what is computed; `rows` measures it in mode INLAY, with fusion on and off, beside PyTensor's NUMBA mode,
and beside a loop in numba, JAX, clang and gcc where the case has one.
"""

import ctypes
import dataclasses
import functools
import time
from collections.abc import Callable

import numpy as np
import pytensor
import pytensor.tensor as pt

import inlay.pytensor
from paths import BUILD
from timing import microseconds_per_call


@dataclasses.dataclass
class Case:
    """`graph(dtype)` gives PyTensor's inputs and outputs, `arrays(dtype)` what to call them with."""

    work: str
    graph: Callable
    arrays: Callable
    # How many times our time a peer is to take at least; two where f64 and f32 differ.
    goals: dict = dataclasses.field(default_factory=dict)
    numba: Callable | None = None  # a loop over the arrays and the memory of the results
    jax: Callable | None = None  # of jax.numpy and the arrays
    peers: Callable | None = None  # of a C library's function by name, the arrays and the results
    sizes: Callable | None = None  # the shapes of the results, for peers that write into memory given


def random(seed=3):
    return np.random.default_rng(seed)


def vector(dtype, name="x"):
    return pt.vector(name, dtype=dtype)


# --- gather and reduce ---

N, GROUPS, LEVELS = 100_000, 85, 20


def gather_graph(dtype):
    a, b, x = (vector(dtype, name) for name in "abx")
    g, h = pt.lvector("g"), pt.lvector("h")
    m = a[g] + b[h] * x
    return [a, b, g, h, x], [m.sum(), (m * m).sum(), m.max()]


def gather_arrays(dtype):
    r = random()
    return [r.normal(size=GROUPS).astype(dtype), r.normal(size=LEVELS).astype(dtype), r.integers(0, GROUPS, N),
            r.integers(0, LEVELS, N), r.normal(size=N).astype(dtype)]


def gather_numba(a, b, g, h, x, total, squares, most):
    s = q = x.dtype.type(0)
    p = x.dtype.type(-np.inf)
    for i in range(x.size):
        m = a[g[i]] + b[h[i]] * x[i]
        s += m
        q += m * m
        p = max(p, m)
    total[()], squares[()], most[()] = s, q, p


def gather_jax(jnp, a, b, g, h, x):
    m = a[g] + b[h] * x
    return m.sum(), (m * m).sum(), m.max()


# --- scatter ---


def scatter_graph(dtype):
    g, x = pt.lvector("g"), vector(dtype)
    return [g, x], [pt.inc_subtensor(pt.zeros((GROUPS,), dtype=dtype)[g], x)]


def scatter_arrays(dtype, is_sorted):
    g = random().integers(0, GROUPS, N)
    return [np.sort(g) if is_sorted else g, random().normal(size=N).astype(dtype)]


def scatter_numba(g, x, out):
    out[:] = 0
    for i in range(x.size):
        out[g[i]] += x[i]


def scatter_jax(jnp, g, x):
    return jnp.zeros(GROUPS, x.dtype).at[g].add(x)


# --- slice write ---

LONG = 1_000_000


def slice_write_graph(dtype):
    x = vector(dtype)
    return [x], [pt.set_subtensor(pt.ones((x.shape[0] + 1,), dtype=dtype)[1:], pt.exp(x))]


def slice_write_jax(jnp, x):
    return jnp.ones(x.size + 1, x.dtype).at[1:].set(jnp.exp(x))


# --- rows and columns ---

SIDE = 1000


def square_array(dtype):
    return [random().normal(size=(SIDE, SIDE)).astype(dtype)]


def softmax_graph(axis, dtype):
    x = pt.matrix("x", dtype=dtype)
    return [x], [pt.special.softmax(x, axis=axis)]


def logsumexp_graph(axis, dtype):
    x = pt.matrix("x", dtype=dtype)
    return [x], [pt.logsumexp(x, axis=axis)]


def softmax_jax(axis, jnp, x):
    e = jnp.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp_jax(axis, jnp, x):
    most = x.max(axis=axis, keepdims=True)
    return (jnp.log(jnp.exp(x - most).sum(axis=axis, keepdims=True)) + most).squeeze(axis)


def rows_peer(name, axis, function, x, out):
    function(f"{name}_{'rows' if axis == 1 else 'columns'}", ctypes.c_size_t(SIDE), ctypes.c_size_t(SIDE), x, out)


# --- a sum of a cube ---


def cube_sum_graph(order, dtype):
    x = pt.tensor3("x", dtype=dtype)
    return [x], [x.transpose(*order).sum()]


# --- reductions whose sizes nobody says, over each axis and order of memory ---


def reduction_graph(name, order, axis, dtype):
    x = pt.tensor("x", dtype=dtype, shape=(None,) * len(order))
    return [x], [getattr(x.transpose(*order), name)(axis)]


REDUCTIONS = [  # name, shape, how it is transposed first, axis, how many times our time NUMBA is to take at least
    *(("sum", shape, (0, 1), 0, 1.2) for shape in [(50_000, 2), (12_500, 8), (10_000, 10), (5_000, 20)]),
    *((name, (100_000 // k, k), (0, 1), 1, 1.2) for name in ("sum", "max") for k in (2, 5, 8, 16)),
    *(("sum", (n, n, n), (2, 0, 1), axis, 1.1) for n in (64, 128, 256) for axis in (2, 1)),
    *(("sum", (n, n, n), (0, 1, 2), axis, 1.1) for n in (64, 128, 256) for axis in (0, 1, 2)),
    ("min", (1000, 1000), (0, 1), 0, 1.1),
]


def reduction_work(name, shape, order, axis):
    of = " x ".join(map(str, shape))
    turned = "" if order == tuple(sorted(order)) else f", transposed {order},"
    return f"{name} of {of}{turned} over axis {axis}"


# --- models ---


def hierarchical_graph(n, dtype):
    g = pt.constant(np.sort(random().integers(0, GROUPS, n)))
    y = pt.constant(random(4).normal(size=n).astype(dtype))
    # PyMC knows the sizes of its parameters.
    z, mu, log_tau, log_sigma = pt.tensor("z", dtype=dtype, shape=(GROUPS,)), *(
        pt.scalar(name, dtype=dtype) for name in ("mu", "tau", "sigma")
    )
    effects = mu + pt.exp(log_tau) * z
    residual = (y - effects[g]) / pt.exp(log_sigma)
    half = np.asarray(0.5, dtype=dtype)
    logp = -half * (residual**2).sum() - np.asarray(n, dtype=dtype) * log_sigma - half * (z**2).sum()
    inputs = [z, mu, log_tau, log_sigma]
    return inputs, [logp, *pt.grad(logp, inputs)]


def hierarchical_arrays(dtype):
    return [random(5).normal(size=GROUPS).astype(dtype), *(np.asarray(v, dtype=dtype) for v in (0.3, -0.2, 0.1))]


def logistic_graph(dtype):
    x = pt.constant(random().normal(size=(10_000, 8)).astype(dtype))
    y = pt.constant((random(6).random(10_000) < 0.4).astype(dtype))
    beta = vector(dtype, "beta")
    eta = x @ beta
    logp = (y * eta - pt.softplus(eta)).sum()
    return [beta], [logp, pt.grad(logp, beta)]


STEPS = 2100


def scan_graph(step, gradient, dtype):
    """All states of a scalar body over a vector, or the gradient of what is made of them by its parameter."""
    x, a = vector(dtype), pt.scalar("a", dtype=dtype)
    start = pt.constant(np.asarray(0.1, dtype=dtype))
    out = pytensor.scan(step, sequences=[x], outputs_info=[start], non_sequences=[a], return_updates=False)
    return [x, a], [pt.grad((pt.log(1 + out**2) + x**2 / (1 + out**2)).sum(), a) if gradient else out]


def scan_arrays(dtype):
    return [random().normal(size=STEPS).astype(dtype), np.asarray(0.5, dtype=dtype)]


def tanh_step(x, h, a):
    return pt.tanh(a * h + x)


def variance_step(x, h, a):
    weight = np.asarray(0.2, dtype=x.dtype)
    return weight + weight * x**2 + a * h


ROW_GOALS = {  # by reduction and axis
    ("logsumexp", 1): {"JAX": 1.8, "clang or gcc": 1},
    ("logsumexp", 0): {"JAX": (1.8, 1.3), "clang or gcc": 1},
    ("softmax", 1): {"JAX": (1.8, 1.5), "clang or gcc": 1},
    ("softmax", 0): {"JAX": (1.8, 1.2), "clang or gcc": (1.5, 1.2)},
}

CASES = [
    Case("gather through two indices + 3 reductions, 1e5", gather_graph, gather_arrays,
         {"numba @njit": 1.4, "JAX": 2.5, "clang": 1.15}, gather_numba, gather_jax,
         lambda function, a, b, g, h, x, total, squares, most: function(
             "gather_reduce", ctypes.c_size_t(N), a, ctypes.c_size_t(GROUPS), b, ctypes.c_size_t(LEVELS), g, h, x,
             np.empty(3, x.dtype)),
         lambda: [(), (), ()]),
    *(Case(f"scatter-add of 1e5 into 85, index {order}", scatter_graph,
           functools.partial(scatter_arrays, is_sorted=order == "sorted"), {"numba @njit": of_numba, "JAX": of_jax},
           scatter_numba, scatter_jax,
           lambda function, g, x, out: function("scatter_add", ctypes.c_size_t(N), ctypes.c_size_t(GROUPS), g, x, out),
           lambda: [(GROUPS,)])
      for order, of_numba, of_jax in [("sorted", 3, 4), ("random", 1, 1.7)]),
    Case("exp written into a slice, 1e6, a new array", slice_write_graph,
         lambda dtype: [np.linspace(-1, 1, LONG).astype(dtype)], {"PyTensor NUMBA": 3, "JAX": 1.5},
         jax=slice_write_jax),
    *(Case(f"{name} of 1000 x 1000, {'last' if axis else 'first'} axis", functools.partial(graph, axis), square_array,
           {"PyTensor NUMBA": 5, **ROW_GOALS[name, axis]}, None, functools.partial(of_jax, axis),
           functools.partial(rows_peer, name, axis), lambda shape=shape: [shape])
      for name, graph, of_jax, shape in [("logsumexp", logsumexp_graph, logsumexp_jax, (SIDE,)),
                                         ("softmax", softmax_graph, softmax_jax, (SIDE, SIDE))]
      for axis in (1, 0)),
    *(Case(f"sum of 256^3{what}", functools.partial(cube_sum_graph, order),
           lambda dtype: [np.ones((256, 256, 256), dtype)], {"PyTensor NUMBA": 1})
      for what, order in [("", (0, 1, 2)), (", transposed", (2, 1, 0))]),
    *(Case(reduction_work(name, shape, order, axis), functools.partial(reduction_graph, name, order, axis),
           lambda dtype, shape=shape: [np.ones(shape, dtype)], {"PyTensor NUMBA": goal})
      for name, shape, order, axis, goal in REDUCTIONS),
    *(Case(f"hierarchical normal logp + gradient, n = {n}, sorted", functools.partial(hierarchical_graph, n),
           hierarchical_arrays, {"PyTensor NUMBA": 2.5}) for n in (919, 1_000_000)),
    Case("logistic regression logp + gradient, 1e4 x 8", logistic_graph,
         lambda dtype: [random(7).normal(size=8).astype(dtype)], {"PyTensor NUMBA": 2}),
    *(Case(f"{STEPS} steps of a scalar body, {name}{', gradient' if gradient else ''}",
           functools.partial(scan_graph, step, gradient), scan_arrays, {"PyTensor NUMBA": 3})
      for name, step in [("tanh", tanh_step), ("sums and products", variance_step)] for gradient in (False, True)),
]


def compiled(case, dtype, mode, fuse="full"):
    inputs, outputs = case.graph(dtype)
    return pytensor.function(inputs, outputs, mode=inlay.pytensor.mode(fuse=fuse) if mode == "INLAY" else mode, trust_input=True)


def planning_share(case, dtype):
    """Ordering the steps and laying out their memory, as a part of all that compiling takes."""
    seconds = inlay.pytensor.explain(compiled(case, dtype, "INLAY")).seconds
    return (seconds["order-steps"] + seconds["memory"]) / (sum(seconds.values()) - seconds["first call"])


def of_numba(case, arrays, dtype):
    import numba

    return microseconds_per_call(numba.njit(case.numba), *arrays, *(np.empty(s, dtype) for s in case.sizes()))


def of_jax(case, arrays):
    try:
        import jax
    except ImportError:
        return None
    on_device = [jax.device_put(array) for array in arrays]
    function = jax.jit(functools.partial(case.jax, jax.numpy))
    # XLA computes in a thread of its own.
    return microseconds_per_call(lambda: jax.block_until_ready(function(*on_device)), clock=time.process_time)


@functools.cache
def peers():
    return ctypes.CDLL(str(BUILD / "lib" / "libinlay_bench_peers.so"))


def of_compiler(case, arrays, dtype, compiler):
    element = {"float64": "double", "float32": "float"}[dtype]

    def call(name, *arguments):
        function = getattr(peers(), f"{name}_{element}_{compiler}")
        function(*(ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments))

    results = [np.empty(shape, dtype) for shape in case.sizes()]
    return microseconds_per_call(lambda: case.peers(call, *arrays, *results))


def goal_of(case, peer, dtype):
    """None: there is none."""
    goal = case.goals.get(peer)
    return goal["float64 float32".split().index(dtype)] if isinstance(goal, tuple) else goal


def measured(case, dtype):
    """Yields (title, our microseconds, peer, its microseconds, goal or None)."""
    arrays = case.arrays(dtype)
    function = compiled(case, dtype, "INLAY")
    ours = microseconds_per_call(function, *arrays)
    title = f"{case.work}, {dtype[0]}{dtype[-2:]}"
    view = inlay.pytensor.explain(function)
    figures = {"PyTensor NUMBA": microseconds_per_call(compiled(case, dtype, "NUMBA"), *arrays)}
    if case.numba:
        figures["numba @njit"] = of_numba(case, arrays, dtype)
    if case.jax:
        figures["JAX"] = of_jax(case, arrays)
    if case.peers:
        by_compiler = {c: of_compiler(case, arrays, dtype, c) for c in ("clang", "gcc")}
        figures["clang" if "clang" in case.goals else "clang or gcc"] = (
            by_compiler["clang"] if "clang" in case.goals else min(by_compiler.values()))
    figures["inlay, fusion off"] = microseconds_per_call(compiled(case, dtype, "INLAY", "none"), *arrays)
    for i, (peer, theirs) in enumerate(figures.items()):
        yield f"{title} ({len(view.kernels)} kernels)" if i == 0 else "", ours, peer, theirs, goal_of(case, peer, dtype)
