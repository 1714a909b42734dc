"""What a person at a terminal or in a notebook sees of a compilation that takes long: one line that says what is being
done and for how long, gone when it is done.

A thread writes the line, which begins after two seconds. It ends when it is told to, or when the frame that it watches
has left the stack of its thread: what PyTensor does before and after inlay can fail without telling anyone.
"""

import contextlib
import sys
import threading
import time

DELAY = 2.0  # seconds
_PERIOD = 0.25

_of_thread = threading.local()


class Progress:
    """The line, from now on; `frame`: while it runs."""

    def __init__(self, what, stream, frame=None):
        self.what = what
        self._stream = stream
        self._frame = frame
        self._thread_id = threading.get_ident()
        self._begin = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._show, name="inlay progress", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads, or the interpreter ends: no line
            self._stopped.set()

    def stop(self):
        was_stopped = self._stopped.is_set()
        self._stopped.set()
        has_written = time.monotonic() - self._begin >= DELAY  # else nothing has to be waited for
        if has_written and not was_stopped:
            self._thread.join()

    @property
    def is_running(self):
        return self._thread.is_alive() and not self._stopped.is_set()

    def _show(self):
        width = 0
        wait = DELAY
        with contextlib.suppress(OSError, ValueError):  # a stream that is closed
            while not self._stopped.wait(wait) and self._frame_runs():
                line = self._line()
                self._stream.write("\r" + line.ljust(width))
                self._stream.flush()
                width = max(width, len(line))
                wait = _PERIOD
            if width:
                self._stream.write("\r" + " " * width + "\r")
                self._stream.flush()
        self._frame = None

    def _line(self):
        import shutil  # which takes as long to import as a tenth of inlay

        seconds = f" ({time.monotonic() - self._begin:.0f} s)"
        what = "".join(c if c.isprintable() else "?" for c in self.what)
        return what[: max(shutil.get_terminal_size().columns - len(seconds) - 1, 0)] + seconds

    def _frame_runs(self):
        if self._frame is None:
            return True
        frame = sys._current_frames().get(self._thread_id)
        while frame is not None and frame is not self._frame:
            frame = frame.f_back
        return frame is not None


def stream_of_a_person():
    """Where progress can be seen: stderr of a terminal or of IPython. None: nobody looks."""
    stream = sys.stderr
    if stream is None:
        return None
    ipython = sys.modules.get("IPython")
    in_ipython = hasattr(ipython, "get_ipython") and ipython.get_ipython() is not None
    with contextlib.suppress(Exception):  # what stands in for stderr may lack isatty, or be closed
        return stream if in_ipython or stream.isatty() else None
    return None


@contextlib.contextmanager
def shown(what):
    """Progress of what is done within the block."""
    stream = stream_of_a_person()
    if stream is None:
        yield
        return
    progress = Progress(what, stream)
    try:
        yield
    finally:
        progress.stop()


def begin(what, frame):
    """Progress of what this thread does until `done`, or until `frame` ends; within another, what is done now."""
    running = getattr(_of_thread, "progress", None)
    if running is not None and running.is_running:
        running.what = what
        return
    stream = stream_of_a_person()
    if stream is not None:
        _of_thread.progress = Progress(what, stream, frame)


def now(what):
    """What is done from here on, where there is progress to be seen."""
    running = getattr(_of_thread, "progress", None)
    if running is not None:
        running.what = what


def done():
    running = getattr(_of_thread, "progress", None)
    if running is not None:
        running.stop()
        _of_thread.progress = None
