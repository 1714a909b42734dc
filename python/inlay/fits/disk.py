"""What cannot be written, by its path."""

import contextlib


@contextlib.contextmanager
def written(keyword, path):
    """An OSError within the block, as of a full disk, says which argument of `fit_many` and which path it is about."""
    try:
        yield
    except OSError as error:
        text = f"{keyword}: {path} cannot be written: {error.strerror or error}"
        raise (OSError(text) if error.errno is None else OSError(error.errno, text)) from error
