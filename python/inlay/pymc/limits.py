"""What nutpie on inlay cannot sample."""


class NotForNutpie(NotImplementedError):
    """This version of nutpie, or this model, cannot be sampled by nutpie on inlay."""


def refuse_discrete(model):
    """Errors: NotForNutpie where a variable of the PyMC model is discrete."""
    for variable in model.value_vars:
        if variable.dtype not in ("float64", "float32"):
            raise NotForNutpie(f"nutpie samples continuous variables only: {variable.name} is {variable.dtype}")
