"""What a vm keeps of its compilation, for `explain`, `dprint` and `c_function`."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Compiled:
    program: Any  # _inlay.Program
    translation: Any  # translate.Translation
    fgraph: Any
    translation_seconds: float
    linking_seconds: float  # translation and compilation included

    def seconds(self, stages):
        """By stage, in the order of running; their sum is linking and the first call."""
        inside = self.translation_seconds + sum(stages.values())
        return {
            "translate": self.translation_seconds,
            **stages,
            "link": max(self.linking_seconds - inside, 0.0),
            "first call": max(self.program.first_call_seconds, 0.0),
        }


def function_of(fn):
    """The PyTensor Function in `fn`: itself, in what PyMC wraps around one, or the log density of a model of nutpie's."""
    for attribute in ("_pytensor_function", "logp_func", "f"):
        fn = getattr(fn, attribute, fn)
    return fn


def compiled_of(fn):
    """What `fn` was compiled to."""
    compiled = getattr(getattr(function_of(fn), "vm", None), "compiled", None)
    if not isinstance(compiled, Compiled):
        text = repr(fn)
        what = text if len(text) <= 100 else f"an object of type {type(fn).__name__}"
        raise TypeError(f"{what} is not a PyTensor function that inlay compiled (mode='INLAY')")
    return compiled
