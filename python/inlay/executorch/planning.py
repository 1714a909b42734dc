"""The pass that plans the memory of an ExecuTorch program, and its algorithm by itself."""

import time
from dataclasses import replace

import torch
from executorch.exir.memory_planning import MemoryAlgoResult, SpecAllocResult
from executorch.exir.passes import MemoryPlanningPass as TheirPass
from executorch.exir.tensor import ALIGNMENT, TensorSpec

from .export import Export
from .layout import Layouts
from .ops import Ops
from .replay import Replay, WrongPlan
from .report import ProgramReport, Report
from .rewrite import give_bytes, leave_to_us, settle_specs


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
        self._signature = None
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
        leave_to_us(graph_module)
        self.algorithm.start(graph_module, *give_bytes(graph_module, self._signature, self.algorithm.ops))

    def run(self, graph_module, graph_signature=None):
        self._signature = graph_signature
        result = super().run(graph_module, graph_signature)
        self.algorithm.prove(graph_module, graph_signature)
        return result


def planner(name="search", *, budget_ms=None):
    """inlay's planner as an algorithm for ExecuTorch's `MemoryPlanningAlgorithmSuite([planner()])`, without results in place.

    `name`, `budget_ms`: as of `inlay.plan`.

    Bodies of control flow lie where the suite has them. Errors: WrongPlan where they cannot, as with two branches one after
    the other, whose second one would write over the result of the first: MemoryPlanningPass plans such programs.
    """

    def inlay(alignment, specs, graph_module, graph_signature, extra_padding=0):
        algorithm = _Algorithm(name, budget_ms, False, Ops(), ())
        return algorithm.beside_others(alignment, list(specs), graph_module, graph_signature, extra_padding)

    return inlay


class _Algorithm:
    """As MemoryPlanningPass calls it: for each body of control flow, then for the program."""

    def __init__(self, planner, budget_ms, in_place, ops, overwrite):
        self.options = {"planner": planner, "budget_ms": budget_ms, "in_place": in_place, "overwrite": overwrite}
        self.ops, self.report = ops, Report()
        self.start()

    def start(self, graph_module=None, rewritten=(), export=None):
        """What is said of one program ends where the next begins."""
        self.exports, self.layouts, self.rewritten = {}, Layouts(**self.options), rewritten
        modules = graph_module.named_modules() if graph_module is not None else ()
        self.names = {id(module): name or "program" for name, module in modules}
        bodies = export.all_bodies() if export is not None else ()
        # What a body's input is bound to is known before the body is planned.
        self.bound = {id(body.specs[storage]) for body in bodies for storage in body.program.storages_of_others()}

    def __call__(self, alignment, specs, graph_module, graph_signature, extra_padding=0):
        """For each device once: bodies run on the CPU, for which ExecuTorch says how much they need."""
        to_plan = [spec for spec in specs if id(spec) not in self.bound]
        export = self._read(alignment, to_plan, graph_module, graph_signature)
        bodies = export.all_bodies() if _reserved(graph_module) else []
        layout = self._plan(export, alignment, with_bodies=bool(bodies))
        for each, found in [(export, layout), *((b, self.layouts.found.get(id(b.program))) for b in bodies)]:
            for spec, place in _places(each, found).items() if found else ():  # bodies have been moved
                spec.mem_id, spec.mem_obj_id, spec.mem_offset = place.mem_id, place.mem_obj_id, place.mem_offset
        self._say_bases(export)
        return _sizes(layout, extra_padding)

    def beside_others(self, alignment, specs, graph_module, graph_signature, extra_padding):
        """Changes no spec: another algorithm may be the better one."""
        export = self._read(alignment, specs, graph_module, graph_signature)
        layout = self._plan(export, alignment, with_bodies=False, reserved=_reserved(graph_module))
        Replay(_places_of([export, *export.all_bodies()], self.layouts)).run(export.program)
        return MemoryAlgoResult(_places(export, layout), _sizes(layout, extra_padding))

    def _read(self, alignment, specs, graph_module, graph_signature):
        for spec in specs:
            spec.realign(alignment)
        to_plan, name = {id(spec) for spec in specs}, self.names.get(id(graph_module), "program")
        export = Export(graph_module, graph_signature, self.ops, to_plan, name, self.exports)
        export.add(specs)
        self.exports[id(graph_module)] = export
        return export

    def _plan(self, export, alignment, **bodies):
        began = time.perf_counter()
        layout = self.layouts.plan(export.program, alignment, **bodies)
        self._say(export, layout, time.perf_counter() - began)
        return layout

    def _say_bases(self, export):
        """For ExecuTorch's verifier: these share bytes on purpose."""
        for result, operand in self.layouts.found[id(export.program)].operand.items():
            if hasattr(export.specs[result], "storage_base"):
                export.specs[result].storage_base = export.specs[operand]

    def _say(self, export, layout, seconds):
        names = {f"s{number}": storage.name for number, storage in enumerate(export.program.storages)}
        storages = [replace(s, name=names.get(s.name, s.name), base=names.get(s.base)) for s in layout.plan.storages]
        plan = replace(layout.plan, storages=storages)
        self.report.programs.append(ProgramReport(export.program.name, plan, seconds, layout.decisions, self.rewritten))

    def prove(self, graph_module, signature):
        """From the places that the specs have in the end. Raises WrongPlan."""
        top = Export(graph_module, signature, self.ops)
        exports = [top, *top.all_bodies()]
        sizes = graph_module.meta["non_const_buffer_sizes"]
        for export in exports:
            for spec, storage in zip(export.specs, export.program.storages, strict=True):
                if spec.mem_offset is not None and spec.mem_offset + storage.bytes > sizes[spec.mem_id]:
                    raise WrongPlan(f"{storage.name} ends behind the {sizes[spec.mem_id]} bytes of pool {spec.mem_id}")
        Replay(_places_of(exports)).run(top.program)


def _places_of(exports, layouts=None):
    """As Replay wants it: of the programs that have a layout its places, of others those that their specs have."""
    specs = {id(export.program): export.specs for export in exports}

    def place_of(program, storage):
        if layouts and id(program) in layouts.found:
            return layouts.place_of(program, storage)
        spec = specs[id(program)][storage]
        return None if spec.mem_offset is None else (spec.mem_id, spec.mem_offset)

    return place_of


def _sizes(layout, extra_padding):
    padded = {pool: size + extra_padding for pool, size in layout.bytes.items()}
    return [0] + [padded.get(pool, 0) for pool in range(1, max([1, *padded]) + 1)]


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
