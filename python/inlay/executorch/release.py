"""What is used of ExecuTorch's internals. A release that lacks some of it gets a sentence."""

import importlib
import importlib.metadata
import operator

USED = {
    "executorch.exir.passes": ("MemoryPlanningPass", "MemoryPlanningPass._set_alloc_node_spec"),
    "executorch.exir.passes.replace_view_copy_with_view_pass": ("_ViewSpec",),
    "executorch.exir.memory": ("alloc", "view", "free"),
    "executorch.exir.tensor": ("TensorSpec", "ALIGNMENT"),
    "executorch.exir.memory_planning": ("MemoryAlgoResult", "SpecAllocResult", "get_node_tensor_specs"),
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
        missing = [part for part in parts if not _has(module, part)]
        if missing:
            raise ImportError(
                f"inlay.executorch does not know this release of ExecuTorch, {version()}: "
                f"{name} has no {', '.join(missing)}; docs/executorch.md says which releases are tested"
            )


def _has(module, part):
    try:
        operator.attrgetter(part)(module)
    except AttributeError:
        return False
    return True


def version():
    try:
        return importlib.metadata.version("executorch")
    except importlib.metadata.PackageNotFoundError:
        return "of no known version"
