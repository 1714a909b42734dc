"""Executors of several kinds, as one: tasks in, their outcomes out as they come, a bounded number in flight.

`outcomes(executor, tasks)` yields (task, rows or exception). It draws a task when there is a place for it, so a
generator of data sets runs no further ahead than that, and asks `tasks` again after each outcome: there may be new ones.
"""

import concurrent.futures
import itertools
import os
import sys
from concurrent.futures import BrokenExecutor

from ..choices import a_kind
from .tasks import do

_PER_WORKER = 2  # tasks in flight: one that runs and one that waits
_ROUND_PER_WORKER = 8  # tasks of a joblib.Parallel, which gives all of its results at once

# Of a fit whose worker was lost each time it ran alone.
MOST_LOSSES = 2


class WorkersLost(RuntimeError):
    """Workers were killed, and there is nobody to make new ones."""


def threads_here(workers=None):
    """The executor that stands for None and for a number."""
    return concurrent.futures.ThreadPoolExecutor(workers or cpu_count(), "inlay fits")


def cpu_count():
    return getattr(os, "process_cpu_count", os.cpu_count)() or 1


def outcomes(executor, tasks):
    """Errors: TypeError for what is no executor; WorkersLost."""
    return _kind(executor)(executor, tasks)


def refuse_others(executor):
    """Errors: TypeError for what `outcomes` does not know."""
    if executor is not None and not _is_count(executor):
        _kind(executor)


def refuse_for_shards(executor):
    """Errors: TypeError for what holds no shards."""
    if not (executor is None or _is_count(executor) or is_dask(executor) or is_ray(executor)):
        raise TypeError(
            "executor= of shards takes None, a number of threads, a dask.distributed.Client or the module ray, not "
            f"{a_kind(executor)}: the workers of others hold nothing between calls"
        )


def is_dask(executor):
    return _is_instance(executor, "distributed", "Client")


def is_ray(executor):
    return getattr(executor, "__name__", None) == "ray" and hasattr(executor, "remote")


def _is_count(executor):
    return isinstance(executor, int) and not isinstance(executor, bool) and executor > 0


def _kind(executor):
    if _is_instance(executor, "joblib", "Parallel"):
        return _of_joblib
    if is_ray(executor):
        return _of_ray
    if is_dask(executor):
        return _of_dask
    if callable(getattr(executor, "submit", None)) and not isinstance(executor, type):
        return _of_futures
    if callable(executor):
        return _of_maker
    raise TypeError(
        "executor= takes None, a number of threads, an executor of concurrent.futures or a function that makes one, a "
        f"dask.distributed.Client, a joblib.Parallel or the module ray, not {a_kind(executor)}"
    )


def _is_instance(x, module, name):
    """Without an import of what the user may not have."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(x, kind)


def _of_futures(executor, tasks, workers=None):
    pending = {}
    most = _PER_WORKER * (workers or getattr(executor, "_max_workers", None) or cpu_count())
    try:
        while True:
            for task in itertools.islice(tasks, most - len(pending)):
                pending[executor.submit(do, task)] = task
            if not pending:
                return
            finished, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in finished:
                if isinstance(future.exception(), BrokenExecutor):
                    raise WorkersLost(str(future.exception())) from future.exception()
                yield pending.pop(future), future.exception() or future.result()
    except BrokenExecutor as error:  # of submit
        raise WorkersLost(str(error)) from error
    finally:
        for future in pending:
            future.cancel()


def _of_dask(client, tasks):
    """Dask does the task of a lost worker again by itself."""
    return _of_futures(client.get_executor(pure=False), tasks, sum(client.nthreads().values()))


class _Noted:
    """Tasks, and which of them were handed out and have no outcome yet."""

    def __init__(self, tasks):
        self._tasks, self.open = tasks, {}

    def __iter__(self):
        return self

    def __next__(self):
        task = next(self._tasks)
        self.open[id(task)] = task
        return task


def _of_maker(make, tasks):
    """Of executors that `make` makes: another one after a worker was lost. What was in flight then is done task by task,
    and what loses a worker again fit by fit, so that a fit which kills its worker is found, and is a row with that
    reason."""
    while True:
        noted = _Noted(tasks)
        try:
            with make() as executor:
                for task, outcome in _of_futures(executor, noted):
                    noted.open.pop(id(task))
                    yield task, outcome
                return
        except WorkersLost:
            suspects = list(noted.open.values())
        for task in suspects:
            outcome = _alone(make, task, 1)
            if isinstance(outcome, WorkersLost):
                yield from ((single, _alone(make, single, MOST_LOSSES)) for single in task.singles())
            else:
                yield task, outcome


def _alone(make, task, attempts):
    """Its outcome; a WorkersLost where each attempt lost its worker."""
    for _ in range(attempts):
        try:
            with make() as executor:
                return next(outcome for _, outcome in _of_futures(executor, iter([task])))
        except WorkersLost as lost:
            error = lost
    return error


def _of_joblib(parallel, tasks):
    """In rounds: the backend's own way of handing out, whichever it is."""
    from joblib import delayed, effective_n_jobs

    size = _ROUND_PER_WORKER * effective_n_jobs(parallel.n_jobs)
    while batch := list(itertools.islice(tasks, size)):
        yield from zip(batch, _round(parallel, delayed(do), batch), strict=True)


def _round(parallel, do_later, batch):
    for attempt in range(MOST_LOSSES + 1):
        try:
            return list(parallel(do_later(task) for task in batch))
        except BrokenExecutor as error:
            if attempt == MOST_LOSSES:
                raise WorkersLost(str(error)) from error


def _of_ray(ray, tasks):
    """Ray does the task of a lost worker again by itself, three times."""
    remote = ray.remote(do)
    most = _PER_WORKER * int(ray.cluster_resources().get("CPU", cpu_count()))
    pending = {}
    try:
        while True:
            for task in itertools.islice(tasks, most - len(pending)):
                pending[remote.remote(task)] = task
            if not pending:
                return
            finished, _ = ray.wait(list(pending), num_returns=1)
            for reference in finished:
                try:
                    outcome = ray.get(reference)
                except ray.exceptions.RayError as error:
                    outcome = error
                yield pending.pop(reference), outcome
    finally:
        for reference in pending:
            ray.cancel(reference)
