"""What is computed of draws for an observed variable, and the names of the results and of their first dim."""

LOGLIK, PREDICTED = "loglik", "predicted"

DATASET = "dataset"


def named(variable, what):
    return f"{variable}_{what}"


def observed_of(name, what):
    """The variable that such a name is of."""
    return name.removesuffix(f"_{what}")
