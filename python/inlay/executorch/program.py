"""What a planner has to know of an exported program, without torch: storages, values in them, steps that read and write.

A recorded export is one of these as JSON (`to_json`, `from_json`).
"""

import json
from dataclasses import asdict, dataclass, field


@dataclass
class Storage:
    """Bytes that one or more values lie in, one after the other. `base`: another storage, of whose bytes these are a part."""

    name: str
    bytes: int
    kind: str = "temporary"  # or input, constant, state
    is_planned: bool = True  # no: it is the caller's, a constant, or is allocated when it runs
    is_output: bool = False
    pool: int = 1
    base: int | None = None
    base_offset: int = 0
    life: tuple | None = None  # times at which it is needed, whatever the steps say
    final: int | None = None  # of a state: the value that the next call finds there


@dataclass
class Value:
    """What one step writes into a storage, or a view of it."""

    name: str
    storage: int
    shape: tuple
    dtype: str
    dim_order: tuple

    def is_like(self, other):
        """Has each element of both the same place from the beginning?"""
        return (self.shape, self.dtype, self.dim_order) == (other.shape, other.dtype, other.dim_order)


@dataclass
class Step:
    """`time` grows from step to step. `reads` and `writes` are numbers of values. A view writes nothing: its value is what
    it reads, in other dims. A mutation writes the storage of what it reads.

    `in_place`: of each write the positions among `reads` over which the op's kernel may write, element by element; of a
    mutation also that of what it changes.
    `bodies`: of control flow; each takes the values at `bound` of the step's reads, and gives the results.
    """

    name: str
    op: str
    time: int
    reads: list = field(default_factory=list)
    writes: list = field(default_factory=list)
    kind: str = "op"  # or view, mutation, output
    in_place: dict = field(default_factory=dict)
    bodies: list = field(default_factory=list)

    @property
    def is_branch(self):
        """One of the bodies runs, and each result is what it has left, where it has left it."""
        return self.op == "cond"


@dataclass
class Program:
    """`inputs`: the values that are there before the first step, in their order.

    Of a body, by input: `bound`, the position among its step's reads of the operand that the input is, and `carried`, that
    among its step's writes of the result that it is: a loop changes it from pass to pass. -1: neither, the input has bytes
    of its own.
    """

    name: str
    storages: list = field(default_factory=list)
    values: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    bound: list = field(default_factory=list)
    carried: list = field(default_factory=list)

    def storage_of(self, value):
        return self.values[value].storage

    def storages_of_others(self):
        """Of a body: those of inputs that are operands or results of its step."""
        bound = zip(self.inputs, self.bound, self.carried, strict=True) if self.bound else ()
        return [self.storage_of(value) for value, operand, result in bound if operand >= 0 or result >= 0]

    def to_json(self):
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text):
        return _program(json.loads(text))


def _program(data):
    program = Program(data["name"], inputs=data["inputs"], bound=data["bound"], carried=data["carried"])
    program.storages = [Storage(**storage) for storage in data["storages"]]
    for value in data["values"]:
        program.values.append(
            Value(**{**value, "shape": tuple(value["shape"]), "dim_order": tuple(value["dim_order"])})
        )
    for step in data["steps"]:
        in_place = {int(write): reads for write, reads in step["in_place"].items()}
        program.steps.append(
            Step(**{**step, "in_place": in_place, "bodies": [_program(body) for body in step["bodies"]]})
        )
    return program


def contents_of(program):
    """By value: the number of the content that it stands for. A view has that of what it shows."""
    contents = list(range(len(program.values)))
    for step in program.steps:
        if step.kind == "view":
            contents[step.writes[0]] = contents[step.reads[0]]
    return contents


@dataclass(frozen=True)
class StaleRead:
    """`mutation` overwrites what `value` stands for, and it is read then, or later."""

    mutation: Step
    value: int


def stale_reads(program):
    """In order. A program that was written without mutations has none; one in which ops were made in-place, and views
    aliases after that, may."""
    contents, latest, by, found = contents_of(program), {}, {}, []
    for value in program.inputs:
        latest[program.storage_of(value)] = contents[value]
    for step in program.steps:
        for value in step.reads:
            at = program.storage_of(value)
            if at in by and latest[at] != contents[value]:
                found.append(StaleRead(by[at], value))
        if step.kind == "mutation":
            found += [StaleRead(step, value) for value in _overwritten_while_read(program, step)]
        for value in step.writes if step.kind != "view" else ():
            latest[program.storage_of(value)] = contents[value]
            if step.kind == "mutation":
                by[program.storage_of(value)] = step
    for number, storage in enumerate(program.storages):
        if number in by and storage.final is not None and latest[number] != contents[storage.final]:
            found.append(StaleRead(by[number], storage.final))
    return found


def must_stay(program, stale):
    """Is what is overwritten left for the next call, or changed later? Then a copy of it will not do."""
    if any(storage.final == stale.value for storage in program.storages):
        return True
    later = program.steps[program.steps.index(stale.mutation) + 1 :]
    changed = (step.reads[p] for step in later if step.op != "aten.copy_" for p in _changed_positions(program, step))
    return stale.value in changed


def _changed_positions(program, step):
    """Of a mutation: where among its reads what it changes is."""
    for write, positions in step.in_place.items() if step.kind == "mutation" else ():
        storage = program.storage_of(step.writes[write])
        yield from (p for p in positions if program.storage_of(step.reads[p]) == storage)


def _overwritten_while_read(program, step):
    for write, made in enumerate(step.writes):
        for position, read in enumerate(step.reads):
            is_over = position in step.in_place.get(write, ()) and program.values[read].is_like(program.values[made])
            if program.storage_of(read) == program.storage_of(made) and not is_over:
                yield read


def lost_mutations(program):
    """Mutations of a view of a constant or of an input: who made an op in-place took the view for a copy."""
    views = {step.writes[0] for step in program.steps if step.kind == "view"}
    return [
        step
        for step in program.steps
        if step.kind == "mutation"
        for write, value in enumerate(step.writes)
        if program.storages[program.storage_of(value)].kind in ("constant", "input")
        and any(step.reads[position] in views for position in step.in_place.get(write, ()))
    ]
