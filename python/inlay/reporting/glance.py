"""The head of a report: what takes the time, what moves the bytes, what was not fused and what helps."""

import math

from .. import screen
from .._inlay import threads_text, three_digits, time_text
from .markup import bar, code, text
from .reasons import sizes_of
from .steps import by_bytes, by_time, share_of_bytes, total_bytes

_MOST = 3  # of each list


def section(e, p, lines, shown):
    """`shown`: the anchors of the steps that are on the page."""
    return "".join(
        (
            _figures(e, p, lines),
            '<div class="columns">',
            f"<div><h3>What takes the time</h3>{_times(p, lines, shown)}</div>",
            f"<div><h3>What moves the bytes</h3>{_bytes(lines, shown)}</div>",
            "</div>",
            f"<h3>What was not fused, and what helps</h3>{_not_fused(e)}",
        )
    )


def _figures(e, p, lines):
    known = all(line.moved is not None for line in lines if line.number and line.step.kind != "numbers")
    arena = e.plan.peak if e.plan else e.arena_bytes
    figures = [("a call takes", time_text(p.total))] if p else []
    figures += [
        ("reads and writes", screen.bytes_text(total_bytes(lines)) if known else "by size"),
        ("working memory", "by size" if arena is None else screen.bytes_text(arena)),
        ("runs as", _counts(e)),
    ]
    return '<dl class="figures">' + "".join(f"<div><dt>{a}</dt><dd>{b}</dd></div>" for a, b in figures) + "</dl>"


def _counts(e):
    counted = [(e.kernels, "kernel"), (e.library_calls, "library call"), (e.host_calls, "host call"), (e.draws, "draw")]
    return ", ".join(screen.count_text(len(found), noun) for found, noun in counted if found) or "single numbers"


def _times(p, lines, shown):
    if p is None:
        return (
            "<p>Nothing was measured. Given arguments, the report says what each step takes: "
            '<code>inlay.report(f, "report.html", *args)</code>.</p>'
        )
    first = by_time(lines)[:_MOST]
    told = (
        f"<p>A call takes {time_text(p.total)}, the mean of {screen.count_text(p.calls, 'call')}, and "
        f"{time_text(p.least)} the quickest. {screen.share_text(p.outside / p.total, digits=1)} of the mean is outside of all steps: the call from Python, the memory of its "
        "results, the clocks.</p>"
    )
    return told + _list(((line.row.share, line, _time_told(line)) for line in first), shown)


def _time_told(line):
    row = line.row
    told = time_text(row.seconds)
    if row.threads > 1:
        told += f", {threads_text(row.threads, row.balance)} threads at work"
    if row.bandwidth is not None:
        share = f"{100 * row.share_of_bandwidth:.0f} % of what memory gives one thread"
        told += f", {three_digits(row.bandwidth)} GB/s: {share}"
    if rate := row.flop_rate:
        told += f", {three_digits(rate)} GFlop/s"
    return told


def _bytes(lines, shown):
    steps = by_bytes(lines)
    if not steps:
        return "<p>It computes with single numbers, in registers.</p>"
    unknown = [line for line in steps if line.moved is None]
    known = [line for line in steps if line.moved]
    whole = total_bytes(lines)
    told = _unknown_told(unknown, whole) if unknown else _moved_told(steps, whole)
    items = ((share_of_bytes(line, whole), line, _bytes_told(line)) for line in unknown[:_MOST] + known[:_MOST])
    return told + _list(items, shown)


def _unknown_told(unknown, whole):
    move = "1 step moves" if len(unknown) == 1 else f"{len(unknown)} steps move"
    found = "that a loop finds in each pass" if unknown[0].row else "that a call brings"
    rest = f" The others move {screen.bytes_text(whole)}, of which their shares are." if whole else ""
    return f"<p>How many bytes {move} depends on sizes {found}.{rest}</p>"


def _moved_told(steps, whole):
    read = sum(line.source.bytes_read for line in steps if line.row or not line.step.depth)
    told = f"<p>A call reads {screen.bytes_text(read)} and writes {screen.bytes_text(whole - read)}"
    inside = any(line.step.depth and not line.row for line in steps)
    return told + (" outside of its loops.</p>" if inside else ".</p>")


def _bytes_told(line):
    read, written = line.source.bytes_read, line.source.bytes_written
    return f"reads {text(screen.bytes_text(read))}, writes {text(screen.bytes_text(written))}"


def _list(items, shown):
    """Of a share (None: not known), a line and what is told of it."""
    html = ""
    for share, line, told in items:
        length = "" if share is None else f'{bar(share, line.step.kind)}<span class="share">{screen.share_text(share, digits=1)}</span> '
        label = code(line.label, 120)
        label = f'<a href="#{line.anchor}">{label}</a>' if line.anchor in shown else label
        html += f"<li>{length}{label}<br><small>{told}</small></li>"
    return f'<ol class="top" role="list">{html}</ol>' if html else ""


def _not_fused(e):
    found = [*_host_calls(e), *_copies(e), *_apart(e), *_stored(e)]
    if not found:
        return "<p>Nothing: no two loops share data, nothing is copied, and no value is stored on the way.</p>"
    html = "".join(
        f"<li><p>{told}</p>" + (f'<p class="help"><b>What helps:</b> {text(help)}.</p>' if help else "") + "</li>"
        for told, help in found
    )
    return f'<ul class="reasons" role="list">{html}</ul><p><a href="#reasons">All reasons</a></p>'


def _host_calls(e):
    calls = list(screen.host_calls(e).items()) if e.host_calls else []
    help = "an op that inlay has (docs/ops.md) is compiled, and can be part of a loop"
    for i, (name, reason) in enumerate(calls[:_MOST], 1):
        more = _more(calls) if i == _MOST else ""
        yield f"{code(name, 120)} runs as Python: {text(reason)}.{more}", help


def _copies(e):
    for copy in e.copies[:_MOST]:
        yield f"{code(copy.source, 80)} is copied to {code(copy.destination, 80)}: {text(copy.reason)}.", copy.help


def _apart(e):
    """One of each reason."""
    groups = {}
    for pair in e.apart:
        groups.setdefault(screen.parts_of(pair.reason)[0], []).append(pair)
    for pairs in sorted(groups.values(), key=len, reverse=True)[:_MOST]:
        first = pairs[0]
        more = f" The same holds for {screen.count_text(len(pairs) - 1, 'more pair')}." if len(pairs) > 1 else ""
        yield (
            f"{code('@' + first.first, 80)} and {code('@' + first.second, 80)} share {code(first.shared, 80)} "
            f"and are two loops: {text(screen.parts_of(first.reason)[1])}.{more}",
            first.help,
        )


def _stored(e):
    """By reasons, those of the largest first; of what depends on sizes, any."""
    known, groups = sizes_of(e), {}
    sized = [(known.get(value.name, value.bytes), value) for value in e.stored]
    unknown = math.inf if known else -math.inf  # beside sizes of this call those of others say nothing
    for size, value in sorted(sized, key=lambda pair: -pair[0] if isinstance(pair[0], int) else unknown):
        groups.setdefault((screen.plain(value.reason), value.help), []).append((size, value))
    for (reason, help), values in list(groups.items())[:_MOST]:
        names = [f"{code(value.name, 80)} ({text(screen.bytes_text(size), 80)})" for size, value in values]
        more = f" and {screen.count_text(len(names) - _MOST, 'more value')}" if len(names) > _MOST else ""
        are = "is" if len(names) == 1 else "are each"
        yield f"{', '.join(names[:_MOST])}{more} {are} stored: {text(reason)}.", help


def _more(calls):
    return f" {screen.count_text(len(calls) - _MOST, 'more call')} too." if len(calls) > _MOST else ""
