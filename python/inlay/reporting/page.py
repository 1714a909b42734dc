"""The page: what an Explanation and a Profile say, as one file of HTML that needs no other and no network.

It decides nothing and measures nothing. Each part has so many bytes of the page at most, and says what it left out.
"""

from .. import screen
from .._inlay import __version__
from . import chart, glance, listings, reasons, steps
from .markup import text
from .style import STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # nothing is loaded, and no script runs


def page_of(name, e, p=None):
    """The text of the page of a function's Explanation and of its Profile; None: nothing was measured."""
    links = listings.links_of(e)
    kernels, shown_kernels = listings.kernels(e)
    graph, shown_lines = listings.graph(e, links)
    links = {what: anchor for what, anchor in links.items() if anchor in shown_kernels | shown_lines}
    lines = steps.lines_of(e, p)
    of_steps, shown_steps = steps.section(e, p, lines, links)
    sections = [
        ("glance", "Glance", "At a glance", glance.section(e, p, lines, shown_steps)),
        ("steps", "Steps", "The steps", of_steps),
        ("memory", "Memory", "Working memory over time", chart.section(e, lines)),
        ("reasons", "Reasons", "What was not done, and why", reasons.section(e)),
        ("kernels", "Kernels", "The kernels' text", kernels),
        ("graph", "Graph", "The graph", graph),
        ("compiling", "Compiling", "How it was compiled", reasons.compiling(e)),
    ]
    nav = "".join(f'<li><a href="#{anchor}">{short}</a></li>' for anchor, short, _, _ in sections)
    main = "\n".join(
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">'
        f'<h2 id="{anchor}-title">{title}</h2>\n{html}</section>'
        for anchor, _, title, html in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(name, 100)}: inlay report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the report</a>\n'
        f'<header><p class="mark">inlay report</p><h1>{text(name, 240)}</h1>'
        f'<p class="under">{_under(e, p)}</p></header>\n'
        f'<nav aria-label="Parts of the report"><ul role="list">{nav}</ul></nav>\n<main id="main">\n{main}\n</main>\n'
        f"<footer><p>Made by inlay {text(__version__)}. docs/report.md says how to read it, docs/fusion.md what the "
        "reasons mean.</p></footer>\n</body>\n</html>\n"
    )


def _under(e, p):
    told = [f"for {text(e.target)}"] if e.target else []
    if p is not None:
        told += [", ".join(f"{text(n, 40)} = {size}" for n, size in list(p.sizes.items())[:12])] if p.sizes else []
        told += [f"{screen.count_text(p.calls, 'call')} measured; memory gives one thread {p.bandwidth:.1f} GB/s"]
    else:
        told += ["not measured"]
    return " · ".join(told)
