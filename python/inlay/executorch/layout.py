"""Where storages lie, by the planners of `inlay.plan`."""

from dataclasses import dataclass, field

from ..plan import Plan, plan
from ..plan import Storage as Buffer
from .in_place import InPlace


@dataclass
class Layout:
    """Of one program. `offsets`: by storage, None where it is not planned. `bodies`: by step that has some, by pool, where
    their bytes begin. `plan`: the buffers, storage 3 as `s3`. `operand`: by storage of a result in place, that of its
    operand."""

    offsets: list
    bodies: dict
    plan: Plan
    operand: dict
    decisions: list = field(default_factory=list)

    @property
    def bytes(self):
        return bytes_by_pool(self.plan)


def bytes_by_pool(plan):
    return {int(pool.name): pool.peak for pool in plan.pools}


class Layouts:
    """Of a program and the bodies of control flow in it, which are planned first.

    The bytes of a step's bodies are a buffer of the program around them. That of branches is needed until the step's results
    are read for the last time: they stay where the branch has left them.
    """

    def __init__(self, planner="search", in_place=True, overwrite=(), budget_ms=None):
        self.planner, self.in_place, self.overwrite, self.budget_ms = planner, in_place, overwrite, budget_ms
        self.found = {}  # by id of a program

    def plan_all(self, program):
        for step in program.steps:
            for body in step.bodies:
                self.plan_all(body)
        return self.plan(program)

    def plan(self, program, alignment=16, with_bodies=True, reserved=None):
        """`with_bodies`: the bytes of its bodies have places in it. `reserved`: by pool, bytes at the beginning that are
        somebody else's."""
        lives = lives_of(program)
        bodies = self._bodies(program, lives, alignment) if with_bodies else {}
        reserved = self._reserved(program, reserved or {})
        layout = self._layout(program, lives, bodies, reserved, alignment)
        if self.in_place:
            decided = InPlace(program, self.overwrite)
            other = self._layout(program, lives, bodies, reserved, alignment, decided) if decided.taken() else layout
            # What lives with its operand may leave a worse gap.
            is_worse = other.plan.peak > layout.plan.peak
            layout = layout if is_worse else other
            layout.decisions = [d.rejected() if is_worse else d for d in decided.decisions]
        self.found[id(program)] = layout
        for number, by_pool in layout.bodies.items():
            for body in program.steps[number].bodies:
                self._move(body, by_pool)
        return layout

    def place_of(self, program, storage):
        offset = self.found[id(program)].offsets[storage]
        return None if offset is None else (program.storages[storage].pool, offset)

    def _move(self, program, by_pool):
        layout = self.found.get(id(program))
        for number, offset in enumerate(layout.offsets if layout else ()):
            if offset is not None:
                layout.offsets[number] = offset + by_pool.get(program.storages[number].pool, 0)
        for step in program.steps:
            for body in step.bodies:
                self._move(body, by_pool)

    def _body_bytes(self, step):
        """By pool. Of two branches one runs, and other bodies use the same bytes one after the other. Some kinds of body are
        not planned: ExecuTorch says which."""
        out = {}
        for body in step.bodies:
            layout = self.found.get(id(body))
            for pool, size in layout.bytes.items() if layout else ():
                out[pool] = max(size, out.get(pool, 0))
        return out

    def _bodies(self, program, lives, alignment):
        """The buffers that the bodies of steps are, by step and pool."""
        buffers = {}
        for number, step in enumerate(program.steps):
            left = step.writes if step.is_branch else ()
            end = max([step.time + 1, *(lives[program.storage_of(value)][1] for value in left)])
            for pool, size in self._body_bytes(step).items():
                name = f"body{number}.{pool}"
                buffers[number, pool] = Buffer(name, size, step.time, end, alignment, pool=str(pool))
        return buffers

    def _reserved(self, program, reserved):
        end = max([1, *(step.time + 2 for step in program.steps)])
        return [Buffer(f"reserved.{pool}", size, -1, end, offset=0, pool=str(pool)) for pool, size in reserved.items()]

    def _layout(self, program, lives, bodies, reserved, alignment, decided=None):
        buffers = [*bodies.values(), *reserved]
        for number, storage in enumerate(program.storages):
            base, offset = storage.base, storage.base_offset
            if decided and base is None and decided.root[number] != number:
                base, offset = decided.root[number], 0
            size = -(-storage.bytes // alignment) * alignment
            place = {} if base is None else {"base": f"s{base}", "offset": offset}
            if storage.is_planned:
                buffers.append(Buffer(f"s{number}", size, *lives[number], alignment, pool=str(storage.pool), **place))
        found = plan(buffers, self.planner, budget_ms=self.budget_ms)
        offset = {s.name: s.offset for s in found.storages}
        begins = {number: {} for number, step in enumerate(program.steps) if step.bodies}
        for (number, pool), buffer in bodies.items():
            begins[number][pool] = offset[buffer.name]
        offsets = [offset.get(f"s{number}") for number in range(len(program.storages))]
        return Layout(offsets, begins, found, decided.operand if decided else {})


def lives_of(program):
    """By storage: the times [first, last) between which it is needed. What is there before the first step is needed from
    then on, a state also after the last."""
    begin, end = [None] * len(program.storages), [0] * len(program.storages)
    for value in program.inputs:
        begin[program.storage_of(value)] = -1
    for step in program.steps:
        for value in [*step.reads, *step.writes]:
            at = program.storage_of(value)
            begin[at] = step.time if begin[at] is None else begin[at]
            end[at] = step.time + 1
    lives = [(0, 0) if b is None else (b, max(b, e)) for b, e in zip(begin, end, strict=True)]
    for number, storage in enumerate(program.storages):
        if storage.kind == "state":
            lives[number] = (-1, max([0, *(step.time + 2 for step in program.steps)]))
        if storage.life is not None:
            lives[number] = tuple(storage.life)
    return lives
