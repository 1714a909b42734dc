"""The steps of a function: what each computes, what it takes, what it moves."""

from dataclasses import dataclass
from typing import Any

from .. import screen
from .._inlay import threads_text, three_digits, time_text
from .markup import Room, bar, code, kind_class, left_out, size, table, text

_MOST_FORMULAS = 6
_BYTES = 60_000


@dataclass(frozen=True)
class Line:
    """A step as the page has it. `number` counts from 1; None of the head of a loop or of a condition."""

    number: int | None
    step: Any  # of an Explanation
    row: Any  # of a Profile; None: nothing was measured

    @property
    def source(self):
        return self.row or self.step

    @property
    def moved(self):
        """Bytes, where their number is known."""
        both = self.source.bytes_read, self.source.bytes_written
        return None if any(isinstance(n, str) for n in both) else sum(both)

    @property
    def anchor(self):
        return f"step-{self.number}"

    @property
    def label(self):
        return screen.label(self.step)


def lines_of(e, p):
    """The steps of an Explanation with the rows of a Profile, or None, of the same function."""
    rows = iter(p.rows if p else ())
    lines, number = [], 0
    measured = p and [(r.kind, r.name) for r in p.rows] == [(s.kind, s.name) for s in e.steps if not _is_head(s)]
    if p and not measured:  # it became other steps when it was compiled with clocks
        return [Line(i, row, row) for i, row in enumerate(p.rows, 1)]
    for step in e.steps:
        number += not _is_head(step)
        lines.append(Line(None, step, None) if _is_head(step) else Line(number, step, next(rows, None)))
    return lines


def _is_head(step):
    return step.kind in ("loop", "condition")


def total_bytes(lines):
    """Those whose number is known, of a step that stands in no loop."""
    return sum(line.moved or 0 for line in lines if line.number and (line.row or not line.step.depth))


def share_of_bytes(line, total):
    """Of `total_bytes`; None of a step that does not count there."""
    counts = line.moved is not None and bool(line.row or not line.step.depth)
    return line.moved / total if counts and total > 0 else None


def by_time(lines):
    return sorted((line for line in lines if line.row), key=lambda line: -line.row.seconds)


def by_bytes(lines):
    """What depends on sizes comes first: nobody knows how small it is."""
    steps = [line for line in lines if line.number and line.step.kind != "numbers"]
    return sorted(steps, key=lambda line: (line.moved is not None, -(line.moved or 0)))


def section(e, p, lines, links):
    """The table, and the anchors of its rows. `links`: of a kernel, or of a value of the graph, by name, that of its
    text."""
    of_time = p is not None
    is_known = all(line.moved is not None for line in by_bytes(lines))
    of_bytes = "share of bytes" if is_known else "share of known bytes"
    heads = ["step", "computes", "time" if of_time else of_bytes, "reads", "writes"]
    has_passes = of_time and any(line.row and line.row.passes != 1 for line in lines)
    has_threads = of_time and any(line.row and line.row.threads > 1 for line in lines)
    has_flops = of_time and any(line.row and line.row.flop_rate for line in lines)
    more = has_passes, has_threads, has_flops
    heads += ["passes"] * has_passes + ["threads"] * has_threads + ["GB/s"] * of_time + ["GFlop/s"] * has_flops
    total = total_bytes(lines)
    room, made = Room(_BYTES), {}
    heaviest = by_time(lines) if of_time else by_bytes(lines)
    first = set(map(id, heaviest))
    for line in [*heaviest, *(line for line in lines if id(line) not in first)]:
        cells = [_name(line, links), _formulas(line, links), *_numbers(line, p, total, *more)]
        if not room.has("".join(cells) + 100 * len(cells) * "."):
            break
        made[id(line)] = (cells, line.anchor) if line.number else cells
    rows = [made[id(line)] for line in lines if id(line) in made]
    what = "mean times of one call" if of_time else "bytes of one call"
    order = f"In the order of running, with {what}."
    if not rows:
        return "<p>It has no steps.</p>", set()
    html = table(order, heads, rows, name="steps") + left_out(len(lines) - len(rows), "step", "inlay.explain(f).steps")
    return html, {line.anchor for line in lines if id(line) in made}


def _numbers(line, p, total, has_passes, has_threads, has_flops):
    row, step = line.row, line.step
    if line.number is None:
        return [""] * (3 + (p is not None) + has_passes + has_threads + has_flops)
    sizes = [size(n) for n in (line.source.bytes_read, line.source.bytes_written)]
    if p is None:
        share = share_of_bytes(line, total)
        return ["" if share is None else _with_bar(share, step.kind), *sizes]
    share = _with_bar(row.share, step.kind, time_text(row.seconds))
    speed = "" if row.bandwidth is None else f"{three_digits(row.bandwidth)} <small>{_peak(row)}</small>"
    rate = row.flop_rate
    passes = [f"{row.passes:.6g}"] * has_passes
    threads = [threads_text(row.threads, row.balance)] * has_threads
    return [share, *sizes, *passes, *threads, speed, *([three_digits(rate) if rate else ""] * has_flops)]


def _peak(row):
    return f"{100 * row.share_of_bandwidth:.0f} % of peak"


def _with_bar(share, kind, and_time=""):
    after = f' <span class="time">{and_time}</span>' if and_time else ""
    return f'{bar(share, kind)}<span class="share">{screen.share_text(share, digits=1)}</span>{after}'


def _name(line, links):
    step = line.step
    indent = f' style="margin-left:{min(step.depth, 8)}em"' if step.depth else ""
    if line.number is None:
        return f'<div{indent}><span class="kind">{text(step.kind)}</span></div>'
    name = text(step.name or step.kind, 80)
    if anchor := links.get(step.name):
        name = f'<a href="#{anchor}">{name}</a>'
    dot = f'<i class="dot {kind_class(step.kind)}" aria-hidden="true"></i>'
    under = [text(step.kind)] if step.name else []
    under += [f"over {text(', '.join(step.loops), 120)}"] if step.loops else []
    under += [text(step.lines, 160)] if step.lines else []
    small = f"<br><small>{' · '.join(under)}</small>" if under else ""
    return f'<div{indent}><span class="number">{line.number}</span> {dot}{name}{small}</div>'


def _formulas(line, links):
    formulas = list(line.step.computes)
    if line.step.kind == "numbers":
        formulas = screen.numbers_formulas(line.step)
    shown = [f"<li>{_linked(formula, links)}</li>" for formula in formulas[:_MOST_FORMULAS]]
    html = f'<ul class="formulas" role="list">{"".join(shown)}</ul>' if shown else ""
    if len(formulas) > _MOST_FORMULAS:
        html += f"<small>and {screen.count_text(len(formulas) - _MOST_FORMULAS, 'more formula')}</small>"
    note = getattr(line.row, "note", "") or screen.PLAIN_KINDS.get(line.step.kind, "")
    return html + (f'<p class="note">{text(note)}</p>' if note else "")


def _linked(formula, links):
    """With the value that it computes as a link into the graph."""
    name, equals, rest = formula.partition(" = ")
    if equals and (anchor := links.get(f"%{name}")):
        return f'<code><a href="#{anchor}">{text(name, 80)}</a> = {text(rest, 300)}</code>'
    return code(formula, 380)
