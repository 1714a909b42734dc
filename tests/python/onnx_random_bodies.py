"""Nodes of random ONNX networks (onnx_random_ops.py) that have graphs, and functions; and all there are."""

import numpy as np
from onnx import helper
from onnx_random import Unfit, Value
from onnx_random_layers import LAYERS, product
from onnx_random_ops import ELEMENTWISE, FLOATS, ORDERS, SHAPES, SIMPLE, smooth, some_axis, take_with

INNER = [*ELEMENTWISE, *SIMPLE, product]



def grow_some(g, most, makers=None):
    for _ in range(g.rng.integers(1, most + 1)):
        try:
            g.some(makers or INNER)(g)
        except Unfit:
            pass


def keep_kind(g, name, steps=3):
    """A value of the type and sizes of this one."""
    for _ in range(g.rng.integers(1, steps + 1)):
        try:
            name = smooth(g, name)
        except Unfit:
            pass
    return name


def own(g, name):
    """The value as one that a node of this graph makes: outputs of graphs are such."""
    return name if any(name in node.output for node in g.nodes) else g.take("Identity", [name])


def truth(g):
    """One bool that a call decides, or a constant."""
    if g.chance(0.15):
        return g.constant(np.bool_(g.chance(0.5)))
    try:
        if g.chance(0.5):
            return g.pick(lambda v: v.dtype == "bool" and v.rank == 0)
    except Unfit:
        pass
    x = g.pick(lambda v: v.dtype in (*FLOATS[:2], "int64") and all(min(d) >= 1 for d in v.dims))
    one = g.take("ReduceMax", [x], keepdims=0)
    return g.take("Less", [one, g.constant(g.some([0, 1, 3]), g.values[one].dtype)])


def branches(g):
    if g.depth > 1:
        raise Unfit
    condition = truth(g)
    then, otherwise = g.inner(), g.inner()
    grow_some(then, 3)
    outputs = [own(then, keep_kind(then, then.pick())) for _ in range(g.some([1, 1, 2]))]
    outputs = list(dict.fromkeys(outputs))
    others = []
    for name in outputs:
        kind, resizes = then.values[name], g.chance(0.3)
        same = [n for n, v in otherwise.values.items() if n in otherwise.pool and v.dtype == kind.dtype
                and (v.dims == kind.dims or resizes and v.rank == kind.rank)]  # fmt: skip
        if not same:
            raise Unfit
        other = own(otherwise, keep_kind(otherwise, otherwise.some(same)))
        others.append(other if other not in others else otherwise.take("Identity", [other]))
    return g.take("If", [condition], len(outputs), then_branch=then.graph([], outputs), else_branch=otherwise.graph([], others))


def stands_for(g, arrays, shaken=None):
    """A parameter of a body, with what it is worth in one of the steps."""
    name = g.name()
    g.values[name] = Value(list(arrays), list(shaken or arrays))
    g.pool.append(name)
    return name


def loop(g):
    if g.depth > 1:
        raise Unfit
    carried = list(dict.fromkeys(g.pick(lambda v: v.rank <= 3) for _ in range(g.some([1, 1, 2]))))
    if g.chance(0.3):
        count = take_with(g, "Squeeze", g.size_of(g.pick(lambda v: v.rank >= 1), 0), "axes", [0], 13)
    else:
        count = g.constant(np.int64(g.some([1, 2, 3, 5])))
    begins = "" if g.chance(0.4) else g.constant(np.True_)
    body = g.inner()
    step, going = stands_for(body, [np.int64(1)] * 3), stands_for(body, [np.True_] * 3)
    states = [stands_for(body, g.values[name].plain, g.values[name].shaken) for name in carried]
    grow_some(body, 3)
    results = []
    for state in states:
        result = own(body, keep_kind(body, state))
        results.append(result if result not in results else body.take("Identity", [result]))
    traces = [own(body, body.pick(lambda v: v.rank <= 3)) for _ in range(g.some([0, 1, 2]))]
    traces = [body.take("Identity", [t]) for t in traces]
    if g.chance(0.4):
        goes_on = body.take("Less", [step, body.constant(np.int64(g.some([1, 2])))])
    else:
        goes_on = body.take("Identity", [going])
    graph = body.graph([step, going, *states], [goes_on, *results, *traces])
    return g.take("Loop", [count, begins, *carried], len(carried) + len(traces), body=graph)


def scan(g):
    if g.depth > 1:
        raise Unfit
    scanned = g.pick(lambda v: 1 <= v.rank <= 3 and min(v.dims[0]) >= 1)
    v = g.values[scanned]
    at, axis = some_axis(g, v, lambda d: min(d) >= 1)
    carried = [g.pick(lambda w: w.rank <= 2)] if g.chance(0.7) else []
    body = g.inner()
    states = [stands_for(body, g.values[name].plain, g.values[name].shaken) for name in carried]
    row = stands_for(body, [np.asarray(a.take(0, at)) for a in v.plain], [np.asarray(a.take(0, at)) for a in v.shaken])
    grow_some(body, 3)
    results = [own(body, keep_kind(body, state)) for state in states]
    trace = body.take("Identity", [keep_kind(body, row)])
    traces = [trace] if g.chance(0.8) or not results else []
    attributes = {"num_scan_inputs": 1}
    if axis or g.chance(0.3):
        attributes["scan_input_axes"] = [axis]
    if g.chance(0.3):
        attributes["scan_input_directions"] = [1]
    if traces and g.chance(0.3):
        attributes["scan_output_directions"] = [1]
    if traces and g.chance(0.3):
        attributes["scan_output_axes"] = [int(g.rng.integers(0, body.values[trace].rank + 1))]
    graph = body.graph([*states, row], [*results, *traces])
    return g.take("Scan", [*carried, scanned], len(results) + len(traces), body=graph, **attributes)


def function(g):
    if g.depth:
        raise Unfit
    formal = list(dict.fromkeys(g.pick() for _ in range(g.some([1, 2]))))
    body = g.inner(formal)
    grow_some(body, 4, ELEMENTWISE)
    outputs = [own(body, body.pick())]
    name = f"F{len(g.functions)}"
    made = helper.make_function("own", name, formal, outputs, body.nodes, [helper.make_opsetid("", g.opset)])
    g.functions.append(made)
    result = g.take(name, formal, domain="own")
    return g.take(name, formal, domain="own") if g.chance(0.2) else result


ALL = [*ELEMENTWISE, *ELEMENTWISE, *ORDERS, *SHAPES, *LAYERS, branches, loop, scan, function]
