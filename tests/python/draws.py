"""What those who grow something at random choose by."""


class Draws:
    """Choices by `self.rng`, a NumPy generator."""

    def some(self, items):
        return items[self.rng.integers(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def late(self, items):
        """Mostly one of the last."""
        return items[-1 - min(int(self.rng.exponential(3)), len(items) - 1)]
