"""Programs in inlay's text form."""

import copyreg
import inspect
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _inlay, progress
from .choices import Choices, a_kind
from .errors import UnknownName, Unsupported, WrongArgumentCount, WrongDtype
from .files import program_of


@dataclass
class Compilation:
    """What a function keeps of how it came about, for `explain` and for pickling."""

    program: Any  # _inlay.Program
    bound: list  # arrays
    functions: list  # of the host
    seconds: float
    arguments: tuple | None  # of the `compile` that made it; None: it was read from a file

    def stage_seconds(self, stages):
        """By stage, in the order of running."""
        rest = max(self.seconds - sum(stages.values()), 0.0)
        return {"read": rest, **stages, "first call": max(self.program.first_call_seconds, 0.0)}


def compilation_of(fn):
    """The Compilation of what `compile` returned; None of anything else."""
    found = getattr(fn, "compilation", None)
    return found if isinstance(found, Compilation) else None


def compile(
    text,
    file_name="<text>",
    *,
    bound=None,
    host_functions=None,
    planner=None,
    upper=None,
    backend=None,
    fuse=None,
    order=None,
    may_share=None,
    verify=None,
    dump=None,
    cpu=None,
    threads=None,
    single_precision=None,
):
    """The function that a program in text form describes.

    It takes NumPy arrays, one for each parameter that is not bound, in order or by name, of the dtype and rank that the
    program says, in any memory layout, and returns new arrays: one, or a tuple of several. Arrays of other libraries on
    the CPU (`__dlpack__`) are read where they lie. It may be called from many threads at once. `fn(x, out=array)`
    returns that array, with the result in it (a tuple for several; None where a new one is wanted): of the result's shape
    and dtype, in any memory layout, also one that shares bytes with an argument.

    `bound`: for each `bound` parameter of the program, by name, its array, which is copied; what the program says of its
    elements (`bound {min 0, max 84}`) is checked now. `host_functions`: for each name that a `host_call` of the program
    has, a function of arrays that returns a tuple of arrays (or one array), of the dtypes that the program says.

    `planner`: who lays out the working memory: "naive", "greedy", "search" (the default) or "max", which takes up to 5
    seconds; or offsets of your own, by the names of storages (`inlay.explain(fn).plan`), or a function from a list of
    `inlay.Storage` to offsets. These are proved. `upper`: for sizes, by name, the most that they will be: then memory is
    laid out once, for all calls up to them, and a call beyond is an error.

    `backend`: "llvm" or "c". `fuse`: "full" (the default), "greedy" or "none". `order`: "memory" (the default: steps
    run in the order that needs the least) or "given". `may_share`: a function of a step, a value and its operand, by
    the names of the memory map: whether one may take the other's bytes, True or False, or "even if larger" where the
    arena may grow. `verify`: whether each stage is checked. `dump`: a folder for what each stage makes. `cpu`: a level
    that this CPU has, "avx512", "avx2" or "sse2" ("neon" on aarch64), or LLVM's features, laid over its own, such as
    "-avx512f". `threads`: on how many a call runs, 1 unless it is said; of a function that is compiled for more
    `fn(x, threads=2)` says it of one call. The results are the same bytes for any number, and no more run than
    `inlay.set_threads` lets. `single_precision`: whether what the program computes in f64 only to round it to f32, as
    softmax and mean of f32 do, is computed in f32. What is not chosen is as INLAY_BACKEND, INLAY_FUSE and so on say, then the default.

    The function has `parameters` and `results`, the type of each by name: `dict(zip(fn.results, fn(...)))` names what
    several results are. `inlay.explain(fn)` says what became of the program. The function can be pickled where its host
    functions can.

    Errors: ValueError for text that is no program, with file, line and column, and for a bound array that contradicts
    the program, or a wrong plan; TypeError for an argument of another dtype or rank, ValueError for sizes that do not fit, IndexError
    for an index out of bounds. After an error the function is as it was.

    >>> axpy = inlay.compile('''graph @main(%a: f64, %x: f64[n], %y: f64[n]) {
    ...   %p = mul %a, %x
    ...   %s = add %p, %y
    ...   return %s
    ... }''')
    >>> axpy(2.0, np.ones(3), y=np.ones(3))
    array([3., 3., 3.])
    """
    start = time.perf_counter()
    choices = Choices(
        backend=backend, fuse=fuse, planner=planner, order=order, may_share=may_share, upper=upper, verify=verify, dump=dump,
        cpu=cpu, threads=threads, single_precision=single_precision,
    )  # fmt: skip
    if not isinstance(text, str):
        raise TypeError(f"inlay.compile takes the text of a program, not {_a(text)}")
    if _looks_like_a_path(text):
        raise ValueError(f"inlay.compile takes the text of a program, not a path: open({text!r}).read()")
    if not isinstance(file_name, str | os.PathLike):
        by_keyword = "; bound= and host_functions= are given by keyword" if isinstance(file_name, Mapping) else ""
        raise TypeError(f"inlay.compile: file_name is to be a str, for error messages, not {_a(file_name)}{by_keyword}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"inlay.compile: the text is no UTF-8: character {error.start} is half of a pair") from None
    graph = _inlay.parse(text, os.fspath(file_name))
    arrays = bound_arrays(graph, by_name("bound", bound))
    functions = _functions(graph, by_name("host_functions", host_functions))
    with progress.shown(f"inlay compiles {os.fspath(file_name)}"):
        program = choices.compile(graph, arrays, functions)
    arguments = (text, file_name, bound, host_functions, choices)
    compilation = Compilation(program, arrays, functions, time.perf_counter() - start, arguments)
    return function_of_graph(graph, compilation)


def function_of_graph(graph, compilation):
    """The function of what was compiled from `graph`."""
    parameters = {name: kind for name, _, _, kind, is_bound in graph.parameters if not is_bound}
    return _function(compilation, parameters, _results(graph), _description(graph, parameters))


def _a(value):
    if hasattr(value, "__fspath__"):
        return "a path: pass what the file holds"
    return a_kind(value)


def by_name(keyword, given):
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{keyword}= takes a dict by name, not {_a(given)}")
    return dict(given)


def _looks_like_a_path(text):
    return re.fullmatch(r"[^\s{}()%]+", text) is not None and ("/" in text or text.endswith(".inlay"))


def bound_arrays(graph, given):
    """A copy of each, row-major and in this machine's byte order, in the order of the bound parameters."""
    names = [name for name, *_, is_bound in graph.parameters if is_bound]
    missing = [name for name in names if name not in given]
    if missing:
        raise WrongArgumentCount(
            f"error[wrong-argument-count]: no array for the bound parameter %{missing[0]}"
            f"\n  help: bound={{{', '.join(f'{n!r}: array' for n in names)}}}"
        )
    for name in given:
        if name not in names:
            raise UnknownName(f"error[unknown-name]: the program has no bound parameter %{name}{_there_are(names)}")
    return [own_array(name, given[name], "bound") for name in names]


def own_array(name, given, to_be):
    """A copy, row-major and in this machine's byte order, of what is given by this name `to_be` ("bound", "fixed")."""
    if isinstance(given, np.ma.MaskedArray):
        raise WrongDtype(
            f"error[wrong-dtype]: {name}: a masked array cannot be {to_be}"
            "\n  help: give `a.filled(value)`, or `a.data`"
        )
    try:
        array = np.array(given, order="C")
    except ValueError as error:  # a ragged list
        raise ValueError(f"{name}: {error}") from None
    if array.dtype == object and not isinstance(given, np.ndarray):
        raise WrongDtype(f"error[wrong-dtype]: {name}: {_a(given)} cannot be {to_be}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _functions(graph, given):
    """By the number of the host call."""
    names = graph.host_calls
    for name in given:
        if name not in names:
            raise UnknownName(f"error[unknown-name]: the program calls no function {name!r}{_there_are(names)}")
    for name in names:
        if name not in given:
            raise WrongArgumentCount(
                f"error[wrong-argument-count]: no function for the host call {name!r}"
                f"\n  help: inlay.compile(text, host_functions={{{name!r}: function}})"
            )
        if not callable(given[name]):
            raise TypeError(f"the host function {name!r} is {_a(given[name])}, not a function")
    return [given[name] for name in names]


def _there_are(names):
    return f", but {', '.join(names)}" if names else ": it has none"


def _description(graph, parameters):
    takes = ", ".join(f"{name}: {kind}" for name, kind in parameters.items())
    returns = ", ".join(kind for _, kind in graph.outputs)
    return f"{graph.name}({takes}) -> {returns if len(graph.outputs) == 1 else f'({returns})'}"


def _results(graph):
    """The type of each by its name; one that is returned under a name that is taken has its position behind it."""
    results = {}
    for position, (name, kind) in enumerate(graph.outputs):
        while name in results:
            name = f"{name}_{position}"
        results[name] = kind
    return results


def _signature(parameters):
    either, only = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY
    try:
        return inspect.Signature([inspect.Parameter(name, either) for name in parameters])
    except ValueError:  # a name that Python does not take, such as `3` or `lambda`
        return inspect.Signature([inspect.Parameter(f"_{i}", only) for i in range(len(parameters))])


def parts_of(fn):
    """What a file holds of a function: the module that restores it, its program, what Python must know, and sections."""
    compilation = fn.compilation
    known = (fn.parameters, fn.results, fn.description, compilation.bound, compilation.functions)
    return ".text", compilation.program, known, {}


def restored(file, state):
    """The function of a file that was read, and of what `parts_of` said of it."""
    start = time.perf_counter()
    parameters, results, description, bound, functions = state
    program = program_of(file, bound, functions)
    compilation = Compilation(program, bound, functions, time.perf_counter() - start, arguments=None)
    return _function(compilation, parameters, results, description)


def function_of(program, bound, functions, description):
    """The function of a program that no text describes, which takes arguments by position."""
    return _function(Compilation(program, bound, functions, 0.0, arguments=None), {}, {}, description)


def timed(fn):
    """`fn` compiled once more, with clocks around its steps; None where nothing says what it is made of."""
    compilation = fn.compilation
    functions = compilation.functions
    if compilation.arguments is not None:
        text, file_name, _, _, choices = compilation.arguments
        graph = _inlay.parse(text, os.fspath(file_name))
    else:  # of a file, or of another API: the numbers of its host functions are not those of its text
        said = compilation.program.explain()
        if not said["graph"]:
            return None
        graph, choices = _inlay.parse(said["graph"]), Choices()
        numbers = dict(zip(said["host_calls"], said["host_functions"], strict=True))
        functions = [functions[numbers[name]] for name in graph.host_calls]
    program = choices.compile(graph, compilation.bound, functions, time_steps=True)
    again = Compilation(program, compilation.bound, functions, 0.0, compilation.arguments)
    return _function(again, fn.parameters, fn.results, fn.description)


def _function(compilation, parameters, results, description):
    fn = compilation.program.function()
    fn.compilation = compilation
    fn.parameters, fn.results, fn.description = parameters, results, description
    fn.__signature__ = _signature(parameters)
    return fn


def _compile_again(text, file_name, bound, host_functions, choices):
    return compile(text, file_name, bound=bound, host_functions=host_functions, **choices.given())


def _restore(data, state):
    return restored(_inlay.read_function(data, "the pickled function"), state)


def _reduce(fn):
    compilation = fn.__dict__.get("compilation")
    if not isinstance(compilation, Compilation):
        raise TypeError(f"{fn!r} cannot be pickled: it does not come from inlay.compile")
    try:
        _, program, state, _ = parts_of(fn)
        return _restore, (program.save({}), state)
    except Unsupported:  # a function of the caller's lays out its memory
        if compilation.arguments is None:
            raise
        return _compile_again, compilation.arguments


copyreg.pickle(_inlay.Function, _reduce)
