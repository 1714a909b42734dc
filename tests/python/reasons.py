"""What docs/fusion.md explains: reasons of values that are stored, of kernels that stand apart, and of copies."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "fusion.md").read_text()


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def named(title):
    return set(re.findall(r"^### (\S+)$", section(title), re.M))


STORED = named("Why a value is stored")
APART = named("Kernels that stand apart") | {"fusion-off"}
COPIES = [
    re.compile(".+".join(re.escape(part) for part in words.split("…")))
    for words in re.findall(r"^\| ([^|]+) \|", section("Copies"), re.M)[2:]
]


def unexplained(explanation):
    """What an `Explanation` says without a reason that the page has."""
    found = [f"{s.name} is stored: {s.reason}" for s in explanation.stored if s.reason.split(":")[0] not in STORED]
    for place in explanation.temporaries:
        # Of the value that begins it; others lie there too, and have theirs.
        if place.reason.split(":")[0] not in STORED:
            found.append(f"{place.name} is kept: {place.reason}")
    found += [f"{a.first} and {a.second}: {a.reason}" for a in explanation.apart if a.reason.split(":")[0] not in APART]
    found += [
        f"{c.source} -> {c.destination}: {c.reason}"
        for c in explanation.copies
        if not any(words.match(c.reason) for words in COPIES)
    ]
    return found
