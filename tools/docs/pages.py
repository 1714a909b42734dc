"""What is made from tables of the code: docs/ops.md, the rules in docs/rewriting.md, the patterns in docs/fusion.md, the
ops in docs/onnx.md, the stubs of the extension module.

    python tools/docs/pages.py [--check]     writes them; --check only says which are stale

Rows come from `inlay list` (of `INLAY_TOOL`, else build/release), from the translations of `inlay.pytensor`, and from the
statements of docs/text.md, so a new op appears when this runs again. What stands here is prose, and the reasons of holes.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))

# NumPy's or SciPy's name where it is not ours.
OTHER_NAMES = {
    "neg": "negative",
    "pow": "power",
    "max": "maximum",
    "min": "minimum",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "div": "true_divide",
    "sub": "subtract",
    "mul": "multiply",
    "floor_div": "floor_divide",
    "round": "rint",
    "select": "where",
    "not": "invert",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "shift_left": "left_shift",
    "shift_right": "right_shift",
    "sigmoid": "scipy.special.expit",
    "lgamma": "scipy.special.gammaln",
    "digamma": "scipy.special.psi",
    "beta": "scipy.special.beta",
    "lbeta": "scipy.special.betaln",
}

# Why an op has no name there: it is a composition that NumPy and SciPy leave to the user.
NO_NUMPY = {
    "log1mexp": "log(1 - exp(x)), exact near both ends",
    "softplus": "log(1 + exp(x)), without overflow",
    "trigamma": "scipy.special.polygamma(1, x)",
    "gammainc_da": "the derivative of gammainc by its first operand",
    "betainc_da": "the derivative of betainc by its first operand",
    "betainc_db": "the derivative of betainc by its second operand",
}

# Ops of PyTensor that inlay leaves to PyTensor for good, each with its reason.
_SOLVER = "iterates over a graph of its own: SciPy's solver runs, and calls it as a native function"
TENSOR_OPS_LEFT = {
    "DefaultGeneratorMakerOp": "makes a NumPy generator",
    "Fourier": "no Fourier transform: NumPy's runs",
    "IRFFTOp": "no Fourier transform: NumPy's runs",
    "RFFTOp": "no Fourier transform: NumPy's runs",
    "MakeSlice": "makes a Python object; a slice in an index is native",
    "MinimizeOp": _SOLVER,
    "MinimizeScalarOp": _SOLVER,
    "RootOp": _SOLVER,
    "RootScalarOp": _SOLVER,
}
# Those that other modes' rewrites make, or that are the same op in another module.
NOT_IN_OUR_MODE = {"CGemv", "Dot22", "Dot22Scalar", "Gemm"}

# What inlay's ops themselves do not take, and why.
REFUSED = [
    ("`max`, `min`, `clip`, `lt`, `le`, `gt`, `ge` and their reductions, of complex numbers", "they have no order that is more than a convention; sorting has NumPy's"),
    ("`floor`, `ceil`, `round`, `trunc`, `mod`, special functions, of complex numbers", "not defined there, or no series that is right in the whole plane"),
    ("library ops on `f16`, `bf16`, and matrices of integers", "no BLAS has them: cast first (the PyTensor API does). `matmul` of integers is products and a sum"),
    ("`update` and `scatter` by `and`, `or`, `xor`", "no API asks for them"),
    ("`opaque` values, but by `host_call`, as results, and carried by `loop`", "only the API that owns them knows what they are"),
    ("gradients", "an API's: PyTensor's graphs come with theirs"),
]


def run_tool(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def rows_of(what):
    return json.loads(run_tool("list", what, "--json"))


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    for row in rows:
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(out) + "\n"


def numpy_name(op):
    import numpy as np
    import scipy.special

    name = OTHER_NAMES.get(op, op)
    if name.startswith("scipy."):
        return f"`{name}`"
    if hasattr(np, name):
        return f"`{name}`"
    if hasattr(scipy.special, name):
        return f"`scipy.special.{name}`"
    return NO_NUMPY.get(op, "")


class Recorder:
    """Stands in for a translation: notes which of inlay's scalar ops it makes."""

    def __init__(self):
        self.ops = []

    def __getattr__(self, name):
        def make(*operands):
            self.ops.append(name.rstrip("_"))
            return Operand("f64")

        return make

    def constant(self, value, dtype):
        return Operand(dtype)

    def cast(self, x, dtype):
        return Operand(dtype)

    @property
    def _translator(self):
        raise NotImplementedError  # more than scalar ops


class Operand:
    def __init__(self, dtype):
        self.dtype = dtype


def made_of(function):
    """The scalar ops that a translation is made of; None: it is more than those."""
    for dtype in ("f64", "i64"):
        for arity in (1, 2, 3, 4):
            recorder = Recorder()
            try:
                function(recorder, dtype, *[Operand(dtype) for _ in range(arity)])
            except (TypeError, IndexError):  # another number of operands
                continue
            except Exception:
                break
            if recorder.ops or arity > 1:
                return recorder.ops
    return None


def pytensor_names():
    """inlay's op -> the PyTensor ops that are it; the PyTensor ops made of several; those that no translation has."""
    import pytensor.scalar as ps
    import pytensor.scalar.basic as basic
    import pytensor.scalar.math as psm
    from pytensor.scalar.loop import ScalarLoop
    from inlay.pytensor.translate import scalar

    by_op, composed, left = {}, [], []
    for op_class, (function, _) in scalar._SCALARS.items():
        ops = made_of(function)
        name = op_class.rsplit(".", 1)[1] if isinstance(op_class, str) else op_class.__name__
        if ops is not None and len(ops) == 1:
            by_op.setdefault(ops[0], []).append(name)
        elif ops:
            composed.append((name, sorted(set(ops))))
    classes = set()
    for module in (basic, psm):
        for c in vars(module).values():
            if isinstance(c, type) and issubclass(c, ps.ScalarOp) and c.__module__ == module.__name__:
                classes.add(c)
    known = set(scalar._SCALARS) | {ps.Composite, ScalarLoop}
    for op_class in classes - known:
        is_base = any(other is not op_class and issubclass(other, op_class) for other in classes)
        if not is_base and not any(base in known for base in op_class.__mro__[1:]):
            left.append(op_class.__name__)
    return by_op, sorted(composed), sorted(left)


def derivatives(op):
    """By each operand, a, b, c; where all have none for one reason, that reason."""
    parts = op["derivatives"].split("; ")
    if len(set(parts)) == 1 and parts[0].startswith("none: "):
        return parts[0]
    return "; ".join(
        f"{operand}: {text}" if text.startswith("none: ") else f"{operand}: `{text}`"
        for operand, text in zip("abcd", parts, strict=False)
    )


def tensor_ops():
    """Every op of the Graph but literals and scalar ops, with its statements and their meaning in docs/text.md."""
    header = (ROOT / "src" / "ir" / "graph.h").read_text()
    enum = re.search(r"enum class Op : uint8_t \{(.*?)\n\};", header, re.S)[1]
    names = [n.rstrip("_") for n in re.findall(r"^\s*(\w+),?", re.sub(r"//[^\n]*", "", enum), re.M)]
    text = (ROOT / "docs" / "text.md").read_text()
    statements = re.findall(r"^\| (`%.*?) \|\s?(.*?)\s?\|$", text, re.M)
    rows = []
    for name in names:
        if name in ("literal", "scalar", "library"):
            continue
        found = [row for row in statements if re.search(rf"= {name}\b", row[0])]
        if not found:
            sys.exit(f"docs/text.md has no statement with {name}")
        rows += [(f"`{name}`", *(cell.replace("](#", "](text.md#") for cell in row)) for row in found]
    return rows


def compositions():
    """The names in the table of src/ir/compose.cpp, with what docs/text.md says of their arguments."""
    names = re.findall(r'^    \{"(\w+)", \d', (ROOT / "src" / "ir" / "compose.cpp").read_text(), re.M)
    section = (ROOT / "docs" / "text.md").read_text().split("## Compositions", 1)[1].split("\n## ", 1)[0]
    rows = []
    for what, arguments in re.findall(r"^\| (`.*?`) \| ?(.*?) ?\|$", section, re.M):
        rows.append((what, arguments))
    said = " ".join(what for what, _ in rows)
    for name in names:
        if not re.search(rf"\b{name}\b", said):
            sys.exit(f"docs/text.md has no composition {name}")
    return rows


def tensor_ops_left():
    """The classes of PyTensor's tensor ops that no translation is for; random variables are one row."""
    import importlib
    import pkgutil
    import warnings

    import pytensor.tensor
    from inlay.pytensor.translate import linalg, registry
    from pytensor.graph.op import Op
    from pytensor.tensor.random.op import RandomVariable

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.walk_packages(pytensor.tensor.__path__, "pytensor.tensor."):
            # (`var` is the old name of a module, and would take the place of the function.)
            if not module.name.startswith("pytensor.tensor.rewriting") and module.name != "pytensor.tensor.var":
                importlib.import_module(module.name)
    known = set(registry._TRANSLATIONS) | set(linalg._BATCHED)
    classes, todo = set(), [Op]
    while todo:
        for c in todo.pop().__subclasses__():
            todo.append(c)
            if c.__module__.startswith("pytensor.tensor"):
                classes.add(c)
    rows = [
        (
            "random variables that SciPy draws by its general methods, `integers`, `multivariate_normal`, choices and "
            "permutations",
            "NumPy and SciPy draw them, bit by bit as in other modes; the others are drawn natively, by NumPy's own functions",
        )
    ]
    for c in sorted(classes, key=lambda c: c.__name__):
        is_base = any(other is not c and issubclass(other, c) for other in classes)
        if is_base or issubclass(c, RandomVariable) or known & set(c.__mro__) or c.__name__ in NOT_IN_OUR_MODE:
            continue
        rows.append((f"`{c.__name__}`", TENSOR_OPS_LEFT.get(c.__name__, "inlay has no such op yet: the node runs in Python")))
    return rows


def forms_left():
    """What the translations themselves leave to Python: the reasons that they give."""
    rows = []
    for path in sorted((ROOT / "python" / "inlay" / "pytensor" / "translate").glob("*.py")):
        text = path.read_text()
        found = [reason for line in re.findall(r"raise NotNative\((.*)\)", text) for reason in re.findall(r'"([^"]+)"', line)]
        if found:
            reasons = dict.fromkeys(re.sub(r"\{.*?\}", "...", reason) for reason in found)
            rows.append((f"`{path.stem}`", "; ".join(reasons)))
    return rows


def library_ops():
    """The rows of library_ops.def, each with the comment above it."""
    rows, comment = [], []
    text = (ROOT / "src" / "ops" / "library_ops.def").read_text().split("\n\n", 1)[1]  # behind the head of the file
    for statement in re.findall(r"^//.*|^LIBRARY_OP\((?:[^)\"]|\"[^\"]*\")*\)", text, re.M):
        if statement.startswith("//"):
            comment.append(statement[2:].strip())
            continue
        name, signature, dtypes = re.match(r"LIBRARY_OP\((\w+),\s*\"([^\"]*)\",\s*(\w+)", statement).groups()
        options = re.findall(r"\"([^\"]*)\"", statement)[3]
        dtypes = {"Field": "f32, f64, complex", "Ordered": "f32, f64, complex, integers, bool", "Index": "i64", "Byte": "u8, and i8 on the right"}[dtypes]
        rows.append((f"`{name}`", f"`{signature}`", dtypes, options and f"`{options}`", " ".join(comment)))
        comment = []
    return rows


def filled(begin, names):
    """A list item: names in lines that fit."""
    text = begin + (", ".join(f"`{n}`" for n in names) or "none") + "."
    return textwrap.fill(text, 120, subsequent_indent="  ", break_on_hyphens=False)


def ops_page():
    ops = rows_of("ops")
    by_op, composed, left = pytensor_names()
    holes = [op["name"] for op in ops if op["f64"] == "per lane"]
    alone = [op["name"] for op in ops if "alone" in (op["f64"], op["i64"])]
    rows = []
    for op in ops:
        name = op["name"]
        row = [f"`{name}`", str(op["arity"]), op["operands"], op["result"], op["f64"] or op["i64"], op["c"]]
        row += [derivatives(op), numpy_name(name), ", ".join(f"`{n}`" for n in sorted(by_op.get(name, [])))]
        rows.append(row)
    head = ["op", "operands", "dtypes", "result", "loop", "C", "derivative", "NumPy, SciPy", "PyTensor"]
    parts = [
        "# Ops\n",
        "Made by `tools/docs/pages.py` from the tables of the code; a test fails when this page is older than they are.\n",
        "## Scalar ops\n",
        "Applied elementwise; operands broadcast. *loop* is what the fuser is told: `vector`, whole\n"
        "vectors at a time; `per lane`, a function called for each lane, still fused. *C* is the same of the backend `c`:\n"
        "`called`, by a function of inlay's libraries, where C99 has none and the code brings none of its own. All operands\n"
        "have one dtype (of `select`: the branches).\n"
        "Derivatives are by the operands `a`, `b`, `c`, `d`, as expressions over them and the result `r`.\n",
        table(head, rows),
        "### Holes\n",
        f"{filled('- No vector form, so slower than it could be, though fused: ', holes)}\n"
        f"{filled('- Runs alone, in no fused loop: ', alone)}\n",
        "PyTensor scalar ops that are made of several of these:\n",
        table(["PyTensor", "made of"], [(f"`{n}`", ", ".join(f"`{op}`" for op in made)) for n, made in composed]),
    ]
    if left:
        reasons = [(f"`{n}`", "inlay has no such op yet: the node runs in Python") for n in left]
        parts += ["PyTensor scalar ops that have no translation:\n", table(["PyTensor", "why"], reasons)]
    parts += [
        "## Tensor ops\n",
        "Statements of the text form ([text.md](text.md)); `src/ir/builder.h` has the calls that make them.\n",
        table(["op", "statement", "meaning"], tensor_ops()),
        "## Library ops\n",
        "Functions of a library over whole matrices or rows, for each point of the axes before those of the signature.\n"
        "Rows of `src/ops/library_ops.def`: `a` is the first operand, `b` the second.\n",
        table(["op", "core axes", "dtypes", "options", "meaning"], library_ops()),
        "## Compositions\n",
        "One name in the text form and the builder, a few nodes in the graph; `src/ir/compose_*.h` say what each means.\n"
        "`src/ir/linalg.h` has those of linear algebra for the builder: inverse, determinant, slogdet, LU with permutation,\n"
        "pseudoinverse, `einsum`, solutions by factors; and `src/ir/compose_sizes.h` those whose size is found when they run:\n"
        "nonzero, unique, arange, masks.\n",
        table(["composition", "arguments"], compositions()),
        "## What is not there\n",
        table(["not taken", "why"], REFUSED),
        "Ops of PyTensor's tensors that run as Python, through their own `perform`, within the compiled function:\n",
        table(["PyTensor", "why"], tensor_ops_left()),
        "Forms of the others that do, by the module of the translation:\n",
        table(["module", "forms"], forms_left()),
    ]
    return "\n".join(parts)


def rules_section():
    rows = []
    for rule in rows_of("rules"):
        rows.append((f"`{rule['name']}`", f"`{rule['from']}`", f"`{rule['to']}`", rule["when"] and f"`{rule['when']}`", rule["close"]))
    return "\n" + table(["rule", "from", "to", "when", "close"], rows) + "\n"


# Patterns that are one loop, and the programs of tests/programs (without a folder: of its `fusion`) that show it.
PATTERNS = {
    "elementwise ops with several results; a producer that stands beside rows": "several_outputs equal_sizes row_producer row_producer_summed producer_of_middle producer_of_columns where",
    "slices read: steps, backwards, transposed, with new axes": "slice_differences slice_steps slice_new_axis sum_of_transposed rows_of_transposed",
    "slices written, one or several; the base computed where it is not written": "slice_write slice_write_backwards slice_write_steps slice_write_leaves slice_writes slice_writes_computed slice_and_number_writes slice_add slice_add_computed position_write slice_write_stretched slice_write_stretched_read slice_writes_stretched slice_adds slice_writes_overlap slice_write_read_on slice_writes_read_on",
    "gathers: by several arrays and by a matrix, beside slices and positions, with a range between, read by several, folded": "gather_two_arrays gather_three_arrays gather_beside_slice gather_apart gather_positions gather_read_often gather_folded",
    "scatters: as freely, several through one index, one after the other, returned and read": "scatter_by_all scatter_combines scatter_matrix_index scatter_apart scatter_positions scatter_twice scatter_returned scatter_ignoring_repeats last_set_wins",
    "reductions of one value, over any axes; argmax": "reductions reductions_of_all_kinds reductions_of_axes reductions_of_three_axes argmax_beside argmax_rows argmax_first",
    "rows, along any axis and over all": "softmax_last softmax_first softmax_mid softmax_whole logsumexp_last logsumexp_first logsumexp_whole logsumexp_initial sum_of_exponentials log_sum_exp_over_two_axes log_softmax_whole center_last center_first center_whole var_last var_first var_whole var_far normalised_whole squares_over_two_axes squares_of_running_sum squares_must_not std_last std_first layer_norm_last layer_norm_first log_softmax_last log_softmax_first whole_other_data",
    "masks: what is selected folded, computed on, and written": "where_folds mask_folds mask_mean mask_values mask_must_not mask_write",
    "running sums and products": "running_sum running_product running_product_first running_folds",
    "concat, stack, pad, split": "concat concat_rows concat_folded concat_read_often stick_breaking stack pad pad_edges split split_read_apart",
    "what must not be one loop, or be computed again": "vectors_are_kept not_a_cycle not_old_values not_permuted base_read_twice asserts_in_order behind_asserts expensive_row_producer",
    "a product with a short side, two of one matrix; what follows a call": "dot regression regression_columns matmul_epilogue",
    "parts of arrays as operands of calls": "matmul_parts matmul_batch_parts solve_parts matmul_copied",
    "results of calls in their places": "matmul_into_parts matmul_into_given matmul_into_chain factors_in_place ../loop_products",
    "a log-likelihood with its gradient": "hierarchical varying_slopes logistic",
    "0-d arithmetic between loops": "scalars_between",
    "loops: a scalar body, an array that is carried, a condition": "../loop_scalar ../loop_array ../loop_while",
}


def parts_of(count):
    """At the commas that no parenthesis holds: sizes may be `floordiv(n + 1, 2)`."""
    parts, depth = [""], 0
    for c in count:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def patterns_section():
    rows = []
    folder = ROOT / "tests" / "programs" / "fusion"
    others = {path.stem for path in folder.glob("*.inlay")} - set(" ".join(PATTERNS.values()).split())
    for pattern, names in [*PATTERNS.items(), ("other", " ".join(sorted(others)))]:
        for name in names.split():
            lines = (folder / f"{name}.inlay").read_text().splitlines()
            count = next((line.removeprefix("#= count ") for line in lines if line.startswith("#= count ")), "")
            said = {words[0]: " ".join(words[1:]) for words in (part.split() for part in parts_of(count) if part)}
            link = f"[{name.split('/')[-1]}]({os.path.relpath(folder / name, ROOT / 'docs')}.inlay)"
            rows.append((pattern, link, *(said.get(what, "") for what in ("kernels", "stages", "reads", "writes", "copies"))))
            pattern = ""
    return "\n" + table(["pattern", "program", "kernels", "stages", "reads", "writes", "copies"], rows) + "\n"


def with_section(text, name, section):
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    return text[: text.index(begin) + len(begin)] + "\n" + section + text[text.index(end) :]


def onnx_section():
    """A line for each domain and version: an op's newest rows are for that version and all later ones."""
    from inlay import _inlay

    newest = {}
    for domain, name, since in _inlay.onnx_ops():
        newest.setdefault((domain, name), []).append(since)
    rows = []
    for (domain, name), versions in sorted(newest.items()):
        later = sorted(v for v in versions if v > 7)
        rows.append((domain or "ONNX", f"`{name}`", ", ".join(map(str, later)) if len(versions) > 1 or later else ""))
    names = {}
    for domain, name, later in rows:
        names.setdefault(domain, []).append(f"{name} (from {later})" if later else name)
    return "\n" + table(["domain", "ops"], [(domain, ", ".join(all_of)) for domain, all_of in names.items()]) + "\n"


def stubs():
    from inlay import _inlay
    from nanobind.stubgen import StubGen

    generator = StubGen(_inlay)
    generator.put(_inlay)
    return generator.get()


def pages():
    """Every generated file: path -> text."""
    rewriting, fusion, onnx = (ROOT / "docs" / name for name in ("rewriting.md", "fusion.md", "onnx.md"))
    return {
        ROOT / "docs" / "ops.md": ops_page(),
        ROOT / "python" / "inlay" / "_inlay.pyi": stubs(),
        fusion: with_section(fusion.read_text(), "patterns", patterns_section()),
        onnx: with_section(onnx.read_text(), "onnx ops", onnx_section()),
        rewriting: with_section(rewriting.read_text(), "rules", rules_section()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is stale")
    check = parser.parse_args().check
    made = pages()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'stale' if check else 'written'}")
        if not check:
            path.write_text(made[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
