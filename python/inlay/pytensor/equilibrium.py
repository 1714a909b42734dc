"""PyTensor's rewriting until nothing changes, in inlay's mode: a node is tried again where something near it changed.

PyTensor tries every rewrite on every node of a graph, and all of that again until a pass over the whole graph has changed
nothing: of the four passes over a model's graph the last three find little or nothing. What a rewrite does to a node
depends on what the node is computed of, on what is computed of it, and on how many read these. So after the first pass
only those nodes are tried that are above or below a node that has changed, or has lost a reader, since they were tried
last: first those a few steps away, and where nothing comes of it the others. The rewrites and their order are PyTensor's.

A node equal to one that was rewritten before, and is no more, is replaced by what that one has become. In a loop that is
unrolled in Python, where each step reads the one before twice, PyTensor would rewrite 2^n copies of the first.

Which rewrites an op has is found once for all graphs, and what is constant is computed in Python: PyTensor would compile
C for a graph within a graph, which is then used once.

`EquilibriumDB.eq_rewriter_class` is PyTensor's own place for such a class. Where inlay's mode is not the current one it
does what PyTensor's does. With PyTensor 2, whose rewrites make other graphs of some models in this order, all nodes are
tried in each pass. With INLAY_QUICKER=0 the class is PyTensor's own.
"""

import os
import threading
from collections import Counter
from functools import lru_cache

import numpy as np
import pytensor
from pytensor import config
from pytensor.compile.mode import get_mode, optdb
from pytensor.graph.basic import Constant
from pytensor.graph.features import Feature
from pytensor.graph.fg import Output
from pytensor.graph.rewriting.basic import EquilibriumGraphRewriter

from .linker import InlayLinker

# A change of flags sets again what there was before: of two threads that change one, the later could set what the other
# had changed, for good.
_flags = threading.RLock()


def _renew_flags():
    """Of a child: the thread that held it is not there."""
    global _flags
    _flags = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_flags)

KNOWS_ORDER = int(pytensor.__version__.split(".")[0]) >= 3
_FEW_STEPS = 3  # as far as most rewrites look
_MOST_OPS, _MOST_TRACKERS = 1000, 100  # that are remembered: ops hold graphs, and a process may make them without end
_MOST_PASSES = 8  # with more, one change makes way for the next along a chain: then it is followed within one pass


class NearChanges(EquilibriumGraphRewriter):
    """Tries again, in inlay's mode, what is near a change."""

    _trackers = {}  # rewrites -> which of them an op has; every query of a database makes a rewriter of the same ones

    def __init__(self, rewriters, *args, **kwargs):
        rewriters = tuple(rewriters)  # which may be an iterator, and is passed over twice
        super().__init__(rewriters, *args, **kwargs)
        if hasattr(self, "node_tracker"):
            self.node_tracker = self._shared(rewriters, self.node_tracker)

    @classmethod
    def _shared(cls, rewriters, tracker):
        known = cls._trackers.get(rewriters)
        if known is not None:
            return known
        if hasattr(tracker, "_get_trackers"):  # PyTensor's own memory of its results has no end
            tracker.get_trackers = lru_cache(_MOST_OPS)(tracker._get_trackers)
        if len(cls._trackers) >= _MOST_TRACKERS:
            cls._trackers.clear()
        cls._trackers[rewriters] = tracker
        return tracker

    def apply(self, fgraph, start_from=None):
        is_inlays = isinstance(get_mode(config.mode).linker, InlayLinker)
        if not is_inlays or start_from is not None or config.profile_optimizer:
            return super().apply(fgraph, start_from)
        changes = _Changes(not self.ignore_newtrees, self.tracks_on_change_inputs)
        fgraph.attach_feature(changes)
        try:
            # Traces as where PyTensor compiles. PyMC rewrites before that too, and they would end in PyTensor's files.
            with _flags, config.change_flags(traceback__limit=config.traceback__compile_limit, cxx=""):
                has_ended = self._apply_near(fgraph, changes)
        finally:
            fgraph.remove_feature(changes)
        return None if has_ended else super().apply(fgraph)  # which says what goes on and on

    def _apply_near(self, fgraph, changes):
        """False where a rewrite was used more often than there is reason to."""
        uses = Counter()  # of each rewrite, by its identity: they are slow to hash
        most_nodes = len(fgraph.apply_nodes)
        passes = 0
        while True:
            has_changed = self._apply_to_graph(self.global_rewriters, fgraph, changes, uses)
            has_changed |= self._apply_to_graph(self.cleanup_rewriters, fgraph, changes)
            order = fgraph.toposort()
            most_nodes = max(most_nodes, len(order))
            finds = (changes.next_to, changes.to_try) if KNOWS_ORDER else (list,)
            has_rewritten = any(self._apply_to_nodes(find(order), fgraph, changes, uses) for find in finds)
            has_changed |= has_rewritten
            passes += 1
            while KNOWS_ORDER and has_rewritten and passes > _MOST_PASSES and not self._is_too_much(uses, most_nodes):
                has_rewritten = self._apply_to_nodes(changes.next_to(fgraph.toposort(), 1), fgraph, changes, uses)
            has_changed |= self._apply_to_graph(self.final_rewriters, fgraph, changes, uses)
            has_changed |= self._apply_to_graph(self.cleanup_rewriters, fgraph, changes)
            if self._is_too_much(uses, most_nodes):
                return False
            if not has_changed:
                return True

    def _is_too_much(self, uses, nodes):
        return max(uses.values(), default=0) > nodes * self.max_use_ratio

    def _apply_to_graph(self, rewriters, fgraph, changes, uses=None):
        """`uses`: where they are counted; PyTensor cleans up as often as there is something to clean."""
        count = changes.count
        for rewriter in rewriters:
            before = changes.count
            rewriter.apply(fgraph)
            if uses is not None:
                uses[id(rewriter)] += changes.count > before
        return changes.count > count

    def _apply_to_nodes(self, order, fgraph, changes, uses):
        """From the outputs on, as PyTensor does; what a rewrite has made is next."""
        queue = changes.queue = order
        alive, has_changed = fgraph.apply_nodes, False
        while queue:
            node = changes.current = queue.pop()
            if node not in alive:
                continue
            start = changes.time
            if KNOWS_ORDER and changes.replace_by_known(fgraph, node):
                has_changed = True
                self._apply_to_graph(self.cleanup_rewriters, fgraph, changes)
                continue
            for rewriter in self.node_tracker.get_trackers(node.op):
                if not self.process_node(fgraph, node, rewriter, enforce_tracks=False):
                    continue
                has_changed = True
                uses[id(rewriter)] += 1
                self._apply_to_graph(self.cleanup_rewriters, fgraph, changes)
                if node not in alive:
                    break
            changes.tried[node] = start
        changes.queue = changes.current = None
        return has_changed


class _Changes(Feature):
    """What has changed of a graph; a node that a rewrite makes has the trace of the node that it was made for."""

    def __init__(self, are_new_tried, are_changed_tried):
        self.are_new_tried, self.are_changed_tried = are_new_tried, are_changed_tried
        self.count = 0
        self.time = 0  # goes on with each change, and each loss of a reader
        self.changed = {}  # node -> when it changed last
        self.recent = set()  # those that did since `next_to` was asked
        self.tried = {}  # node -> when all rewrites were tried on it last
        self.seen = {}  # (op, operands) -> the results of the first node of these, which may be no more
        self.firsts = {}  # a result of a later one -> that of the first
        self.became = {}  # what was replaced -> by what
        self.queue = self.current = None  # within a pass over nodes: those that come, and that one

    def clone(self):
        """Of a copy of the graph, whose nodes are others."""
        return _Changes(self.are_new_tried, self.are_changed_tried)

    def next_to(self, order, steps=_FEW_STEPS):
        """Of a topological order, the nodes a few steps above or below what has changed since this was asked last, and
        since they were tried. At first all."""
        if not self.tried:
            self.recent.clear()
            return list(order)
        above = below = {node: self.changed[node] for node in self.recent}
        self.recent.clear()
        latest = [dict(above), dict(above)]
        for _ in range(steps):
            above = self._later(latest[0], above, lambda node: [var.owner for var in node.inputs])
            below = self._later(latest[1], below, self._users)
        return [node for node in order if self.tried.get(node, -1) < max(times.get(node, 0) for times in latest)]

    def _users(self, node):
        return [user for var in node.outputs for user, _ in self.clients.get(var, ())]

    @staticmethod
    def _later(times, front, step):
        """Takes times one step on; those of `times` that it makes later."""
        found = {}
        for node, time in front.items():
            for other in step(node):
                if other is not None and times.get(other, 0) < time:
                    times[other] = found[other] = time
        return found

    def to_try(self, order):
        """Of a topological order, the nodes above or below which something has changed since they were tried."""
        above, below = {None: 0}, {None: 0}  # node -> when it, or what it is computed of, or for, changed last
        changed, tried = self.changed.get, self.tried.get
        for node in order:
            above[node] = max([changed(node, 0), *[above[var.owner] for var in node.inputs]])
        for node in reversed(order):
            latest = below[node] = max(below.get(node, 0), changed(node, 0))
            for var in node.inputs:
                if below.get(var.owner, 0) < latest:
                    below[var.owner] = latest
        return [node for node in order if tried(node, -1) < max(above[node], below[node])]

    def replace_by_known(self, fgraph, node):
        """Where an equal node has been rewritten: by what that one has become."""
        firsts = [self.firsts.get(var, var) for var in node.outputs]
        if any(var in fgraph.variables for var in firsts):
            return False
        pairs = [(var, self._now(fgraph, first)) for var, first in zip(node.outputs, firsts, strict=True)]
        if not all(by is not None and var.type.is_super(by.type) for var, by in pairs):
            return False
        if _is_above(node, [by for _, by in pairs]):
            return False
        fgraph.replace_all_validate(pairs, reason="equal to what was rewritten")
        return True

    def _now(self, fgraph, var):
        """What a variable that was replaced has become."""
        for _ in range(100):
            if var is None or var in fgraph.variables:
                return var
            var = self.became.get(var)
        return None

    def _operand(self, var):
        if isinstance(var, Constant) and isinstance(var.data, np.ndarray) and var.data.size == 1:
            return var.type, var.data.tobytes()
        return self.firsts.get(var, var)

    def _see(self, node):
        firsts = self.seen.setdefault((node.op, *map(self._operand, node.inputs)), node.outputs)
        if firsts is not node.outputs:
            self.firsts.update(zip(node.outputs, firsts, strict=True))

    def on_attach(self, fgraph):
        self.clients = fgraph.clients
        for node in fgraph.toposort():
            self._see(node)

    def on_import(self, fgraph, node, reason):
        self._see(node)
        self._tell(node, self.are_new_tried)
        if self.current is not None:
            trace = next((out.tag.trace for out in self.current.outputs if getattr(out.tag, "trace", None)), None)
            for out in node.outputs:
                if trace and not getattr(out.tag, "trace", None):
                    out.tag.trace = trace

    def on_change_input(self, fgraph, node, i, old, new, reason=None):
        self.became[old] = new
        self._tell(node, self.are_changed_tried)

    def on_prune(self, fgraph, node, reason):
        self.time += 1
        for var in node.inputs:
            if var.owner is not None:
                self._note(var.owner)

    def _note(self, node):
        self.changed[node] = self.time
        self.recent.add(node)

    def _tell(self, node, is_tried):
        self.count += 1
        if isinstance(node.op, Output):
            return
        self.time += 1
        self._note(node)
        if is_tried and self.queue is not None and node is not self.current:
            self.queue.append(node)


def _is_above(node, variables):
    """Are any of these computed of the node?"""
    seen, todo = set(), [var.owner for var in variables]
    while todo:
        at = todo.pop()
        if at is node:
            return True
        if at is not None and at not in seen:
            seen.add(at)
            todo.extend(var.owner for var in at.inputs)
    return False


def register_equilibrium():
    for name in ("canonicalize", "stabilize", "specialize"):
        db = optdb[name]
        if getattr(db, "eq_rewriter_class", None) is EquilibriumGraphRewriter:
            db.eq_rewriter_class = NearChanges
