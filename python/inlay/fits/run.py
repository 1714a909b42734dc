"""Hands out the fits, and passes on their rows as they come."""

import contextlib
import logging
import tempfile
import threading
import time
import uuid
from collections import deque
from concurrent.futures import BrokenExecutor
from pathlib import Path

from .. import progress
from . import executors, tasks
from .fit import Row

_LOG = logging.getLogger("inlay")

# So long a task should take, in seconds: many times what handing it out costs, and little to lose.
_SECONDS_OF_TASK = 0.2
_LARGEST_BATCH = 64

# Of what is left, so that no worker waits long for the last one.
_LARGEST_SHARE = 1 / 16

# Of a fit whose worker was lost each time it ran alone.
_MOST_LOSSES = 2


def run(work, datasets, put, executor=None, kept=None, show=True, total=None):
    """How many rows there would be, and the exception that ended it early, or None.

    `datasets`: an iterator over the data sets. `put`: takes each Row, in the order in which they come. `kept`: where
    finished fits are kept, or None.
    """
    state = _Run(work, datasets, put, kept, total)
    ended = None
    with state.ticket_for(executor), _Line(state, show) as line:
        try:
            _gather(state, executor, line)
        except BaseException as error:  # noqa: BLE001  (told to the caller, with what is done)
            ended = error
    return max(state.drawn, total or 0), ended


def _gather(state, executor, line):
    own = executors.threads_here(executor) if _is_here(executor) else None
    try:
        with contextlib.closing(executors.outcomes(own or executor, state)) as outcomes:
            for task, outcome in outcomes:
                state.take(task, outcome)
                line.renew()
    finally:
        state.stop.set()  # fits of this process that still run: after Ctrl-C
        if own is not None:
            own.shutdown(cancel_futures=True)


class _Run:
    """An iterator over tasks, which may go on after its end: a task that comes back is handed out again.

    Whose fault it is that a worker was lost, or that a batch could not be done, nobody knows: what was there fails fit by
    fit. Suspects of a lost worker are handed out when nothing else is in flight, so that they harm no other fit and none
    harms them.
    """

    def __init__(self, work, datasets, put, kept, total):
        self.work, self.kept, self.total = work, kept, total
        self.done, self.drawn, self.divergences = 0, 0, 0
        self.begin, self.taken_from_kept = time.monotonic(), 0
        self.stop = threading.Event()
        self._datasets, self._put = iter(datasets), put
        self._failure = None  # of the iterator over data sets
        self._again, self._suspects = [], deque()
        self._in_flight, self._is_alone = 0, False  # of the last task that was handed out
        self._batch_size, self._ticket = 1, None
        self._keys = {}  # of fits in flight

    @contextlib.contextmanager
    def ticket_for(self, executor):
        """Within the block tasks say where the work is."""
        self._data, hash = tasks.packed(self.work)
        run = uuid.uuid4().hex
        tasks.begin(run, self.work, self.stop)
        try:
            with contextlib.nullcontext() if _is_here(executor) else _file_of(self._data) as path:
                self._ticket = tasks.Ticket(hash, run, path)
                yield
        finally:
            tasks.end(run)

    def __iter__(self):
        return self

    def __next__(self):
        if self._in_flight and (self._suspects or self._is_alone):
            raise StopIteration
        task = self._suspects.popleft() if self._suspects else self._again.pop() if self._again else self._next_drawn()
        self._in_flight, self._is_alone = self._in_flight + 1, task.lost > 0
        return task

    def _next_drawn(self):
        """Errors: that of the iterator over data sets, after the fits before it."""
        batch, size = [], self._batch_size if self._failure is None else 0
        if self.total is not None:
            size = min(size, max(1, int(_LARGEST_SHARE * (self.total - self.drawn))))
        while len(batch) < size:
            try:
                given = next(self._datasets)
            except StopIteration:
                break
            except Exception as error:  # noqa: BLE001  (raised below)
                self._failure = error
                break
            number, self.drawn = self.drawn, self.drawn + 1
            if not self._take_kept(number, given):
                batch.append((number, given))
        if not batch and self._failure is not None and not self._in_flight:
            raise self._failure
        if not batch:
            raise StopIteration
        return tasks.Task(tuple(batch), self._ticket)

    def _take_kept(self, number, given):
        if self.kept is None:
            return False
        self._keys[number] = key = self.kept.key(number, given)
        row = self.kept.get(key)
        if row is None:
            return False
        self.taken_from_kept += 1
        self._note(row)
        return True

    def take(self, task, outcome):
        """Errors: KeyboardInterrupt and OtherVersions, which are outcomes that end all."""
        self._in_flight -= 1
        if isinstance(outcome, KeyboardInterrupt | tasks.OtherVersions):
            raise outcome
        if self._is_put_again(task, outcome):
            return
        if isinstance(outcome, BaseException) or outcome == tasks.MISSING:
            outcome = [Row(number, _lost(outcome)) for number, _ in task.batch]
        else:
            seconds = sum(row.seconds for row in outcome) / len(outcome)
            self._batch_size = max(1, min(_LARGEST_BATCH, int(_SECONDS_OF_TASK / max(seconds, 1e-6))))
        for row in outcome:
            key = self._keys.get(row.number)
            if key is not None and not row.reason:
                self.kept.put(key, row)
            self._note(row)

    def _is_put_again(self, task, outcome):
        if isinstance(outcome, executors.WorkersLost):
            most = 1 if isinstance(outcome, executors.LostRepeatedly) else _MOST_LOSSES
            if task.lost >= most:
                return False
            self._suspects.extend(task.singles(task.lost + 1))
        elif isinstance(outcome, BaseException):
            if len(task.batch) == 1:
                return False
            self._again.extend(task.singles())
        elif outcome == tasks.MISSING and task.ticket.data is None:
            (self._suspects if task.lost else self._again).append(task.with_data(self._data))
        else:
            return False
        return True

    def _note(self, row):
        self._keys.pop(row.number, None)
        self.done += 1
        self.divergences += row.divergences
        self._put(row)


@contextlib.contextmanager
def _file_of(data):
    """The path of a temporary file with these bytes within the block; None where none can be written: the bytes then go
    with the first tasks."""
    with contextlib.ExitStack() as stack:
        try:
            made = tempfile.TemporaryDirectory(prefix="inlay-fits-", ignore_cleanup_errors=True)
            path = Path(stack.enter_context(made)) / "work"
            path.write_bytes(data)
        except OSError as error:  # a full disk
            path = None
            _LOG.warning("the compiled functions go to each worker with its first tasks, since no file can hold them: %s", error)
        yield None if path is None else str(path)


def _is_here(executor):
    """Whether no other process needs the work."""
    return executor is None or executors.is_count(executor)


def _lost(outcome):
    if isinstance(outcome, executors.LostRepeatedly):
        return f"its worker was lost each time: {outcome}"
    if isinstance(outcome, executors.WorkersLost) and isinstance(outcome.__cause__, BrokenExecutor | None):
        return f"its worker was lost {_MOST_LOSSES} times: {outcome}"
    if isinstance(outcome, executors.WorkersLost):
        return _lost(outcome.__cause__)
    if isinstance(outcome, BaseException):
        return f"{type(outcome).__name__}: {outcome}"
    return "its worker could not read the functions"


class _Line:
    """The line that a person at a terminal or in a notebook sees: fits done, their rate, the time left, divergences."""

    def __init__(self, state, show):
        self._state = state
        stream = progress.stream_of_a_person() if show else None
        self._progress = None if stream is None else progress.Progress(text_of(state, state.begin), stream)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._progress is not None:
            self._progress.stop()

    def renew(self):
        if self._progress is not None:
            self._progress.what = text_of(self._state, time.monotonic())


def text_of(state, now):
    done = state.done
    fitted, seconds = done - state.taken_from_kept, now - state.begin
    of = f" of {state.total}" if state.total is not None else ""
    parts = [f"{done}{of} fits"]
    if fitted and seconds > 0:
        rate = fitted / seconds
        parts.append(f"{rate:.3g} a second")
        if state.total is not None and state.total > done:
            parts.append(f"{(state.total - done) / rate:.0f} s left")
    if state.divergences:
        parts.append(f"{state.divergences} divergences")
    return ", ".join(parts)
