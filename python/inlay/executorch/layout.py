"""Where storages lie, by the planners of `inlay.plan`."""

from dataclasses import dataclass

from ..plan import Plan, plan
from ..plan import Storage as Buffer
from .in_place import InPlace


@dataclass
class Layout:
    """Of one program. `offsets`: by storage, None where it is not planned. `bodies`: by step that has some, by pool, where
    their bytes begin. `bytes`: by pool what all takes. `plan`: the buffers, storage 3 as `s3`."""

    offsets: list
    bodies: dict
    bytes: dict
    plan: Plan
    decisions: list
    operand: dict  # by storage of a result in place, that of its operand


class Layouts:
    """Of a program and the bodies of control flow in it, which are planned first.

    The bytes of a step's bodies are a buffer of the program around them, which is needed until the step's results are read
    for the last time: the result of a branch stays where the branch left it.
    """

    def __init__(self, planner="search", alignment=16, in_place=True, overwrite=(), budget_ms=None):
        self.planner, self.alignment, self.in_place = planner, alignment, in_place
        self.overwrite, self.budget_ms = overwrite, budget_ms
        self.found = {}  # by id of a program

    def plan_all(self, program):
        for step in program.steps:
            for body in step.bodies:
                self.plan_all(body)
        return self.plan(program)

    def plan(self, program, reserved=None):
        """`reserved`: by pool, bytes at the beginning that are somebody else's."""
        buffers = self._buffers_around(program, reserved or {})
        layout = self._layout(program, None, buffers)
        decided = InPlace(program, self.overwrite) if self.in_place else None
        if decided is not None:
            other = self._layout(program, decided, buffers) if decided.taken() else layout
            # What lives with its operand may leave a worse gap.
            layout = other if sum(other.bytes.values()) <= sum(layout.bytes.values()) else layout
            layout.decisions = decided.decisions
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

    def _buffers_around(self, program, reserved):
        lives, buffers = lives_of(program), []
        for number, step in enumerate(program.steps):
            end = max([step.time + 1, *(lives[program.storage_of(value)][1] for value in step.writes)])
            for pool, size in self._body_bytes(step).items() if step.bodies else ():
                buffers.append(Buffer(f"body{number}.{pool}", size, step.time, end, self.alignment, pool=str(pool)))
        end = max([1, *(step.time + 2 for step in program.steps)])
        return buffers + [Buffer(f"reserved.{p}", size, -1, end, offset=0, pool=str(p)) for p, size in reserved.items()]

    def _layout(self, program, decided, around):
        lives, buffers = lives_of(program), list(around)
        for number, storage in enumerate(program.storages):
            base, offset = storage.base, storage.base_offset
            if decided and base is None and decided.root[number] != number:
                base, offset = decided.root[number], 0
            size = -(-storage.bytes // self.alignment) * self.alignment
            place = {"base": None if base is None else f"s{base}", "offset": None if base is None else offset}
            if storage.is_planned:
                buffers.append(
                    Buffer(f"s{number}", size, *lives[number], self.alignment, pool=str(storage.pool), **place)
                )
        found = plan(buffers, self.planner, budget_ms=self.budget_ms)
        offset = {s.name: s.offset for s in found.storages}
        bodies = {number: {} for number, step in enumerate(program.steps) if step.bodies}
        for buffer in around:
            if buffer.name.startswith("body"):
                number, pool = buffer.name.removeprefix("body").split(".")
                bodies[int(number)][int(pool)] = offset[buffer.name]
        bytes = {int(pool.name): pool.peak for pool in found.pools}
        return Layout(
            [offset.get(f"s{n}") for n in range(len(program.storages))],
            bodies,
            bytes,
            found,
            [],
            decided.operand if decided else {},
        )


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
