"""What can be kept of a fit's draws by name: small arrays in their place.

A summary takes the draws of one variable, (chain, draw, ...), and gives an array of the variable's shape; that of
quantiles has one more axis, the last.
"""

import math

import numpy as np

from .names import LOGLIK, observed_of

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def mean(draws):
    return draws.mean(axis=(0, 1), dtype=np.float64)


def sd(draws):
    """Of all draws; with the factor n / (n - 1), and NaN of a single one."""
    if draws.shape[0] * draws.shape[1] < 2:
        return np.full(draws.shape[2:], np.nan)
    return draws.std(axis=(0, 1), dtype=np.float64, ddof=1)


def quantiles(draws):
    return np.moveaxis(np.quantile(draws, QUANTILES, axis=(0, 1)), 0, -1)


def ess(draws):
    """The bulk effective sample size: of the normal scores of the ranks, with chains split in halves (Vehtari, Gelman,
    Simpson, Carpenter and Bürkner, 2021). NaN of fewer than four draws a chain, or where draws are not finite."""
    return _of_each(draws, lambda x: _effective_size(_normal_scores(_halves(x))))


def rhat(draws):
    """The larger one of the potential scale reduction of the normal scores of the draws, and of their distances from the
    median, with chains split in halves, a single one too (Vehtari et al., 2021). NaN as in `ess`."""

    def of_one(x):
        halves = _halves(x)
        return max(_reduction(_normal_scores(y)) for y in (halves, np.abs(halves - np.median(halves))))

    return _of_each(draws, of_one)


def rank(draws, truth):
    """How many draws are less than the true value."""
    if np.shape(truth) != draws.shape[2:]:
        raise ValueError(f"the true value has shape {np.shape(truth)}, a draw has {draws.shape[2:]}")
    return (draws < truth).sum(axis=(0, 1))


def lppd(draws):
    """The log pointwise predictive density: the logarithm of the mean likelihood, of draws of the log likelihood."""
    largest = draws.max(axis=(0, 1))
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):  # an observation that no draw allows has -inf
        return np.log(np.exp(draws - shift).mean(axis=(0, 1), dtype=np.float64)) + shift


SUMMARIES = {"mean": mean, "sd": sd, "quantiles": quantiles, "ess": ess, "rhat": rhat, "ranks": rank, LOGLIK: lppd}

# What a summary adds to the name of its variable, where that is not its own name.
_SUFFIXES = {"quantiles": "quantile", "ranks": "rank"}


def label(variable, summary):
    """The name of a summary of a variable."""
    if summary == LOGLIK:
        return f"{observed_of(variable, LOGLIK)}_lppd"
    return f"{variable}_{_SUFFIXES.get(summary, summary)}"


def _of_each(draws, function):
    columns = draws.reshape(*draws.shape[:2], math.prod(draws.shape[2:]))
    out = np.full(columns.shape[2], np.nan)
    for i in range(columns.shape[2]) if draws.shape[1] >= 4 else ():
        column = np.asarray(columns[:, :, i], np.float64)
        if np.isfinite(column).all():
            out[i] = function(column)
    return out.reshape(draws.shape[2:])


def _halves(x):
    """Chains of half the length, without the draw in the middle of an odd number."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _normal_scores(x):
    from scipy.special import ndtri  # by the two summaries that need it

    _, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[places.reshape(-1)]  # ties have the mean of their ranks
    return ndtri((ranks - 0.375) / (x.size + 0.25)).reshape(x.shape)


def _reduction(x):
    n = x.shape[1]
    within = x.var(axis=1, ddof=1).mean()
    if within == 0:
        return np.nan
    between = x.mean(axis=1).var(ddof=1)
    return np.sqrt((n - 1) / n + between / within)


def _effective_size(x):
    """Geyer's initial monotone sequence of the autocorrelations of all chains."""
    chains, n = x.shape
    covariance = _autocovariance(x)
    within = covariance[:, 0].mean() * n / (n - 1)
    if within == 0:
        return np.nan
    total = within * (n - 1) / n + x.mean(axis=1).var(ddof=1)
    correlation = 1 - (within - covariance.mean(axis=0)) / total
    correlation[0] = 1.0
    pairs = correlation[: 2 * ((n - 1) // 2)].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    last = negative[0] if negative.size else len(pairs) - 1  # of this one the first half counts, where it is positive
    kept = np.minimum.accumulate(pairs[:last])
    time = 2 * kept.sum() - 1 + max(correlation[2 * last], 0.0)
    return chains * n / max(time, 1 / np.log10(chains * n))


def _autocovariance(x):
    n = x.shape[1]
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), size)
    return np.fft.irfft(np.abs(spectrum) ** 2, size)[:, :n] / n
