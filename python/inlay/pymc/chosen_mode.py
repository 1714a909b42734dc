"""The mode in which the functions of a model are compiled: inlay's own, or one with choices of the caller's."""

import contextlib
import contextvars

from pytensor.compile.mode import Mode

from ..choices import a_kind
from ..pytensor.linker import InlayLinker
from ..pytensor.mode import MODE

_chosen = contextvars.ContextVar("mode_of_model", default=MODE)


def chosen_mode():
    return _chosen.get()


@contextlib.contextmanager
def compiled_in(mode):
    """Within the block functions are compiled in this mode, which `inlay.pytensor.mode` returned; None: in that which was
    chosen around it. Errors: TypeError for another, with the keyword."""
    token = _chosen.set(_known(mode))
    try:
        yield
    finally:
        _chosen.reset(token)


def _known(mode):
    if mode is None:
        return _chosen.get()
    if isinstance(mode, str) and mode.upper() == "INLAY":
        return MODE
    if not isinstance(mode, Mode) or not isinstance(mode.linker, InlayLinker):
        raise TypeError(f"mode= takes what inlay.pytensor.mode(...) returns, not {_name(mode)}")
    return mode


def _name(mode):
    if isinstance(mode, Mode):
        return f"a mode with {a_kind(mode.linker)}"
    return repr(mode) if isinstance(mode, str) else a_kind(mode)


def text_of_mode(mode):
    """What was chosen, the same in every process."""
    query = mode.provided_optimizer
    given = [(name, value) for name, value in sorted(mode.linker.given.given().items())]
    return repr((given, sorted(mode.linker.without), sorted(query.include), sorted(query.exclude)))
