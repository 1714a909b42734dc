"""A PyMC model for nutpie: log density, gradient and the variables of a draw as C functions.

nutpie builds the graphs, says what shape and name each part of a draw has, and takes the addresses of two C functions;
its own compilers are left out. What is used of it for that is private to it and differs between versions, so it is
looked for, never assumed.
"""

import contextlib
import dataclasses
import inspect
import threading
import uuid
import warnings
from functools import wraps
from importlib.metadata import version

import numpy as np
import pytensor
from pytensor import tensor

from ..choices import a_kind
from ..pytensor import MODE, c_function, mode
from ..pytensor.user_lines import warn_user
from .compiled_model import compiled_model_class
from .dim_names import without_commas
from .limits import NotForNutpie, refuse_discrete

KNOWN = "0.16.8 and 0.16.11"  # versions that were tried


def compile_nutpie(
    model,
    *,
    var_names=None,
    initial_points=None,
    default_initialization_strategy="support_point",
    jitter_rvs=None,
    freeze_model=False,
    planner=None,
    threads=None,
):
    """`model` as `nutpie.sample` takes it. Its draws run neither Python nor under the GIL, in as many threads as there
    are chains.

    `var_names`: what to keep in the trace beside the free variables; None: everything. `initial_points`,
    `default_initialization_strategy` and `jitter_rvs` are those of `nutpie.compile_pymc_model`. `freeze_model`: data
    and dims become constants, which can make faster code; `with_data` then has none to exchange. `planner`, and on how
    many `threads` each chain's calls may run: as in `inlay.pytensor.mode`.

    Data that a call of `with_data` exchanges may change its length: nothing is compiled again.

    A node that inlay runs as a host call takes the GIL, one thread at a time; a warning names it.

    Errors: ImportError where there is no nutpie; NotImplementedError where nutpie lacks what is needed here, for
    discrete variables, for a log density in float32, and for one that draws random numbers; TypeError for what is no
    model; ValueError for a model without free variables.
    """
    _require_free_variables(model)
    compiled = compile_in_mode(
        model,
        mode(planner=planner, threads=threads),
        var_names=var_names,
        initial_points=initial_points,
        default_initialization_strategy=default_initialization_strategy,
        jitter_rvs=jitter_rvs,
        freeze_model=freeze_model,
    )
    warn_of_dim_names(compiled)
    return compiled


def warn_of_dim_names(compiled):
    """Where nutpie is called by the user, who gets the names that it has."""
    if compiled.own_names:
        names = ", ".join(f"`{other}` is `{own}`" for other, own in compiled.own_names.items())
        _warn(f"nutpie parts names of dims at commas, so in its trace they have another sign: {names}. pm.sample puts commas back")


def _require_free_variables(model):
    free = getattr(model, "free_RVs", None)
    if free is None:
        raise TypeError(f"compile_nutpie takes a PyMC model, not {a_kind(model)}")
    if not free:
        raise ValueError("compile_nutpie: the model has no free variables: there is nothing to sample")


def compile_in_mode(
    model,
    inlay_mode,
    *,
    var_names=None,
    initial_points=None,
    default_initialization_strategy="support_point",
    jitter_rvs=None,
    freeze_model=False,
):
    """What compile_nutpie does, in a mode of inlay's."""
    parts = _Parts()
    if freeze_model:
        from pymc.model.transform.optimization import freeze_dims_and_data

        model = freeze_dims_and_data(model)
    refuse_discrete(model)
    initial_point = _initial_point_function(model, initial_points, default_initialization_strategy, jitter_rvs)
    made = parts.make_functions(
        model,
        mode=inlay_mode,
        compute_grad=True,
        join_expanded=True,
        pymc_initial_point_fn=initial_point,
        var_names=var_names,
    )
    n_dim, n_expanded, logp, expand, initial_point, shape_info, *reparameterized = made
    _refuse_float32(logp, "the log density of this model")
    _refuse_float32(expand, "what this model records of a draw")
    keys, data, user_data = _shared_data(parts, [*logp.get_shared(), *expand.get_shared()])
    offsets = {variable: _offsets(user_data.dtype, key) for variable, key in keys.items()}
    shapes = {name: tuple(shape) for name, _, shape in zip(*shape_info, strict=True)}
    dims, coords, own_names = without_commas(*parts.prepare_dims_and_coords(model, shape_info, *reparameterized), shapes)
    functions = _Functions(model, logp, expand, offsets, n_dim, keys)
    functions.warn_of_python()
    fields = {
        "_n_dim": n_dim,
        "dims": dims,
        "_coords": coords,
        "_shapes": shapes,
        **functions.pointers(_warn_of_failure),
        "initial_point_func": initial_point,
        "shared_data": data,
        "shared_var_keys": keys,
        "shared_vars": {key: variable for variable, key in keys.items()},
        "user_data": user_data,
        "n_expanded": n_expanded,
        "shape_info": shape_info,
        "logp_func": logp,
        "expand_func": expand,
        "reparameterized_names": reparameterized[0] if reparameterized else None,
        "functions": functions,
        "own_names": own_names,
    }
    return parts.make_model(fields)


class _Parts:
    """What is used of nutpie."""

    def __init__(self):
        try:
            from nutpie import compile_pymc
        except ImportError as error:
            raise ImportError("compile_nutpie needs nutpie: pip install nutpie") from error
        self._module = compile_pymc
        self.make_functions = self._find(
            "_make_functions", "mode", "compute_grad", "join_expanded", "pymc_initial_point_fn", "var_names"
        )
        self.prepare_dims_and_coords = self._find("_prepare_dims_and_coords", "model", "shape_info")
        self._make_user_data = self._find("make_user_data")
        self._model_class = self._find("CompiledPyMCModel")

    def _find(self, name, *parameters):
        found = getattr(self._module, name, None)
        if found is None:
            self._refuse(f"it has no `{name}`")
        for parameter in parameters:
            if parameter not in inspect.signature(found).parameters:
                self._refuse(f"its `{name}` takes no `{parameter}`")
        return found

    def _refuse(self, why):
        raise NotForNutpie(f"compile_nutpie cannot use nutpie {version('nutpie')}: {why}. It knows {KNOWN}")

    def make_user_data(self, keys, data):
        """The record that a C function finds data in. Older versions ask for the variables by key."""
        by_key = "shared_vars" in inspect.signature(self._make_user_data).parameters
        return self._make_user_data({key: v for v, key in keys.items()} if by_key else keys, data)

    def knows_data_by_name(self):
        return not any(f.name == "shared_var_keys" for f in dataclasses.fields(self._model_class))

    def make_model(self, fields):
        model_class = compiled_model_class(self._model_class)
        wanted = {f.name: f for f in dataclasses.fields(model_class)}
        for name, field in wanted.items():
            has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            if name not in fields and not has_default:
                self._refuse(f"its model has a field `{name}`")
        return model_class(**{name: value for name, value in fields.items() if name in wanted})


def _refuse_float32(fn, what):
    if any(getattr(output.type, "dtype", None) == "float32" for output in fn.maker.fgraph.outputs):
        raise NotForNutpie(
            f"nutpie computes in float64, and {what} is float32: make the model with pytensor.config.floatX = 'float64', "
            "and data of that dtype"
        )


def _initial_point_function(model, overrides, strategy, jitter_rvs):
    """Seed -> initial values by name, one thread at a time."""
    from pymc.initial_point import make_initial_point_fn

    if strategy == "support_point" and jitter_rvs is None:
        jitter_rvs = set(model.free_RVs)
    make = make_initial_point_fn(
        model=model, overrides=overrides, default_strategy=strategy, jitter_rvs=jitter_rvs, return_transformed=True
    )
    lock = threading.Lock()

    @wraps(make)
    def one_at_a_time(*args, **kwargs):
        with lock:
            return make(*args, **kwargs)

    return one_at_a_time


def _shared_data(parts, variables):
    """Keys by variable, values by key, and the record of their addresses."""
    keys, data = {}, {}
    for variable in variables:
        if variable in keys:
            continue
        value = variable.get_value(borrow=True)
        if not isinstance(value, np.ndarray | np.generic | int | float):
            raise NotForNutpie(
                f"nutpie calls one function from many threads: {variable} in it is a {type(value).__name__}, which "
                "threads cannot share"
            )
        key = variable.name if parts.knows_data_by_name() else uuid.uuid4().hex
        if key in data:
            raise ValueError(f"two shared variables are named {key}")
        keys[variable] = key
        data[key] = np.array(value, dtype=variable.type.dtype, order="C", copy=True)
        data[key].flags.writeable = False
    return keys, data, parts.make_user_data(keys, data)


def _offsets(record, key):
    """Where in the record the address of an array stands, and where its shape does."""
    shared, start = record.fields["shared"][:2]
    places = []
    for what in ("data", "shape"):
        inner, at = shared.fields[what][:2]
        places.append(start + at + inner.fields[key][1])
    return tuple(places)


def _warn(text):
    """Of a model that works: where warnings are errors, it is shown all the same, and the model compiled."""
    try:
        warn_user(text)
    except UserWarning as warning:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warn_user(str(warning))


@dataclasses.dataclass
class _Functions:
    """The log density with its gradient, and the expansion of a draw, of vectors of `n_dim`."""

    model: object
    logp: object
    expand: object
    offsets: dict  # where in the record of data the address of a shared variable stands, and where its shape does
    n_dim: int
    keys: dict  # of data, by shared variable, as nutpie names them
    _shapes: tuple | None = None
    _lock: object = dataclasses.field(default_factory=threading.Lock)

    def each(self):
        """By the name of nutpie's field."""
        yield "compiled_logp_func", self.logp, "logp", "the log density"
        yield "compiled_expand_func", self.expand, "expand", "the expansion of a draw"

    def pointers(self, on_error, **kwargs):
        """C functions by the name of nutpie's field. `on_error(what, error)` is told of a call that fails."""

        def pointer(fn, form, what):
            data = {variable: self.offsets[variable] for variable in fn.get_shared()}
            return c_function(fn, form=form, user_data=data, on_error=lambda error: on_error(what, error), **kwargs)

        return {field: pointer(fn, form, what) for field, fn, form, what in self.each()}

    def terms(self):
        """A function from the values of the model's variables by name, and the data, to the sums of the terms of the
        log density by name."""
        from pymc.pytensorf import compile as compile_as_pymc

        factors = self.model.basic_RVs + self.model.potentials
        inputs = [variable.type() for variable in self.keys]
        variables = self.model.value_vars
        sums = compile_as_pymc(
            [*variables, *inputs],
            [term.sum() for term in self.model.logp(factors, sum=False)],
            givens=[*zip(self.keys, inputs, strict=True)],
            mode=MODE,
            on_unused_input="ignore",
        )

        def at(point, data):
            values = [np.asarray(point[v.name], v.dtype) for v in variables]
            return dict(zip((factor.name for factor in factors), map(float, sums(*values, *data)), strict=True))

        return at

    def recorded_shapes(self, known):
        """Which of the variables that are `known`, shapes by name, a draw records, and a function from the data to their
        shapes, which is compiled when it is first asked for."""
        with self._lock:
            if self._shapes is None:
                recorded = [v for v in self.model.unobserved_value_vars if v.name in known]
                inputs = [variable.type() for variable in self.keys]
                given = [(v, tensor.zeros([int(n) for n in known[v.name]], v.dtype)) for v in self.model.value_vars]
                shapes = pytensor.function(
                    inputs,
                    [v.shape for v in recorded],
                    givens=[*zip(self.keys, inputs, strict=True), *((v, v.type.filter_variable(zeros)) for v, zeros in given)],
                    mode=MODE,
                    on_unused_input="ignore",
                )
                self._shapes = [v.name for v in recorded], shapes
            return self._shapes

    def warn_of_python(self):
        for _, fn, _, what in self.each():
            if warn_of_python(fn, what):
                # A call finds the sizes of results that types say wrongly; the pointer cannot. What else is wrong, a draw tells.
                with contextlib.suppress(Exception):
                    fn(np.zeros(self.n_dim))


def warn_of_python(fn, what):
    """Whether nodes of a compiled function run in Python, with a warning that names them."""
    host_calls = fn.vm.compiled.translation.reasons
    if host_calls:
        nodes = sorted({type(fn.vm.compiled.translation.nodes[n].op).__name__ for n in host_calls})
        _warn(f"{what} runs Python in every draw, for {', '.join(nodes)}")
    return bool(host_calls)


def _warn_of_failure(what, error):
    warnings.warn(f"{what} failed: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)
