"""What cannot be sampled by nutpie on inlay, or by Stan's samplers."""


class NotForNutpie(NotImplementedError):
    """This version of nutpie, or this model, cannot be sampled by nutpie on inlay."""


def refuse_discrete(model, error=NotForNutpie, who="nutpie samples"):
    """Errors: `error` where a variable of the PyMC model is discrete."""
    for variable in model.value_vars:
        if variable.dtype not in ("float64", "float32"):
            raise error(f"{who} continuous variables only: {variable.name} is {variable.dtype}")
