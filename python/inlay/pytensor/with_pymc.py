"""PyMC and nutpie learn of inlay when they are imported, whoever imports them, before or after this."""

import importlib.util
import sys
import threading


def register_sampler():
    """`pm.sample` in inlay's mode is nutpie on inlay; `nutpie.compile_pymc_model` knows the backend "inlay"; the log
    density of a model has the model's lines."""

    def sampling(module):
        from ..pymc import sampling

        sampling.teach_pymc(module)

    def compiling(module):
        from ..pymc import sampling

        sampling.teach_nutpie(module)

    def lines(module):
        from ..pymc import lines

        lines.keep_lines(module)

    _after_import("pymc.logprob.basic", lines)
    _after_import("pymc.sampling.mcmc", sampling)
    _after_import("nutpie", compiling)


def _after_import(name, act):
    """Calls act(module) when `name` has been imported: now, or then."""
    if name in sys.modules:
        act(sys.modules[name])
    elif not any(isinstance(finder, _ImportHook) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _ImportHook(name, act))


class _ImportHook:
    """Finds one module as the finders behind it do, until that has been imported: who looks for it may not import it."""

    def __init__(self, name, act):
        self.name, self._act = name, act
        self._is_looking = threading.local()

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name or getattr(self._is_looking, "now", False):
            return None
        self._is_looking.now = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_looking.now = False
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self._act_after(spec.loader)
        return spec

    def _act_after(self, loader):
        execute = loader.exec_module

        def execute_and_act(module):
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._act(module)

        loader.exec_module = execute_and_act
