"""What a fit calls, as functions of a point and of the data: the log density with its gradient, the values that a draw
records, and where a chain starts.

Sizes may come with the data, those of the parameters too: a series of 20 points and one of 200 are one function.
"""

import numpy as np
from pymc.pytensorf import constant_fold
from pytensor import tensor as pt
from pytensor.graph import rewrite_graph
from pytensor.graph.replace import clone_replace

from ..fits.functions import FitFunctions, PriorFunction
from .described import NotForFits, as_tensor, data_in, described, hidden_from, observations, shared_of, variables_of
from .draw_graphs import PRIOR, AfterGraphs, generators_of
from .initial import Initial, starting_values
from .limits import refuse_discrete
from .parts import function_of, part_of, part_of_point


def fit_functions(model, var_names=None, observed=(), after=(), initial=(), jacobian=True):
    """FitFunctions of a PyMC model, with the functions of `after`, which are called with recorded draws: "loglik", the log
    likelihood of each observation, and "predicted", draws of what the model observes.

    `var_names`: which variables a draw records; None: the free variables and the deterministics. `observed`: names of
    `observations` that are data. (The others stay constants, which make faster code: what is computed from them alone is
    computed once.) `initial`: names of variables whose starting values come with each call. `jacobian`: whether the log
    density has the Jacobians of the transforms, as samplers need it.

    Errors: NotForFits for discrete variables, for a log density in float32, and for random draws; KeyError for a name
    in `var_names` that is none of them.
    """
    refuse_discrete(model, NotForFits, "fit_many samples by nutpie, which samples")
    constants, recorded = observations(model), variables_of(model, var_names)
    hidden = hidden_from(model, recorded, after)
    graphs = _Graphs(model, [*recorded, *hidden], {name: constants[name] for name in observed}, after, initial, jacobian)
    numbers = range(len(graphs.data))
    return FitFunctions(
        logp=part_of_point(graphs.logp(), graphs.data, "the log density"),
        expand=part_of_point(graphs.expand(), graphs.data, "what is recorded of a draw"),
        start=part_of(graphs.start(), numbers),
        initial=graphs.initial.data(),
        start_at=part_of(graphs.start_at(), range(len(numbers) + len(initial))) if initial else None,
        **described(model, recorded, hidden, graphs.data, observed, graphs.after),
    )


class _Graphs:
    """The graphs of one model, which read its shared variables `data`, and others in place of `constants`."""

    def __init__(self, model, recorded, constants, after, initial, jacobian):
        self.model, self.recorded, self.initial = model, recorded, Initial(model, initial)
        values = {v.name: v for v in model.unobserved_value_vars}
        self._values = [model.rvs_to_values[v] for v in model.free_RVs]
        drawn = [as_tensor(values[v.name]) for v in recorded]
        exchanged = {old: shared_of(name, old) for name, old in constants.items()}
        logp = rewrite_graph(clone_replace(model.logp(jacobian=jacobian), exchanged), include=self._rewrites())
        starts = [as_tensor(start) for start in self._starting_values({})]
        at = [as_tensor(start) for start in self._starting_values(self.initial.inputs)] if initial else []
        of_initial = self.initial.sizes()
        after = AfterGraphs(model, after, exchanged)
        self.data, instead = data_in([logp, *drawn, *starts, *at, *of_initial, *after.outputs()], model)
        graphs = [[logp], drawn, starts, at, of_initial]
        (self._logp,), self._drawn, self._starts, self._at, self._initial_sizes = [clone_replace(v, instead) for v in graphs]
        self.after = after.compiled(self.data, instead)
        self._point, self._parts = self._split([v.type for v in self._values])
        self._replaced = dict(zip(self._values, self._parts.values(), strict=True))

    def _rewrites(self):
        """Before the gradient is taken, which is that of the stable form then."""
        without_checks = [] if self.model.check_bounds else ["local_remove_check_parameter"]
        return ["canonicalize", "stabilize", *without_checks]

    def _starting_values(self, given):
        """Of each free variable, unconstrained and without jitter. `given`: values of some in place of the model's."""
        starts = starting_values(self.model, given, unconstrained=True)
        return [self._without_generator(v, start) for v, start in zip(self._values, starts, strict=True)]

    def _without_generator(self, value, start):
        """Some variables' support points want their own draw, for its shape alone: of a fixed shape it is a constant."""
        if not generators_of([start]) or None in value.type.shape:
            return start
        points = [self.model.initial_point(random_seed=seed)[value.name] for seed in (1, 2)]
        return pt.constant(points[0]) if np.array_equal(*points) else start

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
        gradients = [as_tensor(g).ravel() for g in pt.grad(self._logp, self._values)]
        if self._point.type.shape[0] is not None:
            gradient = pt.concatenate(gradients)
        else:  # as long as the point, as can be seen before the call
            gradient = pt.zeros_like(self._point)
            for (begin, end), part in zip(self._parts, gradients, strict=True):
                gradient = pt.set_subtensor(gradient[begin:end], part)
        return function_of(self.model, [self._point], clone_replace([self._logp, gradient], self._replaced))

    def expand(self):
        values = pt.concatenate([v.ravel().astype("float64") for v in self._drawn])
        return function_of(self.model, [self._point], clone_replace([values], self._replaced))

    def start(self):
        """From the data to the point where a chain starts, and the sizes of all recorded variables, and of `initial`, in a
        row."""
        start = pt.concatenate([s.ravel().astype("float64") for s in self._starts])
        dims = [v.shape[axis] for v in self._drawn for axis in range(v.ndim)]
        at_start = {v: v.type.filter_variable(s) for v, s in zip(self._values, self._starts, strict=True)}
        sizes = [*clone_replace(dims, at_start), *self._initial_sizes] if dims or self._initial_sizes else []
        sizes = pt.stack(sizes) if sizes else pt.zeros(0, "int64")
        return self._function_of_data([], [start, sizes.astype("int64")])

    def start_at(self):
        """From the data and the values of `initial` to the point where a chain starts."""
        start = pt.concatenate([s.ravel().astype("float64") for s in self._at])
        return self._function_of_data([*self.initial.inputs.values()], [start])

    def _function_of_data(self, more, outputs):
        inputs = [variable.type() for variable in self.data]
        return function_of(self.model, [*inputs, *more], outputs, givens=[*zip(self.data, inputs, strict=True)])


def prior_function(model, var_names=None, observed=(), after=()):
    """The PriorFunction of a PyMC model. Errors: KeyError as `fit_functions`; NotForFits for data that are no arrays."""
    constants, recorded = observations(model), variables_of(model, var_names)
    hidden = hidden_from(model, recorded, after)
    exchanged = {constants[name]: shared_of(name, constants[name]) for name in observed}
    graphs = AfterGraphs(model, [PRIOR, *after], exchanged, [*recorded, *hidden])
    data, instead = data_in(graphs.outputs(), model)
    functions = graphs.compiled(data, instead)
    prior = functions.pop(PRIOR)
    return PriorFunction(prior=prior, **described(model, recorded, hidden, data, observed, functions))


def _product(shape):
    product = 1
    for size in shape:
        product = product * (int(size) if isinstance(size, int | np.integer | np.ndarray) else size)
    return product
