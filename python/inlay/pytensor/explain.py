"""What became of a PyTensor function."""

from ..explanation import explain as explain_text
from ..explanation import explanation_of
from ..text import Compilation
from .compiled import compiled_of
from .translate.origin import short_name


def explain(fn, *, sizes=None, verbose=False):
    """What inlay made of `fn`, a PyTensor function or what `inlay.compile` returned: an `Explanation`; print it to read
    it on one screen, and its `text` for the whole listing. `sizes`: for the sizes of the program, by name, a number,
    where `plan` depends on them. `verbose`: print it as its `text`."""
    if isinstance(getattr(fn, "compilation", None), Compilation):
        return explain_text(fn, sizes=sizes, verbose=verbose)
    compiled = compiled_of(fn)
    nodes, reasons = compiled.translation.nodes, compiled.translation.reasons
    return explanation_of(
        compiled.program,
        compiled.seconds,
        {f"{short_name(nodes[n].op)} #{n}": reason for n, reason in reasons.items()},
        sizes,
        verbose,
    )
