"""Ctrl-C while a program is compiled or runs: it ends soon, and nothing of the caller's has changed."""

import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

CLAIMED = 0.1  # seconds: what docs/pymc.md says
SOON = 1.0  # seconds: a loaded machine; the work below takes a hundred times as long
SUM = "graph @m(%x: f64[n]) {\n  %e = exp %x\n  %s = reduce add %e [0] : f64\n  return %s\n}"


@pytest.fixture(autouse=True)
def signals():
    """A job in the background of a shell ignores the signal, and so would all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupt:
    """Another process sends the signal after some seconds; `late` is how long after it the block ended, and `used` the
    seconds of CPUs that all threads of this process took meanwhile."""

    def __init__(self, after=0.1):
        self.after = after

    def __enter__(self):
        self.begin = time.monotonic()
        process = os.getpid()
        send = f"sleep {self.after}; cat /proc/{process}/stat; kill -INT {process}"
        self.sender = subprocess.Popen(["sh", "-c", send], stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, raised, *_):
        self.late, used = time.monotonic() - self.begin - self.after, time.process_time()
        self.ended_the_block = raised is KeyboardInterrupt
        before = self.sender.communicate()[0].rpartition(")")[2].split()[11:13]  # utime, stime, in ticks
        self.used = used - sum(map(int, before)) / os.sysconf("SC_CLK_TCK")


def check_ends(call, after=0.1, threads=1):
    """Once in five times as soon as is claimed: on a loaded machine the signal, or what sees it, may wait for a CPU, which
    is as much a part of `late`. Each time soon, or it hangs. False where the call was done before the signal came.

    Several threads wait for a CPU each, and the last one counts: as soon as is claimed is then by what they use of CPUs,
    all together."""
    for _ in range(5):
        try:
            with Interrupt(after) as interrupt:
                call()
        except KeyboardInterrupt:  # or after the block, where the call was quicker this time
            pass
        if not interrupt.ended_the_block:
            return False
        assert interrupt.late < SOON * threads
        if interrupt.late < CLAIMED or (threads > 1 and interrupt.used < CLAIMED):
            return True
    raise AssertionError(f"five times more than {CLAIMED} s")


@pytest.mark.parametrize("loop", ["scan", "scan of vectors"])
def test_a_long_loop_ends(loop):
    x = pt.dscalar("x") if loop == "scan" else pt.dvector("x")
    steps = pt.lscalar("steps")
    result = pytensor.scan(lambda c: pt.cos(c), outputs_info=[x], n_steps=steps, return_updates=False)[-1]
    f = pytensor.function([x, steps], result, mode="INLAY")
    start = np.asarray(0.5) if loop == "scan" else np.linspace(0, 1, 5)
    few = f(start, 10)
    assert check_ends(lambda: f(start, 4 * 10**10))
    np.testing.assert_array_equal(f(start, 10), few)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("fold", [pt.sum, pt.max])
def test_one_long_kernel_ends(backend, fold, monkeypatch):
    """Its points are counted from nothing: no array is as long as this takes."""
    monkeypatch.setenv("INLAY_BACKEND", backend)
    n = pt.lscalar("n")
    f = pytensor.function([n], fold(pt.exp(-pt.arange(n))), mode="INLAY")
    few = f(1000)
    assert check_ends(lambda: f(10**13))
    assert f(1000) == few


PAIRS = """graph @main(%x: f64[n], %y: f64[m]) {{
  %column = reshape %x : f64[n, 1]
  %a = mul %column, %y
  %b = lgamma %a
{}
  return %s
}}"""
OF_POINTS = "%c = exp %b\n %s = reduce add %c [0, 1] : f64"
OF_ROWS = "%r = softmax %b, axes = [1]\n %q = square %r\n %s = reduce add %q [1] : f64"


@pytest.mark.parametrize("body, threads", [(OF_POINTS, 2), (OF_POINTS, 4), (OF_ROWS, 2), (OF_ROWS, 3)])
def test_all_threads_of_a_call_end(body, threads):
    before = inlay.get_threads()
    inlay.set_threads(4)
    try:
        fn = inlay.compile(PAIRS.format(body), threads=threads)
        few, many = np.linspace(1, 2, 1000), np.linspace(1, 2, 400_000)  # would take minutes; little is copied for it
        want = fn(few, few).tobytes()
        assert check_ends(lambda: fn(many, many), threads=threads)
        assert inlay._inlay.num_pool_threads() >= threads - 1
        for again in (1, threads):
            assert fn(few, few, threads=again).tobytes() == want
    finally:
        inlay.set_threads(before)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_a_batch_of_matrices_ends_between_them(backend, monkeypatch):
    monkeypatch.setenv("INLAY_BACKEND", backend)
    x = pt.dtensor3("x")
    f = pytensor.function([x], pt.linalg.eig(x)[0], mode="INLAY")
    matrices = np.random.default_rng(1).normal(size=(4000, 60, 60))  # of 150, SciPy's threads take 60 ms on busy CPUs
    few = f(matrices[:2])
    assert check_ends(lambda: f(matrices))
    np.testing.assert_array_equal(f(matrices[:2]), few)


def test_a_tall_product_ends():
    x, y = pt.dtensor3("x"), pt.dmatrix("y")
    f = pytensor.function([x, y], pt.matmul(x, y).sum(), mode="INLAY")
    matrices, matrix = np.ones((1000, 300, 600)), np.ones((600, 600))
    assert check_ends(lambda: f(matrices, matrix))
    assert f(matrices[:2], matrix) == 2 * 300 * 600 * 600


def test_a_handler_that_returns_lets_it_go_on():
    n = pt.lscalar("n")
    f = pytensor.function([n], pt.exp(-pt.arange(n) % 7).sum(), mode="INLAY")
    length = 10**6
    while (begin := time.monotonic()) and f(length) is not None and time.monotonic() - begin < 0.3:
        length *= 2
    want, seen = f(length), []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with Interrupt(0.1):
            got = f(length)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1]
    assert got == want


def test_a_donated_argument_is_as_it_was():
    """A step that ends the call would leave it half overwritten: from there on nothing is looked at."""
    x = pt.dvector("x")
    f = pytensor.function(
        [pytensor.In(x, mutable=True)], pt.set_subtensor(x[: x.shape[0] // 2], pt.exp(x[x.shape[0] // 2 :])), mode="INLAY"
    )
    for after in np.linspace(0.0, 0.1, 6):
        given = np.zeros(2 * 10**7)
        try:
            with Interrupt(after):
                f(given)
        except KeyboardInterrupt:
            pass
        assert given.sum() in (0, 10**7)  # nothing, or all


@pytest.mark.parametrize("threads", [1, 2])
def test_compiling_ends(threads):
    groups = 120
    lines = [
        f"  %a{g} = mul %x, %g{g}\n  %b{g} = exp %a{g}\n  %c{g} = reduce add %b{g} [0] : f64\n  %d{g} = log %c{g}\n"
        f"  %e{g} = sub %a{g}, %d{g}\n  %f{g} = sin %e{g}\n  %h{g} = reduce add %f{g} [0] : f64"
        for g in range(groups)
    ]
    params = ", ".join(["%x: f64[n]", *(f"%g{g}: f64[n]" for g in range(groups))])
    text = "\n".join([f"graph @m({params}) {{", *lines, "  return " + ", ".join(f"%h{g}" for g in range(groups)), "}"])
    begin = time.monotonic()
    inlay.compile(text, threads=threads)
    takes = time.monotonic() - begin
    ended = sum(check_ends(lambda: inlay.compile(text, threads=threads), share * takes) for share in (0.1, 0.3, 0.5, 0.7))
    assert ended > 0
    assert inlay.compile(SUM, threads=threads)(np.zeros(3)) == 3


def test_a_compiler_of_c_ends(tmp_path):
    """Ctrl-C at a terminal goes to all of its processes: the compiler is not to end of it by itself, and fail."""
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/began\nsleep 60\n")
    compiler.chmod(0o755)
    code = f"""
import inlay
try:
    inlay.compile({SUM!r})
except KeyboardInterrupt:
    print("interrupted")
"""
    environment = {**os.environ, "CC": str(compiler), "INLAY_BACKEND": "c"}
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    began = tmp_path / "began"
    while child.poll() is None and not (began.exists() and began.read_text().endswith("\n")):
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGINT)
    sent = time.monotonic()
    out, _ = child.communicate(timeout=30)
    assert time.monotonic() - sent < SOON + 1  # Python's own end takes a part of that
    assert out == "interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(began.read_text()), 0)


def test_other_threads_are_not_interrupted():
    n = pt.lscalar("n")
    f = pytensor.function([n], pt.exp(-pt.arange(n) % 7).sum(), mode="INLAY")
    want, got = f(10**7), []
    thread = threading.Thread(target=lambda: got.extend(f.copy()(10**7) for _ in range(3)))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        with Interrupt(0.05):
            while True:
                time.sleep(0.01)
    thread.join()
    assert got == [want] * 3


def test_a_c_function_has_a_flag():
    x = pt.dvector("x")
    steps = pytensor.shared(np.asarray(4 * 10**10), name="steps")
    last = pytensor.scan(lambda c: pt.cos(c), outputs_info=[x], n_steps=steps, return_updates=False)[-1]
    c = inlay.pytensor.c_function(pytensor.function([x], [last.sum(), last], mode="INLAY"), form="logp")
    doubles = ctypes.POINTER(ctypes.c_double)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, doubles, doubles, doubles, ctypes.c_void_p)(c.address)
    arrays = [a.ctypes.data_as(doubles) for a in (np.ones(2), np.ones(2), np.ones(()))]
    codes = []
    thread = threading.Thread(target=lambda: codes.append(call(2, *arrays, None)))
    thread.start()
    time.sleep(0.1)
    begin = time.monotonic()
    ctypes.c_int32.from_address(c.stop_address).value = 1
    thread.join()
    assert time.monotonic() - begin < SOON
    assert codes == [-4]
    assert "error[interrupted]" in c.last_error


def test_a_script_ends_by_the_signal(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import inlay.pytensor, pytensor, pytensor.tensor as pt
        n = pt.lscalar("n")
        f = pytensor.function([n], pt.exp(-pt.arange(n)).sum(), mode="INLAY")
        print("runs", flush=True)
        f(10**13)
        """)
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "runs\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors


def test_the_tool_ends_by_the_signal(tmp_path):
    (tmp_path / "long.inlay").write_text(
        "graph @m(%x: f64[n], %d: f64[k]) {\n  %s = loop %i < k*k*k*k*k carry (%c = %x) {\n"
        "    %r = flip %c [0]\n    %n = cos %r\n    return %n\n  }\n  return %s\n}"
    )
    np.save(tmp_path / "x.npy", np.ones(5))
    np.save(tmp_path / "d.npy", np.ones(200))
    tool = os.path.join(os.path.dirname(sys.executable), "inlay")
    process = subprocess.Popen([tool, "run", "long.inlay", "x=x.npy", "d=d.npy", "-o", "results"], cwd=tmp_path)
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == -signal.SIGINT
    assert time.monotonic() - begin < SOON
    assert not (tmp_path / "results").exists() or not list((tmp_path / "results").iterdir())
