"""What is changed in an exported graph before it is planned: where an op has been made in-place, or a view taken of what
has no bytes of its own, some values need bytes that they do not have yet."""

import torch
from executorch.exir import memory
from executorch.exir.passes.replace_view_copy_with_view_pass import _ViewSpec
from executorch.exir.tensor import TensorSpec

from .export import Export, may_write_over, mutated_arguments
from .program import lost_mutations, must_stay, stale_reads
from .replay import WrongPlan


def settle_specs(graph_module):
    """A result in place has the spec of what it is made in, and so have its views and the outputs of the program: they are
    read through others where an op has been made in-place after these were made."""
    for module in graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in module.graph.nodes:
            mutated = list(mutated_arguments(node).values()) if node.op == "call_function" else []
            if len(mutated) == 1 and isinstance(node.meta.get("spec"), TensorSpec):
                node.meta["spec"] = mutated[0].meta["spec"]
            elif node.target is memory.view:
                node.meta["spec"]._base = _without_views(node.args[0].meta["spec"])
            elif node.op == "output" and "spec" in node.meta:
                node.meta["spec"] = torch.utils._pytree.tree_map_only(
                    torch.fx.Node, lambda n: n.meta.get("spec"), node.args[0]
                )


def _without_views(spec):
    """A view's spec has none of a view beneath it."""
    while isinstance(spec, _ViewSpec):
        spec = spec._base
    return spec


def leave_to_us(graph_module):
    """Where ExecuTorch has decided that a result lies in an operand (`reinplace_extra_ops`), it may: we decide."""
    for node in graph_module.graph.nodes:
        spec = node.meta.get("spec")
        if may_write_over(node) is not None and getattr(spec, "storage_base", None) is not None:
            spec.storage_base = None


def give_bytes(graph_module, signature, ops):
    """Lets no value be read after it has been overwritten, and none where it is not. Returns what was done, in words, and
    the Export of what came of it."""

    def read():
        return Export(graph_module, signature, ops)

    said, export = [], read()
    for each in {id(each.graph_module): each for each in [export, *export.all_bodies()]}.values():
        said += _copy_viewed_results(each.graph_module, each.program)
    export = read() if said else export
    changed = _changed_states(export.program)
    while text := _copy_one(graph_module, export):
        export = read()
        if text in said:
            break  # what proves the plan says more
        said.append(text)
    if lost := changed - _changed_states(export.program):
        raise WrongPlan(f"the new value of {', '.join(sorted(lost))} would be written into a copy")
    return said, export


def _changed_states(program):
    return {s.name for s in program.storages if s.final is not None and s.final not in program.inputs}


def _copy_one(graph_module, export):
    nodes, program = {node.name: node for node in graph_module.graph.nodes}, export.program
    for stale in stale_reads(program):
        name = program.values[stale.value].name
        if must_stay(program, stale):
            return _let_change_a_copy(graph_module, nodes[stale.mutation.name], f"{name} is to stay as it is")
        # Of an op with several results, those that pick this one.
        for node in [n for n in export.nodes[stale.value] if isinstance(n.meta["spec"], TensorSpec)]:
            _let_later_ones_read_a_copy(node, nodes[stale.mutation.name])
        return _settled(graph_module, f"{stale.mutation.name} overwrites {name}: what reads it later reads a copy")
    for mutation in lost_mutations(program):
        why = "what it is given a view of is to stay as it is"
        return _let_change_a_copy(graph_module, nodes[mutation.name], why)
    return ""


def _let_change_a_copy(graph_module, mutation, why):
    for at, argument in mutated_arguments(mutation).items():
        _replace(mutation, at, lambda _, copied=_copy(argument, mutation): copied)
    return _settled(graph_module, f"{mutation.name} changes a copy: {why}")


def _copy_viewed_results(graph_module, program):
    """Of branches: a view is given an address when the program is made, and a branch leaves its result where it will."""
    nodes, said = {node.name: node for node in graph_module.graph.nodes}, []
    left = {program.storage_of(value) for step in program.steps if step.is_branch for value in step.writes}
    for step in program.steps:
        storage = program.storage_of(step.reads[0]) if step.kind == "view" else None
        if storage in left and program.storages[storage].is_planned:
            node = nodes[step.name]
            if node.args[0].target is not memory.view:  # a view of one that shows a copy by now
                _replace(node, 0, lambda shown, node=node: _copy(shown, node))
                said.append(_settled(graph_module, f"{step.name} shows a copy of what a branch has left"))
    return said


def _let_later_ones_read_a_copy(node, mutation):
    order = {each: number for number, each in enumerate(node.graph.nodes)}
    users = [user for user in node.users if order[user] >= order[mutation]]
    copied = _copy(node, mutation)
    for user in users:
        changed = mutated_arguments(user) if user.op == "call_function" else ()
        for at in [*range(len(user.args)), *user.kwargs]:
            if at not in changed:
                _replace(user, at, lambda given: copied if given is node else given)


def _replace(node, at, by):
    """In one argument, by its number or name: each node by another."""
    if isinstance(at, int):
        node.update_arg(at, torch.fx.map_arg(node.args[at], by))
    else:
        node.update_kwarg(at, torch.fx.map_arg(node.kwargs[at], by))


def _copy(node, before):
    shown = node.meta["spec"]
    spec = TensorSpec(shown.dtype, shown.shape, shown.layout, shown.is_sparse)
    for name in ("stride", "dim_order", "shape_dynamism", "device", "device_index"):
        if hasattr(shown, name):
            setattr(spec, name, getattr(shown, name))
    with node.graph.inserting_before(before):
        out = node.graph.call_function(memory.alloc, ((tuple(spec.shape), spec.dtype),))
        copied = node.graph.call_function(torch.ops.aten.clone.out, (node,), {"out": out})
    out.meta["spec"] = spec
    copied.meta = {"val": node.meta.get("val"), "spec": spec}
    return copied


def _settled(graph_module, text):
    settle_specs(graph_module)
    graph_module.recompile()
    return text
