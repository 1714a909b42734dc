"""One data set in shards: the log density of all of them, which workers hold, as one C function.

The log density of a shard has the prior too. That of no rows is the prior alone, so the sum over all shards has it once
when it is taken away as often as there are shards but one.
"""

import ctypes
from dataclasses import dataclass

import numpy as np

from . import sampler
from .executors import is_dask, is_ray, threads_here
from .methods import Nuts

_Pointer = ctypes.POINTER(ctypes.c_double)
_LogpForm = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, _Pointer, _Pointer, _Pointer, ctypes.c_void_p)

# Codes of the form "logp": the sampler rejects the point, and goes on or ends.
_REJECTED, _FAILED = 1, 2


class Shard:
    """The rows that one worker holds."""

    def __init__(self, functions, given):
        self._loaded, self._arrays = functions.loaded, functions.arrays(given)

    def number_of_parameters(self):
        return self._loaded.start(self._arrays)[0].size

    def logp(self, point):
        """The log density and its gradient."""
        value, gradient = self._loaded.call("logp", point, self._arrays)
        return float(value), np.asarray(gradient)


class _Here:
    """Shards in threads of this process."""

    def __init__(self, functions, shards, executor):
        self._shards = [Shard(functions, given) for given in shards]
        self._threads = threads_here(executor)

    def call(self, name, *args):
        return list(self._threads.map(lambda shard: getattr(shard, name)(*args), self._shards))

    def close(self):
        self._threads.shutdown()


class _OnDask:
    """Shards as actors, by turns on the workers."""

    def __init__(self, functions, shards, client):
        workers = [*client.scheduler_info(n_workers=-1)["workers"]]
        futures = [
            client.submit(Shard, functions, given, actor=True, pure=False, workers=[workers[i % len(workers)]])
            for i, given in enumerate(shards)
        ]
        self._actors = [future.result() for future in futures]

    def call(self, name, *args):
        pending = [getattr(actor, name)(*args) for actor in self._actors]
        return [future.result() for future in pending]

    def close(self):
        self._actors = []


class _OnRay:
    def __init__(self, functions, shards, ray):
        self._ray = ray
        make, sent = ray.remote(Shard), ray.put(functions)
        self._actors = [make.remote(sent, given) for given in shards]

    def call(self, name, *args):
        return self._ray.get([getattr(actor, name).remote(*args) for actor in self._actors])

    def close(self):
        for actor in self._actors:
            self._ray.kill(actor)


def held(functions, shards, executor):
    """What holds the shards, with `call(name, *args)` of all of them, and `close()`.

    Errors: TypeError for an executor whose workers hold nothing; BadData.
    """
    kind = _OnDask if is_dask(executor) else _OnRay if is_ray(executor) else _Here
    return kind(functions, shards, executor)


@dataclass(frozen=True)
class NutsOnShards(Nuts):
    """NUTS of data that are elsewhere."""

    shards: object  # what `held` gives
    count: int

    def fit(self, functions, arrays, seed, stop=None, initvals=()):
        """`arrays`: without rows."""
        return sampler.sample(FunctionsOfShards(functions, arrays, self.shards, self.count), arrays, seed, self.settings, stop)


class FunctionsOfShards:
    """FitFunctions whose log density is that of all shards."""

    def __init__(self, functions, arrays, shards, count):
        self.recorded, self.loaded = functions.recorded, self
        self._own, self._arrays, self._shards, self._count = functions.loaded, arrays, shards, count
        self.start, self.record = self._own.start, self._own.record

    def pointer(self, name, on_error):
        return self._own.pointer(name, on_error) if name != "logp" else _LogpOfShards(self.logp, on_error)

    def logp(self, point):
        """The prior is computed here while the shards are on their way."""
        parts = self._shards.call("logp", point)
        prior, of_prior = self._own.call("logp", point, self._arrays)
        value = sum(value for value, _ in parts) - (self._count - 1) * float(prior)
        return value, sum(gradient for _, gradient in parts) - (self._count - 1) * np.asarray(of_prior)


class _LogpOfShards:
    """A Python function as a C function of the form "logp"."""

    def __init__(self, logp, on_error):
        self._logp, self._on_error = logp, on_error
        self._pointer = _LogpForm(self._called)  # lives as long as this object
        self.address = ctypes.cast(self._pointer, ctypes.c_void_p).value

    def _called(self, dim, point, gradient, logp, _):
        try:
            value, slopes = self._logp(np.ctypeslib.as_array(point, (dim,)).copy())
        except BaseException as error:  # noqa: BLE001  (there is no Python above this)
            self._on_error(error)
            return _FAILED
        if not np.isfinite(value) or not np.isfinite(slopes).all():
            return _REJECTED
        logp[0] = value
        np.ctypeslib.as_array(gradient, (dim,))[:] = slopes
        return 0
