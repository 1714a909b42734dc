"""Why a model was not sampled, in words."""

from dataclasses import dataclass

from .. import errors

# How nutpie's error begins where a chain has found no point to start from, for codes above 0 alone.
NO_START = "All initialization points failed"

NOT_FINITE_ANYWHERE = "the log density or its gradient is not finite at the starting points"


class Reason(Exception):
    """Why a fit has failed, as its row says it."""


@dataclass(frozen=True)
class WrongDataSet:
    """In place of a data set of which a reason is known before it is fitted."""

    reason: str


class SamplingFailed(RuntimeError):
    """A function of the model failed in a draw, `error` is the exception of that call; or the log density is not finite
    at the starting points, and `error` is None."""

    def __init__(self, text, error=None):
        super().__init__(text)
        self.error = error


def failure_text(what, error):
    of_inlay = isinstance(error, errors.InlayError)  # which says what it is, and where
    said = str(error) if of_inlay else f"{type(error).__name__}: {error}"
    location = getattr(error, "inlay_location", None)
    return f"{what} failed: {said}" + (f"\n  at     {location}" if location else "")
