"""PyTensor's tree of a function with inlay's view beside every value."""

import re
import sys

import pytensor

from .compiled import compiled_of, function_of

_NUMBER_OF_NODE = re.compile(r" (\d+)$")  # dprint ends the line of a node with its place in the order
_NUMBER_IN_LOCATION = re.compile(r" #(\d+)")


def dprint(fn, file=None):
    """Print PyTensor's tree of `fn` and, beside each value, where inlay keeps it: storage, bytes, what it took over,
    kernel.

    A value that exists only within a kernel is said to be in its registers.
    """
    compiled = compiled_of(fn)
    notes = _notes(compiled)
    out = sys.stdout if file is None else file
    lines = pytensor.dprint(function_of(fn), print_type=True, file="str").splitlines()
    width = max((len(line) for line in lines), default=0)
    for line in lines:
        number = _NUMBER_OF_NODE.search(line)
        note = notes.get(int(number[1])) if number else None
        print(f"{line:<{width}}  | {note}" if note else line, file=out)


def _notes(compiled):
    """Number of the node -> a few words about its value."""
    places, loops = {}, {}
    for place in compiled.program.value_places():
        number = _NUMBER_IN_LOCATION.search(place["location"])
        if number and place["role"] in ("output", "temporary", "host"):
            places[int(number[1])] = place  # the last buffer of a node is its result
        if number and place["role"] == "scalar" and place["kernel"].startswith("@"):
            loops[int(number[1])] = place["kernel"]  # a loop folds into it
    nodes = compiled.translation.nodes
    numbers = {node: number for number, node in enumerate(nodes)}
    kernels, notes = {}, {}
    for number in reversed(range(len(nodes))):
        place = places.get(number)
        loop = loops.get(number)
        if place is not None:
            kernels[number] = {loop or place["kernel"]}
            notes[number] = _in_memory(place | {"kernel": loop or place["kernel"]})
        elif loop is not None:
            kernels[number] = {loop}
            notes[number] = f"a register, folded in {loop}"
        else:
            # It lives where it is read.
            clients = [n for x in nodes[number].outputs for n, _ in compiled.fgraph.clients.get(x, ()) if n in numbers]
            kernels[number] = set().union(*(kernels[numbers[n]] for n in clients))
            notes[number] = "registers of " + ", ".join(sorted(kernels[number])) if kernels[number] else "scalar"
    return notes


def _in_memory(place):
    text = f"{place['storage'] or place['role']}, {place['bytes']} bytes"
    if place["took_over"]:
        text += f", {place['reason']} of {place['took_over']}"
    return f"{text}, {place['kernel']}" if place["kernel"] else text
