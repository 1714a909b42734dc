"""`python -m inlay.pymc MODEL LIBRARY`: what `export_bridgestan` does, for those who sample in Julia, R or Rust."""

import argparse
import importlib
import os
import runpy
import sys

from . import export_bridgestan

_EPILOG = """\
MODEL is where Python finds the model: package.module:name, or file.py:name. The name is that of a PyMC model, or of a
function that makes one and takes no arguments."""


class _Mistake(Exception):
    """In what was asked for; its message is for whoever asked."""


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m inlay.pymc",
        description="Write a PyMC model as a shared library with BridgeStan's functions.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="module:name or file.py:name")
    parser.add_argument("library", metavar="LIBRARY", help="the file to write, as a rule NAME.so")
    parser.add_argument("--name", help="what the library calls itself (default: the name of the file)")
    parser.add_argument("--var-names", nargs="*", metavar="VAR", help="the deterministics that it has (default: all)")
    return parser


def _model_of(place):
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise _Mistake(f"{place}: name a model as module:name or file.py:name")
    found = _names_of_file(where) if where.endswith(".py") else _names_of_module(where)
    if name not in found:
        raise _Mistake(f"{where} has no {name}")
    return found[name]() if callable(found[name]) else found[name]


def _names_of_file(path):
    if not os.path.isfile(path):
        raise _Mistake(f"{path}: there is no such file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # as `python path` finds what stands beside it
    return runpy.run_path(path)


def _names_of_module(name):
    try:
        return vars(importlib.import_module(name))
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise _Mistake(f"{name}: there is no such module (a file is named with its .py)") from error


def _refused(error):
    print(f"error: {error}", file=sys.stderr)
    return 2


def main(words=None):
    """Returns the exit code: 2 for what cannot be done, with one line that says why."""
    given = _parser().parse_args(words)
    try:
        model = _model_of(given.model)  # what else is raised in there is the user's, with its lines
    except _Mistake as error:
        return _refused(error)
    try:
        path = export_bridgestan(model, given.library, name=given.name, var_names=given.var_names)
    except (NotImplementedError, TypeError, ValueError, OSError) as error:
        return _refused(error)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
