"""The versions of what makes draws: another one may draw otherwise."""

import importlib.util
from pathlib import Path

from .. import _inlay


def of(method):
    """By package, of those that are installed here."""
    return _found(("inlay", "numpy", "scipy", *method.packages))


def other_here(wanted):
    """What is installed here in another version, with both, or "". What is lacking, and needed, says so itself."""
    here = _found(wanted)
    return ", ".join(f"{name} {found} in place of {wanted[name]}" for name, found in here.items() if found != wanted[name])


def _found(packages):
    versions = {package: version(package) for package in packages}
    return {package: found for package, found in versions.items() if found is not None}


def version(package):
    """None where it is unknown. Read from the name of its .dist-info folder where there is one: importlib.metadata would
    be a tenth of what a worker takes in memory. inlay's own is that of the code at work: its source tree has no metadata."""
    if package == "inlay":
        return _inlay.__version__
    spec = importlib.util.find_spec(package)
    if spec is None:
        return None
    if spec.origin is not None:
        names = [path.name for path in Path(spec.origin).parent.parent.glob(f"{package}-*.dist-info")]
        if len(names) == 1:
            return names[0].removesuffix(".dist-info").partition("-")[2]
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:  # it lies on the path, without metadata
        return None
