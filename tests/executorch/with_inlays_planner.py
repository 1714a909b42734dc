"""A plugin for pytest: ExecuTorch's own tests with inlay's planner in the place of `greedy`."""

import executorch.exir.memory_planning as theirs
import inlay.executorch

ours = inlay.executorch.planner()


def greedy(alignment, specs, graph_module, graph_signature, extra_padding=0, *, allow_overlapping_allocations=True):
    return ours(alignment, specs, graph_module, graph_signature, extra_padding)


theirs.greedy = greedy
