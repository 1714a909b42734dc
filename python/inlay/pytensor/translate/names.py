"""Names that the text of a graph can carry, each given once."""

import re
import unicodedata

_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi "
    "chi psi omega"
).split()
_GREEK = {chr(ord("α") + i): name for i, name in enumerate(_LETTERS)}
_GREEK |= {chr(ord("Α") + i): name.capitalize() for i, name in enumerate(_LETTERS)}


def names_of_new_values(fgraph):
    """By variable: what a shared variable `s` is updated by is `s_new`."""
    updates = getattr(fgraph, "update_mapping", None) or {}
    pairs = [(fgraph.outputs[made], fgraph.inputs[updated].name) for made, updated in updates.items()]
    return {new: f"{name}_new" for new, name in pairs if name and new.owner is not None}


class Names:
    """Of the sizes, parameters and values of one graph."""

    def __init__(self, of_variables):
        """`of_variables`: what the user calls variables that have no names of their own, and inputs."""
        self.of_variables = of_variables
        self._taken = set()

    def unique(self, name):
        """That name, or one like it."""
        name = stem = identifier(name)
        count = 1
        while name in self._taken:
            count += 1
            name = f"{stem}_{count}"
        self._taken.add(name)
        return name


def identifier(name):
    """A name that the text form can carry: Greek letters by their names, letters of other scripts by what is plain in them."""
    name = "".join(_GREEK.get(letter, letter) for letter in unicodedata.normalize("NFKD", name))
    name = "".join(letter for letter in name if not unicodedata.combining(letter))
    name = re.sub(r"^\W+|\W+$", "", name, flags=re.ASCII)
    name = re.sub(r"\W+", "_", name, flags=re.ASCII) or "value"
    return f"_{name}" if name[0].isdigit() else name
