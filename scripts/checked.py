"""Which commit each part of scripts/check last passed at: tests/checked.json, one line for each part.

    scripts/checked.py show                                   when each part passed
    scripts/checked.py passed PART COMMIT SECONDS COUNTED     notes it, if the work tree is that commit

A part that has never passed has the commit that it was `added` after. What a random part passes is new each time: its
`in_all` is how much that is since the part exists.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys

MOST_COMMITS = 100  # without a pass of each part
FILE = "tests/checked.json"


def git(root, *arguments):
    """What git prints, or None where it fails."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def no_history(root):
    """Why commits cannot be counted here, or None."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None or not root.samefile(top) or git(root, "rev-parse", "HEAD") is None:
        return "this is no git repository"  # or an exported copy within one of somebody else's
    if git(root, "rev-parse", "--is-shallow-repository") == "true":
        return "this is a shallow clone"
    return None


def read(root):
    return json.loads((root / FILE).read_text())


def age(root, entry):
    """How many commits ago the part passed or was added; None: the commit is not in this history."""
    commit = entry.get("passed", entry.get("added"))
    if git(root, "merge-base", "--is-ancestor", commit, "HEAD") is None:
        return None
    return int(git(root, "rev-list", "--count", f"{commit}..HEAD"))


def overdue(root):
    """What is wrong with the parts that have not passed lately: one line each."""
    out = []
    for part, entry in read(root).items():
        commits = age(root, entry)
        verb = "passed" if "passed" in entry else "was added"
        if commits is None:
            out.append(f"{part} {verb} at {entry.get('passed', entry.get('added'))}, which is not in this history: scripts/check {part}")
        elif commits > MOST_COMMITS:
            out.append(f"{part} {verb} {commits} commits ago, and {MOST_COMMITS} are allowed: scripts/check {part}")
    return out


def in_all(earlier, counted):
    """How much a random part has passed since it exists, {} of another: a random part counts one thing, `4711 programs`."""
    number = re.fullmatch(r"(\d+) \w+", counted)
    return {"in_all": earlier.get("in_all", 0) + int(number[1])} if number else {}


def note(root, part, commit, seconds, counted):
    """Notes that `part` passed at `commit`; says why not, where the work tree is something else."""
    changed = [line for line in (git(root, "status", "--porcelain") or "").splitlines() if not line.endswith(" " + FILE)]
    if changed or git(root, "rev-parse", "HEAD") != commit:
        return "not noted: the work tree is not the commit that the part began with"
    parts = read(root)
    entry = {"passed": commit, "date": datetime.date.today().isoformat(), "seconds": seconds, "counted": counted}
    parts[part] = entry | in_all(parts.get(part, {}), counted)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(parts.items()))
    (root / FILE).write_text("{\n" + lines + "\n}\n")
    return f"noted in {FILE}"


def show(root):
    without = no_history(root)
    for part, entry in read(root).items():
        commits = None if without else age(root, entry)
        ago = "" if without else "not in this history; " if commits is None else f"{commits} commits ago; "
        if "passed" in entry:
            total = f", {entry['in_all']} in all" if "in_all" in entry else ""
            print(f"{part:15} {ago}{entry['date']}, {entry['seconds']} s, {entry['counted']}{total}")
        else:
            print(f"{part:15} never passed, added {ago}".rstrip("; "))


def main(root, command, *arguments):
    if command == "show":
        show(root)
    elif command == "passed":
        part, commit, seconds, counted = arguments
        print(note(root, part, commit, int(seconds), counted))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(pathlib.Path(__file__).resolve().parents[1], *sys.argv[1:])
