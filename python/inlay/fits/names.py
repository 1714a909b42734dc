"""What is computed of draws for an observed variable, and the names of the results."""

LOGLIK, PREDICTED = "loglik", "predicted"


def named(variable, what):
    return f"{variable}_{what}"


def observed_of(name, what):
    """The variable that such a name is of."""
    return name.removesuffix(f"_{what}")
