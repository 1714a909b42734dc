"""The folder of the cache: damaged and foreign entries, killed writers, many processes, and how full it may be."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import inlay
from inlay import cache
from inlay.pytensor import registered
from caching import compiled, entries, example, folder, IMPORTS, PROGRAM, PYTHON, run, with_shared  # noqa: F401


def test_a_key_that_has_the_same_hash_is_not_taken(folder, monkeypatch):
    """Two graphs whose names in the folder collide."""

    class OneHash:
        def __init__(self, key):
            pass

        def hexdigest(self):
            return "0" * 64

    monkeypatch.setattr(cache.hashlib, "sha256", OneHash)
    monkeypatch.setattr(registered.hashlib, "sha256", OneHash)
    x = np.array([1.0, 2.0])
    for result, want in (("exp", np.exp(2 * x)), ("cos", np.cos(2 * x))) * 2:
        fn, what = compiled(lambda result=result: example(result=result))
        assert what == "kept in the cache"
        np.testing.assert_allclose(fn(x)[0], want, rtol=1e-14)
    assert len(entries(folder)) == 1


def test_damaged_entries_are_not_taken(folder, monkeypatch):
    make = lambda: example(factor=np.arange(30.0), shape=(30,))  # noqa: E731
    x, keys, find = np.linspace(-1, 1, 30), [], cache.find
    monkeypatch.setattr(cache, "find", lambda key: keys.append(key) or find(key))
    want = compiled(make)[0](x)[0]
    (path,) = entries(folder)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [whole[:length] for length in (0, 1, 39, 40, 41, len(whole) // 2, len(whole) - 1)]
    path.write_bytes(whole)
    assert find(keys[0]) is not None
    for at in [*range(0, 48), *rng.integers(0, len(whole), 40)]:
        flipped = bytearray(whole)
        flipped[at] ^= 1 << int(rng.integers(8))
        damaged.append(bytes(flipped))
    damaged += [b"no function", whole + b"more", b"\0" * len(whole)]
    for data in damaged:
        path.write_bytes(data)
        assert find(keys[0]) is None
    path.write_bytes(damaged[-1])
    fn, what = compiled(make)
    assert what == "kept in the cache"  # anew
    np.testing.assert_array_equal(fn(x)[0], want)
    assert compiled(make)[1] == "taken from the cache"


def test_what_is_no_entry_is_not_taken(folder):
    """Links, folders and pipes; what others could have written."""
    compiled(example)
    (path,) = entries(folder)
    whole = path.read_bytes()
    assert oct(path.stat().st_mode & 0o777) == "0o600" and oct(folder.stat().st_mode & 0o777) == "0o700"

    def is_taken():
        return compiled(example)[1] == "taken from the cache"

    assert is_taken()
    path.chmod(0o602)
    assert not is_taken()  # and replaced
    assert is_taken()
    folder.chmod(0o702)
    assert not is_taken()
    folder.chmod(0o700)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.write_bytes(whole)
    for make in (lambda: path.symlink_to(elsewhere), lambda: os.mkfifo(path), path.mkdir):
        path.unlink()
        make()
        assert not is_taken()
        if path.is_dir():
            path.rmdir()
            path.write_bytes(whole)
    assert elsewhere.read_bytes() == whole
    if os.geteuid() == 0:
        assert is_taken()
        os.chown(path, 12345, 12345)
        assert not is_taken()
        os.chown(folder, 12345, 12345)
        assert not is_taken()


def test_a_folder_that_cannot_be_written_or_is_none_is_no_error(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("x")
    places = [file, file / "below", pathlib.Path("/proc/nothing/here"), pathlib.Path("/dev/null")]
    for place in places:
        monkeypatch.setenv("INLAY_CACHE", str(place))
        fn, what = compiled(example)
        assert what == "not kept in the cache: its folder cannot be written, or has no room"
        np.testing.assert_allclose(fn(np.ones(2))[0], np.exp(2 * np.ones(2)), rtol=1e-14)
    assert file.read_text() == "x"


def test_the_folder_is_its_owners_alone_also_with_a_slash_behind_it(tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o775)
    before = os.umask(0o002)
    try:
        monkeypatch.setenv("INLAY_CACHE", f"{tmp_path}/caches/own/")
        assert compiled(example)[1] == "kept in the cache"
        assert oct((tmp_path / "caches/own").stat().st_mode & 0o777) == "0o700"
        monkeypatch.setenv("INLAY_CACHE", f"{tmp_path}/open/")
        assert compiled(example)[1] == f"not kept in the cache: others can write into its folder, {tmp_path}/open"
    finally:
        os.umask(before)


def test_without_a_cache_nothing_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("INLAY_CACHE", "0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiled(example)[1] == ""
    monkeypatch.delenv("INLAY_CACHE")
    assert compiled(example)[1] == "kept in the cache"  # the default is the user's folder
    assert len(entries(tmp_path / "inlay")) == 1


def test_a_read_only_folder_is_read(folder):
    """By a user who may not write: one without root's rights."""
    run(PROGRAM)
    (path,) = entries(folder)
    if os.geteuid() != 0:
        folder.chmod(0o500)
    else:  # as root writes everywhere, the file system is read-only
        done = subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip("root may not mount here")
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
    try:
        assert run(PROGRAM)[0].startswith("taken from the cache 0 ")
        (what,) = run(PROGRAM.replace("x * w", "x - w"))
        assert what.startswith("not kept in the cache: its folder cannot be written, or has no room 1 ")
        assert entries(folder) == [path]
    finally:
        if os.geteuid() != 0:
            folder.chmod(0o700)
        else:
            subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_no_error(folder):
    """A file may not grow beyond what is written of an entry."""
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
    (what,) = run(limit + PROGRAM)
    assert what.startswith("not kept in the cache: its folder cannot be written, or has no room 1 ")
    assert list(folder.iterdir()) == []


def test_a_writer_that_was_killed_leaves_no_entry(folder):
    """Killed before the name is given, and while many are at work."""
    run("import os, signal, inlay.cache\nos.replace = lambda *a: os._exit(0)\n" + PROGRAM.partition("print")[0])
    assert entries(folder) == []
    (part,) = folder.iterdir()
    assert run(PROGRAM)[0].startswith("kept in the cache 1 ")
    assert part.exists()  # its writer may still be at it
    os.utime(part, (0, 0))
    run(PROGRAM.replace("x * w", "x - w"))
    assert not part.exists()


def test_many_processes_use_one_cache(folder):
    """64 at once, of which some are killed at any time. All others compute what one does without a cache."""
    functions = """
def check_all(seen=None):
    for factor in (2.0, 3.0, 4.0):
        x = pt.dvector("x")
        fn = pytensor.function([x], pt.exp(x * factor).sum(), mode="INLAY")
        np.testing.assert_allclose(fn(np.ones(3)), 3 * np.exp(factor), rtol=1e-14)
        if seen is not None:
            seen.append(inlay.explain(fn).cache)
"""
    many = """
import os, signal, time
def child():
    try:
        check_all()
        os._exit(0)
    finally:
        os._exit(1)
children = [os.fork() or child() for _ in range(64)]
rng = np.random.default_rng(5)
for pid in children[::4]:
    time.sleep(rng.uniform(0, 0.1))
    os.kill(pid, signal.SIGKILL)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
print(len(codes), sorted(set(codes) - {0, -signal.SIGKILL}))
"""
    assert run(functions + many) == ["64 []"]
    assert len(entries(folder)) == 3
    assert run(functions + "seen = []\ncheck_all(seen)\nprint(*seen, sep='\\n')") == ["taken from the cache"] * 3


def test_what_was_not_used_for_the_longest_time_leaves(folder, monkeypatch):
    factors = (2.0, 3.0, 4.0)
    for hours, factor in zip((3, 2, 1), factors):
        compiled(lambda factor=factor: example(factor=factor))
        newest = max(entries(folder), key=lambda path: path.stat().st_mtime)
        os.utime(newest, (time.time() - 3600 * hours,) * 2)
    total = sum(path.stat().st_size for path in entries(folder))
    monkeypatch.setenv("INLAY_CACHE_SIZE", str(int(total * 1.1)))
    assert compiled(lambda: example(factor=2.0))[1] == "taken from the cache"  # so the second is the oldest
    monkeypatch.setattr(cache, "_LARGEST_PART", 2)
    assert compiled(lambda: example(factor=5.0))[1] == "kept in the cache"
    assert len(entries(folder)) == 3
    assert compiled(lambda: example(factor=2.0))[1] == "taken from the cache"
    assert compiled(lambda: example(factor=4.0))[1] == "taken from the cache"
    assert compiled(lambda: example(factor=3.0))[1] == "kept in the cache"


def test_an_entry_that_would_take_much_of_the_room_is_not_kept(folder, monkeypatch):
    monkeypatch.setenv("INLAY_CACHE_SIZE", "1K")
    assert compiled(example)[1] == "not kept in the cache: its folder cannot be written, or has no room"
    make = lambda: example(factor=np.ones(20))  # noqa: E731
    assert compiled(make)[1] == "not kept in the cache: constants for which it has no room"
    assert not folder.exists()


def test_a_cache_without_room_says_so_and_may_have_some_later(folder):
    program = """
import os
x = pt.dvector("x")
for size in ("0", "512M"):
    os.environ["INLAY_CACHE_SIZE"] = size
    print(inlay.explain(pytensor.function([x], x + x, mode="INLAY")).cache)
"""
    no_room = "not kept in the cache: its folder cannot be written, or has no room"
    assert run(program) == [no_room, "kept in the cache"]


def test_the_tool_shows_and_clears_it(folder):
    tool = [sys.executable, "-m", "inlay", "cache"]

    def inlay_cache(*words):
        done = subprocess.run(
            [*tool, *words], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PYTHON)}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert inlay_cache() == f"folder   {folder}\nentries  0\nbytes    0 of 536870912\n"
    compiled(example)
    compiled(with_shared)
    total = sum(path.stat().st_size for path in entries(folder))
    (folder / "mine.inlayfn").write_text("a user's")
    assert inlay_cache() == f"folder   {folder}\nentries  2\nbytes    {total} of 536870912\n"
    assert inlay_cache("--clear") == f"removed 2 entries of {total} bytes from {folder}\n"
    assert [path.name for path in folder.iterdir()] == ["mine.inlayfn"]
    wrong = subprocess.run(
        tool, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(PYTHON), "INLAY_CACHE_SIZE": "much"},
    )  # fmt: skip
    assert wrong.returncode != 0 and "INLAY_CACHE_SIZE=much is neither a number of bytes" in wrong.stderr
