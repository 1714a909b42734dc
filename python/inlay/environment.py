"""What a compiled function depends on besides its program: the machine, the build, versions, variables, choices. It is part
of a key of the cache. `NotText` where one of them cannot be told.
"""

import os
import platform
import stat
import sys
import time

import numpy as np

from . import _inlay

_STARTED_NS = time.time_ns()


class NotText(Exception):
    """The message says what has no text, in words that end a sentence "not kept in the cache: "."""


def variables():
    """Those that are set and that inlay reads."""
    return sorted(item for item in os.environ.items() if _is_read(item[0]))


def choices_of(choices):
    """What was chosen of a compilation, as plain values."""
    given = choices.given()
    for name in ("dump", "verify"):
        if given.get(name) or os.environ.get(f"INLAY_{name.upper()}"):
            raise NotText(f"a compilation that is to be looked at ({name})")
    is_plain = all(isinstance(x, str | bool | int | dict) for x in given.values())
    if not is_plain or isinstance(given.get("planner"), dict):
        raise NotText("a function or offsets of yours that lay out its memory or chose what shares bytes")
    return sorted(given.items())


def _is_read(name):
    return name == "CC" or (name.startswith("INLAY_") and not name.startswith("INLAY_CACHE"))


_of_process = {}


def of(packages=()):
    """Which compilers there are, on which machine, as text: found once. And the versions of `packages`, where they are
    in use."""
    if "environment" not in _of_process:
        found = _inlay.config()
        cpu = getattr(getattr(np, "_core", None) or np.core, "_multiarray_umath").__cpu_features__
        parts = [
            sys.implementation.name, sys.version, sys.platform, platform.machine(),
            sorted(name for name, there in cpu.items() if there),
            [found[k] for k in ("stable_abi", "backends", "links_blas", "llvm")],
            _stamp(_inlay.__file__), _stamp(found["jit"]) if found["jit"] else None,
        ]  # fmt: skip
        _of_process["environment"] = repr(parts)
    found = [(name, _version(name)) for name in ("numpy", "scipy", *packages) if name in sys.modules]
    return f"{_of_process['environment']} {found}"


def _version(package):
    """Of an installed package. The files of one that somebody works on are newer than its version says."""
    if ("version", package) not in _of_process:
        module = sys.modules[package]
        folder = os.path.dirname(os.path.realpath(module.__file__))
        installed = os.path.basename(os.path.dirname(folder)) in ("site-packages", "dist-packages")
        _of_process["version", package] = getattr(module, "__version__", None), None if installed else _stamps(folder)
    return _of_process["version", package]


def _stamps(folder):
    """Of all files of code in a folder, when they were written: what a new build changes."""
    found = []
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        found += [(name, _stamp(os.path.join(path, name))) for name in sorted(files) if name.endswith((".py", ".so"))]
    if any(stamp[1] > _STARTED_NS for _, stamp in found if isinstance(stamp, tuple)):
        raise NotText("a package whose files have changed since this process began")
    return found


def _stamp(path):
    try:
        found = os.stat(path)
    except OSError:
        return path
    return found[stat.ST_SIZE], found.st_mtime_ns
