"""The linker: PyTensor asks it for something to call, and calls that.

`make_all` translates and compiles the whole FunctionGraph and hands PyTensor's Function a `vm` that is one C callable:
it reads the input cells, runs the machine code and returns the list of outputs. There are no thunks and no storage in
between.
"""

import time
from dataclasses import replace

from pytensor.link.basic import Container, JITLinker
from pytensor.link.utils import map_storage

from .. import progress
from ..choices import Choices
from . import failures, scan_rewrites
from .compiled import Compiled
from .found_sizes import WithFoundSizes
from .part_names import names_in
from .profile import Rows
from .scalar_results import with_scalar_results
from .translate import translate
from .translate.names import names_of_new_values


def vm_of(compiled, cells, storage_map, allow_gc):
    """What PyTensor's Function calls: it reads `cells` and has what PyTensor asks a vm for."""
    vm = compiled.program.vm(tuple(cells))
    vm.allow_gc = allow_gc
    vm.storage_map = storage_map
    vm.nodes = compiled.translation.nodes
    vm.position_of_error = 0
    vm.on_error = failures.Handler(vm, compiled.translation)
    vm.compiled = compiled
    return vm


def _nothing_shares(step, value, operand):
    return False


class InlayLinker(JITLinker):
    """Compiles a FunctionGraph into one native function."""

    required_rewrites = ("minimum_compile", scan_rewrites.TAG)
    incompatible_rewrites = (
        "cxx_only",
        "BlasOpt",
        "fusion",  # inlay fuses by itself, and more
        "inplace",  # and decides what shares memory
        "local_careduce_fusion",
        "local_uint_constant_indices",
        "scan_reduce_nsteps",  # where fewer steps are made than it counts on, it reads other rows than were asked for
        "scan_reduce_trace_prealloc",  # rooms for results that PyTensor's own loop would pass in
        "scan_save_mem_prealloc",  # as older versions name it; with the mode's own it would shorten a Scan twice
    )

    def __init__(self, *args, choices=Choices(), **kwargs):  # noqa: B008  (it is frozen)
        """`choices`: of `inlay.pytensor.mode`."""
        super().__init__(*args, **kwargs)
        self.given = choices
        self.without = frozenset()  # of "fusion" and "inplace", what the mode excludes
        self.profiled = False

    @property
    def choices(self):
        """Those that were given, but for what the mode excludes."""
        fuse = {"fuse": "none"} if "fusion" in self.without else {}
        may_share = {"may_share": _nothing_shares} if "inplace" in self.without else {}
        return replace(self.given, **fuse, **may_share)

    def accept(self, fgraph, no_recycling=None, profile=None):
        # PyTensor's own makes a second linker of this class for another graph, without its options.
        linker = self if self.fgraph in (None, fgraph) else type(self)(allow_gc=self.allow_gc, choices=self.choices)
        accepted = super(InlayLinker, linker).accept(fgraph, no_recycling, profile)
        accepted.profiled = bool(profile)
        return accepted

    def make_all(self, input_storage=None, output_storage=None, storage_map=None):
        start = time.perf_counter()
        fgraph = self.fgraph
        order = self.schedule(fgraph)
        input_storage, output_storage, storage_map = map_storage(
            fgraph, order, input_storage, output_storage, storage_map
        )

        def make(found, start=start):
            return self._vm(fgraph, order, input_storage, storage_map, found, start)

        try:
            vm = make(frozenset())
        finally:
            progress.done()
        if vm.compiled.translation.reasons:  # what runs as Python may return other sizes than its type says
            vm = WithFoundSizes(lambda found: make(found, time.perf_counter()), input_storage, vm)
        return (
            with_scalar_results(vm, fgraph.outputs),
            [Container(var, cell) for var, cell in zip(fgraph.inputs, input_storage, strict=True)],
            [Container(var, cell, readonly=True) for var, cell in zip(fgraph.outputs, output_storage, strict=True)],
            [],
            order,
        )

    def _vm(self, fgraph, order, input_storage, storage_map, found, start):
        """`found`: sizes that types say wrongly (OtherSizes)."""
        progress.now(f"inlay translates {len(order)} nodes")
        names = {**names_of_new_values(fgraph), **names_in(fgraph)}
        translation = translate(fgraph, order, found=found, names=names, choices=self.choices)
        translated = time.perf_counter() - start
        progress.now(f"inlay compiles {len(order)} nodes")
        profile = {"time_steps": True} if self.profiled else {}
        program = self.choices.compile(translation.graph, translation.bound, translation.host_calls, **profile)
        compiled = Compiled(program, translation, fgraph, translated, time.perf_counter() - start)
        vm = vm_of(compiled, input_storage, storage_map, self.allow_gc)
        if self.profiled:
            vm.update_profile = Rows(vm.compiled).update_profile
        return vm

    # What a JITLinker must have; `make_all` needs none of them.

    def fgraph_convert(self, fgraph, **kwargs):
        raise NotImplementedError("inlay compiles in make_all")

    def jit_compile(self, fn):
        raise NotImplementedError("inlay compiles in make_all")

    def create_thunk_inputs(self, storage_map):
        raise NotImplementedError("inlay makes no thunks")
