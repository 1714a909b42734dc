"""An explanation on one screen: what a call costs, what each step computes, what is stored and why.

The listing (`Explanation.text`) is complete and long. Here the steps stand in their order with what they compute, as
formulas in the user's names; numbers that only stand between the loops are left out, and where there are many steps each
gets fewer lines, then only those get any that take most time, where it is measured, or move most bytes.
"""

import re
import textwrap

from ._inlay import short_bytes_text

WIDTH = 120
_LINES = 40  # about; the formulas of the steps get what the rest leaves
_MOST_STORED = 8
_MOST_OF_NUMBERS = 8  # formulas of a step of single numbers beside loops, which say more
_NAMES = re.compile(r"\$\d+ = [\w$.+-]+")  # a name for a name or a number


def count_text(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun[:-1] + 'ie' if noun.endswith('y') else noun}s"


def bytes_text(number):
    """Of a number of bytes, or of text over sizes."""
    return f"{number} bytes" if isinstance(number, str) else short_bytes_text(number)


def lines_of(e):
    """The screen of an Explanation."""
    steps = shown_steps(e)
    first, tail = list(head(e)), list(_tail(e))
    yield from first
    rest = max(_LINES - len(first) - len(tail), 12)
    if steps:
        yield ""
        yield from _steps(steps, rest, measured_seconds(e))
    yield from tail


def shown_steps(e):
    """All but the arithmetic with single numbers that only stands between the loops; in a Scan it may be all there is."""
    return [step for step in e.steps if step.kind != "numbers" or step.depth > 0 or _says_a_result(step)] or e.steps


def _says_a_result(step):
    return step.returns and bool(numbers_formulas(step))


def counts_line(e):
    """What there is of an Explanation."""
    arena = "by size" if e.arena_bytes is None else count_text(e.arena_bytes, "byte")
    return (
        f"{count_text(len(e.kernels), 'kernel')}, {count_text(len(e.temporaries), 'temporary')}, arena {arena}, "
        f"{count_text(len(e.library_calls), 'library call')}, {count_text(len(e.host_calls), 'host call')}, "
        f"{count_text(len(e.copies), 'copy')}"
    )


def head(e):
    """What there is, and what it costs."""
    yield counts_line(e)
    moved = [step for step in e.steps if step.kind != "numbers" and step.depth == 0]
    read, written = _total(s.bytes_read for s in moved), _total(s.bytes_written for s in moved)
    if moved and read is not None and written is not None:
        inside = " outside of its loops" if any(step.depth for step in e.steps) else ""
        yield f"a call reads {bytes_text(read)} and writes {bytes_text(written)}{inside}"
    if measured_seconds(e):
        calls = max(step.passes or 0 for step in e.steps if step.depth == 0)
        told = f"{1e6 * measured_seconds(e) / calls:.1f} us a call, of {count_text(calls, 'call')}"
        yield f"steps took {told}; each has its share"
    total = sum(e.seconds.values())
    longest = sorted((s for s in e.seconds if s != "first call"), key=e.seconds.get)[-2:][::-1]
    parts = ", ".join(f"{stage} {1e3 * e.seconds[stage]:.1f}" for stage in longest if e.seconds[stage] > 0)
    yield f"compiled in {1e3 * total:.1f} ms" + (f": {parts}" if parts else "")
    if e.cache.startswith("not"):
        yield _cut(e.cache)


def measured_seconds(e):
    """What the calls so far spent in steps, of a function that is compiled to tell; else 0."""
    return sum(step.seconds or 0 for step in e.steps)


def share_text(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def share_of(step, total):
    """Of the time, where it is measured."""
    return share_text((step.seconds or 0) / total) if total > 0 else ""


def _total(numbers):
    """None where one depends on sizes that a call brings."""
    numbers = list(numbers)
    return None if any(isinstance(n, str) for n in numbers) else sum(numbers)


def _steps(steps, room, seconds):
    """Within so many lines; the steps that move least are left out first."""
    shown = steps
    if len(steps) > room:
        kept = sorted(range(len(steps)), key=lambda i: _weight(steps[i]), reverse=True)[: room - 1]
        shown = [steps[i] for i in sorted(kept)]
    for step, formulas in zip(shown, _shares(shown, room - len(shown)), strict=True):
        yield from _step(step, formulas, seconds)
    if len(shown) < len(steps):
        less = "take less time" if seconds > 0 else "move fewer bytes"
        yield f"and {count_text(len(steps) - len(shown), 'step')} that {less}"


def _shares(steps, spare):
    """How many lines of formulas each step gets: one by one, who moves most first."""
    most = len if all(step.kind == "numbers" for step in steps) else lambda lines: min(len(lines), _MOST_OF_NUMBERS)
    wanted = [
        len(step.computes) if step.kind == "kernel" else most(numbers_formulas(step)) if step.kind == "numbers" else 0
        for step in steps
    ]
    shares = [0] * len(steps)
    by_weight = sorted(range(len(steps)), key=lambda i: _weight(steps[i]), reverse=True)
    while spare > 0 and shares != wanted:
        for i in by_weight:
            if shares[i] < wanted[i] and spare > 0:
                shares[i] += 1
                spare -= 1
    return shares


def _weight(step):
    """By the time, where it is measured. What depends on sizes comes first: nobody knows how small it is."""
    sizes = (step.bytes_read, step.bytes_written)
    return (step.seconds or 0, step.kind == "host call", any(isinstance(n, str) for n in sizes), _total(sizes) or 0)


# What the formula of a call does not say, by its kind.
PLAIN_KINDS = {"host call": "host call, runs as Python", "draw": "draw, from NumPy's generator"}


def _step(step, room, seconds):
    indent = "  " * step.depth
    if step.kind in ("loop", "condition"):
        yield _cut(f"{indent}{step.computes[0]}:")
        return
    makes = ", ".join(step.makes)
    # Where a step has one line, it is the formula that says most.
    formulas = list(step.computes)
    does = f"{step.title}: " if step.title else ""
    told = ""
    if step.kind == "numbers":
        yield _cut(f"{indent}{numbers_text(step)}")
        yield from _formulas(numbers_formulas(step), room, indent)
        return
    if step.kind == "kernel":
        told = f"makes {makes}"
    elif formulas:
        told = formulas.pop(0)
        if step.kind in PLAIN_KINDS:
            told += f" ({PLAIN_KINDS[step.kind]})"
    cost = f"reads {bytes_text(step.bytes_read)}, writes {bytes_text(step.bytes_written)}"
    if seconds > 0:
        cost = f"{share_of(step, seconds)}, {cost}"
    where = step.lines
    told = _cut(f"{indent}{does}{told}", WIDTH - len(cost) - 2 - (len(where) + 4 if where else 0))
    yield f"{told}; {cost}" + (f"  [{where}]" if where else "")
    yield from _formulas(formulas, room, indent)


def _formulas(formulas, room, indent):
    left_out = len(formulas) - room
    for i, formula in enumerate(formulas[:room]):
        more = f"  (and {left_out} more)" if left_out > 0 and i == room - 1 else ""
        yield _cut(f"{indent}    {formula}", WIDTH - len(more)) + more


def numbers_text(step):
    """Of arithmetic with single numbers."""
    return f"{step.title}: makes {', '.join(step.makes)}" if step.makes else step.title


def label(step):
    """A step in some words: "@k1: y = b/s", "c = cholesky(b)"."""
    if step.kind == "numbers":
        return numbers_text(step)
    if step.kind != "kernel":
        return step.computes[0] if step.computes else step.name or step.kind
    told = step.computes[0] if len(step.computes) == 1 else f"makes {', '.join(step.makes)}"
    return f"{step.name}: {told}"


def numbers_formulas(step):
    """What it computes, without what only gives a name."""
    return [formula for formula in step.computes if not _NAMES.fullmatch(formula)]


def _cut(text, width=WIDTH):
    return text if len(text) <= width else text[: max(width - 4, 8)].rstrip() + " ..."


# A word of src/kernel/stored.def, in words that need no page.
PLAIN_REASONS = {
    "call-layout": "a library function needs it in another layout",
    "call-operand": "a library function reads it from memory",
    "call-result": "a library function writes it to memory",
    "workspace": "working memory of a step",
    "carried": "one pass of a loop hands it to the next",
    "reshape": "read under another shape",
    "copied": "changed, while its old value is still needed",
    "fold": "a sum, or what else is complete only after its loop",
    "running-state": "a running sum so far",
    "running-values": "a running sum is made in order, once",
    "several-places": "read at more than one place, expensive to compute twice",
    "kept-row": "a later part of the same kernel needs the row again",
    "number-of-row": "expensive, and the same along a row: made for several rows at once",
    "every-index": "would be computed for each index that reads it",
    "outer-loop": "a loop around it would compute it again in each pass",
    "long-body": "the loop would become too long",
    "several-readers": "several values need it, and fusion is greedy",
    "fusion-off": "fusion is off",
    "by-region": "a loop or a branch makes it",
    "captured": "a loop or a branch reads it",
    "by-parts": "written part by part, and read when all parts are there",
    "by-position": "made of positions, and read through an index",
}


def parts_of(reason):
    """Its word, a heading of docs/fusion.md, and its sentence; of a reason without a word twice the sentence."""
    word, _, sentence = reason.partition(": ")
    return word, sentence or word


def plain(reason):
    """A reason of `Stored` without its word."""
    word, sentence = parts_of(reason)
    text = PLAIN_REASONS.get(word, sentence)
    return text.replace("library function", "host call") if sentence.startswith("host call ") else text


def host_calls(e):
    """Why each runs as Python."""
    return e.host_call_reasons or dict.fromkeys(e.host_calls, "a function of yours")


def _tail(e):
    reasons = {}
    for s in sorted(e.stored, key=lambda s: -s.bytes if isinstance(s.bytes, int) else float("-inf")):
        reasons.setdefault(plain(s.reason), []).append(f"{s.name} ({bytes_text(s.bytes)})")
    if reasons:
        yield ""
        yield "stored:"
    for reason, values in list(reasons.items())[:_MOST_STORED]:
        shown, room = [], WIDTH - len(reason) - 16
        for value in values:
            room -= len(value) + 2
            if room < 0 and shown:
                break
            shown.append(value)
        more = f" and {len(values) - len(shown)} more" if len(shown) < len(values) else ""
        yield _cut(f"  {', '.join(shown)}{more}: {reason}")
    if e.host_calls:
        yield ""
        for name, reason in host_calls(e).items():
            yield _cut(f"runs as Python: {name}: {reason}")
    if e.copies:
        yield ""
        for copy in e.copies[:_MOST_STORED]:
            yield _cut(f"copy {copy.source} -> {copy.destination}: {copy.reason}")
        if len(e.copies) > _MOST_STORED:
            yield f"  and {len(e.copies) - _MOST_STORED} more"
    yield ""
    yield "the whole listing, with graph, kernels and memory map: explain(f).text"


def wrapped(lines):
    """No line longer than WIDTH: what continues stands further in."""
    for line in lines:
        if len(line) <= WIDTH:
            yield line
            continue
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        yield from textwrap.wrap(
            line, WIDTH, subsequent_indent=indent, break_long_words=True, break_on_hyphens=False, drop_whitespace=True,
            replace_whitespace=False,
        )
