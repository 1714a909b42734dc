"""Executors of several kinds, as one: tasks in, their outcomes out as they come, a bounded number in flight.

`outcomes(executor, tasks)` yields (task, rows or exception). It draws a task when there is a place for it, so a
generator of data sets runs no further ahead than that, and asks `tasks` again after each outcome: there may be new ones.
What loses its worker has WorkersLost as its outcome, and comes back from `tasks` when nothing else is in flight.
"""

import concurrent.futures
import contextlib
import functools
import itertools
import math
import os
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError
from numbers import Integral

from ..choices import a_kind
from ..files import pickled
from .tasks import do

_PER_WORKER = 2  # tasks in flight: one that runs and one that waits
_ROUND_PER_WORKER = 8  # tasks of a joblib.Parallel, at most

# So long a round may take, in seconds, of a joblib.Parallel that gives all of its results at once.
_LONGEST_ROUND = 1.0

# So long this thread waits in a lock, in seconds, before Python looks for signals. A Ctrl-C that comes just before the
# thread blocks, or that the system gives to another thread, wakes nobody: without an end of the wait it is seen when the
# next task ends, which may be never.
_LONGEST_WAIT = 0.2

# After so many fits have lost their worker while they ran alone, and nothing has had an outcome, no worker is
# expected to start.
_MOST_LOST_ALONE = 5

# So often a cluster is asked how many workers it has, in seconds: it may grow.
_SECONDS_OF_A_COUNT = 1.0


class WorkersLost(RuntimeError):
    """Workers were killed: the outcome of a task; raised where there is nobody to make new ones, and where none starts."""


class LostRepeatedly(WorkersLost):
    """The executor had the task done several times, by itself, and each worker was lost."""


def threads_here(workers=None):
    """The executor that stands for None and for a number."""
    return concurrent.futures.ThreadPoolExecutor(workers or cpu_count(), "inlay fits")


def cpu_count():
    return getattr(os, "process_cpu_count", os.cpu_count)() or 1


def outcomes(executor, tasks):
    """`tasks`: an iterator with an event `stop`, which ends the fits of this process, and is set before what runs them is
    waited for. Errors: TypeError for what is no executor; WorkersLost."""
    return _kind(executor)(executor, tasks)


def refuse_others(executor):
    """Errors: TypeError for what `outcomes` does not know."""
    if executor is not None and not is_count(executor):
        _kind(executor)


def refuse_for_shards(executor):
    """Errors: TypeError for what holds no shards."""
    if not (executor is None or is_count(executor) or is_dask(executor) or is_ray(executor)):
        raise TypeError(
            "executor= of shards takes None, a number of threads, a dask.distributed.Client or the module ray, not "
            f"{a_kind(executor)}: the workers of others hold nothing between calls"
        )


def is_dask(executor):
    return is_instance(executor, "distributed", "Client")


def is_ray(executor):
    return getattr(executor, "__name__", None) == "ray" and hasattr(executor, "remote")


def is_count(executor):
    """Whether it is a number of threads, NumPy's integers too."""
    return isinstance(executor, Integral) and not isinstance(executor, bool) and executor > 0


def _kind(executor):
    if is_instance(executor, "joblib", "Parallel"):
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


def is_instance(x, module, name):
    """Without an import of what the user may not have."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(x, kind)


class _Places:
    """For how many tasks there is a place. `workers`: a function that counts them, which is asked now and then."""

    def __init__(self, workers):
        self._workers, self._most, self._asked = workers, None, -math.inf

    def free(self, taken):
        now = time.monotonic()
        if now - self._asked > _SECONDS_OF_A_COUNT:
            try:
                # A cluster without workers grows when it sees tasks.
                self._most = _PER_WORKER * (int(self._workers()) or cpu_count())
            except OSError:  # a scheduler that does not answer now
                if self._most is None:
                    raise
            self._asked = now
        return max(0, self._most - taken)


def _in_flight(tasks, workers, submit, finished, cancel):
    """`submit(task)` gives a future, `finished(futures)` those that are, each with its outcome, after a while none."""
    pending, places = {}, _Places(workers)
    try:
        while True:
            is_over = True
            for task in itertools.islice(tasks, places.free(len(pending))):
                is_over = False
                refusal = None
                try:
                    pending[submit(task)] = task
                except Exception as error:  # noqa: BLE001  (whatever an object's own code raises)
                    refusal = _refusal(task, error)
                if refusal is not None:
                    yield task, refusal
            if not pending and is_over:
                return
            for future, outcome in finished(pending) if pending else ():
                yield pending.pop(future), outcome
    except BaseException as error:
        if not isinstance(error, WorkersLost):
            tasks.stop.set()
        raise
    finally:
        for future in pending:
            cancel(future)


def _refusal(task, error):
    """The error of a submit as the outcome of its task, where that cannot be sent. Errors: the same, where no task can."""
    if isinstance(error, BrokenExecutor):
        raise WorkersLost(str(error)) from error
    if _can_be_sent(task):
        raise error
    return error


def _can_be_sent(task):
    try:
        pickled(task)
    except Exception:  # noqa: BLE001  (whatever an object's own code raises)
        return False
    return True


def _of_futures(executor, tasks, workers=None, submit=None):
    workers = workers or (lambda: getattr(executor, "_max_workers", None) or cpu_count())
    submit = submit or functools.partial(executor.submit, do)
    return _in_flight(tasks, workers, submit, _finished, lambda future: future.cancel())


def _finished(pending):
    """Errors: WorkersLost, of an executor that is broken, after what has its rows."""
    done, _ = concurrent.futures.wait(pending, _LONGEST_WAIT, concurrent.futures.FIRST_COMPLETED)
    outcomes = [(future, _outcome(future)) for future in done]
    yield from ((future, outcome) for future, outcome in outcomes if not isinstance(outcome, BrokenExecutor))
    for _, outcome in outcomes:
        if isinstance(outcome, BrokenExecutor):
            raise WorkersLost(str(outcome)) from outcome


def _outcome(future):
    try:
        error = future.exception()
    except CancelledError:  # by the executor, as Dask does it where the work that it was sent is on no worker any more
        return WorkersLost("it was cancelled")
    if is_instance(error, "distributed", "KilledWorker"):
        return LostRepeatedly(str(error))
    return error or future.result()


class _SentApart:
    """The work, sent once and not with each task."""

    def __init__(self, send):
        self._send, self._reference = send, None

    def arguments(self, task):
        """Of `do`."""
        if task.ticket.data is None:
            return (task,)
        if self._reference is None or getattr(self._reference, "status", "finished") != "finished":
            self._reference = self._send(task.ticket.data)
        return task.without_data(), self._reference


def _of_dask(client, tasks):
    """Dask does the task of a lost worker again by itself."""
    executor = client.get_executor(pure=False)
    apart = _SentApart(functools.partial(client.scatter, broadcast=True))

    def submit(task):
        return executor.submit(do, *apart.arguments(task))

    return _of_futures(executor, tasks, lambda: sum(client.nthreads().values()), submit)


# What a lost worker is in ray.exceptions, of versions that have it. ObjectLostError: what it held.
_CRASHES_OF_RAY = ("WorkerCrashedError", "NodeDiedError", "LocalRayletDiedError", "OutOfMemoryError", "ObjectLostError")


def _of_ray(ray, tasks):
    """Ray does the task of a lost worker again by itself, three times."""
    remote, apart = ray.remote(do), _SentApart(ray.put)
    crashes = tuple(getattr(ray.exceptions, name) for name in _CRASHES_OF_RAY if hasattr(ray.exceptions, name))

    def outcome(reference):
        try:
            return ray.get(reference)
        except (ray.exceptions.RayTaskError, ray.exceptions.RaySystemError) as error:
            return error  # the second: of a result, say, that cannot be read here
        except crashes as error:
            return LostRepeatedly(f"{type(error).__name__}: {error}")

    def finished(pending):
        done, _ = ray.wait(list(pending), num_returns=1, timeout=_LONGEST_WAIT)
        return [(reference, outcome(reference)) for reference in done]

    def submit(task):
        return remote.remote(*apart.arguments(task))

    return _in_flight(tasks, lambda: ray.cluster_resources().get("CPU", 0), submit, finished, ray.cancel)


class _Noted:
    """Tasks, and which of them were handed out and have no outcome yet."""

    def __init__(self, tasks):
        self._tasks, self.stop, self.open = tasks, tasks.stop, {}

    def __iter__(self):
        return self

    def __next__(self):
        task = next(self._tasks)
        self.open[id(task)] = task
        return task


def _with_new_workers(run, tasks):
    """The outcomes of `run(tasks)`, which is called again after workers were lost, and has new ones then."""
    noted, has_outcomes, alone = _Noted(tasks), False, set()
    while True:
        try:
            with contextlib.closing(run(noted)) as outcomes:
                for task, outcome in outcomes:
                    has_outcomes = True
                    noted.open.pop(id(task))
                    yield task, outcome
            return
        except WorkersLost as error:
            lost, suspects = error, list(noted.open.values())
        if not suspects:
            raise lost
        alone.update(number for task in suspects if task.lost for number, _ in task.batch)
        if not has_outcomes and len(alone) >= _MOST_LOST_ALONE:
            raise WorkersLost(f"the first {len(alone)} fits have lost their workers, each of them alone: {lost}") from lost
        noted.open.clear()
        yield from ((task, lost) for task in suspects)


def _of_maker(make, tasks):
    """Of executors that `make` makes: another one after a worker was lost."""

    def run(noted):
        with make() as executor:
            yield from _of_futures(executor, noted)

    return _with_new_workers(run, tasks)


def _of_joblib(parallel, tasks):
    """In rounds: the backend's own way of handing out, whichever it is."""
    return _with_new_workers(functools.partial(_rounds, parallel), tasks)


def _rounds(parallel, tasks):
    from joblib import effective_n_jobs

    workers, seconds = effective_n_jobs(parallel.n_jobs), _LONGEST_ROUND
    with _as_they_come(parallel) as is_so:
        while True:
            most = int(_LONGEST_ROUND / max(seconds, 1e-6))
            per_worker = _ROUND_PER_WORKER if is_so else min(_ROUND_PER_WORKER, max(1, most))
            batch = list(itertools.islice(tasks, workers * per_worker))
            if not batch:
                return
            begin = time.monotonic()
            yield from _round(parallel, batch, tasks.stop)
            seconds = (time.monotonic() - begin) * min(workers, len(batch)) / len(batch)


@contextlib.contextmanager
def _as_they_come(parallel):
    """Within the block this joblib.Parallel gives each result when it is there, not all of them at their end: what is then
    kept no kill can take. Whether that is so: a joblib before 1.4 cannot, and not every backend."""
    can = getattr(getattr(parallel, "_backend", None), "supports_return_generator", False)
    wanted = {"return_as": "generator_unordered", "return_generator": True, "return_ordered": False}
    before = {name: getattr(parallel, name) for name in wanted if hasattr(parallel, name)}
    is_so = bool(can) and before.keys() == wanted.keys()
    vars(parallel).update(wanted if is_so else {})
    try:
        yield is_so
    finally:
        vars(parallel).update(before)


# Of tasks of joblib: after a call that failed the next one may also give what is left of it, or end early.
_numbers = itertools.count()


def _round(parallel, batch, stop):
    """Errors: WorkersLost, where a worker was, and where one of several tasks cannot be sent: it ends the whole round."""
    from joblib import delayed

    left = dict(zip(_numbers, batch))
    calls = [delayed(_numbered)(number, task) for number, task in left.items()]
    try:
        with _results(parallel, calls, stop) as results:
            for number, outcome in results:
                if number in left:
                    yield left.pop(number), outcome
    except Exception as error:
        if len(left) != 1 or _can_be_sent(*left.values()):
            raise WorkersLost(str(error)) from error
        yield left.popitem()[1], error
    if left:
        raise WorkersLost("joblib gave no result")


def _numbered(number, task):
    try:
        return number, do(task)
    except Exception as error:  # noqa: BLE001  (an outcome of this task, and not the end of a round)
        return number, error


class _Left(Exception):
    """Of a generator of results that nobody wants to the end."""


@contextlib.contextmanager
def _results(parallel, calls, stop):
    results = parallel(calls)
    try:
        yield results
    except Exception:
        raise
    except BaseException:
        stop.set()
        raise
    finally:
        if hasattr(results, "throw"):
            with contextlib.suppress(_Left):
                results.throw(_Left)  # a close would warn the user of what is lost
