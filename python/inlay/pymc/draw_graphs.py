"""Graphs from the values of a draw, as they are recorded, to what is computed of it afterwards.

`given` has a variable for the value of each free variable of a model, by free variable.
"""

from pymc.pytensorf import collect_default_updates
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType


def given_values(model):
    return {v: v.type(v.name) for v in model.free_RVs}


def log_likelihoods(model, variables, given):
    """Of each observation of these variables."""
    terms = model.logp(variables, sum=False)
    unconstrained = {}
    for variable, value in given.items():
        transform = model.rvs_to_transforms.get(variable)
        value = value if transform is None else transform.forward(value, *variable.owner.inputs)
        (unconstrained[model.rvs_to_values[variable]],) = clone_replace([value], given)  # limits may be variables too
    return clone_replace(terms, unconstrained)


def predictions(variables, given):
    """Random draws of these variables, and by generator that they draw from its next state."""
    drawn = clone_replace(variables, given)
    shared = [v for v in ancestors(drawn) if isinstance(v.type, RandomType) and v.owner is None]
    generators = {v: v.type(v.name) for v in shared}
    drawn = clone_replace(drawn, generators)
    updates = collect_default_updates(drawn, inputs=[*generators.values()], must_be_shared=False)
    return drawn, {generator: updates[generator] for generator in generators.values()}
