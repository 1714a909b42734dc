"""A plan is right where a replay of its steps on numbered contents reads what was written.

Independent of what made the plan: it looks at places and steps, and knows nothing of lives, roots or decisions.
"""

from dataclasses import dataclass


class WrongPlan(ValueError):
    """A step reads bytes that do not hold what it should read."""


@dataclass(frozen=True)
class Place:
    """Bytes of a pool; of what is not planned, of a pool of its own."""

    pool: object
    begin: int
    size: int

    @property
    def end(self):
        return self.begin + self.size

    def meets(self, other):
        return self.pool == other.pool and self.begin < other.end and other.begin < self.end


class Bytes:
    """By pool the pieces (begin, end, content) that were written, none over another."""

    def __init__(self):
        self.pieces = {}

    def write(self, place, content):
        kept = []
        for begin, end, old in self.pieces.get(place.pool, ()):
            kept += [(begin, min(end, place.begin), old), (max(begin, place.end), end, old)]
        kept.append((place.begin, place.end, content))
        self.pieces[place.pool] = [piece for piece in kept if piece[0] < piece[1]]

    def holds(self, place, content):
        held = [(max(b, place.begin), min(e, place.end)) for b, e, c in self.pieces.get(place.pool, ()) if c == content]
        return sum(end - begin for begin, end in held if begin < end) == place.size


class Replay:
    """`place_of`: from a program and the number of a storage to (pool, offset), None where it has bytes of its own.
    Also of bodies of control flow these are places in the whole pool."""

    def __init__(self, place_of):
        self.place_of = place_of

    def run(self, program):
        """Raises WrongPlan. Branches are taken one way, the other way, and in turn."""
        for turns in ((0,), (1,), (0, 1), (1, 0)) if _has_branches(program) else ((0,),):
            self.turns, self.num_branches = turns, 0
            self.bytes, self.num_contents = Bytes(), 0
            run = _Run(self, program)
            for value in program.inputs:
                run.make(value)
            run.all_steps()

    def next_branch(self):
        self.num_branches += 1
        return self.turns[self.num_branches % len(self.turns)]

    def new_content(self):
        self.num_contents += 1
        return self.num_contents


def _has_branches(program):
    return any(step.op == "cond" or any(map(_has_branches, step.bodies)) for step in program.steps)


class _Run:
    """Of one program, or of one body."""

    def __init__(self, replay, program):
        self.replay, self.program = replay, program
        self.content = {}  # by value
        self.places = {}  # by value: each holds it
        self.latest = {}  # by storage: its content

    def all_steps(self):
        for step in self.program.steps:
            for value in step.reads:
                self.require(value, step)
            if step.kind == "view":
                base, view = step.reads[0], step.writes[0]
                self.content[view], self.places[view] = self.content[base], self.places[base]
            elif step.bodies:
                self.bodies(step)
            else:
                for position, value in enumerate(step.writes):
                    self.require_apart(step, position, value)
                for value in step.writes:
                    self.make(value)
        for number, storage in enumerate(self.program.storages):
            if storage.kind in ("state", "constant") and number in self.latest:
                self.require_kept(number)

    def own_place(self, value):
        number = self.program.storage_of(value)
        place, size = self.replay.place_of(self.program, number), self.program.storages[number].bytes
        if place is None:
            return Place((id(self.program), number), 0, size)
        return Place(*place, size)

    def make(self, value, places=None, content=None):
        """Something new is there. `places`: where, if not in its storage."""
        self.content[value] = self.replay.new_content() if content is None else content
        self.places[value] = places or [self.own_place(value)]
        self.latest[self.program.storage_of(value)] = self.content[value]
        for place in self.places[value] if content is None else ():
            self.replay.bytes.write(place, self.content[value])

    def require(self, value, step):
        name = self.program.values[value].name
        if value not in self.content:
            raise WrongPlan(f"{step.name} reads {name} before it is made")
        if not all(self.replay.bytes.holds(place, self.content[value]) for place in self.places[value]):
            raise WrongPlan(f"{step.name} reads {name}, into whose bytes something else has been written")

    def require_kept(self, number):
        value = next(v for v, x in enumerate(self.program.values) if x.storage == number)
        if not self.replay.bytes.holds(self.own_place(value), self.latest[number]):
            raise WrongPlan(f"the bytes of {self.program.storages[number].name} do not survive the call")

    def require_apart(self, step, position, value):
        """What is written over while it is read is a mutation's own, or the same elements at the same places."""
        place, made = self.own_place(value), self.program.values[value]
        over = [self.program.values[step.reads[p]] for p in step.in_place.get(position, ())]
        for read in step.reads:
            operand = self.program.values[read]
            if not any(place.meets(other) for other in self.places[read]):
                continue
            is_same_place = self.places[read] == [place] and operand.is_like(made)
            if step.kind == "mutation" and (operand.storage == made.storage or is_same_place):
                continue
            if not (is_same_place and any(x.storage == operand.storage or x is operand for x in over)):
                raise WrongPlan(f"{step.name} writes {made.name} over {operand.name} while it reads it")

    def bodies(self, step):
        """One of two branches; of other control flow all that there are, twice: the next pass may read what this one left."""
        bodies = [step.bodies[self.replay.next_branch()]] if step.op == "cond" else step.bodies * 2
        for body in bodies:
            run = _Run(self.replay, body)
            for value, position in zip(body.inputs, body.bound, strict=True):
                if position < 0:
                    run.make(value)
                else:
                    run.make(value, self.places[step.reads[position]], self.content[step.reads[position]])
            run.all_steps()
        left = [run.places[v] for v in body.steps[-1].reads]
        for position, value in enumerate(step.writes):
            places = left[position] if position < len(left) else []
            # The result of a branch is what it left; of another body it may be a copy.
            self.make(value, places if step.op == "cond" and places else [self.own_place(value), *places])
