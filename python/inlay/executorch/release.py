"""What is used of ExecuTorch's internals. A release that lacks some of it gets a sentence."""

import importlib
import importlib.metadata

USED = {
    "executorch.exir.passes": ("MemoryPlanningPass",),
    "executorch.exir.memory": ("alloc", "view", "free"),
    "executorch.exir.tensor": ("TensorSpec", "ALIGNMENT"),
    "executorch.exir.memory_planning": ("MemoryAlgoResult", "SpecAllocResult", "get_node_tensor_specs", "apply_algo"),
    "executorch.exir.operator.convert": ("get_out_args_from_opoverload", "is_out_variant"),
}


def require():
    """Raises ImportError where ExecuTorch is not there, or another one than this was written for."""
    for name, parts in USED.items():
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"inlay.executorch needs ExecuTorch (pip install executorch); {name} cannot be imported: {error}"
            ) from error
        missing = [part for part in parts if not hasattr(module, part)]
        if missing:
            raise ImportError(
                f"inlay.executorch does not know this release of ExecuTorch, {version()}: "
                f"{name} has no {', '.join(missing)}; docs/executorch.md says which releases are tested"
            )


def version():
    try:
        return importlib.metadata.version("executorch")
    except importlib.metadata.PackageNotFoundError:
        return "of no known version"
