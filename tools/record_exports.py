"""Writes what inlay.executorch reads of exported programs into tests/python/exports, where tests plan it without torch.

    .venv-executorch/bin/python tools/record_exports.py [NAME...]

scripts/check makes that environment (part executorch).
"""

import gzip
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "executorch"))

import inlay.executorch  # noqa: E402
import torch  # noqa: E402
from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402
from networks import network  # noqa: E402
from programs import PROGRAMS  # noqa: E402

RECORDED = ("mobilenet_v2", "resnet50", "densenet121", "efficientnet_b0", "vit_b_16")


def record(name, module, arguments, strict):
    planning = inlay.executorch.MemoryPlanningPass(add_ops=["aten.index_put"])
    edge = to_edge(torch.export.export(module, arguments, strict=strict))
    edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))
    text = planning.programs[-1].to_json()
    file = ROOT / "tests" / "python" / "exports" / f"{name}.json.gz"
    file.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(file.relative_to(ROOT), len(text), file.stat().st_size)


def main(names):
    for name in names or [*PROGRAMS, *RECORDED]:
        module, arguments = PROGRAMS[name] if name in PROGRAMS else network(name)
        record(name, module, arguments, strict=name in PROGRAMS)


if __name__ == "__main__":
    main(sys.argv[1:])
