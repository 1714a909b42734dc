"""Text as HTML, tables, and how much of a page its parts may take."""

from ..hypertext import escape
from ..screen import bytes_text, count_text


def text(value, most=400):
    """As text of HTML and as an attribute, cut where it is longer than `most` characters."""
    value = str(value)
    value = value if len(value) <= most else value[: most - 1].rstrip() + "…"
    return escape(value)


def size(bytes):
    """Of a number of bytes, which stays on one line, or of text over sizes."""
    return text(bytes_text(bytes), 120).replace(" ", "\N{NO-BREAK SPACE}" if isinstance(bytes, int) else " ")


def code(value, most=400):
    return f"<code>{text(value, most)}</code>"


def bar(share, kind):
    """A bar as long as the share of its place; the number stands beside it, so it says nothing to a reader."""
    width = 100 * min(max(share, 0.0), 1.0)
    return f'<span class="bar" aria-hidden="true"><i class="{kind_class(kind)}" style="width:{width:.1f}%"></i></span>'


def kind_class(kind):
    """What colours a kind of step, or what makes a value."""
    known = {
        "kernel": "kernel",
        "library call": "call",
        "host call": "host",
        "draw": "host",
        "copy": "copy",
        "workspace": "work",
    }
    return known.get(kind, "other")


def table(caption, heads, rows, *, name=""):
    """`heads`: texts; `rows`: lists of cells in HTML, of which the first heads its row, or pairs of these and the row's
    id.

    On a narrow page each row is a box of its own, with the heads as labels; the roles say that it stays a table.
    """
    head = "".join(f'<th role="columnheader" scope="col">{text(h)}</th>' for h in heads)
    body = []
    for row in rows:
        cells, anchor = row if isinstance(row, tuple) else (row, "")
        at = f' id="{anchor}"' if anchor else ""
        rest = "".join(
            f'<td role="cell" data-label="{text(h)}">{cell}</td>'
            for h, cell in zip(heads[1:], cells[1:], strict=True)
        )
        body.append(f'<tr role="row"{at}><th role="rowheader" scope="row">{cells[0]}</th>{rest}</tr>')
    kind = f"stack {name}".strip()
    return (
        f'<table role="table" class="{kind}"><caption>{caption}</caption>'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(body)}</tbody></table>'
    )


def folded(summary, html, *, is_open=False):
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{html}</details>"


class Room:
    """So many bytes of a page."""

    def __init__(self, bytes):
        self.left = bytes

    def has(self, html):
        """Takes what the HTML needs, where there is so much."""
        size = len(html.encode())
        if size > self.left:
            return False
        self.left -= size
        return True


def fitting(parts, room):
    """The parts up to the first for which there is no room, and how many are left out."""
    kept = []
    for part in parts:
        cells = part[0] if isinstance(part, tuple) else part
        if not room.has(cells if isinstance(cells, str) else _FRAME.join(cells) + _FRAME):
            break
        kept.append(part)
    return kept, len(parts) - len(kept)


_FRAME = "." * 60  # as long as what a table puts round each cell


def left_out(number, noun, where):
    """A sentence for what did not fit; empty where all did."""
    if not number:
        return ""
    told = f"{count_text(number, f'more {noun}')} {'is' if number == 1 else 'are'} not shown"
    return f'<p class="more">{told}: <code>{text(where)}</code> has all.</p>'
