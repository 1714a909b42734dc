"""Names of dims that have a comma, such as those that Bambi makes of a term `poly(x, 3)`.

nutpie writes the dims of a variable as one text with commas between their names, and parts it at all of them. So a name
goes to it with another sign in place of its commas, and has them again in what `pm.sample` returns.
"""

import numpy as np

# What may stand for a comma: the first that is in no name of the model. The first two look like one.
_SIGNS = "\u201a\u066b;|"


def without_commas(dims, coords, shapes):
    """Dims by variable, and coordinates by dim, as nutpie may have them, and the own name of each that has another there.
    `shapes`: of all variables. Where one with a comma in its name has no dims, it gets those that ArviZ would make, numbers
    as coordinates and all."""
    dims, coords = dict(dims), dict(coords)
    for variable, shape in shapes.items():
        if "," not in variable or dims.get(variable) is not None:
            continue
        dims[variable] = tuple(f"{variable}_dim_{axis}" for axis in range(len(shape)))
        coords |= {name: np.arange(int(size)) for name, size in zip(dims[variable], shape, strict=True)}
    names = {name for of in (coords, *dims.values()) for name in of or () if isinstance(name, str)}
    sign = next((sign for sign in _SIGNS if not any(sign in name for name in names)), "\ue000")
    there = {name: name.replace(",", sign) for name in names if "," in name}
    return (
        {v: None if of is None else tuple(there.get(name, name) for name in of) for v, of in dims.items()},
        {there.get(name, name): values for name, values in coords.items()},
        {other: name for name, other in there.items()},
    )


def with_own_names(trace, own):
    """A DataTree, or an InferenceData, whose dims have their `own` names, by those that nutpie has."""
    on_each = getattr(trace, "map_over_datasets", None) or getattr(trace, "map", None)
    if not own or on_each is None:
        return trace
    return on_each(lambda dataset: dataset.rename({n: own[n] for n in {*dataset.dims, *dataset.coords} if n in own}))
