"""Mode "INLAY", by name and as an object."""

import functools
from dataclasses import replace

import pytensor
from pytensor.compile import mode as ptm
from pytensor.graph.rewriting.db import RewriteDatabase, RewriteDatabaseQuery

from ..choices import Choices
from .linker import InlayLinker
from .scan_rewrites import TAG

# What inlay's own passes do too, at a small part of the cost (docs/rewriting.md, "Which of PyTensor's rewrites run").
# A name that a version of PyTensor does not have is no harm.
DONE_BY_INLAY = (
    "add_mul_fusion",  # sums and products of many operands: a loop is a loop of all its ops anyway
    "uncanonicalize",
    "merge2",  # equal expressions are computed once: common-values
    "merge3",
    "local_abs_merge",  # scalar arithmetic: simplify
    "local_add_neg_to_sub",
    "local_add_remove_zeros",
    "local_elemwise_sub_zeros",
    "local_mul_specialize",
    "local_mul_to_sqr",
    "local_pow_specialize",
    "local_sub_neg_to_add",
    "useless_Neg_of_Neg",
)

# Names that only another version of PyTensor has for rewrites under the two tags that inlay minds.
NAMES_OF_OTHER_VERSIONS = {"fusion": (), "inplace": ("inplace_opt",)}


class Mode(ptm.Mode):
    """A mode of inlay's, in which PyTensor's tags mean what inlay does in their place."""

    def excluding(self, *tags):
        """Without "fusion" each op is a loop of its own; without "inplace" no value takes the bytes of another. So it is
        without any of the rewrites that PyTensor has under these tags: inlay has no such parts."""
        out = super().excluding(*tags)
        out.linker.without = out.linker.without | _meant_by(tags, self.optdb)
        return out

    def including(self, *tags):
        """By "fusion" and "inplace", or a name that means one of them, as it was before these were excluded; "fusion" ends `fuse="none"` too."""
        out = super().including(*tags)
        out.linker.without = out.linker.without - _meant_by(tags, self.optdb)
        if "fusion" in tags and out.linker.given.fuse == "none":
            out.linker.given = replace(out.linker.given, fuse=None)
        return out


def _meant_by(tags, db):
    """Those of "fusion" and "inplace" of which rewrites are excluded: by names that PyTensor has for nothing else."""
    rewrites = _rewrites_by_name(db, {})
    return {
        tag
        for tag, others in NAMES_OF_OTHER_VERSIONS.items()
        for name in tags
        if name in (tag, *others) or (rewrites.get(name) and rewrites[name] <= rewrites.get(tag, set()))
    }


def _rewrites_by_name(db, out):
    """By their names and tags, also those within the databases of a database."""
    for name, rewrites in db.__db__.items():
        out.setdefault(name, set()).update(rewrites)
        for rewrite in rewrites:
            if isinstance(rewrite, RewriteDatabase) and rewrite.name == name:
                _rewrites_by_name(rewrite, out)
    return out


def mode(
    *,
    backend=None,
    fuse=None,
    planner=None,
    order=None,
    may_share=None,
    upper=None,
    verify=None,
    dump=None,
    cpu=None,
    threads=None,
    single_precision=None,
):
    """A Mode as "INLAY" is, whose functions are compiled with choices of its own, each as in `inlay.compile`.

    `backend`: "llvm" or "c". `fuse`: "full", "greedy" or "none". `planner`: who lays out the working memory: "naive",
    "greedy", "search" (the default) or "max", which takes up to 5 seconds; offsets by the names of storages; or a function.
    `order`: "memory" or "given". `may_share`: a function of (step, value, operand): whether one may take the other's
    bytes. `upper`: the most that sizes will be, by the names that `inlay.pytensor.explain` has. `verify`: whether
    each stage is checked. `dump`: a folder for what each stage makes. `cpu`: "avx2", "sse2", "neon", or as "-avx512f".
    `threads`: on how many a call may run; the results are the same for any number. `single_precision`: whether what is
    computed in float64 only to be rounded to float32, as sums of float32 are, is computed in float32.

    Raises TypeError for a choice of a wrong type and ValueError for an empty name; ValueError for a name that there is not,
    when a function is compiled.
    """
    query = RewriteDatabaseQuery(
        include=["fast_run", TAG], exclude=[*InlayLinker.incompatible_rewrites, *DONE_BY_INLAY]
    )
    choices = Choices(
        backend=backend, fuse=fuse, planner=planner, order=order, may_share=may_share, upper=upper, verify=verify, dump=dump,
        cpu=cpu, threads=threads, single_precision=single_precision,
    )  # fmt: skip
    return Mode(InlayLinker(choices=choices), query)


MODE = mode()


def register_mode():
    """Makes `mode="INLAY"` and linker "inlay" known to PyTensor. Once; again is no harm."""
    if "inlay" not in ptm.predefined_linkers:
        ptm.register_linker("inlay", MODE.linker)
    ptm.predefined_modes.setdefault("INLAY", MODE)
    _let_config_take_the_name()


def _let_config_take_the_name():
    """`pytensor.config.mode = "INLAY"`: PyTensor's setting takes the names of its own modes, and Mode objects."""
    setting = getattr(type(pytensor.config), "mode", None)
    takes = getattr(setting, "_apply", None)
    if takes is None or hasattr(takes, "knows_inlay"):
        return

    def apply(value):
        return MODE if isinstance(value, str) and value.upper() == "INLAY" else takes(value)

    apply.knows_inlay = True
    setting._apply = apply


def use(**choices):
    """From here on PyTensor compiles with inlay where no mode is given, in the whole program; `choices` as `mode` takes
    them, such as `threads`."""
    pytensor.config.mode = _with(choices)


def _with(choices):
    return mode(**choices) if choices else MODE


class default_mode:
    """Within the block PyTensor compiles with inlay where no mode is given: `with default_mode(): ...`; with choices of
    its own as `mode` takes them: `with default_mode(threads=2): ...`.

    PyMC compiles some of its functions, such as the one that records a trace, in the default mode whatever
    `compile_kwargs` says. Without `with` it is `use()`. As a decorator it is the block of each call.
    """

    def __init__(self, **choices):
        self._choices, self._mode, self._before = choices, _with(choices), []
        self._set()
        self._is_new = True

    def _set(self):
        self._before.append(pytensor.config.mode)
        pytensor.config.mode = self._mode

    def __enter__(self):
        if not self._is_new:
            self._set()
        self._is_new = False
        return self._mode

    def __exit__(self, *error):
        pytensor.config.mode = self._before.pop()

    def __call__(self, function):
        if self._before:
            self.__exit__()

        @functools.wraps(function)
        def within(*args, **kwargs):
            with default_mode(**self._choices):
                return function(*args, **kwargs)

        return within
