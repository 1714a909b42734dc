"""What PyTensor's rewriting costs the example models, by its passes: with all of `fast_run` that inlay can take, and with
what mode="INLAY" runs of it. Not a group of run.py: nothing is compared but the two.

    .venv/bin/python bench/rewriting.py [MODEL...]

Milliseconds of CPU for a model, the least of three, on average over the models, in a process that has rewritten before.
"""

import collections
import statistics
import sys
import time

from paths import EXAMPLES

sys.path.append(str(EXAMPLES / "models"))

import pytensor
import registry
from pytensor.compile.mode import Mode
from pytensor.graph.rewriting.basic import SequentialGraphRewriter
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

import inlay.pytensor
from inlay.pytensor.mode import DONE_BY_INLAY
from inlay.pytensor.scan_rewrites import TAG

ROUNDS = 3


def arguments_of_logp(name):
    """What PyMC passes to `pytensor.function` for logp and gradient."""
    model, compile_any, calls = registry.model(name), pytensor.function, []

    def remember(*args, **kwargs):
        calls.append((compile_any(*args, **kwargs), args, kwargs))
        return calls[-1][0]

    pytensor.function = remember
    compiled = model.logp_dlogp_function(ravel_inputs=True, mode="INLAY")._pytensor_function
    pytensor.function = compile_any
    return next((args, kwargs) for function, args, kwargs in calls if function is compiled)


def timed_passes(args, kwargs, mode):
    """Milliseconds by pass of the outermost sequence, and of all that compiling takes."""
    passes, depth = collections.Counter(), 0
    apply = SequentialGraphRewriter.apply

    def timed(sequence, fgraph):
        nonlocal depth
        if depth:
            return apply(sequence, fgraph)
        depth += 1
        for rewriter in sequence.data:
            started = time.process_time()
            rewriter.rewrite(fgraph)
            passes[rewriter.name] += 1e3 * (time.process_time() - started)
        depth -= 1

    SequentialGraphRewriter.apply = timed
    started = time.process_time()
    compiled = pytensor.function(*args, **{**kwargs, "mode": mode})
    everything = 1e3 * (time.process_time() - started)
    SequentialGraphRewriter.apply = apply
    return passes, everything, len(compiled.maker.fgraph.apply_nodes)


def main():
    names = sys.argv[1:] or registry.NAMES
    whole = RewriteDatabaseQuery(
        include=["fast_run", TAG], exclude=list(inlay.pytensor.InlayLinker.incompatible_rewrites)
    )
    modes = {"fast_run": Mode(inlay.pytensor.InlayLinker(), whole), "INLAY": inlay.pytensor.MODE}
    sums = {title: collections.Counter() for title in modes}
    nodes = {title: [] for title in modes}
    timed_passes(*arguments_of_logp(names[0]), modes["fast_run"])
    for name in names:
        args, kwargs = arguments_of_logp(name)
        for title, mode in modes.items():
            passes, everything, count = min((timed_passes(args, kwargs, mode) for _ in range(ROUNDS)), key=lambda r: r[1])
            passes["all of pytensor.function"] = everything
            sums[title].update(passes)
            nodes[title].append(count)
    order = sorted(set().union(*sums.values()), key=lambda p: -sums["fast_run"][p])
    print("| pass | " + " | ".join(f"{title}, ms" for title in modes) + " |\n| --- | --- | --- |")
    for name in order:
        figures = [sums[title][name] / len(names) for title in modes]
        if max(figures) >= 0.2:
            print(f"| `{name}` | " + " | ".join(f"{figure:.1f}" for figure in figures) + " |")
    print("| nodes left, mean | " + " | ".join(f"{statistics.fmean(nodes[title]):.0f}" for title in modes) + " |")
    print(f"\n{len(DONE_BY_INLAY)} rewrites are left out")


if __name__ == "__main__":
    main()
