"""Memory planning for programs of ExecuTorch: smaller arenas, results in place, each plan proved.

    config = ExecutorchBackendConfig(memory_planning_pass=inlay.executorch.MemoryPlanningPass())

ExecuTorch is imported where one of these is asked for. What plans and what proves works without it.
"""

from .replay import WrongPlan
from .report import Report

__all__ = ["MemoryPlanningPass", "Report", "WrongPlan", "planner"]


def __getattr__(name):
    if name not in ("MemoryPlanningPass", "planner"):
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from . import release

    release.require()
    from . import planning

    return getattr(planning, name)
