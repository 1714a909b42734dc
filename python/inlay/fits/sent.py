"""Objects that processes send each other."""

from functools import cached_property


class Sent:
    """Without what each process makes for itself: the values of cached properties."""

    def __getstate__(self):
        made_here = {name for kind in type(self).__mro__ for name, x in vars(kind).items() if isinstance(x, cached_property)}
        return {name: value for name, value in vars(self).items() if name not in made_here}
