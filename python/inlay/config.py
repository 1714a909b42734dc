"""What this build of inlay is, and what it found on this machine."""

import importlib.util
import os
import sys

from . import _inlay


def show_config(mode="stdout"):
    """Prints what this build of inlay is and what it found here, or returns it.

    mode: "stdout" prints a text and returns None; "dicts" returns a dict of dicts of str, bool and lists of str,
    with the keys "inlay" (version, python, abi, location), "cpu" (level, features), "threads" (at most), "backends"
    (available, llvm, jit) and "blas" (name, from). Nothing is imported, loaded or compiled for it: `blas` says
    "SciPy" without its version before a program has needed it, and "none" where SciPy is not installed.

    Raises ValueError for another mode.
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f'mode is "stdout" or "dicts", not {mode!r}')
    found = _inlay.config()
    config = {
        "inlay": {
            "version": _inlay.__version__,
            "python": _python(3),
            "abi": "abi3, for Python 3.12 and later" if found["stable_abi"] else f"for Python {_python(2)} alone",
            "location": __file__.rpartition("/")[0],
        },
        "cpu": {
            "level": found["level"],
            "features": found["wrong_features"] or _features(found) or "all that the CPU has",
        },
        "threads": {"at most": str(_inlay.max_threads())},
        "backends": {
            "available": found["backends"],
            "llvm": found["llvm"] or "not in this build",
            "jit": found["jit"] or "not in this build",
        },
        "blas": _blas(found),
    }
    if mode == "dicts":
        return config
    for name, section in config.items():
        print(f"{name}:")
        for key, value in section.items():
            print(f"  {key}: {', '.join(value) if isinstance(value, list) else value}")
    return None


def _features(found):
    """What was chosen. Whether a name is none at all, LLVM knows, which is not loaded for it: compiling says so."""
    chosen = found["cpu_features"]
    if chosen != os.environ.get("INLAY_CPU_FEATURES"):  # of a level
        return chosen
    unknown = [name[1:] for name in chosen.split(",") if name and name[1:] not in found["instruction_sets"]]
    if not unknown:
        return chosen
    of = "is no instruction set" if len(unknown) == 1 else "are no instruction sets"
    return f"{chosen} ({', '.join(unknown)} {of} of this CPU; where LLVM has no such feature either, compiling is an error)"


def _python(parts):
    return ".".join(map(str, sys.version_info[:parts]))


def _blas(found):
    old = "; the one of the system does not know this CPU" if found["blas_is_too_old"] else ""
    if found["blas"] not in ("", "linked"):
        return {"name": found["blas"], "from": f"scipy.linalg.cython_blas, scipy.linalg.cython_lapack{old}"}
    takes_scipy = not found["links_blas"] or (found["blas_is_too_old"] and not found["blas"])
    if takes_scipy and _has_scipy():
        return {"name": "SciPy", "from": f"imported when the first program needs it{old}"}
    if not found["links_blas"]:
        return {"name": "none", "from": "without SciPy inlay's own loops compute linear algebra; they are slower"}
    slow = "; it does not know this CPU and uses none of its vectors" if found["blas_is_too_old"] else ""
    return {"name": "BLAS and LAPACK of the system", "from": f"linked when inlay was built{slow}"}


def _has_scipy():
    try:
        return importlib.util.find_spec("scipy") is not None
    except ValueError:  # a module that somebody put there without a spec
        return True
