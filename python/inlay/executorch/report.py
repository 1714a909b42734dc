"""What was decided about the memory of each program, and why."""

from dataclasses import dataclass

from .. import pages
from ..memory import page_of_plan
from ..plan import Plan
from .layout import bytes_by_pool


@dataclass
class ProgramReport:
    """Of one method, or of one body of control flow in it. `plan`: with the names of the graph's nodes, times in steps.
    `seconds`: what planning took. `rewritten`: what was changed in the graph before, in words."""

    name: str
    plan: Plan
    seconds: float
    decisions: list
    rewritten: list

    @property
    def bytes(self):
        """By pool."""
        return bytes_by_pool(self.plan)

    def __str__(self):
        sizes = ", ".join(
            f"{size} bytes{f' in pool {pool}' if len(self.bytes) > 1 else ''}" for pool, size in self.bytes.items()
        )
        bound = "no plan of these lives is smaller" if self.plan.proved else f"lower bound {self.plan.lower_bound}"
        counts = f"{len(self._decided(True))} results in place, {len(self._decided(False))} operands kept"
        lines = [f"{self.name}: {sizes or 'no bytes'} ({bound}); {counts}"]
        lines += [f"  {text}" for text in self.rewritten]
        return "\n".join(lines + [f"  {decision}" for decision in self.decisions])

    def page_text(self):
        """The picture of its memory, and below it what the text says."""
        lists = {
            "Changed in the graph": self.rewritten,
            "Results in place": self._decided(True),
            "Operands kept": self._decided(False),
        }
        return page_of_plan(self.plan, self.name, lists.items())

    def _decided(self, is_taken):
        return [str(decision) for decision in self.decisions if decision.is_taken == is_taken]


class Report:
    """Of each program that was planned, in order. `print(report)` is the text; `report.page(path)` writes a page with the
    memory of one of them and what was decided about it."""

    def __init__(self):
        self.programs = []

    def __str__(self):
        return "\n".join(map(str, self.programs))

    def page(self, path, name=None):
        """Writes a page for a browser or paper. `name`: of the program; the first one where none is given."""
        found = [p for p in self.programs if name in (None, p.name)]
        if not found:
            raise ValueError(
                f"there is no program {name}; there are {', '.join(p.name for p in self.programs) or 'none'}"
            )
        pages.written(found[0].page_text(), path)
