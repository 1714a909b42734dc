"""Working memory over time: a picture of boxes, and the same as a table.

Across are the steps, down are the bytes. The picture is SVG without a viewBox: places are percentages, so that it is as
wide as the page and its letters keep their size; each box is an svg of its own, which cuts what does not fit in it.
"""

from bisect import bisect_left, bisect_right

from .. import screen
from .markup import Room, code, fitting, folded, kind_class, left_out, size, table, text

_BYTES_OF_BOXES, _BYTES_OF_ROWS = 30_000, 30_000
_HEIGHT = 320  # pixels
_LEAST_LABELLED = 15  # pixels that a line of text needs
_MOST_NUMBERS = 24  # of steps, that have room under a picture
_LEGEND = {"kernel": "a kernel", "library call": "a library call", "host call": "a host call", "copy": "a copy"}


def section(e, lines):
    if e.buffers is None:
        return _of_unknown_sizes(e)
    if not e.buffers:
        return "<p>It needs no working memory: what it computes on the way stays in registers.</p>"
    told = f"<p>{screen.bytes_text(e.plan.peak)} in all"
    told += ", and no plan needs less" if e.plan.proved else f"; {screen.bytes_text(e.plan.lower_bound)} is the least"
    told += ". Arguments and results lie in the caller's memory and are not in the picture.</p>"
    return told + _picture(e, lines) + _rows(e)


def _of_unknown_sizes(e):
    told = (
        "<p>Where values lie depends on sizes that a call brings. Given arguments, the report has the picture: "
        '<code>inlay.report(f, "report.html", *args)</code>.</p>'
    )
    rows = [[code(t.name, 80), size(t.bytes), text(t.reason)] for t in e.temporaries]
    kept, rest = fitting(rows, Room(_BYTES_OF_ROWS))
    shown = table("Working memory that outlives a kernel", ["value", "bytes", "why"], kept) if kept else ""
    return told + shown + left_out(rest, "value", "inlay.explain(f).temporaries")


class _Times:
    """Where a time lies across the picture, from 0 to 1. A step has a column where it moves bytes."""

    def __init__(self, lines, buffers):
        begun = {buffer.begin // 2 for buffer in buffers}
        steps = [line for line in lines if line.number]
        self.columns = [s for s in steps if s.step.kind != "numbers" or getattr(s.step, "number", None) in begun]
        self.numbers = [line.step.number for line in self.columns]

    def __call__(self, time):
        step, half = divmod(time, 2)
        before = bisect_left(self.numbers, step)
        within = half / 2 if self.numbers[before : before + 1] == [step] else 0
        return (before + within) / len(self.numbers)


def _picture(e, lines):
    if not all(hasattr(line.step, "number") for line in lines):  # it became other steps with clocks
        return ""
    at = _Times(lines, e.buffers)
    if not at.numbers:
        return ""
    whole = max(e.plan.peak, 1)
    room, boxes, kinds = Room(_BYTES_OF_BOXES), [], {}
    for buffer in sorted(e.buffers, key=lambda b: -b.bytes):
        html = _box(buffer, at, whole)
        if not room.has(html):
            break
        boxes.append(html)
        kinds.setdefault(buffer.made_by)
    most = f"{screen.count_text(len(e.buffers), 'value')} in {screen.bytes_text(e.plan.peak)} of working memory"
    names = ", ".join(b.name for b in sorted(e.buffers, key=lambda b: -b.bytes)[:3])
    steps = screen.count_text(len(at.numbers), "step")
    label = text(f"{most}, over {steps}. The largest are {names}. The table has all.")
    grid = "".join(
        f'<line class="grid" x1="0" x2="100%" y1="{100 * tick / whole:.2f}%" y2="{100 * tick / whole:.2f}%"/>'
        for tick in _ticks(whole)
    )
    legend = "".join(
        f'<span><i class="box {kind_class(kind)}" aria-hidden="true"></i>{text(_LEGEND.get(kind, kind), 40)}</span>'
        for kind in kinds
        if kind
    )
    rest = left_out(len(e.buffers) - len(boxes), "value", "inlay.memory_page(f)")
    return (
        '<figure><div class="plot">'
        f'<svg class="bytes" aria-hidden="true" height="{_HEIGHT}">{_byte_labels(whole)}</svg>'
        f'<svg class="boxes" role="img" aria-label="{label}" height="{_HEIGHT}">{grid}{"".join(boxes)}</svg>'
        f'<svg class="times" aria-hidden="true" height="34">{_step_labels(at)}</svg></div>'
        f'<figcaption>Made by {legend}<span class="wide">Across: the steps by their numbers above.</span></figcaption>'
        f"</figure>{rest}"
    )


def _box(buffer, at, whole):
    left, right = at(buffer.begin), at(buffer.end)
    width = max(right - left, 0.25 / len(at.numbers))
    height = buffer.bytes / whole
    lies = f"bytes {buffer.offset} to {buffer.offset + buffer.bytes}"
    title = text(f"{buffer.name}: {buffer.type}, {lies}, from step to step {_lives(buffer, at)}. {buffer.reason}", 300)
    label = ""
    if height * _HEIGHT >= _LEAST_LABELLED:
        label = f'<text x="5" y="12">{text(buffer.name, 60)}</text>'
        if height * _HEIGHT >= 2 * _LEAST_LABELLED:
            label += f'<text class="size" x="5" y="26">{text(screen.bytes_text(buffer.bytes))}</text>'
    return (
        f'<svg x="{100 * left:.2f}%" y="{100 * buffer.offset / whole:.2f}%" width="{100 * width:.2f}%" '
        f'height="{max(100 * height, 0.4):.2f}%"><title>{title}</title>'
        f'<rect class="{kind_class(buffer.made_by)}" width="100%" height="100%"/>{label}</svg>'
    )


def _lives(buffer, at):
    """The numbers of the first step and the last that need it, as the table of steps has them."""
    first, last = buffer.begin // 2, max(buffer.end - 1, buffer.begin) // 2
    within = at.columns[bisect_left(at.numbers, first) : bisect_right(at.numbers, last)]
    return f"{within[0].number} to {within[-1].number}" if within else "none"


def _ticks(whole):
    """Some four multiples of a power of two below it."""
    step = 1
    while step < whole / 5:
        step *= 2
    return range(step, whole - step // 2, step)


def _byte_labels(whole):
    ticks = [0, *_ticks(whole), whole]
    labels = []
    for tick in ticks:
        move = {0: 10, whole: -2}.get(tick, 4)
        labels.append(
            f'<text x="100%" y="{100 * tick / whole:.2f}%" dy="{move}" dx="-6">{text(screen.bytes_text(tick))}</text>'
        )
    return "".join(labels)


def _step_labels(at):
    every = -(-len(at.columns) // _MOST_NUMBERS)
    labels = []
    for i, line in enumerate(at.columns):
        if i % every:
            continue
        name = text(line.step.name or line.step.kind, 20)
        labels.append(
            f'<svg x="{100 * i / len(at.columns):.2f}%" width="{100 * every / len(at.columns):.2f}%" height="34">'
            f'<text x="50%" y="13">{line.number}</text><text class="wide" x="50%" y="28">{name}</text></svg>'
        )
    return "".join(labels)


def _rows(e):
    heads = ["value", "type", "bytes", "at", "storage", "why it is there"]
    rows = [
        [code(b.name, 80), code(b.type, 120), size(b.bytes), str(b.offset), text(b.storage), text(b.reason)]
        for b in sorted(e.buffers, key=lambda b: (b.begin, b.offset))
    ]
    kept, rest = fitting(rows, Room(_BYTES_OF_ROWS))
    shown = table("The values in working memory, in the order of their making", heads, kept)
    return folded("The picture as a table", shown + left_out(rest, "value", "inlay.explain(f).buffers"))
