"""Long compilations say what they do, where somebody looks."""

import io
import sys
import threading
import time
import types

import inlay
import inlay.pytensor
import pytensor
import pytensor.tensor as pt
import pytest
from inlay import progress

TEXT = "graph @main(%a: f64[64, 64]) {\n  %p = matmul %a, %a\n  %q = matmul %p, %p\n  return %q\n}"


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def waits_for(self, text):
        """Until it was written."""
        for _ in range(2000):
            if text in self.getvalue():
                return True
            time.sleep(0.01)
        return False


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(progress, "stream_of_a_person", lambda: stream)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    return stream


def is_clear(stream):
    """Is the line empty again?"""
    return stream.getvalue().rpartition("\r")[2] == "" and "\n" not in stream.getvalue()


def waiting_planner(stream, text):
    def planner(storages):
        assert stream.waits_for(text)
        return [0] * len(storages)

    return planner


def test_of_text(terminal):
    inlay.compile(TEXT, "long.inlay", planner=waiting_planner(terminal, "inlay compiles long.inlay (0 s)"))
    assert is_clear(terminal)


def test_of_pytensor(terminal):
    a = pt.matrix("a", shape=(64, 64))
    waits = inlay.pytensor.mode(planner=waiting_planner(terminal, "inlay compiles 2 nodes ("))
    pytensor.function([a], (a @ a) @ (a @ a), mode=waits)
    assert is_clear(terminal)


def test_it_ends_with_what_it_watches(terminal):
    """PyTensor may fail, and tells nobody."""

    def fails():
        progress.begin("PyTensor rewrites the graph", sys._getframe())
        assert terminal.waits_for("PyTensor rewrites the graph (")
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    for _ in range(2000):
        if not any(t.name == "inlay progress" for t in threading.enumerate()):
            break
        time.sleep(0.01)
    assert is_clear(terminal)


def test_pytensors_part_is_watched(terminal, monkeypatch):
    seen = []
    monkeypatch.setattr(progress, "begin", lambda what, frame: seen.append((what, frame.f_code.co_name)))
    x = pt.dvector("x")
    pytensor.function([x], x + 1, mode="INLAY")
    assert seen == [("PyTensor rewrites the graph", "function")]


def test_a_terminal_or_ipython(monkeypatch):
    file, terminal = io.StringIO(), Terminal()
    monkeypatch.setattr(sys, "stderr", file)
    assert progress.stream_of_a_person() is None
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: object()))
    assert progress.stream_of_a_person() is file
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert progress.stream_of_a_person() is None
    monkeypatch.setattr(sys, "stderr", terminal)
    assert progress.stream_of_a_person() is terminal
    monkeypatch.setattr(sys, "stderr", None)
    assert progress.stream_of_a_person() is None


def test_what_is_quick_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 60.0)
    inlay.compile(TEXT)
    assert terminal.getvalue() == ""
