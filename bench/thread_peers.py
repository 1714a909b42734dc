"""What bench/threads.py measures, as one writes it for numba: loops over `prange`."""

import numba
import numpy as np
from numba import njit, prange

parallel = njit(parallel=True, fastmath=True)


@parallel
def hierarchical(z, mu, log_tau, log_sigma, y, g):
    tau, scale = np.exp(log_tau), np.exp(-log_sigma)
    effects = mu + tau * z
    parts = numba.get_num_threads()
    of_group, squares = np.zeros((parts, z.size)), np.zeros(parts)
    for part in prange(parts):
        mine, s = np.zeros(z.size), 0.0
        for i in range(part * y.size // parts, (part + 1) * y.size // parts):
            r = (y[i] - effects[g[i]]) * scale
            s += r * r
            mine[g[i]] += r
        of_group[part], squares[part] = mine, s
    w, ss = of_group.sum(axis=0) * scale, squares.sum()
    logp = -0.5 * ss - y.size * log_sigma - 0.5 * (z * z).sum()
    return logp, tau * w - z, w.sum(), tau * (w * z).sum(), ss - y.size


@parallel
def logistic(beta, x, y):
    parts = numba.get_num_threads()
    gradients, logps = np.zeros((parts, beta.size)), np.zeros(parts)
    for part in prange(parts):
        mine, s = np.zeros(beta.size), 0.0
        for i in range(part * y.size // parts, (part + 1) * y.size // parts):
            eta = 0.0
            for k in range(beta.size):
                eta += x[i, k] * beta[k]
            e = np.exp(-abs(eta))
            s += y[i] * eta - max(eta, 0.0) - np.log1p(e)
            w = y[i] - (1 / (1 + e) if eta >= 0 else e / (1 + e))
            for k in range(beta.size):
                mine[k] += w * x[i, k]
        gradients[part], logps[part] = mine, s
    return logps.sum(), gradients.sum(axis=0)


@parallel
def softmax_1(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        most, total = -np.inf, 0.0
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = np.exp(x[i, j] - most)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


@parallel
def softmax_0(x):
    out = np.empty_like(x)
    n, width = x.shape[0], 256
    for block in prange(-(-x.shape[1] // width)):
        first, end = block * width, min(x.shape[1], (block + 1) * width)
        most, total = x[0, first:end].copy(), np.zeros(end - first)
        for i in range(n):
            for j in range(end - first):
                most[j] = max(most[j], x[i, first + j])
        for i in range(n):
            for j in range(end - first):
                e = np.exp(x[i, first + j] - most[j])
                out[i, first + j] = e
                total[j] += e
        for i in range(n):
            for j in range(end - first):
                out[i, first + j] /= total[j]
    return out


@parallel
def exp(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.exp(x[i])
    return out


@parallel
def sum(x):
    total = 0.0
    for i in prange(x.size):
        total += x[i]
    return total
