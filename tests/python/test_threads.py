"""Functions on several threads: the same bytes, and no more threads than there may be."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import inlay

SUMS = """graph @main(%x: f64[n], %i: i64[n]) {
  %e = exp %x
  %s = reduce add %e [0] : f64
  %m = reduce max %x [0] : f64
  %zero = literal 0.0 : f64
  %table = broadcast %zero : f64[85]
  %t = scatter add %table[%i], %x
  return %e, %s, %m, %t
}"""
SOFTMAX = """graph @main(%x: f64[n, m]) {
  %r = softmax %x, axes = [1]
  return %r
}"""


@pytest.fixture
def eight_threads():
    before = inlay.get_threads()
    inlay.set_threads(8)
    yield
    inlay.set_threads(before)


def _arguments(n=300_001):
    rng = np.random.default_rng(1)
    return rng.standard_normal(n), rng.integers(0, 85, n)


def _bytes(results):
    return [np.asarray(x).tobytes() for x in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("n", [0 + 1, 1000, 65_536, 300_001])
def test_any_number_of_threads_makes_the_same_bytes(eight_threads, n):
    started = inlay._inlay.num_pool_threads()
    fn = inlay.compile(SUMS, threads=2)
    x, i = _arguments(n)
    alone = fn(x, i, threads=1)
    for threads in (1, 2, 3, 4, 7, 64):
        assert _bytes(fn(x, i, threads=threads)) == _bytes(alone)
        assert _bytes(inlay.compile(SUMS, threads=threads)(x, i)) == _bytes(alone)
    np.testing.assert_allclose(alone[3], np.bincount(i, x, 85), rtol=1e-12, atol=1e-12)
    assert inlay._inlay.num_pool_threads() <= max(7, started)  # by tests before this one


@pytest.mark.parametrize(("groups", "n"), [(257, 300_001), (3000, 1_000_001), (3000, 1000), (100_000, 50_000)])
def test_tables_that_the_plan_holds_make_the_same_bytes(eight_threads, groups, n):
    """Enough work for 16 blocks and for some; and for one, which adds to the result itself."""
    text = SUMS.replace("[85]", f"[{groups}]")
    fn = inlay.compile(text, threads=2)
    rng = np.random.default_rng(3)
    x, i = rng.standard_normal(n), rng.integers(-groups, groups, n)
    alone = fn(x, i, threads=1)
    for threads in (2, 3, 4, 7, 64):
        assert _bytes(fn(x, i, threads=threads)) == _bytes(alone)
    assert _bytes(inlay.compile(text)(x, i)) == _bytes(alone)
    np.testing.assert_allclose(alone[3], np.bincount(i % groups, x, groups), rtol=1e-12, atol=1e-12)
    i[n // 2] = groups
    with pytest.raises(IndexError, match=f"index {groups} is out of bounds"):
        fn(x, i, threads=3)


def test_rows_are_the_same_on_any_number_of_threads(eight_threads):
    fn = inlay.compile(SOFTMAX, threads=2)
    x = np.random.default_rng(2).standard_normal((3000, 257))
    alone = fn(x, threads=1)
    assert _bytes(inlay.compile(SOFTMAX)(x)) == _bytes(alone)
    for threads in (2, 3, 7):
        assert _bytes(fn(x, threads=threads)) == _bytes(alone)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(alone, e / e.sum(1, keepdims=True), rtol=1e-14)


def test_a_sum_is_the_same_as_of_one_block(eight_threads):
    """However it is cut: by how much its loop does, on however many threads."""
    text = "graph @main(%x: f64[n]) {\n  %s = reduce add %x [0] : f64\n  return %s\n}"
    alone, on_threads = inlay.compile(text), inlay.compile(text, threads=5)
    beside = inlay.compile(
        "graph @main(%x: f64[n]) {\n  %s = reduce add %x [0] : f64\n  %y = lgamma %x\n  return %s, %y\n}", threads=3
    )
    for n in (4097, 100_003, 1_000_001):
        x = np.random.default_rng(n).standard_normal(n)
        assert alone(x).tobytes() == beside(x)[0].tobytes() == on_threads(x).tobytes()


def test_the_first_failure_in_the_order_of_the_points_is_raised(eight_threads):
    text = "graph @main(%x: f64[m], %i: i64[n]) {\n  %r = gather %x[%i]\n  return %r\n}"
    fn = inlay.compile(text, threads=7)
    i = np.zeros(1_000_000, int)
    i[[700_000, 300_000, 999_999]] = 12, 11, 13
    for threads in (1, 2, 7):
        with pytest.raises(IndexError, match="index 11 is out of bounds"):
            fn(np.ones(10), i, threads=threads)
    assert fn(np.ones(20), i, threads=7).sum() == len(i)


def test_calls_from_many_threads_share_the_pool(eight_threads):
    inlay.set_threads(3)
    fn = inlay.compile(SUMS, threads=3)
    x, i = _arguments()
    expected = _bytes(fn(x, i))
    wrong = []

    def work():
        wrong.extend(1 for _ in range(20) if _bytes(fn(x, i)) != expected)

    callers = [threading.Thread(target=work) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_a_saved_function_keeps_its_threads(tmp_path):
    fn = inlay.compile(SUMS, threads=3)
    assert fn.compilation.program.threads == 3
    inlay.save(fn, tmp_path / "f.inlay")
    loaded = inlay.load(tmp_path / "f.inlay")
    again = pickle.loads(pickle.dumps(loaded))
    assert loaded.compilation.program.threads == again.compilation.program.threads == 3
    assert inlay.compile(SUMS).compilation.program.threads == 1


def test_a_function_for_one_thread_says_so():
    fn = inlay.compile(SUMS)
    x, i = _arguments(10)
    with pytest.raises(inlay.errors.Unsupported, match="threads=2: the function was compiled for one thread"):
        fn(x, i, threads=2)
    assert _bytes(fn(x, i, threads=1)) == _bytes(fn(x, i))


def test_wrong_numbers_of_threads():
    fn = inlay.compile(SUMS)
    x, i = _arguments(10)
    asked = [lambda n: fn(x, i, threads=n), lambda n: inlay.compile(SUMS, threads=n), inlay.set_threads]
    for ask, takes in zip(asked, ("threads=", "threads=", "inlay.set_threads"), strict=True):
        for wrong in (0, -1, -(1 << 70)):
            with pytest.raises(ValueError, match=f"^{takes} takes a number of 1 at least, not {wrong}$"):
                ask(wrong)
        for wrong, kind in (("2", "a str"), (1.0, "a float"), (True, "a bool"), (False, "a bool")):
            with pytest.raises(TypeError, match=f"^{takes} takes a number of 1 at least, not {kind}$"):
                ask(wrong)
    for ask in (asked[0], asked[2]):  # (of `compile` None is what nobody says)
        with pytest.raises(TypeError, match="takes a number of 1 at least, not a NoneType"):
            ask(None)


def test_more_threads_than_anybody_has(eight_threads):
    for many in (1 << 20, 1 << 31, 1 << 70):
        inlay.set_threads(many)
        assert inlay.get_threads() == 1 << 16
        assert inlay.compile(SUMS, threads=many).compilation.program.threads == 1 << 16
    inlay.set_threads(8)
    x, i = _arguments()
    fn = inlay.compile(SUMS, threads=1 << 70)
    assert _bytes(fn(x, i, threads=1 << 70)) == _bytes(fn(x, i, threads=1))


def test_a_parameter_may_be_named_threads():
    fn = inlay.compile("graph @main(%threads: f64) {\n  %r = exp %threads\n  return %r\n}")
    assert fn(threads=0.0) == 1.0


def test_a_child_of_fork_has_threads_of_its_own(eight_threads):
    fn = inlay.compile(SUMS, threads=4)
    x, i = _arguments()
    expected = _bytes(fn(x, i))
    child = os.fork()
    if child == 0:
        os._exit(0 if _bytes(fn(x, i)) == expected and inlay.get_threads() == 8 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_the_environment_says_how_many_threads_there_are():
    """What is no number of 1 or more says nothing."""
    text = "import inlay; print(inlay.get_threads())"
    no_numbers = dict.fromkeys(("", "many", "0", "-3", "3x", "3 4", "3.5", "1e3", "+3", "-" + "9" * 30))
    for given, expected in {"3": "3", "03": "3", "70000": "65536", "9" * 30: "65536", **no_numbers}.items():
        found = subprocess.run(
            [sys.executable, "-c", text], env={**os.environ, "INLAY_THREADS": given}, capture_output=True, text=True
        )
        count = found.stdout.strip()
        assert count == expected if expected else 1 <= int(count) <= len(os.sched_getaffinity(0))
    assert signal.getsignal(signal.SIGINT) is not None


def test_nothing_is_started_where_nothing_is_worth_it():
    text = f"""
import numpy as np, inlay
fn = inlay.compile('''{SUMS}''', threads=8)
fn(np.ones(100), np.zeros(100, int))
print(inlay._inlay.num_pool_threads())
"""
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert found.stdout == "0\n", found.stderr


def test_a_pytensor_mode_has_threads(eight_threads):
    pytensor = pytest.importorskip("pytensor")
    import pytensor.tensor as pt

    from inlay.pytensor import mode

    x = pt.dvector()
    outputs = [pt.exp(x).sum(), pt.tanh(x)]
    value = np.random.default_rng(3).standard_normal(200_000)
    alone = pytensor.function([x], outputs, mode=mode())(value)
    together = pytensor.function([x], outputs, mode=mode(threads=3))(value)
    assert _bytes(tuple(alone)) == _bytes(tuple(together))
