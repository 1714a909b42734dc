"""Scan: a loop whose body is the inner graph.

What is carried from step to step is carried as values; what is kept of all steps is a trace. A buffer that PyTensor
passes in with room for all steps is its first rows and the trace behind them. In the gradient of a Scan such a buffer
is read and added to at several places; it is carried whole, and written in place.
"""

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.scan.op import Scan
from pytensor.tensor.subtensor import IncSubtensor

from .bodies import Body
from .registry import NotNative, register
from .subtensor import _constant_slice, _fill

_ZERO = np.asarray(0)


@register(Scan)
def scan(t, node):
    return _Scan(t, node).results()


class _State:
    """A buffer of the last values: `initial` rows, oldest first, one for each tap up to -1."""

    def __init__(self, t, var, taps, inner, steps):
        self.taps, self.inner = taps, inner
        self.rows = -min(taps)
        length = _length(t, var)
        self.keeps_all = t.known_equal(length, steps + self.rows)
        if not self.keeps_all and not t.known_equal(length, self.rows):
            raise NotNative("a Scan that keeps some of its steps")
        self.first = _first_rows(t, var, self.rows)
        self.initial = [_row(t, self.first, i) for i in range(self.rows)]


class _Scan:
    def __init__(self, t, node):
        self.t, self.node, self.op, self.info = t, node, node.op, node.op.info
        self.steps = t.dim(node.inputs[0])
        op, outer, inner = self.op, node.inputs, self.op.inner_inputs
        self.sequences = [
            (x, _sequence(t, t.value(s), self.steps)) for x, s in zip(op.inner_seqs(inner), op.outer_seqs(outer))
        ]
        taps = (*self.info.mit_sot_in_slices, *self.info.sit_sot_in_slices)
        buffers = [*op.outer_mitsot(outer), *op.outer_sitsot(outer)]
        several = _by_state(op.inner_mitsot(inner), self.info.mit_sot_in_slices)
        inside = [*several, *([x] for x in op.inner_sitsot(inner))]
        self.states = [_State(t, *parts, self.steps) for parts in zip(buffers, taps, inside, strict=True)]
        self.buffers = [t.value(x) for x in op.outer_mitmot(outer)]
        self.untraced = [t.value(x) for x in op.outer_untraced_sit_sot(outer)]
        self.lengths = [t.dim(x) for x in op.outer_nitsot(outer)]
        if any(value.dtype == "opaque" for value in self.untraced):
            raise NotNative("a Scan that carries an object")
        if self.info.as_while and (self.lengths or any(s.keeps_all for s in self.states)):
            raise NotNative("a Scan that ends by a condition and keeps its steps")
        for length in self.lengths:
            if not t.known_equal(length, self.steps) and length != 1:
                raise NotNative("a Scan that keeps some of its steps")

    def results(self):
        t = self.t
        initial = [*self.buffers, *(row for s in self.states for row in s.initial), *self.untraced]
        body = Body(t)
        with body:
            step = body.builder.step("step", self.steps)
            carried = [body.builder.param(v.name or "carried", v.dtype, v.dims) for v in initial]
            outputs = self._body(body, step, carried)
            for value in outputs:
                body.builder.output(value)
        after = t.builder.loop(
            self.steps, initial, body.captured, body.builder.finish(), has_condition=self.info.as_while
        )
        results = list(after[: len(self.buffers)])
        last, traces = after[len(self.buffers) : len(initial)], list(after[len(initial) :])
        for state in self.states:
            rows, last = last[: state.rows], last[state.rows :]
            if state.keeps_all:
                results.append(t.builder.concat([state.first, traces.pop(0)], 0))
            else:
                results.append(_stacked(t, rows))
        for length in self.lengths:
            trace = traces.pop(0)
            keeps_all = t.known_equal(length, self.steps)
            results.append(trace if keeps_all else t.builder.slice(trace, [(self.steps - 1, self.steps, 1)]))
        return [*results, *last]

    def _body(self, body, step, carried):
        """What the body returns."""
        t, op, info = self.t, self.op, self.info
        inner, inner_outputs = op.inner_inputs, op.inner_outputs
        values = t.scope[1]
        for x, sequence in self.sequences:
            values[x] = t.builder.gather(body.bring_in(sequence), [step])
        n = len(self.buffers)
        buffers, carried = carried[:n], carried[n:]
        read = _by_state(op.inner_mitmot(inner), info.mit_mot_in_slices)
        for buffer, taps, group in zip(buffers, info.mit_mot_in_slices, read):
            for tap, x in zip(taps, group):
                values[x] = t.builder.gather(buffer, [_plus(t, step, tap - min(taps))])
        rows = []
        for state in self.states:
            own, carried = carried[: state.rows], carried[state.rows :]
            rows.append(own)
            for tap, x in zip(state.taps, state.inner):
                values[x] = own[state.rows + tap]
        values.update(zip(op.inner_untraced_sit_sot(inner), carried, strict=True))
        for x, outside in zip(op.inner_non_seqs(inner), op.outer_non_seqs(self.node.inputs), strict=True):
            values[x] = t.value(outside) if isinstance(outside, Constant) else body.capture(outside)

        order = op.fgraph.toposort()
        t.add_nodes(op.fgraph, order, [t.number] * len(order))

        def of(variables):
            return [t.value(x) for x in variables]

        for j, outs in enumerate(op.inner_mitmot_outs_grouped(inner_outputs)):
            base = min(info.mit_mot_in_slices[j])
            for tap, value in zip(info.mit_mot_out_slices[j], of(outs)):
                buffers[j] = t.builder.scatter("set", buffers[j], [_plus(t, step, tap - base)], value)
        states = of([*op.inner_mitsot_outs(inner_outputs), *op.inner_sitsot_outs(inner_outputs)])
        states = [t.require_dims(value, own[-1].dims) for own, value in zip(rows, states)]
        next_rows = [x for own, value in zip(rows, states) for x in (*own[1:], value)]
        untraced = of(op.inner_untraced_sit_sot_outs(inner_outputs))
        untraced = [t.require_dims(value, before.dims) for before, value in zip(carried, untraced)]
        traces = [value for state, value in zip(self.states, states) if state.keeps_all]
        traces += of(op.inner_nitsot_outs(inner_outputs))
        outputs = [*buffers, *next_rows, *untraced, *traces]
        if info.as_while:
            stop = t.value(inner_outputs[-1])
            outputs.append(t.builder.scalar("eq", [stop, t.cast(t.constant_array(_ZERO), stop.dtype)]))
        return outputs


def _by_state(flat, taps):
    """The body's inputs of several taps, a list for each state. (Older versions of PyTensor do not group them.)"""
    inputs = iter(flat)
    return [[next(inputs) for _ in each] for each in taps]


def _sequence(t, value, steps):
    """The rows that are read: a sequence may be longer than the loop."""
    if t.known_equal(value.dims[0], steps):
        return value
    return t.builder.slice(value, [(0, steps, 1)])


def _plus(t, step, offset):
    return step if offset == 0 else t.builder.scalar("add", [step, t.builder.literal(offset, "i64")])


def _row(t, value, position):
    return t.builder.slice(value, [position])


def _length(t, var):
    return t.value(var).dims[0]


def _first_rows(t, var, count):
    """buffer[:count]; of a buffer that was made by writing them, what was written."""
    node = var.owner
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        if _writes_first(node, count):
            rows = t.value(node.inputs[1])
            dims = [count, *t.value(var).dims[1:]]
            return rows if list(rows.dims) == dims else t.builder.broadcast(rows, dims)
    return t.builder.slice(t.value(var), [(0, count, 1)])


def _writes_first(node, count):
    """buffer[:count] = ..."""
    entries = _fill(node.op.idx_list, node.inputs[2:])
    try:
        return (
            len(entries) == 1 and isinstance(entries[0], slice) and _constant_slice(entries[0]) == (None, count, 1)
        )
    except NotNative:
        return False


def _stacked(t, rows):
    parts = [t.builder.reshape(row, [1, *row.dims]) for row in rows]
    return parts[0] if len(parts) == 1 else t.builder.concat(parts, 0)
