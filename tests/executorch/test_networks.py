"""Real networks, planned by inlay and run by ExecuTorch, against PyTorch; small images, since its portable kernels are slow."""

import copy

import pytest

pytest.importorskip("executorch")

import inlay.executorch  # noqa: E402
import torch  # noqa: E402
from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.exir.passes import MemoryPlanningPass  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402
from networks import network  # noqa: E402


@pytest.mark.parametrize(
    "name", ["mobilenet_v2", "mobilenet_v3_small", "squeezenet", "resnet18", "shufflenet_v2", "vit_b_16"]
)
def test_a_network_is_right_and_smaller(name):
    module, (image,) = network(name)
    image = image if name == "vit_b_16" else image[:, :, :64, :64].contiguous()
    edge = to_edge(torch.export.export(module, (image,), strict=False))
    program = copy.deepcopy(edge).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=inlay.executorch.MemoryPlanningPass())
    )
    other = edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass()))
    ours, theirs = (sum(p.exported_program().graph_module.meta["non_const_buffer_sizes"]) for p in (program, other))
    assert ours <= theirs
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    for scale in (1.0, 0.5):
        (got,) = method.execute([image * scale])
        torch.testing.assert_close(got, module(image * scale), rtol=1e-3, atol=1e-4)
