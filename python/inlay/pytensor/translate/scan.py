"""Scan: a loop whose body is the inner graph.

What is carried from step to step is carried as values; what is kept of all steps is a trace. A buffer that PyTensor
passes in with room for all steps is its first rows and the trace behind them. One with room for some of them is carried
whole and written around: a later row takes the place of the oldest, and the result is put in order behind the loop. In
the gradient of a Scan a buffer is read and added to at several places: a window of its rows is carried, which moves on by
a row in each step. The row that enters it is read of what the buffer was, the one that leaves it is a trace.
Where a condition may end the loop, the steps are counted, and a trace ends with the last.
"""

from inspect import signature

import numpy as np
from pytensor.compile.builders import infer_shape
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.scan.op import Scan
from pytensor.tensor.basic import ScalarFromTensor
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from . import random, sparse
from .bodies import Body
from .dims import dim_max, dim_min, known_equal
from .dtypes import INLAY_NAMES, is_tensor, sizes_of_type
from .index_entries import constant_slice, filled, integer, is_missing
from .origin import scan_name
from .registry import NotNative, register
from .sizes import given_sizes, late_size, size_of

_ZERO = np.asarray(0)


@register(Scan)
def scan(t, node):
    return _Scan(t, node).results()


def sizes_of_rows(t, node):
    """By output, the sizes of its rows: those that follow from what the Scan is given; None for the others, and none of
    what has no rows."""
    node = _with_inputs_of_its_own(t, node)
    given = [tuple(Shape_i(axis)(x) for axis in range(x.type.ndim)) if is_tensor(x.type) else None for x in node.inputs]
    shapes = node.op.infer_shape(*([None] if _TAKES_GRAPH else []), node, given)

    def known(said, size):
        """`said`: by its type."""
        while not isinstance(size, int) and isinstance(size.owner and size.owner.op, CheckAndRaise):
            size = size.owner.inputs[0]  # that what a step computes fits; none is made
        if said is not None or isinstance(size, int):
            return size if said is None else said
        if isinstance(size.owner and size.owner.op, Shape_i) and size.owner.inputs[0] not in node.inputs:
            (of,) = size.owner.inputs
            if of in node.outputs or of.owner is None:
                return None
            (shape,) = infer_shape([of], node.inputs, given)
            size = shape[size.owner.op.i]
        try:
            return size_of(t, size, late=False)
        except (NotNative, KeyError):  # KeyError: that of a value that is not made without a step
            return None

    return [
        [known(*sizes) for sizes in zip(sizes_of_type(x.type.shape[1:]), shape[1:], strict=True)]
        if is_tensor(x.type) and shape
        else []
        for x, shape in zip(node.outputs, shapes, strict=True)
    ]


def _with_inputs_of_its_own(t, node):
    """A node of another Scan's graph is frozen: PyTensor's rules for shapes, which clone it, cannot ask it."""
    if hasattr(node, "clone_with_new_inputs"):
        return node
    inputs = [x if isinstance(x, Constant) else x.type() for x in node.inputs]
    for own, x in zip(inputs, node.inputs, strict=True):
        if own is not x and is_tensor(x.type):
            t.also_known_as(own, x)
    return Apply(node.op, inputs, [x.type() for x in node.outputs])


_TAKES_GRAPH = "fgraph" in signature(Scan.infer_shape).parameters  # older versions of PyTensor


class _State:
    """A buffer of the last values: `initial` rows, oldest first, one for each tap up to -1."""

    def __init__(self, t, node, var, taps, inner, steps):
        self.taps, self.inner = taps, inner
        self.rows = -min(taps)
        written = _written_first(t, node, var, self.rows)
        buffer = t.as_declared(var)
        length = buffer.dims[0]
        if written is None:
            _require_rows(t, node, var, self.rows, length, buffer)
        rest = length - (self.rows if written is None else written.dims[0])
        self.keeps_all = known_equal(rest, steps)
        # (What has no more rows than the taps need has as many: fewer were refused.)
        keeps_last = known_equal(rest, 0) or known_equal(dim_min(length, self.rows), length)
        self.ring = None if self.keeps_all or keeps_last else buffer
        self.first = t.builder.slice(buffer if written is None else written, [(0, self.rows, 1)])
        self.initial = [_row(t, self.first, i) for i in range(self.rows)]


class _Window:
    """A buffer of which each step reads rows and writes some of them, the same ones counted from its own."""

    def __init__(self, t, node, var, read, written, steps):
        first = min(read)
        self.read, self.written = [tap - first for tap in read], [tap - first for tap in written]
        self.rows = max(*self.read, *self.written)  # that are carried
        if min(self.written) < 0:
            raise NotNative("a Scan that writes rows before those that it reads")
        self.buffer = t.as_declared(var)
        self.length, self.used = self.buffer.dims[0], steps + self.rows
        if not known_equal(self.length, self.used):
            message = f"{scan_name(node)}: a buffer of {{1}} rows, of which the steps read {{0}}"
            t.builder.require_at_most(self.used, self.length, "shape-mismatch", message, self.buffer)
        self.initial = [_row(t, self.buffer, i) for i in range(self.rows)]
        self.entering = t.builder.slice(self.buffer, [(self.rows, self.used, 1)])

    def result(self, t, trace, rows):
        """The whole buffer, of the rows that have left the window and those that are in it at the end."""
        parts = [trace, *(t.builder.reshape(row, [1, *row.dims]) for row in rows)]
        if not known_equal(self.length, self.used):
            parts.append(t.builder.slice(self.buffer, [(self.used, self.length, 1)]))
        return parts[0] if len(parts) == 1 else t.builder.concat(parts, 0)


class _Scan:
    def __init__(self, t, node):
        self.t, self.node, self.op, self.info = t, node, node.op, node.op.info
        self.steps = size_of(t, node.inputs[0])
        if not isinstance(self.steps, int):
            message = f"{scan_name(node)}: n_steps is {{1}}"
            t.builder.require_at_most(0, self.steps, "negative-size", message, t.value(node.inputs[0]))
        op, outer, inner = self.op, node.inputs, self.op.inner_inputs
        self.sequences = [(x, _sequence(t, node, i)) for i, x in enumerate(op.inner_seqs(inner))]
        taps = (*self.info.mit_sot_in_slices, *self.info.sit_sot_in_slices)
        buffers = [*op.outer_mitsot(outer), *op.outer_sitsot(outer)]
        several = _by_state(op.inner_mitsot(inner), self.info.mit_sot_in_slices)
        inside = [*several, *([x] for x in op.inner_sitsot(inner))]
        self.states = [_State(t, node, *parts, self.steps) for parts in zip(buffers, taps, inside, strict=True)]
        places = (self.info.mit_mot_in_slices, self.info.mit_mot_out_slices)
        self.windows = [_Window(t, node, *parts, self.steps) for parts in zip(op.outer_mitmot(outer), *places)]
        self.untraced = [random.drawable_value(t, x) for x in op.outer_untraced_sit_sot(outer)]
        self.lengths = [size_of(t, x) for x in op.outer_nitsot(outer)]
        if self.info.as_while and self.windows:
            raise NotNative("a Scan that ends by a condition and writes at several places")
        self.sizes = given_sizes(t, op.inner_non_seqs(inner), op.outer_non_seqs(outer))
        for x, outside in zip(op.inner_non_seqs(inner), op.outer_non_seqs(outer), strict=True):
            if sparse.is_multiplied(op.fgraph, x):
                sparse.find_elements(t, outside)
        self.made = []  # what counts the steps that were made, where they may be fewer and are kept
        if self.info.as_while and (self.lengths or any(s.keeps_all or s.ring for s in self.states)):
            whole = [known_equal(n, self.steps) or known_equal(dim_min(n, 1), n) for n in self.lengths]
            if not all(whole) or any(s.ring for s in self.states):
                raise NotNative("a Scan that ends by a condition and keeps some of its steps")
            self.made = [t.builder.literal(0, "i64")]

    def results(self):
        t = self.t
        rings = [s.ring for s in self.states if s.ring]
        rows = [row for x in (*self.windows, *self.states) for row in x.initial]
        initial = [*rings, *rows, *self.untraced, *self.made]
        inner = self.op.inner_untraced_sit_sot(self.op.inner_inputs)
        body = Body(t, drawable=random.drawable_in(self.op.fgraph, inner), sizes=self.sizes)
        with body:
            step = body.builder.step("step", self.steps)
            carried = [body.builder.param(v.name or "carried", v.dtype, v.dims) for v in initial]
            outputs = self._body(body, step, carried)
            for value in outputs:
                body.builder.output(value)
        after = t.builder.loop(
            self.steps, initial, body.captured, body.builder.finish(), has_condition=self.info.as_while
        )
        after, traces = list(after[: len(initial)]), list(after[len(initial) :])
        if self.made:
            steps = late_size(t, after.pop())
            traces = [t.builder.slice(trace, [(0, steps, 1)]) for trace in traces]
        rings, last = after[: len(rings)], after[len(rings) :]
        results = []
        for window in self.windows:
            rows, last = last[: window.rows], last[window.rows :]
            results.append(window.result(t, traces.pop(0), rows))
        for state in self.states:
            rows, last = last[: state.rows], last[state.rows :]
            if state.keeps_all:
                results.append(t.builder.concat([state.first, traces.pop(0)], 0))
            elif state.ring:
                results.append(_in_order(t, rings.pop(0), self.steps + state.rows))
            else:
                results.append(_stacked(t, rows))
        for trace, length in zip(traces, self.lengths, strict=True):
            if self.made:
                length = steps if known_equal(length, self.steps) else dim_min(length, steps)
            results.append(_last_rows(t, trace, length))
        return [*results, *last]

    def _body(self, body, step, carried):
        """What the body returns, in the order of `carried`; then the traces, and whether to go on."""
        t, op, info = self.t, self.op, self.info
        inner, inner_outputs = op.inner_inputs, op.inner_outputs
        values = t.scope.values
        for x, sequence in self.sequences:
            values[x] = t.builder.gather(body.bring_in(sequence), [step])
        n = sum(bool(state.ring) for state in self.states)
        rings, carried = carried[:n], carried[n:]
        windows = []
        for window, group in zip(self.windows, _by_state(op.inner_mitmot(inner), info.mit_mot_in_slices)):
            entering = t.builder.gather(body.bring_in(window.entering), [step])
            windows.append([*carried[: window.rows], entering])
            carried = carried[window.rows :]
            values.update(zip(group, (windows[-1][place] for place in window.read), strict=True))
        rows = []
        for state in self.states:
            own, carried = carried[: state.rows], carried[state.rows :]
            rows.append(own)
            for tap, x in zip(state.taps, state.inner):
                values[x] = own[state.rows + tap]
        made = [_plus(t, carried.pop(), 1)] if self.made else []
        values.update(zip(op.inner_untraced_sit_sot(inner), carried, strict=True))
        for x, outside in zip(op.inner_non_seqs(inner), op.outer_non_seqs(self.node.inputs), strict=True):
            values[x] = t.value(outside) if isinstance(outside, Constant) else body.capture(outside)

        order = op.fgraph.toposort()
        t.add_nodes(op.fgraph, order, [t.place.number] * len(order), within=self.node)

        def of(variables):
            return [t.value(x) for x in variables]

        for window, now, outs in zip(self.windows, windows, op.inner_mitmot_outs_grouped(inner_outputs)):
            for place, value in zip(window.written, of(outs), strict=True):
                now[place] = _like(t, value, now[place])
        states = of([*op.inner_mitsot_outs(inner_outputs), *op.inner_sitsot_outs(inner_outputs)])
        states = [_like(t, value, own[-1]) for own, value in zip(rows, states)]
        written = [(state.rows, value) for state, value in zip(self.states, states) if state.ring]
        for j, (first, value) in enumerate(written):
            position = _modulo(t, _plus(t, step, first), rings[j].dims[0])
            rings[j] = t.builder.scatter("set", rings[j], [position], value)
        next_rows = [x for now in windows for x in now[1:]]
        next_rows += [x for own, value in zip(rows, states) for x in (*own[1:], value)]
        untraced = of(op.inner_untraced_sit_sot_outs(inner_outputs))
        untraced = [t.require_dims(value, before.dims) for before, value in zip(carried, untraced)]
        traces = [now[0] for now in windows]
        traces += [value for state, value in zip(self.states, states) if state.keeps_all]
        traces += of(op.inner_nitsot_outs(inner_outputs))
        outputs = [*rings, *next_rows, *untraced, *made, *traces]
        if info.as_while:
            stop = t.value(inner_outputs[-1])
            outputs.append(t.builder.scalar("eq", [stop, t.cast(t.constants.array(_ZERO), stop.dtype)]))
        return outputs


def _like(t, value, before):
    """What is carried on in the place of `before`."""
    return t.require_dims(t.cast(value, before.dtype), before.dims)


def _by_state(flat, taps):
    """The body's inputs of several taps, a list for each state. (Older versions of PyTensor do not group them.)"""
    inputs = iter(flat)
    return [[next(inputs) for _ in each] for each in taps]


def _sequence(t, node, i):
    """The rows that are read of sequence `i`: it may be longer than the loop, and is not to be shorter."""
    var, steps = node.op.outer_seqs(node.inputs)[i], size_of(t, node.inputs[0])
    value = t.value(var)
    if known_equal(value.dims[0], steps):
        return value
    source, taken = _source(var, node.inputs[0])
    operand = t.value(source)
    name = f"`{source.name}`" if source.name else f"{i}"
    message = f"{scan_name(node)}: sequence {name} has {{1}} elements along its first axis, "
    message += "n_steps and the taps need {0}" if taken else "n_steps is {0}"
    # Of no steps: nothing is needed for the taps either.
    needed = dim_min(steps + taken, steps * (taken + 1))
    t.builder.require_at_most(needed, operand.dims[0], "shape-mismatch", message, operand)
    return t.builder.slice(value, [(0, steps, 1)])


def _source(var, steps):
    """What the user gave as a sequence, of which `var` is what PyTensor cut for the number of steps and for a tap, and
    how many elements fewer the cut for the tap has."""
    taken = 0
    while var.owner is not None and isinstance(var.owner.op, Subtensor):
        base, *inputs = var.owner.inputs
        entries = filled(var.owner.op.idx_list, inputs)
        if len(entries) != 1 or not isinstance(entries[0], slice):
            break
        (entry,) = entries
        if is_missing(entry.start) and is_missing(entry.step) and _is_number(entry.stop, steps):
            var = base
            continue
        try:
            start, stop, step = constant_slice(entry)
        except NotNative:
            break
        if (start, stop, step) != (None, None, -1):
            if step != 1 or (start or 0) < 0 or (stop is not None and stop >= 0):
                break
            taken += (start or 0) - (stop or 0)
        var = base
    return var, taken


def _is_number(entry, number):
    if isinstance(entry, Variable) and entry.owner is not None and isinstance(entry.owner.op, ScalarFromTensor):
        entry = entry.owner.inputs[0]
    if entry is number:
        return True
    return isinstance(number, Constant) and not is_missing(entry) and integer(entry) == int(number.data)


def _plus(t, step, offset):
    return step if offset == 0 else t.builder.scalar("add", [step, t.builder.literal(offset, "i64")])


def _modulo(t, number, size):
    return t.builder.scalar("mod", [number, t.builder.size(size)])


def _in_order(t, ring, written):
    """The rows of a buffer whose row number i, of those ever `written`, stands at i modulo the buffer's length. Rows
    that none was written to are zeros."""
    length = ring.dims[0]
    count, size = t.builder.size(written), t.builder.size(length)
    zero = t.builder.literal(0, "i64")
    is_full = t.builder.scalar("gt", [count, size])
    oldest = t.builder.scalar("select", [is_full, _modulo(t, count, length), zero])
    order = t.builder.scalar("add", [t.builder.iota(length, "i64"), oldest])
    rows = t.builder.gather(ring, [_modulo(t, order, length)])
    is_there = t.builder.scalar("lt", [t.builder.iota(length, "i64"), count])
    is_there = t.builder.reshape(is_there, [length, *[1] * (len(ring.dims) - 1)])
    return t.builder.scalar("select", [is_there, rows, t.builder.literal(0, ring.dtype)])


def _last_rows(t, trace, length):
    """A buffer of `length` rows that ends with the last of the trace, or begins with all of it and ends with zeros."""
    steps, *inner = trace.dims
    if known_equal(length, steps):
        return trace
    count = dim_min(length, steps)
    rows = t.builder.slice(trace, [(steps - count, steps, 1)])
    if known_equal(count, length):
        return rows
    rest = dim_max(length - steps, 0)
    return t.builder.concat([rows, t.builder.broadcast(t.builder.literal(0, trace.dtype), [rest, *inner])], 0)


def _row(t, value, position):
    return t.builder.slice(value, [position])


def _written_first(t, node, var, rows):
    """Of a buffer that was made by writing its first rows, `buffer[:n] = initial`: what was written. None: it was made
    in another way. A value of fewer rows than the taps need is refused."""
    write = var.owner
    if write is None or not isinstance(write.op, IncSubtensor) or not write.op.set_instead_of_inc:
        return None
    entries = filled(write.op.idx_list, write.inputs[2:])
    if len(entries) != 1 or not isinstance(entries[0], slice) or is_missing(entries[0].stop):
        return None
    if not is_missing(entries[0].start) or not is_missing(entries[0].step):
        return None
    try:
        count = size_of(t, entries[0].stop, late=False)
    except NotNative:
        return None
    if not known_equal(dim_min(count, rows), count):
        return None
    initial = t.cast(t.value(write.inputs[1]), INLAY_NAMES[var.type.dtype])
    dims = [count, *t.value(var).dims[1:]]
    if list(initial.dims) != dims:
        if not isinstance(count, int):
            return None
        initial = t.builder.broadcast(initial, dims)
    _require_rows(t, node, write.inputs[1], rows, count, initial)
    return initial


def _require_rows(t, node, var, rows, count, initial):
    """The initial value `var` has `count` rows, of which the taps need `rows`."""
    if not isinstance(count, int):
        message = f"{scan_name(node)}: the initial value{_called(var)} has {{1}} rows, its taps need {{0}}"
        t.builder.require_at_most(rows, count, "shape-mismatch", message, initial)


def _called(var):
    """" `x`", of x and of rows of x."""
    while not var.name and var.owner is not None and isinstance(var.owner.op, Subtensor):
        var = var.owner.inputs[0]
    return f" `{var.name}`" if var.name else ""


def _stacked(t, rows):
    parts = [t.builder.reshape(row, [1, *row.dims]) for row in rows]
    return parts[0] if len(parts) == 1 else t.builder.concat(parts, 0)
