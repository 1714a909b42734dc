"""Which results take over the bytes of an operand that no one reads afterwards."""

from dataclasses import dataclass, replace

from .program import contents_of


@dataclass(frozen=True)
class Decision:
    """About one operand of one step: whether its result is made in its bytes, and why not."""

    step: str
    op: str
    result: str
    operand: str
    bytes: int
    reason: str = ""  # empty: it is

    @property
    def is_taken(self):
        return not self.reason

    def rejected(self):
        """The whole of the plan is larger than one in which no result is in place."""
        return replace(self, reason="the plan is larger with results in place") if self.is_taken else self

    def __str__(self):
        said = "in place of" if self.is_taken else "not in place of"
        return f"{self.result} = {self.op}: {said} {self.operand}" + (f": {self.reason}" if self.reason else "")


class InPlace:
    """`root`: by storage, the one whose bytes it has. `operand`: by storage of a result in place, that of its operand.
    `decisions`: about each operand that was looked at."""

    def __init__(self, program, overwrite=()):
        self.program, self.overwrite = program, frozenset(overwrite)
        self.root = roots_of(program)
        self.operand, self.decisions = {}, []
        self.contents = contents_of(program)
        self.last_read = _last_reads(program, self.contents)
        self.writes = _writes(program)
        for number, step in enumerate(program.steps):
            for write, reads in step.in_place.items():
                self._decide(number, step, step.writes[write], reads)

    def taken(self):
        return [decision for decision in self.decisions if decision.is_taken]

    def _decide(self, number, step, result, reads):
        seen = set()
        for position in reads:
            operand = step.reads[position]
            if self.program.storage_of(operand) in seen:
                continue
            seen.add(self.program.storage_of(operand))
            reason = self._refusal(number, step, result, operand, reads)
            storage = self.program.storages[self.program.storage_of(result)]
            names = (self.program.values[v].name for v in (result, operand))
            self.decisions.append(Decision(step.name, step.op, *names, storage.bytes, reason))
            if not reason:
                made, read = self.program.storage_of(result), self.program.storage_of(operand)
                self.root[made], self.operand[made] = self.root[read], read
                return

    def _refusal(self, number, step, result, operand, over):
        values, storages = self.program.values, self.program.storages
        made, read = values[result], values[operand]
        at = self.root[read.storage]
        to, base = storages[made.storage], storages[at]
        if base.kind == "constant":
            return "it is a constant"
        if storages[read.storage].base is not None:
            return "it lies in a part of another"
        if base.kind in ("input", "state") and base.kind not in self.overwrite:
            return f"it is an {base.kind}" if base.kind == "input" else "it is a state"
        if to.is_output and base.kind != "temporary":
            return "the result is an output of the program"
        if not (to.is_planned and base.is_planned):
            return "one of them is not planned"
        if to.base is not None:
            return "the exporter says where the result lies"
        if to.kind != "temporary" or len(self.writes[made.storage]) != 1:
            return "the result is written by other steps too"
        if made.dtype != read.dtype:
            return f"its elements are {read.dtype}, those of the result {made.dtype}"
        if made.shape != read.shape:
            return (
                "its elements stretch"
                if len(read.shape) <= len(made.shape) and to.bytes > base.bytes
                else "it has other dims"
            )
        if made.dim_order != read.dim_order:
            return "its dims lie in another order"
        if to.bytes > base.bytes or to.pool != base.pool:
            return "it lies in another pool" if to.pool != base.pool else "it has fewer bytes"
        last = self.last_read[self.contents[operand]]
        if last > number:
            return f"{self.program.steps[last].name} reads it later"
        later = [write for write in self.writes[at] if write > number]
        if later and later[0] < self.last_read[self.contents[result]]:
            return f"{self.program.steps[later[0]].name} writes there while the result is needed"
        for position, other in enumerate(step.reads):
            if self.root[values[other].storage] != at:
                continue
            if not values[other].is_like(made):
                return f"{values[other].name} shows it in other dims, and is read at other places"
            if position not in over:
                return f"{values[other].name} is another operand too, and is read at other places"
        return ""


def roots_of(program):
    """By storage: the one that it is a part of."""
    roots = list(range(len(program.storages)))
    for number in roots:
        while program.storages[roots[number]].base is not None:
            roots[number] = program.storages[roots[number]].base
    return roots


def _last_reads(program, contents):
    """By content: the last step that reads it, by whatever name."""
    last = [-1] * len(contents)
    for number, step in enumerate(program.steps):
        for value in step.reads:
            last[contents[value]] = number
    return last


def _writes(program):
    """By storage: the steps that write it, in order."""
    steps = [[] for _ in program.storages]
    for number, step in enumerate(program.steps):
        for value in step.writes if step.kind != "view" else ():
            steps[program.storage_of(value)].append(number)
    return steps
