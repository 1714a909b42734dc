"""The key of a function in the cache: everything that what PyTensor and inlay make of it depends on, as bytes.

That is the graph as it was given, before any rewriting, with the ways of its inputs and results; what was chosen of
rewriting and compiling; and what compiles: versions, rewrites, settings, the CPU. Values of shared variables are not in
it. `NotText` where one of them cannot be told.
"""

from pytensor import config
from pytensor.compile import mode as ptm
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.basic import Container

from .. import environment
from .canonical import TRUSTED, NotText, Text, name_of_class
from .registered import registered_assumptions, registered_rewrites, require_own_translations

FORMAT = 1  # of entries and keys


def key_of(inputs, outputs, mode, options):
    """`inputs`, `outputs`: as `pytensor.function` hands them to a maker of functions. `options`: its other arguments, all
    of them plain. Returns the key, and whether each of the inputs is read."""
    text = Text()
    lines = [_compilers(text), _mode(text, mode), text.of(sorted(options.items()))]
    numbers = _inputs(text, lines, inputs)
    results = _variables_of(outputs)
    updates = [x.update for x in inputs if x.update is not None]
    read = _graph(text, lines, [*results, *updates], numbers, len(inputs))
    made = type(outputs).__name__, [(numbers[id(x)], getattr(o, "borrow", None)) for x, o in _pairs(results, outputs)]
    lines.append(repr((made, [numbers[id(x)] for x in updates])))
    head = "\n".join(lines).encode(errors="surrogatepass")
    sizes = " ".join(str(len(x)) for x in (head, *text.arrays))
    return b"\n".join([f"inlay {FORMAT}: {sizes}".encode(), head, *text.arrays]), read


def _pairs(variables, outputs):
    return zip(variables, outputs if isinstance(outputs, list | tuple) else [outputs][: len(variables)], strict=True)


def _variables_of(outputs):
    many = [] if outputs is None else outputs if isinstance(outputs, list | tuple) else [outputs]
    return [getattr(x, "variable", x) for x in many]


def _inputs(text, lines, inputs):
    """The numbers of their variables. Which of them have one value is part of it, not the values."""
    numbers, cells = {}, {}
    for x in inputs:
        value = x.value
        if value is not None and not (isinstance(value, Container) and x.shared):
            raise NotText(f"a value for the input {x.name}")
        cell = None if value is None else cells.setdefault(id(value.storage), len(cells))
        ways = [x.name, x.mutable, x.borrow, x.strict, x.allow_downcast, x.implicit, x.shared, x.update is not None, cell]
        if value is not None:
            ways += [value.name, value.readonly, value.strict, value.allow_downcast, text.type(value.type)]
        numbers[id(x.variable)] = len(numbers)
        lines.append(f"{name_of_class(type(x))} {text.variable(x.variable)} {text.of(ways)}")
    return numbers


def _graph(text, lines, roots, numbers, num_inputs):
    """Adds a line for each node and constant, operands first, and their numbers. Returns by input whether it is read."""
    read = set()
    todo = list(reversed(roots))
    while todo:
        x = todo[-1]
        owner = x.owner
        if id(x) in numbers or owner is None:
            todo.pop()
            if id(x) not in numbers:
                lines.append(f"{numbers.setdefault(id(x), len(numbers))} {text.leaf(x)}")
            continue
        missing = [operand for operand in owner.inputs if id(operand) not in numbers]
        if missing:
            todo += reversed(missing)
        else:
            todo.pop()
            lines.append(text.node(owner, numbers))
            read.update([numbers[id(operand)] for operand in owner.inputs])
    read.update([numbers[id(x)] for x in roots])
    return [i in read for i in range(num_inputs)]


def _mode(text, mode):
    """What was chosen of rewriting and of compiling."""
    from .linker import InlayLinker

    linker, query = mode.linker, mode.provided_optimizer
    if type(linker) is not InlayLinker or linker._scheduler is not None:
        raise NotText(f"a linker {type(linker).__qualname__} of your own")
    if mode.optdb is not ptm.optdb or type(query) is not RewriteDatabaseQuery:
        raise NotText("a mode with rewrites of your own")
    return text.of([environment.choices_of(linker.choices), linker._allow_gc, *_query(text, query), *_query(text, mode._optimizer)])


def _query(text, query):
    if query.extra_rewrites:
        raise NotText("a mode with rewrites of your own")
    parts = [list(query.include), list(query.require), list(query.exclude)]  # in their order
    return [*parts, float(query.position_cutoff), [(k, _query(text, q)) for k, q in query.subquery.items()]]


# Settings that change nothing of a function of inlay's: where PyTensor's own compilers put what they make, what they
# report, and the checks of other modes. Some of the values are found by starting a C compiler, when they are asked for.
_OF_NO_EFFECT = (
    "DebugMode__", "NanGuardMode__", "base_compiledir", "blas__", "cmodule__", "compile__", "compiledir",
    "compiler_verbose", "cxx", "exception_verbosity", "gcc__", "gcc_version_str", "generated_src_dir", "lib__amdlibm", "mode", "nocleanup",
    "numba__cache", "openmp", "print_", "profil", "traceback__", "unpickle_function", "vm__lazy",
)  # fmt: skip


def _compilers(text):
    require_own_translations()
    settings = [
        (name, getattr(config, name)) for name in config._config_var_dict if not name.startswith(_OF_NO_EFFECT)
    ]
    return f"{environment.of(TRUSTED)}\n{text.of(settings)}\n{text.of(environment.variables())}\n{registered_rewrites()}{registered_assumptions()}"
