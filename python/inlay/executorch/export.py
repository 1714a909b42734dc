"""What an exported graph says, as a Program, and what a layout says, back in the graph."""

import collections
import operator

import torch
from executorch.exir import memory
from executorch.exir.memory_planning import get_node_tensor_specs
from executorch.exir.operator.convert import get_out_args_from_opoverload, is_out_variant
from executorch.exir.tensor import TensorSpec
from torch.export.graph_signature import InputKind, OutputKind

from .ops import overload_of
from .program import Program, Step, Storage, Value
from .replay import WrongPlan


class Export:
    """One graph, read: `program`, and `specs`, by storage the TensorSpec that has its place. `planned`: by their ids those that
    have one; None: all. `known`: Exports of bodies that have been read, by the ids of their graphs."""

    def __init__(self, graph_module, signature, ops, planned=None, name="program", known=None):
        self.graph_module, self.signature, self.ops, self.planned = graph_module, signature, ops, planned
        self.program, self.specs = Program(name), []
        self.bodies, self.known = [], known or {}
        self._storage = {}  # by id of a spec
        self._values = {}  # by node: the numbers of its values
        self._latest = {}  # by storage: the value that was written there last
        self.nodes = collections.defaultdict(list)  # by value: those that it is passed on by
        for self.time, node in enumerate(graph_module.graph.nodes):
            self._read(node)
            for value in self._values.get(node, ()):
                self.nodes[value].append(node)
        for step in self.program.steps:
            for value in step.writes if step.is_branch else ():
                # It is what a branch left. ExecuTorch wants a place for each output all the same.
                storage = self.program.storages[self.program.storage_of(value)]
                storage.is_planned = storage.is_planned and storage.is_output

    def add(self, specs):
        """What is to be planned too, though no step reads or writes it: for the nodes between which it says to live."""
        for spec in specs:
            if id(spec) not in self._storage:
                begin, end = spec.lifetime
                life = (0, 0) if begin is None else (begin, end + 1)
                self._add_storage(spec, f"spec {len(self.specs)}", life=life)
        for spec, storage in zip(self.specs, self.program.storages, strict=True):
            base = getattr(spec, "storage_base", None)
            if base is not None and id(base) in self._storage:
                storage.base, storage.base_offset = self._storage[id(base)], spec.storage_base_offset

    def _read(self, node):
        if node.op == "placeholder":
            self._values[node] = [
                self._value(node, spec, self._kind(node, spec)) for spec in get_node_tensor_specs(node)
            ]
            self.program.inputs += self._values[node]
        elif node.op == "get_attr":
            specs = get_node_tensor_specs(node)
            self._values[node] = [self._value(node, spec, "constant") for spec in specs]
            self.program.inputs += self._values[node]
        elif node.op == "output":
            reads = self._read_values(node.args)
            for value in reads:
                self.program.storages[self.program.storage_of(value)].is_output = True
            self._read_finals(node)
            self.program.steps.append(Step("output", "output", self.time, reads, kind="output"))
        elif node.target is memory.alloc:
            self._values[node] = []  # what is written there is a value
        elif node.target is memory.free:
            self._values[node] = []  # no reader
        elif node.target is operator.getitem:
            self._values[node] = self._items(node)
        else:
            self._step(node)

    def all_bodies(self):
        return [each for body in self.bodies for each in (body, *body.all_bodies())]

    def _items(self, node):
        """Found by its spec: an op may leave out one of its results. Where the results are a list they are picked from
        what was allocated for them."""
        whole, spec = node.args[0], node.args[0].meta["spec"][node.args[1]]
        if not isinstance(spec, TensorSpec):
            return []
        storage = self._storage.get(id(spec))
        values = [self._latest.get(storage)] if whole.target is memory.alloc else self._values[whole]
        found = [value for value in values if value is not None and self.program.storage_of(value) == storage]
        if not found:
            raise WrongPlan(f"{node.name} picks from {whole.name} what no step has written")
        return found

    def _read_finals(self, output):
        """What the next call finds in the states: what is an output and has been written there, or what was there before.
        (The names in the signature may be in another order than the outputs.)"""
        given = [node.target for node in self.graph_module.graph.nodes if node.op == "placeholder"]
        if self.signature is None or given != [said.arg.name for said in self.signature.input_specs]:
            return  # ExecuTorch also gives bodies the signature of the program around them
        for value in self.program.inputs:
            storage = self.program.storages[self.program.storage_of(value)]
            storage.final = value if storage.kind == "state" else None
        results = output.args[0] if isinstance(output.args[0], (list, tuple)) else (output.args[0],)
        for said, result in zip(self.signature.output_specs, results, strict=False):
            if said.kind == OutputKind.BUFFER_MUTATION and isinstance(result, torch.fx.Node):
                (value,) = self._values[result]
                storage = self.program.storages[self.program.storage_of(value)]
                if storage.kind == "state":
                    storage.final = value

    def _step(self, node):
        outs = self._outs(node)
        reads = self._read_values([node.args, {k: v for k, v in node.kwargs.items() if k not in outs}])
        step = Step(node.name, _name_of(node.target), self.time, reads)
        if node.target is memory.view:
            step.kind = "view"
            base = reads[0]
            step.writes = [self._value(node, node.meta["spec"], storage=self.program.storage_of(base))]
        elif mutated := mutated_arguments(node):
            self._mutate(node, step, mutated)
        else:
            step.writes = [self._value(node, spec) for spec in get_node_tensor_specs(node)]
            step.in_place = self._in_place(node, step)
        self._values[node] = list(step.writes)
        bodies = self._bodies(node)
        self.bodies += bodies
        step.bodies = [body.program for body in bodies]
        if step.reads or step.writes:
            self.program.steps.append(step)

    def _in_place(self, node, step):
        positions, said = self._positions(node), may_write_over(node)
        over = self.ops.in_place(node, step, positions)
        return over if said not in positions else {**over, 0: sorted({*over.get(0, ()), positions[said]})}

    def _mutate(self, node, step, mutated):
        step.kind = "mutation"
        step.writes = [self._value(node, arg.meta["spec"], storage=self._storage_of(arg)) for arg in mutated.values()]
        positions = self._positions(node)
        over = self.ops.in_place(node, step, positions)
        step.in_place = {
            write: sorted({positions[index], *over.get(write, ())})
            for write, index in enumerate(mutated)
            if index in positions
        }
        if overload_of(node.target) is torch.ops.aten.copy_.default:  # what was there is not read, element by element
            step.reads, step.in_place = step.reads[1:], {0: [0]}

    def _positions(self, node):
        """By argument that is a node, by its number or name, the position of its value among the reads."""
        positions, at, outs = {}, 0, self._outs(node)
        for index, argument in [*enumerate(node.args), *((k, v) for k, v in node.kwargs.items() if k not in outs)]:
            for each in _nodes([argument]):
                if index not in positions and self._values.get(each):
                    positions[index] = at
                at += len(self._values.get(each, ()))
        return positions

    def _outs(self, node):
        return get_out_args_from_opoverload(overload_of(node.target)) if _is_out_variant(node.target) else ()

    def _read_values(self, arguments):
        nodes = _nodes(arguments)
        for node in nodes:
            if get_node_tensor_specs(node) and not self._values.get(node):
                raise WrongPlan(f"{node.name} is read, and no step has written it")
        return [value for node in nodes for value in self._values.get(node, ())]

    def _storage_of(self, node):
        return self.program.storage_of(self._values[node][0])

    def _kind(self, node, spec):
        if spec.const and not node.meta.get("weight_has_gradient", False):
            return "constant"
        if self.signature is None:
            return "input"
        # What is neither constant nor given by the caller is kept from call to call: buffers, weights with a gradient.
        said = [x.kind for x in self.signature.input_specs if getattr(x.arg, "name", None) == node.target]
        return "input" if InputKind.USER_INPUT in said or not said else "state"

    def _value(self, node, spec, kind="temporary", storage=None):
        if storage is None:
            storage = self._storage.get(id(spec))
        if storage is None:
            is_planned = kind != "constant" and (self.planned is None or id(spec) in self.planned)
            storage = self._add_storage(spec, node.name, kind=kind, is_planned=is_planned)
        dtype = str(spec.dtype).removeprefix("torch.")
        self.program.values.append(Value(node.name, storage, _dims(node, spec), dtype, tuple(map(int, spec.dim_order))))
        self._latest[storage] = len(self.program.values) - 1
        return self._latest[storage]

    def _add_storage(self, spec, name, **facts):
        number = self._storage[id(spec)] = len(self.program.storages)
        pool = spec.mem_id if isinstance(spec.mem_id, int) else 1
        self.program.storages.append(Storage(name, _bytes(spec), pool=pool, **facts))
        self.specs.append(spec)
        return number

    def _bodies(self, node):
        found = []
        for argument in _nodes(node.args):
            body = getattr(self.graph_module, argument.target, None) if argument.op == "get_attr" else None
            if not isinstance(body, torch.fx.GraphModule):
                continue
            export = self.known.get(id(body)) or Export(body, None, self.ops, name=argument.target, known=self.known)
            self._bind(node, export)
            found.append(export)
        return found

    def _bind(self, node, export):
        """A branch is given the operands themselves. Of a loop's body some inputs have parts of them, in turn."""
        body = export.program
        inputs = [value for value in body.inputs if body.storages[body.storage_of(value)].kind != "constant"]
        bound, carried = self._bindings(node, inputs)
        body.bound, body.carried = ([to.get(value, -1) for value in body.inputs] for to in (bound, carried))
        for storage in body.storages_of_others():
            body.storages[storage].is_planned = False

    def _bindings(self, node, inputs):
        """By input of a body the position of the operand that it is, and of the result that it is."""
        given = [len(self._read_values([argument])) for argument in node.args]
        if node.target is torch.ops.higher_order.cond:
            first = sum(given[:-1])
            return {value: first + number for number, value in enumerate(inputs)}, {}
        if node.target is torch.ops.higher_order.map_impl:
            rows = given[1]
            return {value: rows + number for number, value in enumerate(inputs[rows:])}, {}
        if node.target is torch.ops.higher_order.scan:
            carried, rows = given[1:3]
            others = inputs[carried + rows :]
            bound = {value: carried + rows + number for number, value in enumerate(others)}
            return bound, {value: number for number, value in enumerate(inputs[:carried])}
        raise WrongPlan(f"{node.name}: inlay.executorch does not know how {_name_of(node.target)} runs its bodies")


def _dims(node, spec):
    """Those of the node, where they are known when it runs: a spec has only their upper bounds."""
    value = node.meta.get("val")
    known = value.shape if isinstance(value, torch.Tensor) and value.dim() == len(spec.shape) else spec.shape
    return tuple(dim if isinstance(dim, int) else str(dim) for dim in known)


def _bytes(spec):
    try:
        return int(spec.nbytes())
    except Exception:  # its size is known when it runs
        return 0


def _nodes(arguments):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(arguments) if isinstance(leaf, torch.fx.Node)]


def _name_of(target):
    overload = overload_of(target)
    if overload is not None:
        return ".".join(filter(None, [overload._schema.name.replace("::", "."), overload._schema.overload_name]))
    return getattr(target, "__name__", str(target))


def _is_out_variant(target):
    overload = overload_of(target)
    return overload is not None and is_out_variant(overload._schema.name, overload._schema.overload_name)


def may_write_over(node):
    """The argument, by its number, over which ExecuTorch says that the op's kernel may write; None: it says nothing."""
    return None if node.meta.get("_shared_alloc_offset") else node.meta.get("_share_alloc_with_arg_idx")


def mutated_arguments(node):
    """By position, or name, the arguments that an op writes into, where they are no `out`."""
    overload = overload_of(node.target)
    if overload is None or _is_out_variant(node.target):
        return {}
    found = {}
    for index, argument in enumerate(overload._schema.arguments):
        at = index if index < len(node.args) else argument.name
        given = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name)
        if argument.alias_info is not None and argument.alias_info.is_write and isinstance(given, torch.fx.Node):
            found[at] = given
    return found
