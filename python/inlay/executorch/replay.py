"""A plan is right where a replay of its steps on numbered contents reads what was written.

Independent of what made the plan: it looks at places and steps, and knows nothing of lives, roots or decisions.
"""

import collections
import itertools
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
        """Raises WrongPlan. Branches are taken in all ways if there are few, else so that each two of them are."""
        branches, are_repeated = _branches(program)
        for ways, turn in itertools.product(_ways(len(branches)), (0, 1) if are_repeated else (0,)):
            self.ways, self.turn, self.times = dict(zip(branches, ways, strict=True)), turn, collections.Counter()
            self.bytes, self.num_contents = Bytes(), 0
            run = _Run(self, program)
            for value in program.inputs:
                run.make(value)
            run.all_steps()

    def next_branch(self, step):
        """The other one in the next pass of a loop, where it is their turn."""
        self.times[id(step)] += 1
        return self.ways[id(step)] ^ (self.turn and self.times[id(step)] % 2)

    def new_content(self):
        self.num_contents += 1
        return self.num_contents


MAX_ALL_WAYS = 6  # branches: 64 runs


def _branches(program, is_in_loop=False):
    """The ids of the steps that branch, and whether one of them is in a loop."""
    found, are_repeated = [], False
    for step in program.steps:
        if step.is_branch:
            found.append(id(step))
            are_repeated = are_repeated or is_in_loop
        for body in step.bodies:
            inner, repeated = _branches(body, is_in_loop or not step.is_branch)
            found, are_repeated = found + inner, are_repeated or repeated
    return found, are_repeated


def _ways(num_branches):
    """Which of two bodies each of them takes. Of any two numbers some bit differs: by it and its opposite they go apart."""
    if num_branches <= MAX_ALL_WAYS:
        return list(itertools.product((0, 1), repeat=num_branches))
    bits = range(num_branches.bit_length())
    apart = [[number >> bit & 1 for number in range(num_branches)] for bit in bits]
    apart.append([0] * num_branches)
    return apart + [[1 - way for way in ways] for ways in apart]


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
                self.show(step)
            elif step.is_branch:
                self.branch(step)
            elif step.bodies:
                self.loop(step)
            else:
                self.require_apart(step)
                for position, value in enumerate(step.writes):
                    self.make(value, self.places_changed(step, position))
        for number, storage in enumerate(self.program.storages):
            if storage.kind in ("state", "constant") and number in self.latest:
                self.require_kept(number, storage)

    def own_place(self, value):
        number = self.program.storage_of(value)
        place, size = self.replay.place_of(self.program, number), self.program.storages[number].bytes
        return Place((id(self.program), number), 0, size) if place is None else Place(*place, size)

    def make(self, value, places=None):
        """Something new is there. `places`: where, if not in its storage."""
        self.hold(value, places or [self.own_place(value)], self.replay.new_content())
        for place in self.places[value]:
            self.replay.bytes.write(place, self.content[value])

    def hold(self, value, places, content):
        self.content[value], self.places[value] = content, places
        self.latest[self.program.storage_of(value)] = content

    def show(self, step):
        """A view of what has a place and dims that are known is given the address; others find it when they run."""
        base, view = step.reads[0], step.writes[0]
        is_given = self.replay.place_of(self.program, self.program.storage_of(view)) is not None
        is_given = is_given and not any(isinstance(dim, str) for dim in self.program.values[view].shape)
        self.content[view] = self.content[base]
        self.places[view] = [self.own_place(view)] if is_given else self.places[base]

    def places_changed(self, step, position):
        """Of a mutation: where what it changes is."""
        over = step.in_place.get(position) if step.kind == "mutation" else None
        values = self.program.values
        same = [p for p in over or () if values[step.reads[p]].storage == values[step.writes[position]].storage]
        return self.places[step.reads[same[0]]] if same else None

    def require(self, value, step):
        name = self.program.values[value].name
        if value not in self.content:
            raise WrongPlan(f"{step.name} reads {name} before it is made")
        if not all(self.replay.bytes.holds(place, self.content[value]) for place in self.places[value]):
            raise WrongPlan(f"{step.name} reads {name}, into whose bytes something else has been written")

    def require_kept(self, number, storage):
        value = next(v for v, x in enumerate(self.program.values) if x.storage == number)
        left = self.latest[number] if storage.final is None else self.content[storage.final]
        if not self.replay.bytes.holds(self.own_place(value), left):
            raise WrongPlan(f"the bytes of {storage.name} do not survive the call")

    def require_apart(self, step):
        """What is written is apart from all else that is written, and from all that is read, but for what an op may write
        over: the same elements at the same places."""
        values, written = self.program.values, []
        for position, value in enumerate(step.writes):
            made, places = values[value], self.places_changed(step, position) or [self.own_place(value)]
            if self.program.storages[made.storage].kind == "constant":
                raise WrongPlan(f"{step.name} writes {made.name} over a constant")
            for other, others in written:
                if _meet(places, others):
                    raise WrongPlan(f"{step.name} writes {made.name} over {other.name}")
            written.append((made, places))
            for at, read in enumerate(step.reads):
                is_over = at in step.in_place.get(position, ()) and self.places[read] == places
                if _meet(places, self.places[read]) and not (is_over and values[read].is_like(made)):
                    raise WrongPlan(f"{step.name} writes {made.name} over {values[read].name} while it reads it")

    def branch(self, step):
        """Its results are what one of two bodies has left."""
        body = step.bodies[self.replay.next_branch(step)]
        run = self.body(step, body)
        for value, left in zip(step.writes, body.steps[-1].reads, strict=True):
            self.hold(value, run.places[left], run.content[left])

    def loop(self, step):
        """Two passes: the second one reads what the first has left. The results are there from the beginning; what a pass
        leaves is copied into them, one after the other."""
        self.require_apart(step)
        for value in step.writes:
            self.make(value)
        for _ in range(2):
            for value in [*step.reads, *step.writes]:
                self.require(value, step)
            for body in step.bodies:
                run = self.body(step, body)
            for position, left in enumerate(body.steps[-1].reads):
                run.require(left, body.steps[-1])
                self.require(step.writes[position], step)
                if position in body.carried:
                    self.make(step.writes[position])

    def body(self, step, body):
        run = _Run(self.replay, body)
        for value, operand, result in zip(body.inputs, body.bound, body.carried, strict=True):
            given = step.reads[operand] if operand >= 0 else step.writes[result] if result >= 0 else None
            if given is None:
                run.make(value)
            else:
                run.hold(value, self.places[given], self.content[given])
        run.all_steps()
        return run


def _meet(places, others):
    return any(place.meets(other) for place in places for other in others)
