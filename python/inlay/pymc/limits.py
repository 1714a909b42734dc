"""What cannot be sampled by nutpie on inlay, by Stan's samplers, or by JAX's."""

import pytensor
from pytensor.gradient import NullTypeGradError
from pytensor.graph.utils import MethodNotDefined


class NotForNutpie(NotImplementedError):
    """This version of nutpie, or this model, cannot be sampled by nutpie on inlay."""


def refuse_discrete(model, error=NotForNutpie, who="nutpie samples"):
    """Errors: `error` where a variable of the PyMC model is discrete."""
    for variable in model.value_vars:
        if variable.dtype not in ("float64", "float32"):
            raise error(f"{who} continuous variables only: {variable.name} is {variable.dtype}")


def why_not_nutpie(model_of, is_installed):
    """Why nutpie cannot sample the model that `model_of()` is, or None."""
    if not is_installed:
        return "nutpie is not installed"
    try:
        refuse_discrete(model_of())
    except NotForNutpie as error:
        return str(error)
    return None


def derivative(value, by, error, what):
    """Of `value` by the variable, or the variables. Errors: `error` where an op that `what` needs has no derivative."""
    try:
        return pytensor.grad(value, by, disconnected_inputs="ignore")
    except MethodNotDefined as missing:  # of a scalar op; its last argument is the op's name
        reason, why = missing, f"{missing.args[-1] if missing.args else 'an op'} has no derivative"
    except (NotImplementedError, NullTypeGradError) as missing:
        reason, why = missing, str(missing)
    raise error(f"PyTensor cannot derive {what}: {why}") from reason
