"""A PyMC model as a shared library with Stan's C functions, those of BridgeStan.

Here are the graphs of those functions and the tables of the variables; `bridgestan_c` has the C code around them.
"""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytensor
from pytensor import tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import Assert
from pytensor.tensor.random.op import RandomVariable

from .. import _inlay
from ..choices import a_kind
from ..exporting import parts_of
from ..files import write_whole
from .chosen_mode import chosen_mode, compiled_in
from .limits import derivative, refuse_discrete

C_FILES = ("bridgestan.h", "model.c", "json.h", "json.c", "for_r.c")

PREFIX = "model_"  # of the names of functions in C

SHAPES_LOOKED_AT = 8

# At these a client of Stan's takes names apart.
SEPARATORS = re.compile(r"[.,:\s]+")


class NotForStan(NotImplementedError):
    """This model has no library with Stan's functions."""


def export_bridgestan(model, path, *, name=None, var_names=None, mode=None):
    """Writes `model` as a shared library that BridgeStan's clients open (`bridgestan.StanModel(path)`, walnutpie, and
    those of Julia, R and Rust), and returns its path.

    `path`: of the library, as a rule NAME.so. `name`: what the library calls itself; that of the file where none is
    given. `var_names`: names of the deterministics that are its transformed parameters; None: of all. `mode`: how the
    model is rewritten, as `inlay.pytensor.mode(...)` returns it. The C compiler makes the code: `INLAY_CFLAGS` says for
    which CPU (-march=haswell), and a mode that chooses that, or how memory is laid out, is a ValueError.

    Of what `inlay.export` takes, a library has no use for `sizes`, as those of a model are all fixed when it is written, nor
    for `section`: what it is loaded by decides where its bytes lie.

    Parameters are the free variables, in the model's order and under their names, of which a dot, a comma, a colon and
    a blank become `_`; elements count from 1, and the first index changes fastest: `beta.2.1`. Data are those of now.
    Densities have all constants, whatever `propto` says. There are no generated quantities.

    Errors: NotImplementedError for what Stan or C has not: discrete variables, a float32 log density, one without a
    gradient, random draws, library functions as in `inlay.export`; TypeError for what is no model, and a `name` that is no
    text; ValueError for a model without free variables, two of one name, and names in `var_names` that are none of a
    deterministic.

    >>> inlay.pymc.export_bridgestan(model, "radon.so")
    PosixPath('radon.so')
    """
    if getattr(model, "free_RVs", None) is None:
        raise TypeError(f"export_bridgestan takes a PyMC model, not {a_kind(model)}")
    if not model.free_RVs:
        raise ValueError("export_bridgestan: the model has no free variables: there is nothing to sample")
    if not isinstance(name, str | None):
        raise TypeError(f"export_bridgestan: name is a text, not {a_kind(name)}")
    refuse_discrete(model, NotForStan, "Stan samples")
    path = Path(path)
    with compiled_in(mode):
        _refuse_choices()
        graphs = _Graphs(model, _deterministics(model, var_names))
        functions = {function.name: function for function in graphs.functions()}
    header = _model_header(name if name is not None else path.stem, graphs, functions)
    folder = Path(__file__).with_name("bridgestan_c")
    code = {"model.h": header} | {file: (folder / file).read_text("utf-8") for file in C_FILES}
    parts = [function.part for function in functions.values() if function.part]
    write_whole(str(path), _inlay.exported_library(parts, code))
    return path


def _refuse_choices():
    """Of the machine code, which is not inlay's here."""
    for name in chosen_mode().linker.choices.given().keys() - {"single_precision"}:
        help = ": INLAY_CFLAGS says for which CPU, as -march=haswell" if name == "cpu" else ""
        raise ValueError(f"export_bridgestan: mode= chooses {name}=, and the code of the library is the C compiler's{help}")


def _deterministics(model, var_names):
    if var_names is None:
        return list(model.deterministics)
    known = {variable.name: variable for variable in model.deterministics}
    unknown = [name for name in var_names if name not in known]
    if unknown:
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise ValueError(f"export_bridgestan: var_names: the model has no deterministic {unknown[0]}; {has}")
    return [known[name] for name in var_names]


@dataclass
class _Variable:
    """A free variable, or a deterministic, which has no unconstrained values."""

    name: str
    shape: tuple
    unc_shape: tuple = ()
    start: int = 0
    unc_start: int = 0


@dataclass
class _Function:
    """`part`: what _inlay.exported_library takes; None: `absent` says why."""

    name: str
    part: tuple | None
    absent: str = ""


def _size(shape):
    return int(np.prod(shape, dtype=int))


def _first_index_fastest(array):
    return array.transpose().flatten()


class _Graphs:
    """What the library computes, of vectors in Stan's order."""

    def __init__(self, model, deterministics):
        self.model, self.deterministics = model, deterministics
        self.rvs = list(model.free_RVs)
        self.values = [model.rvs_to_values[rv] for rv in self.rvs]
        self.transforms = [model.rvs_to_transforms[rv] for rv in self.rvs]
        shapes = {name: tuple(map(int, shape)) for name, shape in model.eval_rv_shapes().items()}
        self.parameters = [
            _Variable(_stan_name(rv.name), shapes[rv.name], shapes[value.name])
            for rv, value in zip(self.rvs, self.values, strict=True)
        ]
        self.num_unc = sum(_size(v.unc_shape) for v in self.parameters)
        self.num_values = sum(_size(v.shape) for v in self.parameters)
        self.theta_unc = pt.vector("theta_unc", dtype="float64", shape=(self.num_unc,))
        self.jacobian = pt.scalar("jacobian", dtype="bool")
        of_values = model.replace_rvs_by_values([*self.rvs, *deterministics])
        self.constrained = of_values[: len(self.rvs)]
        self.computed = of_values[len(self.rvs) :]
        self.variables = self.parameters + [
            _Variable(_stan_name(of.name), shape)
            for of, shape in zip(deterministics, self._shapes_of(self.computed), strict=True)
        ]
        self._place()

    def _place(self):
        known = {}
        start = unc_start = 0
        for variable, of in zip(self.variables, [*self.rvs, *self.deterministics], strict=True):
            if variable.name in known:
                raise ValueError(
                    f"export_bridgestan: {known[variable.name]} and {of.name} have the same name for Stan's clients, "
                    f"{variable.name}"
                )
            known[variable.name] = of.name
            variable.start, variable.unc_start = start, unc_start
            start += _size(variable.shape)
            unc_start += _size(variable.unc_shape)

    def functions(self):
        """Each as a _Function; only `product` and `unconstrain` may be absent."""
        value = self._log_density()
        gradient = derivative(value, self.theta_unc, NotForStan, "the gradient of the log density")
        inputs = [self.theta_unc, self.jacobian]
        yield self._function("density", "the log density", inputs, [value])
        yield self._function("gradient", "the gradient of the log density", inputs, [value, gradient])
        yield self._product(inputs, value, gradient)
        names = [rv.name for rv in self.rvs]
        for name, what, results in [
            ("constrain", "the parameters of a point", dict(zip(names, self.constrained, strict=True))),
            ("constrain_all", "the deterministics of a point", self._all_results(names)),
        ]:
            yield self._function(name, what, [self.theta_unc], [self._joined(results)])
        yield self._unconstrain()

    def _all_results(self, names):
        of_deterministics = zip((d.name for d in self.deterministics), self.computed, strict=True)
        return dict(zip(names, self.constrained, strict=True)) | dict(of_deterministics)

    def _log_density(self):
        """With the log determinants of the transforms where `jacobian` says so: PyMC adds the same to its terms."""
        from pymc.pytensorf import rewrite_pregrad

        terms = [
            transform.log_jac_det(value, *rv.owner.inputs).sum()
            for rv, value, transform in zip(self.rvs, self.values, self.transforms, strict=True)
            if transform is not None
        ]
        value = self.model.logp(jacobian=False)
        if terms:
            value += pt.switch(self.jacobian, pt.add(*self.model.replace_rvs_by_values(terms), 0.0), 0.0)
        (value,) = self._at_theta_unc([rewrite_pregrad(value)])
        if value.type.dtype != "float64":
            raise NotForStan(
                f"Stan computes in float64, and the log density of this model is {value.type.dtype}: make the model with "
                "pytensor.config.floatX = 'float64', and data of that dtype"
            )
        _refuse_draws("the log density", value)
        return value

    def _joined(self, results):
        """Values by name, as one vector."""
        vectors = []
        for variable, (name, value) in zip(self.variables, results.items(), strict=False):
            _refuse_draws(name, value)
            if np.dtype(value.type.dtype).kind == "c":
                raise NotForStan(f"Stan's vectors are real, and {name} is {value.type.dtype}: leave it out by var_names")
            shaped = _with_shape(value, variable.shape, name)
            vectors.append(_first_index_fastest(shaped).astype("float64"))
        (joined,) = self._at_theta_unc([pt.concatenate(vectors)])
        return joined

    def _product(self, inputs, value, gradient):
        """Of the Hessian with a vector."""
        vector = pt.vector("vector", dtype="float64", shape=(self.num_unc,))
        what = "the Hessian of the log density"
        try:
            product = derivative((gradient * vector).sum(), self.theta_unc, NotForStan, what)
        except NotForStan as error:
            return _absent("product", str(error))
        return self._function("product", what, [*inputs, vector], [value, product], may_lack=True)

    def _unconstrain(self):
        theta = pt.vector("theta", dtype="float64", shape=(self.num_values,))
        values = _parts_of_vector(theta, [v.shape for v in self.parameters], self.rvs)
        results = []
        for rv, transform in zip(self.rvs, self.transforms, strict=True):
            results.append(rv if transform is None else transform.forward(rv, *rv.owner.inputs))
        observed = {rv: self.model.rvs_to_values[rv] for rv in self.model.observed_RVs}
        given = dict(zip(self.rvs, values, strict=True)) | observed
        results = clone_replace(results, replace=given, rebuild_strict=False)
        shaped = [_with_shape(r, v.unc_shape, rv.name) for r, v, rv in zip(results, self.parameters, self.rvs, strict=True)]
        joined = pt.concatenate([_first_index_fastest(each) for each in shaped]).astype("float64")
        (joined,) = _with_constants([joined])
        _refuse_draws("the transforms", joined)
        return self._function("unconstrain", "the inverse of the transforms", [theta], [joined], may_lack=True)

    def _at_theta_unc(self, graphs):
        """With parts of theta_unc in place of the model's values, and constants in place of its data."""
        parts = _parts_of_vector(self.theta_unc, [v.unc_shape for v in self.parameters], self.values)
        replaced = clone_replace(graphs, replace=dict(zip(self.values, parts, strict=True)), rebuild_strict=False)
        return _with_constants(replaced)

    def _shapes_of(self, computed):
        """Of the deterministics. Shapes of Stan's are the same at all points: a few are looked at here, and at others
        param_constrain fails where one differs."""
        if not computed:
            return []
        of = pytensor.function(
            [self.theta_unc], self._at_theta_unc([v.shape for v in computed]), mode=chosen_mode(), on_unused_input="ignore"
        )
        points = np.random.default_rng(0).normal(scale=3, size=(SHAPES_LOOKED_AT, self.num_unc))
        first, *others = [[tuple(map(int, shape)) for shape in of(point)] for point in points]
        for other in others:
            for deterministic, one, another in zip(self.deterministics, first, other, strict=True):
                if one != another:
                    raise NotForStan(
                        f"Stan's shapes are fixed, and {deterministic.name} has shape {one} at one point and {another} at "
                        "another: leave it out by var_names"
                    )
        return first

    def _function(self, name, what, inputs, outputs, *, may_lack=False):
        from pymc.pytensorf import compile as compile_as_pymc

        with self.model:  # whose check_bounds counts
            fn = compile_as_pymc(inputs, outputs, mode=chosen_mode(), on_unused_input="ignore")
        text, _, _, arrays = parts_of(fn)
        part = (text, what, PREFIX + name, {key: np.array(array, order="C") for key, array in arrays.items()})
        if may_lack:
            try:
                _inlay.exported(*part[:3], "c", {}, part[3])
            except NotImplementedError as error:
                return _absent(name, str(error).splitlines()[0].removeprefix("error[unsupported]: "))
        return _Function(name, part)


def _with_shape(value, shape, name):
    """`value`, whose shape has to be this one. What is specified PyTensor takes in place of a size that an Alloc computes,
    and then nothing would find another one: so the sizes that `value` has by itself are asserted."""
    shaped = pt.specify_shape(value, shape)
    is_so = [pt.eq(value.shape[axis], n) for axis, n in enumerate(shape) if value.type.shape[axis] != n]
    return Assert(f"{name} has another shape at this point than {shape}")(shaped, *is_so) if is_so else shaped


def _absent(name, why):
    return _Function(name, None, why)


def _stan_name(name):
    return SEPARATORS.sub("_", name)


def _parts_of_vector(vector, shapes, variables):
    """`vector` as variables of these shapes."""
    bounds = itertools.accumulate((_size(shape) for shape in shapes), initial=0)
    parts = []
    for (begin, end), shape, like in zip(itertools.pairwise(bounds), shapes, variables, strict=True):
        part = vector[begin:end].reshape(shape[::-1]).transpose() if shape else vector[begin]
        parts.append(part.astype(like.type.dtype))
        parts[-1].name = like.name
    return parts


def _with_constants(graphs):
    """With the present values of data. Generators are none."""
    shared = [v for v in ancestors(graphs) if isinstance(v, SharedVariable) and hasattr(v.type, "dtype")]
    constants = {v: v.type.constant_type(v.type, v.get_value(), name=v.name) for v in shared}
    return clone_replace(graphs, replace=constants, rebuild_strict=False) if constants else graphs


def _refuse_draws(what, graph):
    for variable in ancestors([graph]):
        if variable.owner is not None and isinstance(variable.owner.op, RandomVariable):
            raise NotForStan(f"Stan's functions draw no random numbers, and {what} does")


def _model_header(name, graphs, functions):
    """model.h: the tables that bridgestan_c/model.c reads."""
    dims, rows = [], []
    for i, v in enumerate(graphs.variables):
        unc_rank = len(v.unc_shape) if i < len(graphs.parameters) else 0
        where, unc_where = len(dims), len(dims) + len(v.shape)
        dims += [*v.shape, *v.unc_shape]
        rows.append(f"{{{_c_text(v.name)}, {v.start}, {where}, {len(v.shape)}, {v.unc_start}, {unc_where}, {unc_rank}}}")
    numbers = {
        "NUM_PARAMS": len(graphs.parameters),
        "NUM_VARIABLES": len(graphs.variables),
        "NUM_VALUES": graphs.num_values,
        "NUM_ALL_VALUES": sum(_size(v.shape) for v in graphs.variables),
        "NUM_UNC": graphs.num_unc,
    }
    info = (
        f"A PyMC model, compiled by inlay {_inlay.__version__}\n"
        "\tSTAN_THREADS=true: any number of threads may call at once\n\tpropto has no effect: densities have all constants\n"
    )
    tables = {
        "kDensity": "density",
        "kGradient": "gradient",
        "kProduct": "product",
        "kConstrain": "constrain",
        "kConstrainAll": "constrain_all",
        "kUnconstrain": "unconstrain",
    }
    lines = [
        "#include <stdint.h>",
        *(f'#include "{PREFIX}{function.name}.h"' for function in functions.values() if function.part),
        '#include "bridgestan.h"',
        f"#define MODEL_NAME {_c_text(name)}",
        f"#define MODEL_INFO {_c_text(info)}",
        f"enum {{ {', '.join(f'{key} = {number}' for key, number in numbers.items())} }};",
        f"static const int64_t kDims[] = {{{', '.join(map(str, dims)) or '0'}}};",
        f"static const Variable kVariables[] = {{{', '.join(rows)}}};",
        *(f"static const Function {key} = {_c_function(functions[of])};" for key, of in tables.items()),
    ]
    return "\n".join(lines) + "\n"


def _c_function(function):
    name = PREFIX + function.name
    if function.part is None:
        return f"{{0, 0, 0, 0, {_c_text(function.absent)}}}"
    return f"{{{name}_entry, {name}_message, {name}_FAILED, {name}_ARENA_BYTES, 0}}"


def _c_text(text):
    """As a literal of C."""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode("utf-8"))
    return f'"{plain}"'
