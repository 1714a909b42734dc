"""What PyTensor asks of each linker for graphs within graphs (Scan, OpFromGraph, optimizers).

They are rewritten functionally, as for the other compilers: no op may overwrite its operands, since inlay decides
about memory. Newer versions ask by dispatch on the class of the linker; older ones do not ask.
"""

import importlib

from .linker import InlayLinker

# (module, the dispatch, the class of PyTensor's own linker whose answer is inlay's too)
_DISPATCHES = (
    ("pytensor.compile.rewriting", "rewrite_ofg_inner_graph"),
    ("pytensor.scan.rewriting.inner_graph", "rewrite_scan_inner_graph"),
    ("pytensor.tensor.optimize", "rewrite_optimize_inner_graph"),
)


def register_rewrites():
    for module_name, name in _DISPATCHES:
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        dispatch = getattr(module, name, None)
        if dispatch is None:
            continue
        from pytensor.link.jax.linker import JAXLinker

        # The answers to optimizers are registered where their rewrites are.
        importlib.import_module("pytensor.tensor.rewriting")
        dispatch.register(InlayLinker)(dispatch.dispatch(JAXLinker))
