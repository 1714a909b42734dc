"""Items of the index of a slice, a gather or a scatter: a value, or a range (begin, end, step)."""


def whole(dims):
    """All along these."""
    return [(0, n, 1) for n in dims]


def replaced(items, axis, item):
    """`items`, but for `item` in place of one."""
    items = list(items)
    items[axis] = item
    return items
