"""The texts of a report: the graph, and the kernels that it became."""

import re

from .. import screen
from .markup import Room, code, folded, left_out, text

_GRAPH_BYTES, _KERNEL_BYTES = 45_000, 60_000
_MOST_OF_A_KERNEL = 30_000  # characters
_MOST_OPEN = 40  # lines of a graph that is not folded away
_VALUES = re.compile(r"\s*(%\S+(?:, %\S+)*) = ")


def links_of(e):
    """The anchors of kernels ("@k0") and of values of the graph ("%x"), by name."""
    links = {}
    for number, line in enumerate(e.graph.rstrip().split("\n")):
        if found := _VALUES.match(line):
            links.update({name: f"line-{number}" for name in found[1].split(", ")})
    links.update({f"@{kernel.name}": f"kernel-{number}" for number, kernel in enumerate(e.kernels)})
    return links


def graph(e, links):
    """Its lines, with those as anchors that a step names."""
    room, kept = Room(_GRAPH_BYTES), []
    lines = e.graph.rstrip().split("\n") if e.graph.strip() else []
    anchors = set(links.values())
    for number, line in enumerate(lines):
        at = f"line-{number}"
        html = f'<span id="{at}">{text(line, 1000)}</span>' if at in anchors else text(line, 1000)
        if not room.has(html + "\n"):
            break
        kept.append(html)
    if not lines:
        return "<p>It was read from a file that has no graph.</p>", set()
    told = f"{screen.count_text(len(lines), 'line')} of the text form, after rewriting"
    html = f'<pre tabindex="0" aria-label="the graph"><code>{chr(10).join(kept)}</code></pre>'
    html += left_out(len(lines) - len(kept), "line", "inlay.explain(f).graph")
    return folded(told, html, is_open=len(lines) <= _MOST_OPEN), {f"line-{n}" for n in range(len(kept))}


def kernels(e):
    """Each folded, with what it touches."""
    room, kept = Room(_KERNEL_BYTES), []
    for number, kernel in enumerate(e.kernels):
        stages = screen.count_text(kernel.stages, "stage")
        touches = f"reads {text(kernel.reads, 120)} elements, writes {text(kernel.writes, 120)}, {kernel.width} wide"
        summary = f"{code('@' + kernel.name, 80)} <small>{stages}, {touches}</small>"
        body = text(kernel.text.rstrip(), _MOST_OF_A_KERNEL)
        label = f"kernel {text(kernel.name, 80)}"
        html = folded(summary, f'<pre id="kernel-{number}" tabindex="0" aria-label="{label}"><code>{body}</code></pre>')
        if not room.has(html):
            break
        kept.append(html)
    if not e.kernels:
        return "<p>It has no loops.</p>", set()
    html = "".join(kept) + left_out(len(e.kernels) - len(kept), "kernel", "inlay.explain(f).kernels")
    return html, {f"kernel-{n}" for n in range(len(kept))}
