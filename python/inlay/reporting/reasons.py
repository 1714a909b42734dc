"""All that was not done, each with its reason: the tables below the steps."""

from .. import screen
from .markup import Room, code, fitting, folded, left_out, size, table, text

_BYTES = 50_000
_MOST_OPEN = 6  # rows of a table that is not folded away


def section(e):
    room = Room(_BYTES)
    parts = []
    for title, heads, rows, noun, where in _tables(e):
        if not rows:
            continue
        kept, rest = fitting(rows, room)
        shown = table(text(title), heads, kept) if kept else ""
        shown += left_out(rest, noun, f"inlay.explain(f).{where}")
        parts.append(shown if len(rows) <= _MOST_OPEN else folded(f"{text(title)}: {len(rows)}", shown))
    if not parts:
        return "<p>There is nothing that was not done.</p>"
    return "".join(parts)


def _tables(e):
    known = sizes_of(e)
    yield (
        "Kernels that have data in common and are not one",
        ["kernels", "both touch", "why", "what helps"],
        [
            [f"{_kernel(a.first)}, {_kernel(a.second)}", code(a.shared, 80), reason(a.reason), text(a.help)]
            for a in e.apart
        ],
        "pair",
        "apart",
    )
    yield (
        "Values with memory of their own",
        ["value", "bytes", "where", "why", "what helps"],
        [
            [code(s.name, 80), size(known.get(s.name, s.bytes)), text(s.where, 80), reason(s.reason), text(s.help)]
            for s in e.stored
        ],
        "value",
        "stored",
    )
    yield (
        "Copies",
        ["copy of", "to", "why", "what helps"],
        [[code(c.source, 80), code(c.destination, 80), text(c.reason), text(c.help)] for c in e.copies],
        "copy",
        "copies",
    )
    calls = screen.host_calls(e) if e.host_calls else {}
    rows = [[code(name, 120), text(why)] for name, why in calls.items()]
    yield "What runs as Python", ["call", "why"], rows, "call", "host_call_reasons"
    rows = [[text(refusal)] for refusal in e.refusals]
    yield "What else was not done", ["what, and why"], rows, "refusal", "refusals"


def _kernel(name):
    return code(f"@{name}", 80)


def sizes_of(e):
    """Of the values in working memory, by name, where it is planned: `stored` may have them over symbols."""
    return {buffer.name: buffer.bytes for buffer in e.buffers or ()}


def reason(told):
    """With its word of docs/fusion.md apart."""
    word, sentence = screen.parts_of(told)
    return f"{text(sentence)} <small><code>{text(word, 40)}</code></small>" if word != sentence else text(told)


def compiling(e):
    """What the compiler did and how long it took, folded."""
    stages = sorted(e.seconds.items(), key=lambda item: -item[1])[:40]
    rows = [[text(stage), f"{1e3 * seconds:.2f} ms"] for stage, seconds in stages if seconds >= 1e-5]
    parts = [table("Time by stage, the longest first", ["stage", "time"], rows)] if rows else []
    rules = sorted(e.rewrites.items(), key=lambda item: -item[1])[:60]
    rows = [[code(name, 80), str(count)] for name, count in rules]
    parts += [table("Rewrites, and how often each was made", ["rule", "times"], rows)] if rows else []
    told = f"Compiled in {1e3 * sum(e.seconds.values()):.1f} ms"
    cache = f"<p>{text(e.cache)}</p>" if e.cache else ""
    return folded(told, f'{cache}<div class="columns">{"".join(f"<div>{part}</div>" for part in parts)}</div>')
