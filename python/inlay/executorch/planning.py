"""The pass that plans the memory of an ExecuTorch program, and its algorithm by itself."""

import time
from dataclasses import replace

import torch
from executorch.exir.memory_planning import MemoryAlgoResult, SpecAllocResult
from executorch.exir.passes import MemoryPlanningPass as TheirPass
from executorch.exir.tensor import ALIGNMENT, TensorSpec

from .export import Export, copy_before, settle_specs
from .layout import Layouts
from .ops import Ops
from .program import stale_reads
from .replay import Replay
from .report import ProgramReport, Report


class MemoryPlanningPass(TheirPass):
    """Plans memory with inlay's planners, and lets results take over the bytes of operands.

        ExecutorchBackendConfig(memory_planning_pass=inlay.executorch.MemoryPlanningPass())

    `planner`, `budget_ms`: as of `inlay.plan`. `in_place`: whether results take over bytes of operands that nothing reads
    afterwards: those of pointwise ops (PyTorch's tag) and of inference batch norms; `add_ops` and `remove_ops` are names of
    further ops ("aten.index_put": over their first operand), and of those that shall not. `overwrite`: of "input" and
    "state" what may be overwritten too. The other arguments are those of ExecuTorch's pass.

    Every plan is replayed with contents before it is handed over. `report` says what was decided, and why.

    Errors: inlay.executorch.WrongPlan for a plan that is not right: a defect; ImportError for a release of ExecuTorch that
    lacks what is used of it.
    """

    def __init__(
        self,
        *,
        planner="search",
        budget_ms=None,
        in_place=True,
        add_ops=(),
        remove_ops=(),
        overwrite=(),
        alloc_graph_input=True,
        alloc_graph_output=True,
        alloc_mutable_buffers=True,
        share_mutable_buffers=False,
        alignment=ALIGNMENT,
    ):
        unknown = set(overwrite) - {"input", "state"}
        if unknown:
            raise ValueError(f"overwrite: {', '.join(sorted(unknown))} cannot be overwritten; input and state can")
        self.algorithm = _Algorithm(planner, budget_ms, in_place, Ops(add_ops, remove_ops), overwrite)
        super().__init__(
            self.algorithm,
            # Where a TensorSpec cannot say whose bytes it shares, their verifier (for logging) has to take any overlap.
            allow_lifetime_and_storage_overlap=not hasattr(TensorSpec(torch.float32, torch.Size([1])), "storage_base"),
            alloc_graph_input=alloc_graph_input,
            alloc_graph_output=alloc_graph_output,
            alloc_mutable_buffers=alloc_mutable_buffers,
            share_mutable_buffers=share_mutable_buffers,
            alignment=alignment,
        )

    @property
    def report(self):
        return self.algorithm.report

    @property
    def programs(self):
        """What was read of the last program, its bodies of control flow first, as inlay.executorch.program has it."""
        return [export.program for export in self.algorithm.exports.values()]

    def _set_alloc_node_spec(self, graph_module):
        super()._set_alloc_node_spec(graph_module)
        settle_specs(graph_module)
        self.algorithm.start(graph_module, copy_what_went_stale(graph_module))

    def run(self, graph_module, graph_signature=None):
        result = super().run(graph_module, graph_signature)
        self.algorithm.prove(graph_module, graph_signature)
        return result


def planner(name="search", *, budget_ms=None):
    """inlay's planner as an algorithm for ExecuTorch's `MemoryPlanningAlgorithmSuite([planner()])`, without results in place.

    `name`, `budget_ms`: as of `inlay.plan`.
    """
    algorithm = _Algorithm(name, budget_ms, False, Ops(), ())

    def inlay(alignment, specs, graph_module, graph_signature, extra_padding=0):
        return algorithm.result(alignment, list(specs), graph_module, graph_signature, extra_padding)

    return inlay


def copy_what_went_stale(graph_module):
    """Names of the steps that work on a copy: each was made in-place, and its operand is read later, maybe through a view
    that was a copy then."""
    copied = []
    while stale := stale_reads(Export(graph_module, None, Ops()).program):
        mutation = stale[0].name
        if mutation in copied:
            break  # what proves the plan says more
        copy_before(graph_module, [mutation])
        copied.append(mutation)
    return copied


class _Algorithm:
    """As MemoryPlanningPass calls it: for each body of control flow, then for the program."""

    def __init__(self, planner, budget_ms, in_place, ops, overwrite):
        self.options = {"planner": planner, "budget_ms": budget_ms, "in_place": in_place, "overwrite": overwrite}
        self.ops, self.report = ops, Report()
        self.start(None, [])

    def start(self, graph_module, copied):
        """What is said of one program ends where the next begins."""
        self.exports, self.layouts, self.copied = {}, Layouts(**self.options), copied
        modules = graph_module.named_modules() if graph_module is not None else ()
        self.names = {id(module): name or "program" for name, module in modules}

    def __call__(self, alignment, specs, graph_module, graph_signature, extra_padding=0):
        result = self.result(alignment, list(specs), graph_module, graph_signature, extra_padding)
        for spec, found in result.spec_dict.items():
            spec.mem_id, spec.mem_obj_id, spec.mem_offset = found.mem_id, found.mem_obj_id, found.mem_offset
        self._say_bases(self.exports[id(graph_module)])
        return result.bufsizes

    def result(self, alignment, specs, graph_module, graph_signature, extra_padding):
        began = time.perf_counter()
        for spec in specs:
            spec.realign(alignment)
        to_plan = {id(spec) for spec in specs}
        export = Export(graph_module, graph_signature, self.ops, to_plan, self.name_of(graph_module), self.exports)
        export.add(specs)
        self.exports[id(graph_module)] = export
        has_bodies = any(step.bodies for step in export.program.steps)
        layout = self.layouts.plan(export.program, alignment, {} if has_bodies else _reserved(graph_module))
        out = MemoryAlgoResult(_places(export, layout), [])
        planned = [body for body in export.all_bodies() if id(body.program) in self.layouts.found]
        for body in planned:  # they have been moved
            for spec, found in _places(body, self.layouts.found[id(body.program)]).items():
                spec.mem_offset = found.mem_offset
        padded = {pool: size + extra_padding for pool, size in layout.bytes.items()}
        out.bufsizes = [0] + [padded.get(pool, 0) for pool in range(1, max([1, *padded]) + 1)]
        self._say(export, layout, time.perf_counter() - began)
        return out

    def _say_bases(self, export):
        """For ExecuTorch's verifier: these share bytes on purpose."""
        for result, operand in self.layouts.found[id(export.program)].operand.items():
            if hasattr(export.specs[result], "storage_base"):
                export.specs[result].storage_base = export.specs[operand]

    def name_of(self, graph_module):
        return self.names.get(id(graph_module), "program")

    def _say(self, export, layout, seconds):
        names = {f"s{number}": storage.name for number, storage in enumerate(export.program.storages)}
        storages = [replace(s, name=names.get(s.name, s.name), base=names.get(s.base)) for s in layout.plan.storages]
        plan = replace(layout.plan, storages=storages)
        self.report.programs.append(ProgramReport(export.program.name, plan, seconds, layout.decisions, self.copied))

    def prove(self, graph_module, signature):
        """From the places that the specs have in the end. Raises WrongPlan."""
        top = Export(graph_module, signature, self.ops, name=self.name_of(graph_module))
        exports = {id(export.program): export for export in [top, *top.all_bodies()]}

        def place_of(program, storage):
            spec = exports[id(program)].specs[storage]
            return None if spec.mem_offset is None else (spec.mem_id, spec.mem_offset)

        Replay(place_of).run(top.program)


def _places(export, layout):
    """By spec. What shares bytes is one object."""
    places, objects = {}, {}
    placed = [
        (s.pool, o, s.bytes, spec)
        for s, o, spec in zip(export.program.storages, layout.offsets, export.specs, strict=True)
        if o is not None
    ]
    for pool, offset, size, spec in sorted(placed, key=lambda place: place[:2]):
        number, end = objects.get(pool, (-1, offset))
        number += offset >= end
        objects[pool] = (number, max(end, offset + size))
        places[spec] = SpecAllocResult(pool, number, offset)
    return places


def _reserved(graph_module):
    """By pool, what somebody says is taken at the beginning."""
    sizes = getattr(graph_module, "input_mem_buffer_sizes", None) or []
    return {pool: size for pool, size in enumerate(sizes) if pool and size}
