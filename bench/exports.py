"""Bytes of the arenas of twenty networks: ExecuTorch's default, inlay's planner alone, and with results in place.

    .venv-executorch/bin/python bench/exports.py [NAME...]

scripts/check makes that environment (part executorch).
"""

import copy
import math
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "executorch"))
warnings.simplefilter("ignore")

import inlay.executorch  # noqa: E402
import torch  # noqa: E402
from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.exir.passes import MemoryPlanningPass  # noqa: E402
from networks import NETWORKS, network  # noqa: E402


def bytes_of(edge, planning):
    program = copy.deepcopy(edge).to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))
    return sum(program.exported_program().graph_module.meta["non_const_buffer_sizes"])


def main(names):
    logs = []
    print(f"{'network':20}{'default':>12}{'planner':>12}{'in place':>12}{'ratio':>8}  smallest   ms  in place")
    for name in names or NETWORKS:
        module, arguments = network(name)
        edge = to_edge(torch.export.export(module, arguments, strict=False))
        default = bytes_of(edge, MemoryPlanningPass())
        alone = bytes_of(edge, inlay.executorch.MemoryPlanningPass(in_place=False))
        planning = inlay.executorch.MemoryPlanningPass()
        ours = bytes_of(edge, planning)
        report = planning.report.programs[-1]
        taken = sum(d.is_taken for d in report.decisions)
        proved = "yes" if report.plan.proved else "no"
        print(
            f"{name:20}{default:12}{alone:12}{ours:12}{ours / default:8.3f}  {proved:8}{1e3 * report.seconds:5.0f}{taken:10}",
            flush=True,
        )
        logs.append(math.log(ours / default))
    print(f"geometric mean of the ratios: {math.exp(sum(logs) / len(logs)):.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
