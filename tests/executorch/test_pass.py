"""Programs planned by inlay and run by ExecuTorch, against PyTorch itself."""

import copy
import logging

import pytest

pytest.importorskip("executorch")

import executorch.exir.memory_planning as theirs  # noqa: E402
import inlay.executorch  # noqa: E402
import torch  # noqa: E402
from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.exir.dialects._ops import ops  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402
from inlay.executorch import release  # noqa: E402
from inlay.executorch.release import version  # noqa: E402
from torch.export.experimental import _export_forward_backward  # noqa: E402

from programs import AT, PROGRAMS, Chain, State, V, X  # noqa: E402


def edge_of(module, arguments, **options):
    return to_edge(torch.export.export(copy.deepcopy(module), arguments, strict=True, **options))


def planned(edge, planning=None, **config):
    return edge.to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=planning or inlay.executorch.MemoryPlanningPass(), **config)
    )


def run(program, *calls):
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return [[out.clone() for out in method.execute(list(arguments))] for arguments in calls]


def sizes(program):
    return program.exported_program().graph_module.meta["non_const_buffer_sizes"]


def want(module, *calls):
    module = copy.deepcopy(module)
    results = [module(*arguments) for arguments in calls]
    return [[r.clone() for r in (x if isinstance(x, tuple) else (x,))] for x in results]


def require_same(module, program, *calls):
    for got, expected in zip(run(program, *calls), want(module, *calls), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("reinplace", [False, True], ids=["plain", "reinplaced"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_right_and_no_larger(name, reinplace):
    module, arguments = PROGRAMS[name]
    edge = edge_of(module, arguments)
    planning = inlay.executorch.MemoryPlanningPass(add_ops=["aten.index_put"])
    program = planned(copy.deepcopy(edge), planning, run_reinplace_pass=reinplace)
    require_same(module, program, arguments, arguments, arguments)
    if name not in WRONG_BY_DEFAULT and name != "branch_in_a_branch":  # that needs more to be right
        assert sum(sizes(program)) <= sum(sizes(planned(edge, theirs_pass())))


# What ExecuTorch 1.5.1 computes wrong with no options (docs/executorch.md).
WRONG_BY_DEFAULT = {
    "two_branches",
    "two_other_branches",
    "result_of_a_branch_is_viewed",
    "result_of_a_branch_is_viewed_and_returned",
    "map_with_operands",
    "scan_with_two_carried",
}


@pytest.mark.skipif(version() != "1.5.1", reason="that release")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_theirs_gets_wrong(name):
    """Says when docs/executorch.md is to be changed."""
    module, arguments = PROGRAMS[name]
    program = planned(edge_of(module, arguments), theirs_pass())
    if name not in WRONG_BY_DEFAULT:
        require_same(module, program, arguments, arguments)
        return
    with pytest.raises(AssertionError):
        require_same(module, program, arguments, arguments)


@pytest.mark.skipif(version().startswith("1.4"), reason="it has no such option")
@pytest.mark.parametrize("name", PROGRAMS)
def test_ops_that_theirs_would_let_write_over_operands(name):
    """`reinplace_extra_ops` of which no op has an in-place form: ours decides."""
    module, arguments = PROGRAMS[name]
    edge_ops = (ops.edge.aten.minimum.default, ops.edge.aten.maximum.default, ops.edge.aten.cat.default)
    planning = inlay.executorch.MemoryPlanningPass()
    program = planned(edge_of(module, arguments), planning, reinplace_extra_ops=frozenset(edge_ops))
    require_same(module, program, arguments, arguments)


def theirs_pass(**options):
    from executorch.exir.passes import MemoryPlanningPass

    return MemoryPlanningPass(**options)


def test_what_is_in_place_is_said():
    planning = inlay.executorch.MemoryPlanningPass()
    program = planned(edge_of(Chain(), (X,)), planning)
    (report,) = planning.report.programs
    assert sum(sizes(program)) == report.plan.peak
    assert any(d.is_taken and d.op == "aten.sigmoid.out" for d in report.decisions)
    assert "not in place of x: it is an input" in str(planning.report)


def test_an_op_made_in_place_by_mistake_changes_a_copy():
    planning = inlay.executorch.MemoryPlanningPass()
    planned(edge_of(*PROGRAMS["view_of_what_is_overwritten"]), planning, run_reinplace_pass=True)
    said = "aten_index_put__default overwrites aten_view_copy_default: what reads it later reads a copy"
    assert said in str(planning.report)


def test_what_is_not_to_be_changed_is_not():
    planning = inlay.executorch.MemoryPlanningPass()
    module, arguments = PROGRAMS["view_of_a_state_and_of_a_constant"]
    planned(edge_of(module, arguments), planning, run_reinplace_pass=True)
    assert "changes a copy: what it is given a view of is to stay as it is" in str(planning.report)


def test_ops_are_added_and_removed(tmp_path):
    def taken(**options):
        planning = inlay.executorch.MemoryPlanningPass(**options)
        planned(edge_of(PROGRAMS["reader_of_a_result_in_place"][0], (X, AT, V)), planning)
        planning.report.page(tmp_path / "page.html")
        assert "aten_add_tensor" in (tmp_path / "page.html").read_text()
        return {d.op for d in planning.report.programs[0].decisions if d.is_taken}

    assert taken() == {"aten.mul.out", "aten.add.out"}
    assert taken(add_ops=[torch.ops.aten.index_put.default]) == {"aten.mul.out", "aten.add.out", "aten.index_put.out"}
    assert taken(remove_ops=["aten.add"]) == {"aten.mul.out"}
    assert taken(in_place=False) == set()
    with pytest.raises(TypeError, match="an op is its name, as aten.add"):
        inlay.executorch.MemoryPlanningPass(add_ops=[3])
    with pytest.raises(ValueError, match="constant cannot be overwritten; input and state can"):
        inlay.executorch.MemoryPlanningPass(overwrite=["constant"])


@pytest.mark.parametrize(
    "name, near",
    [
        ("aten.nonsense", ""),
        ("aten.index_puts", "; did you mean .*aten.index_put"),
        ("index_put", r"; did you mean aten.index_put\b"),
        ("aten.index_put.no_overload", r"; did you mean aten.index_put\?$"),
        ("", "$"),
    ],
)
@pytest.mark.parametrize("keyword", ["add_ops", "remove_ops"])
def test_a_name_that_no_op_has_is_an_error(keyword, name, near):
    with pytest.raises(ValueError, match=f"^{keyword}: PyTorch has no op {name}{near}"):
        inlay.executorch.MemoryPlanningPass(**{keyword: ["aten.add", name]})
    with pytest.raises(TypeError, match="a list of ops is expected"):
        inlay.executorch.MemoryPlanningPass(**{keyword: "aten.add"})
    for known in ("aten::index_put", "aten.index_put.out", "aten.index_put.default", "dim_order_ops._to_dim_order_copy"):
        inlay.executorch.MemoryPlanningPass(**{keyword: [known]})


def test_inputs_and_states_only_as_the_user_says():
    planning = inlay.executorch.MemoryPlanningPass(overwrite=["input"])
    program = planned(edge_of(Chain(), (X,)), planning)
    require_same(Chain(), program, (X,), (X,))  # each call gives its inputs anew
    planning = inlay.executorch.MemoryPlanningPass(overwrite=["state"], add_ops=["aten.index_put"])
    program = planned(edge_of(State(), (X, AT, V)), planning)
    require_same(State(), program, (X, AT, V), (X * 2, AT, V * 3), (X, AT + 1, V))
    taken = [d.operand for d in planning.report.programs[0].decisions if d.is_taken]
    assert any("cache" in operand or "average" in operand for operand in taken), str(planning.report)


@pytest.mark.parametrize("alloc_input", [False, True])
@pytest.mark.parametrize("alloc_output", [False, True])
def test_inputs_and_outputs_of_the_caller(alloc_input, alloc_output):
    planning = inlay.executorch.MemoryPlanningPass(alloc_graph_input=alloc_input, alloc_graph_output=alloc_output)
    program = planned(edge_of(Chain(), (X,)), planning)
    require_same(Chain(), program, (X,), (X,))
    other = planned(edge_of(Chain(), (X,)), theirs_pass(alloc_graph_input=alloc_input, alloc_graph_output=alloc_output))
    assert sum(sizes(program)) <= sum(sizes(other))


def test_sizes_within_a_range():
    dim = torch.export.Dim("n", min=2, max=8)
    edge = edge_of(Chain(), (X,), dynamic_shapes=({0: dim},))
    require_same(Chain(), planned(edge), (X,), (X[:3],), (X[:8],))


def test_sizes_of_one_bound_are_not_the_same_size():
    class TwoSizes(torch.nn.Module):
        def forward(self, x, y):
            a, b = torch.relu(x * 2), torch.relu(y * 3)
            return torch.cat([a + 1, b + 1]), a.sum() + b

    edge = edge_of(
        TwoSizes(),
        (X, X[:5]),
        dynamic_shapes=({0: torch.export.Dim("n", min=2, max=8)}, {0: torch.export.Dim("m", min=2, max=8)}),
    )
    planning = inlay.executorch.MemoryPlanningPass()
    program = planned(edge, planning)
    require_same(TwoSizes(), program, (X, X[:5]), (X[:3], X[:8]), (X[:2], X[:2]))
    dims = {value.shape[0] for value in planning.programs[0].values if len(value.shape) == 2}
    assert len([dim for dim in dims if isinstance(dim, str)]) >= 2


def test_several_methods_share_their_states():
    class Prefill(State):
        def forward(self, x, i, v):
            return super().forward(x * 2, i, v)

    edge = to_edge({
        "forward": torch.export.export(State(), (X, AT, V), strict=True),
        "prefill": torch.export.export(Prefill(), (X, AT, V), strict=True),
    })  # fmt: skip
    planning = inlay.executorch.MemoryPlanningPass(share_mutable_buffers=True)
    program = planned(edge, planning)
    assert len(planning.report.programs) == 2
    loaded = Runtime.get().load_program(program.buffer)
    first = loaded.load_method("prefill").execute([X, AT, V])
    torch.testing.assert_close(list(first), want(Prefill(), (X, AT, V))[0])


def test_pools():
    class ByPool(inlay.executorch.MemoryPlanningPass):
        def run(self, graph_module, graph_signature=None):
            for node in graph_module.graph.nodes:
                spec = node.meta.get("spec")
                if node.op == "call_function" and isinstance(spec, theirs.TensorSpec):
                    spec.mem_id = 3 if "mul" in node.name else 1
            return super().run(graph_module, graph_signature)

    planning = ByPool()
    program = planned(edge_of(Chain(), (X,)), planning)
    assert sizes(program)[3] > 0 and sizes(program)[2] == 0
    assert planning.report.programs[0].bytes.keys() == {1, 3}
    assert any("it lies in another pool" in d.reason for d in planning.report.programs[0].decisions)


def test_a_wrong_plan_is_not_handed_over(monkeypatch):
    from inlay.executorch import layout

    def wrong(program):
        return [(begin, begin + 1) for begin, _ in right(program)]

    right = layout.lives_of
    monkeypatch.setattr(layout, "lives_of", wrong)
    with pytest.raises(inlay.executorch.WrongPlan, match="into whose bytes something else has been written"):
        planned(edge_of(Chain(), (X,)))


def test_what_a_delegate_computes():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackPartitioner,
    )
    from executorch.exir import to_edge_transform_and_lower

    module = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.LayerNorm(16), torch.nn.Sigmoid())
    edge = to_edge_transform_and_lower(torch.export.export(module, (X,)), partitioner=[XnnpackPartitioner()])
    require_same(module, planned(edge), (X,), (X * 2,))


# The suite has bodies of control flow at the beginning, one over the other, and views of what has no bytes.
WRONG_IN_A_SUITE = WRONG_BY_DEFAULT - {"result_of_a_branch_is_viewed"} | {"branch_in_a_branch"}


@pytest.mark.parametrize("beside", [[], [theirs.greedy]], ids=["alone", "beside greedy"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_planner_by_itself(name, beside):
    module, arguments = PROGRAMS[name]
    suite = theirs.MemoryPlanningAlgorithmSuite([*beside, inlay.executorch.planner()])
    planning = theirs_pass(memory_planning_algo=suite)
    if name in WRONG_IN_A_SUITE:
        with pytest.raises(inlay.executorch.WrongPlan):
            planned(edge_of(module, arguments), planning)
        return
    program = planned(edge_of(module, arguments), planning)
    if name not in WRONG_BY_DEFAULT or not beside:  # the suite takes greedy's
        require_same(module, program, arguments, arguments)
    assert sum(sizes(program)) <= sum(sizes(planned(edge_of(module, arguments), theirs_pass())))


def test_weights_with_gradients_are_kept():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 3)

        def forward(self, x, y):
            guess = self.linear(x)
            return torch.nn.functional.cross_entropy(guess, y), guess.detach().argmax(1)

    arguments = (torch.randn(2, 4), torch.tensor([0, 2]))
    exported = torch.export.export(Net(), arguments, strict=True)
    planning = inlay.executorch.MemoryPlanningPass()
    program = planned(to_edge(_export_forward_backward(exported)), planning)
    weights = [s for s in planning.programs[0].storages if "linear" in s.name and s.kind == "state"]
    assert len(weights) == 2 and all(s.is_planned for s in weights)
    first, second = run(program, arguments, arguments)
    torch.testing.assert_close(first, second)


def test_their_verifier_finds_nothing(caplog):
    with caplog.at_level(logging.DEBUG):
        planned(edge_of(Chain(), (X,)))


def test_another_release_gets_a_sentence(monkeypatch):
    monkeypatch.delattr(theirs, "SpecAllocResult")
    with pytest.raises(
        ImportError, match=r"does not know this release of ExecuTorch, \d.*memory_planning has no SpecAllocResult"
    ):
        release.require()
