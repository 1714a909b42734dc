"""What of a PyMC model its fits exchange and record."""

import numpy as np
import pytensor
from pytensor import tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.sharedvar import TensorSharedVariable

from ..fits.functions import Data, Recorded


class NotForFits(NotImplementedError):
    """This model cannot be fitted to many data sets by functions of a point and of data."""


def observations(model):
    """The observed variables whose values are constants, by name: `fit_functions` can make data of them."""
    values = {v.name: model.rvs_to_values[v] for v in model.observed_RVs}
    return {name: value for name, value in values.items() if isinstance(value, Constant)}


def shared_data(model):
    """The `pm.Data` that can be exchanged: others are constants."""
    return [v for v in model.data_vars if isinstance(v, SharedVariable)]


def data_behind(model, observed):
    """The named shared variables that the values of an observed variable are computed from."""
    return [v for v in ancestors([model.rvs_to_values[observed]]) if isinstance(v, SharedVariable) and v.name is not None]


def data_names(model):
    """What a data set may give: data, and observed values that are constants."""
    return [v.name for v in shared_data(model)] + [*observations(model)]


def described(model, recorded, hidden, shared, exchanged, after):
    """What a ModelOfFits has of a model, by name. `recorded`: variables, and those that only `after` sees; `shared`: data,
    as shared variables, and `exchanged`, names of `observations` among these; `after`: AfterDraws by name."""
    data = [_data_of(model, variable, exchanged) for variable in shared]
    names, read = {v.name for v in model.free_RVs}, {of.name for of in data}
    return {
        "data": data,
        "unread": tuple(v.name for v in shared_data(model) if v.name not in read),
        "imputed": tuple(v.name for v in model.deterministics if f"{v.name}_unobserved" in names),
        "recorded": [recorded_as(model, v, v.name) for v in [*recorded, *hidden]],
        "coords": {dim: list(values) for dim, values in model.coords.items() if values is not None},
        "hidden": tuple(v.name for v in hidden),
        "after": after,
    }


def variables_of(model, var_names):
    """What a draw records. Errors: KeyError for a name that is none of them."""
    known = {v.name: v for v in [*model.free_RVs, *model.deterministics]}
    if var_names is None:
        return [*known.values()]
    var_names = [var_names] if isinstance(var_names, str) else var_names
    if not var_names:
        raise ValueError("var_names is empty: a draw would record nothing")
    for name in var_names:
        if name not in known:
            raise KeyError(f"var_names: {name} is no free variable or deterministic of this model; it has {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(var_names)]


def hidden_from(model, recorded, after):
    """What a draw records beside `recorded`, for what is computed `after` draws."""
    return [v for v in model.free_RVs if after and v not in recorded]


def recorded_as(model, variable, name, ndim=None):
    """`ndim`: where it has only the first dims of the variable."""
    dims = model.named_vars_to_dims.get(variable.name) or (None,) * variable.ndim
    dims = tuple(dim if dim is not None else f"{variable.name}_dim_{i}" for i, dim in enumerate(dims[:ndim]))
    return Recorded(name, variable.dtype, len(dims), dims)


def shared_of(name, constant):
    """A shared variable in place of what is observed. The shape of a constant is known in the graphs, and stays."""
    return pytensor.shared(constant.data, name, shape=constant.data.shape)


def data_in(outputs, model):
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


def as_tensor(variable):
    return variable if isinstance(variable, pt.TensorVariable) else pt.as_tensor(variable, allow_xtensor_conversion=True)


def _data_of(model, variable, observed):
    value = np.array(variable.get_value(borrow=True), dtype=variable.type.dtype, order="C")
    is_named = model.named_vars.get(variable.name) is variable or variable.name in observed
    dims = model.named_vars_to_dims.get(variable.name) if is_named else None
    return Data(variable.name if is_named else None, value, tuple(dims or ()), variable.type.shape)
