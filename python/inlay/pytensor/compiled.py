"""What a vm keeps of its compilation, for `explain`, `memory_page`, `dprint` and `c_function`."""

from dataclasses import dataclass
from typing import Any

from .translate.origin import short_name


@dataclass
class Compiled:
    program: Any  # _inlay.Program
    translation: Any  # translate.Translation
    fgraph: Any
    translation_seconds: float
    linking_seconds: float  # translation and compilation included
    cache: str = ""  # functions.Made says what

    @property
    def description(self):
        return f"a function of {', '.join(x.name or 'input' for x in self.fgraph.inputs)}"

    def host_call_reasons(self, functions):
        """Why a node runs in Python, by its op and its number; of those that make a call of these `functions`, since what
        nothing reads is not called."""
        nodes, calls = self.translation.nodes, self.translation.host_calls
        called = {getattr(calls[f], "number", None) for f in functions}
        reasons = self.translation.reasons.items()
        return {f"{short_name(nodes[n].op)} #{n}": reason for n, reason in reasons if n in called}

    def stage_seconds(self, stages):
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


def find_compiled(fn):
    """What `fn` was compiled to; None of what inlay did not compile."""
    compiled = getattr(getattr(function_of(fn), "vm", None), "compiled", None)
    return compiled if isinstance(compiled, Compiled) else None


def compiled_of(fn):
    """What `fn` was compiled to; TypeError where inlay did not compile it."""
    compiled = find_compiled(fn)
    if compiled is None:
        raise TypeError(
            f"an object of type {type(fn).__name__} is not a PyTensor function that inlay compiled (mode='INLAY')"
        )
    return compiled
