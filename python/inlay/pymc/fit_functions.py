"""What a fit calls, as functions of a point and of the data: the log density with its gradient, the values that a draw
records, and where a chain starts.

Sizes may come with the data, those of the parameters too: a series of 20 points and one of 200 are one function.
"""

import warnings

import numpy as np
import pytensor
from pymc.initial_point import make_initial_point_expression
from pymc.pytensorf import compile as compile_as_pymc
from pymc.pytensorf import constant_fold
from pytensor import tensor as pt
from pytensor.compile.io import In
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph import rewrite_graph
from pytensor.graph.basic import Constant
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.sharedvar import TensorSharedVariable

from ..fits.after_draws import AfterDraws, Draw
from ..fits.functions import Data, FitFunctions, Part, Recorded
from ..pytensor import MODE
from ..pytensor.compiled import find_compiled
from .draw_graphs import given_values, log_likelihoods, predictions
from .limits import refuse_discrete
from .nutpie import warn_of_python


class NotForFits(NotImplementedError):
    """This model cannot be fitted by nutpie's core to many data sets."""


def observations(model):
    """The observed variables whose values are constants, by name: `fit_functions` can make data of them."""
    values = {v.name: model.rvs_to_values[v] for v in model.observed_RVs}
    return {name: value for name, value in values.items() if isinstance(value, Constant)}


def data_names(model):
    """What a data set may give: data, and observed values that are constants."""
    return [v.name for v in model.data_vars if isinstance(v, SharedVariable)] + [*observations(model)]


def fit_functions(model, var_names=None, observed=(), after=()):
    """FitFunctions of a PyMC model, with the functions of `after`, which are called with recorded draws: "loglik", the log
    likelihood of each observation, and "predicted", draws of what the model observes.

    `var_names`: which variables a draw records; None: the free variables and the deterministics. `observed`: names of
    `observations` that are data. (The others stay constants, which make faster code: what is computed from them alone is
    computed once.)

    Errors: NotForFits for discrete variables, for a log density in float32, and for random draws; KeyError for a name
    in `var_names` that is none of them.
    """
    refuse_discrete(model, NotForFits, "fit_many samples by nutpie, which samples")
    constants = observations(model)
    recorded = _recorded(model, var_names)
    hidden = [v for v in model.free_RVs if after and v not in recorded]
    graphs = _Graphs(model, [*recorded, *hidden], {name: constants[name] for name in observed}, after)
    return FitFunctions(
        logp=_of_point(graphs.logp(), graphs.data, "the log density"),
        expand=_of_point(graphs.expand(), graphs.data, "what is recorded of a draw"),
        start=_part(graphs.start(), range(len(graphs.data))),
        data=[_data_of(model, variable, observed) for variable in graphs.data],
        recorded=[_recorded_as(model, v, v.name) for v in graphs.recorded],
        hidden=tuple(v.name for v in hidden),
        after={name: graphs.after(name) for name in after},
        coords={dim: list(values) for dim, values in model.coords.items() if values is not None},
    )


def _recorded(model, var_names):
    known = {v.name: v for v in [*model.free_RVs, *model.deterministics]}
    if var_names is None:
        return [*known.values()]
    for name in var_names:
        if name not in known:
            raise KeyError(f"var_names: {name} is no free variable or deterministic of this model; it has {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(var_names)]


def _recorded_as(model, variable, name, ndim=None):
    """`ndim`: where it has only the first dims of the variable."""
    dims = model.named_vars_to_dims.get(variable.name) or (None,) * variable.ndim
    dims = tuple(dim if dim is not None else f"{variable.name}_dim_{i}" for i, dim in enumerate(dims[:ndim]))
    return Recorded(name, variable.dtype, len(dims), dims)


class _Graphs:
    """The graphs of one model, which read its shared variables `data`, and others in place of `constants`."""

    def __init__(self, model, recorded, constants, after):
        self.model, self.recorded = model, recorded
        values = {v.name: v for v in model.unobserved_value_vars}
        self._values = [model.rvs_to_values[v] for v in model.free_RVs]
        drawn = [_as_tensor(values[v.name]) for v in recorded]
        # The shape of a constant is known in the graphs, and stays.
        exchanged = {old: pytensor.shared(old.data, name, shape=old.data.shape) for name, old in constants.items()}
        logp = rewrite_graph(clone_replace(model.logp(), exchanged), include=self._rewrites())
        starts = [_as_tensor(start) for start in self._starting_values()]
        self._given, self._generators = given_values(model), {}
        later = {name: clone_replace(self._later(name), exchanged) for name in after}
        groups = [[logp], drawn, starts, *later.values()]
        self.data, instead = _data_in([v for group in groups for v in group], model)
        (self._logp,), self._drawn, self._starts, *later = [clone_replace(group, instead) for group in groups]
        self._later_by_name = dict(zip(after, later, strict=True))
        self._point, self._parts = self._split([v.type for v in self._values])
        self._replaced = dict(zip(self._values, self._parts.values(), strict=True))

    def _rewrites(self):
        """Before the gradient is taken, which is that of the stable form then."""
        without_checks = [] if self.model.check_bounds else ["local_remove_check_parameter"]
        return ["canonicalize", "stabilize", *without_checks]

    def _starting_values(self):
        """Of each free variable, unconstrained and without jitter."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no support point: refused below, as a random draw
            return make_initial_point_expression(
                free_rvs=self.model.free_RVs,
                rvs_to_transforms=self.model.rvs_to_transforms,
                initval_strategies=self.model.rvs_to_initial_values,
                return_transformed=True,
            )

    def _split(self, types):
        """A vector, and by place of it the values of the free variables."""
        shapes = [constant_fold([*start.shape], raise_not_constant=False) for start in self._starts]
        sizes = [_product(shape) for shape in shapes]
        total = sum(sizes) if all(isinstance(size, int) for size in sizes) else None
        point = pt.TensorType("float64", shape=(total,))("_unconstrained_point")
        parts, begin = {}, 0
        for type_, shape, size in zip(types, shapes, sizes, strict=True):
            part = point[begin : begin + size].reshape(shape, ndim=len(shape)).astype(type_.dtype)
            parts[begin, begin + size] = type_.filter_variable(part)
            begin = begin + size
        return point, parts

    def logp(self):
        gradients = [_as_tensor(g).ravel() for g in pt.grad(self._logp, self._values)]
        if self._point.type.shape[0] is not None:
            gradient = pt.concatenate(gradients)
        else:  # as long as the point, as can be seen before the call
            gradient = pt.zeros_like(self._point)
            for (begin, end), part in zip(self._parts, gradients, strict=True):
                gradient = pt.set_subtensor(gradient[begin:end], part)
        return self._compiled([self._point], clone_replace([self._logp, gradient], self._replaced))

    def expand(self):
        values = pt.concatenate([v.ravel().astype("float64") for v in self._drawn])
        return self._compiled([self._point], clone_replace([values], self._replaced))

    def start(self):
        """From the data to the point where a chain starts, and the sizes of all recorded variables in a row."""
        start = pt.concatenate([s.ravel().astype("float64") for s in self._starts])
        dims = [v.shape[axis] for v in self._drawn for axis in range(v.ndim)]
        at_start = {v: v.type.filter_variable(s) for v, s in zip(self._values, self._starts, strict=True)}
        sizes = pt.stack(clone_replace(dims, at_start)) if dims else pt.zeros(0, "int64")
        inputs = [variable.type() for variable in self.data]
        return self._compiled(inputs, [start, sizes.astype("int64")], givens=[*zip(self.data, inputs, strict=True)])

    def _later(self, name):
        """Graphs from the values of a draw."""
        if name == "loglik":
            return log_likelihoods(self.model, self.model.observed_RVs, self._given)
        drawn, self._generators = predictions(self.model.observed_RVs, self._given)
        return [*drawn, *self._generators.values()]

    def after(self, name):
        """An AfterDraws."""
        outputs = self._later_by_name[name]
        sources = [("draw", v.name, given) for v, given in self._given.items()]
        sources += [("data", i, v.type()) for i, v in enumerate(self.data)]
        data = [given for kind, _, given in sources if kind == "data"]
        if name == "predicted":
            sources += [("generator", i, In(v, mutable=True)) for i, v in enumerate(self._generators)]
        inputs = [given for _, _, given in sources]
        fn = self._compiled(inputs, outputs, givens=[*zip(self.data, data, strict=True)])
        variables = [
            _recorded_as(self.model, v, f"{v.name}_{name}", output.ndim)
            for v, output in zip(self.model.observed_RVs, outputs, strict=False)
        ]
        return AfterDraws(_part(fn, [(kind, key) for kind, key, _ in sources], None), variables)

    def _compiled(self, inputs, outputs, **kwargs):
        with self.model:
            fn = compile_as_pymc(inputs, outputs, mode=MODE, on_unused_input="ignore", **kwargs)
        for output in fn.maker.fgraph.outputs:
            if getattr(output, "dtype", None) == "float32":
                raise NotForFits(
                    "nutpie computes in float64, and this model's log density is float32: make the model with "
                    "pytensor.config.floatX = 'float64', and data of that dtype"
                )
        return fn


def _data_in(outputs, model):
    """The shared variables of graphs, each once, and what stands for others: a copy that PyMC made of one, the length of
    a dim, which is the size of the data with that dim, or, where there are none, what it is now."""
    found = [v for v in ancestors(outputs) if isinstance(v, SharedVariable)]
    named = {id(v.container): v for v in model.named_vars.values() if isinstance(v, SharedVariable)}
    lengths = {id(v.container): dim for dim, v in model.dim_lengths.items() if isinstance(v, SharedVariable)}
    data, instead = {}, {}
    for variable in found:
        if not isinstance(variable, TensorSharedVariable):
            raise NotForFits(_why_not_data(variable))
        key = id(variable.container)
        if key in lengths:
            length = _length(lengths[key], variable, named.values(), model)
            instead[variable] = length
            for origin in ancestors([length]):
                if isinstance(origin, SharedVariable):
                    data[id(origin.container)] = origin
            continue
        instead[variable] = data.setdefault(key, named.get(key, variable))
    order = {name: i for i, name in enumerate(model.named_vars)}
    in_order = sorted(data.values(), key=lambda v: (order.get(v.name, len(order)), v.name or ""))
    return in_order, {old: new for old, new in instead.items() if old is not new}


def _length(dim, variable, named, model):
    for data in named:
        dims = model.named_vars_to_dims.get(data.name) or ()
        if dim in dims:
            return data.shape[dims.index(dim)].astype(variable.dtype)
    return pt.constant(variable.get_value(), dtype=variable.dtype)


def _why_not_data(variable):
    if isinstance(variable.type, RandomType):
        return (
            "the model draws random numbers in its log density, or where a chain would start "
            "(a variable without a support point: give it initval=)"
        )
    return f"{variable} of the model is a {type(variable.get_value()).__name__}, which no C function reads"


def _as_tensor(variable):
    return variable if isinstance(variable, pt.TensorVariable) else pt.as_tensor(variable, allow_xtensor_conversion=True)


def _product(shape):
    product = 1
    for size in shape:
        product = product * (int(size) if isinstance(size, int | np.integer | np.ndarray) else size)
    return product


def _part(fn, slots, what=None):
    """A compiled function as the fits call it. `what`: of one that nutpie calls, where code in Python is slow."""
    compiled = find_compiled(fn)
    if what is not None:
        warn_of_python(fn, what)
    calls = [Draw(*call.drawn) if _needs_no_op(call) else call for call in compiled.translation.host_calls]
    return Part.of(compiled.program, slots, compiled.translation.bound, calls)


def _needs_no_op(host_call):
    """Whether it draws a random variable from the generator itself, without Python code."""
    drawn = getattr(host_call, "drawn", None)
    return drawn is not None and host_call.draw is not None and drawn[-1] is None


def _of_point(fn, data, what):
    """A function of a point, and of the data that it reads."""
    numbers = {variable: i for i, variable in enumerate(data)}
    return _part(fn, [numbers.get(given.variable) for given in fn.maker.inputs], what)


def _data_of(model, variable, observed):
    value = np.array(variable.get_value(borrow=True), dtype=variable.type.dtype, order="C")
    is_named = model.named_vars.get(variable.name) is variable or variable.name in observed
    dims = model.named_vars_to_dims.get(variable.name) if is_named else None
    return Data(variable.name if is_named else None, value, tuple(dims or ()), variable.type.shape)
