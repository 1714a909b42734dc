"""What a notebook shows: HTML without colours of its own, so that it is readable in any theme."""

from . import screen
from ._inlay import threads_text, three_digits, time_text
from .hypertext import escape

_MOST_ROWS = 30
_CELL = "text-align: left; vertical-align: top; white-space: normal"
_CODE = "white-space: pre-wrap; overflow-wrap: anywhere"


def explanation_html(e):
    """The screen of an Explanation as tables, with the listing folded away below."""
    steps = screen.shown_steps(e)
    parts = [f"<p>{escape(line)}</p>" for line in screen.head(e)]
    if steps:
        seconds = screen.measured_seconds(e)
        heads = ["step", "computes", "reads", "writes", "from", *(["time"] if seconds > 0 else [])]
        rows = [_step_row(step) + ([screen.share_of(step, seconds)] if seconds > 0 else []) for step in steps]
        parts.append(_table(heads, rows))
    if e.stored:
        rows = [[_code(s.name), escape(screen.bytes_text(s.bytes)), escape(screen.plain(s.reason))] for s in e.stored]
        parts.append(_folded(screen.count_text(len(e.stored), "stored value"), _table(["value", "bytes", "why"], rows)))
    if e.copies:
        rows = [[_code(c.source), _code(c.destination), escape(c.reason)] for c in e.copies]
        parts.append(_table(["copy of", "to", "why"], rows))
    if e.host_calls:
        rows = [[_code(name), escape(reason)] for name, reason in screen.host_calls(e).items()]
        parts.append(_table(["runs as Python", "why"], rows))
    parts.append(_folded("the whole listing", f'<pre style="{_CODE}">{escape(e.text)}</pre>'))
    return f'<div class="inlay-explanation">{"".join(parts)}</div>'


def profile_html(p):
    """The steps with their shares as bars, the one that takes most first, and the table folded away below."""
    rows = sorted(p.rows, key=lambda row: -row.seconds)
    has_threads = any(row.threads > 1 for row in rows)
    shown = rows[:_MOST_ROWS]
    cells = [
        [_share(row.share), *_measured(row, has_threads), _code(screen.label(row)) + _lines(row)] for row in shown
    ]
    parts = [
        f"<p>{_code(p.name)}</p>",
        f"<p>{time_text(p.total)} a call, of {screen.count_text(p.calls, 'call')}</p>",
        _table(["share", "time", *["threads"] * has_threads, "reads", "writes", "GB/s", "step"], cells),
    ]
    if len(rows) > _MOST_ROWS:
        parts.append(f"<p>and {screen.count_text(len(rows) - _MOST_ROWS, 'step')} that take less</p>")
    parts.append(_folded("as text", f'<pre style="{_CODE}">{escape(p.text)}</pre>'))
    return f'<div class="inlay-profile">{"".join(parts)}</div>'


def function_html(text, head):
    """A function: its text, and what became of it in a few lines."""
    return f'<div class="inlay-function">{"<br>".join([_code(text), *map(escape, head)])}</div>'


def page_html(page):
    """A page within a page, whose styles stay its own."""
    return f'<iframe class="inlay-page" srcdoc="{escape(page)}" style="width: 100%; height: 60em; border: 0"></iframe>'


def _step_row(step):
    indent = f' style="margin-left: {2 * step.depth}em"' if step.depth else ""
    name = escape(step.name or step.kind)
    if step.loops:
        name += "<br>" + escape(f"over {', '.join(step.loops)}")
    if step.kind in ("loop", "condition"):
        return [f"<div{indent}>{escape(step.kind)}</div>", _code(step.computes[0]), "", "", ""]
    return [
        f"<div{indent}>{name}</div>",
        "<br>".join(map(_code, step.computes)),
        escape(screen.bytes_text(step.bytes_read)),
        escape(screen.bytes_text(step.bytes_written)),
        escape(step.lines),
    ]


def _share(share):
    """A bar of the text's colour, so that it is seen in any theme; what it says stands beside it."""
    bar = f"display: inline-block; width: {6 * min(share, 1):.2f}em; height: .7em; background: currentColor; opacity: .5"
    return f'<span style="white-space: nowrap">{100 * share:.1f} % <span aria-hidden="true" style="{bar}"></span></span>'


def _measured(row, has_threads):
    speed = "" if row.bandwidth is None else three_digits(row.bandwidth)
    sizes = [screen.bytes_text(n) for n in (row.bytes_read, row.bytes_written)]
    threads = [threads_text(row.threads, row.balance)] * has_threads
    return [escape(cell) for cell in (time_text(row.seconds), *threads, *sizes, speed)]


def _lines(row):
    return f"<br><small>{escape(row.lines)}</small>" if row.lines else ""


def _code(text):
    return f'<code style="{_CODE}">{escape(text)}</code>'


def _folded(title, html):
    return f"<details><summary>{escape(title)}</summary>{html}</details>"


def _table(heads, rows):
    head = "".join(f'<th style="{_CELL}">{escape(text)}</th>' for text in heads)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
