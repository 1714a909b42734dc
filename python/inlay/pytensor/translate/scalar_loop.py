"""ScalarLoop, of which PyTensor's gradients of gammainc, betainc, hyp2f1, ... are made.

Every element has its own number of steps and ends by itself. Here all elements go together, and those that have ended keep
what they have.
"""

from .bodies import Body
from .dtypes import INLAY_NAMES

_NO_LIMIT = 2**62  # of steps: each element counts its own


def emit(t, op, operands, inline):
    """The results of the loop over `operands`; `inline(inputs)` gives those of one step."""
    common = t.broadcast_like(operands[0], *operands).dims
    operands = [_of_common_sizes(t, x, common) for x in operands]
    steps, values = t.cast(operands[0], "i64"), operands[1:]
    count = len(op.outputs) - op.is_while
    dtypes = [INLAY_NAMES[x.type.dtype] for x in op.outputs[:count]]
    states = [t.cast(x, dtype) for x, dtype in zip(values, dtypes, strict=False)]
    if op.is_while:  # has it ended, and what the condition said last: of no step False, as in PyTensor's Python code
        states += [t.builder.literal(False, "bool"), t.builder.literal(False, "bool")]
    states = [t.broadcast_like(x, *operands) for x in states]
    body = Body(t)
    with body:
        step = body.builder.step("step", _NO_LIMIT)
        before = [body.builder.param(x.name or "state", x.dtype, x.dims) for x in states]
        constants = [body.bring_in(x) for x in values[count:]]
        after, goes_on = _step(
            t, op.is_while, before, count, step, body.bring_in(steps), lambda now: inline([*now, *constants])
        )
        for x in [*after, goes_on]:
            body.builder.output(x)
    results = list(t.builder.loop(_NO_LIMIT, states, body.captured, body.builder.finish(), has_condition=True))
    return [*results[:count], *results[count + 1 :]]


def _of_common_sizes(t, x, common):
    """x, whose axes that are longer than 1 are known to be as long as the result's: a body makes no checks."""
    wide = common[len(common) - len(x.dims) :]
    stretches = [isinstance(own, int) and own == 1 for own in x.dims]
    return t.require_dims(x, [1 if one else dim for one, dim in zip(stretches, wide, strict=True)])


def _step(t, is_while, before, count, step, steps, update):
    """The states after a step, and whether any element has another one."""

    def op(name, *operands):
        return t.builder.scalar(name, operands)

    active = op("lt", step, steps)
    more = op("lt", op("add", step, t.builder.literal(1, "i64")), steps)
    if is_while:
        ended, said = before[count:]
        active = op("and", active, op("not", ended))
    now = update(before[:count])
    after = [op("select", active, t.cast(x, old.dtype), old) for x, old in zip(now, before[:count], strict=False)]
    if is_while:
        until = now[count]
        ended = op("or", ended, op("and", active, until))
        after += [ended, op("select", active, until, said)]
        more = op("and", more, op("not", ended))
    after = [t.broadcast_like(x, *before) for x in after]
    axes = list(range(len(more.dims)))
    return after, t.builder.reduce("or", more, axes, "bool") if axes else more
