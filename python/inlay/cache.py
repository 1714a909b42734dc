"""The folder in which compiled functions stay for the next process: entries by a key, each a file as `save` writes one.

Nothing here raises: what cannot be read is not there, and what cannot be written is not kept. An entry is code, so one is
taken only where nobody else could have written it, and only where the whole key is in it. docs/file.md, "The cache".
"""

import contextlib
import hashlib
import logging
import os
import stat
import threading

from . import _inlay

_LOG = logging.getLogger("inlay")
_KEY = "key"  # the section that has it
_NO_ROOM = "its folder cannot be written, or has no room"
_LARGEST_PART = 4  # an entry is not kept that would take more of all entries' bytes than one of so many parts


def is_on():
    return bool(_inlay.cache_folder())


def find(key):
    """The `_inlay.FunctionFile` that was kept by this key, or None."""
    try:
        path = _path_of(key)
        data = path and _read(path)
        if not data:
            return None
        file = _inlay.read_function(data, path)
        if file.section(_KEY) != key:
            _LOG.debug("inlay does not take %s from the cache: it is of another function", path)
            return None
        with contextlib.suppress(OSError):  # where nothing can be written
            os.utime(path)  # used now: it leaves later
        return file
    except FileNotFoundError:
        return None
    except Exception as error:  # it is damaged, or of another version
        _LOG.debug("inlay takes nothing from the cache: %s", error)
        return None


def keep(key, program, sections):
    """Keeps a program with sections of its API's by this key. Returns why it did not, or None."""
    try:
        data = program.save({**sections, _KEY: key})
        if len(data) > _inlay.cache_limit_bytes() // _LARGEST_PART:
            return _NO_ROOM
        folder = _own_folder(make=True)
        if folder is None:
            return _NO_ROOM
        _write(_path_in(folder, key), data)
        _inlay.trim_cache(os.fsencode(folder))
        return None
    except Exception as error:  # a full disk, no memory, what a file cannot hold
        _LOG.debug("inlay keeps nothing in the cache: %s", error)
        return str(error) if isinstance(error, _OfOthers) else _NO_ROOM


def _path_of(key):
    folder = _own_folder()
    return folder and _path_in(folder, key)


def _path_in(folder, key):
    return os.path.join(folder, hashlib.sha256(key).hexdigest()[:32] + ".inlayfn")


def _own_folder(make=False):
    """The folder, or None where there is to be none. _OfOthers where others can write into it."""
    folder = os.fsdecode(_inlay.cache_folder())
    if not folder:
        return None
    if make:
        os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    found = os.stat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{folder} is no folder")
    if not _is_ours(found):
        raise _OfOthers(f"others can write into its folder, {folder}")
    return folder


class _OfOthers(Exception):
    pass


def _is_ours(found):
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & _BY_OTHERS)


_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def _read(path):
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and _is_ours(found):
            return file.read()
    _LOG.debug("inlay does not take %s from the cache: others can write it", path)
    return None


_BINARY = getattr(os, "O_BINARY", 0)


def _write(path, data):
    """All of it or nothing: beside it first, under a name that no other writer has."""
    part = f"{path}.{os.getpid()}.{threading.get_ident()}.{os.urandom(4).hex()}.part"
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
