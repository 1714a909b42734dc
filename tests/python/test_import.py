"""What `import inlay` alone gives."""

import subprocess
import sys

ALONE = """
import sys
import inlay
assert "pytensor" not in sys.modules
assert callable(inlay.pytensor.use) and "pytensor" in sys.modules
try:
    inlay.pytorch
except AttributeError as error:
    print(error)
"""


def test_packages_are_imported_when_they_are_asked_for():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=300)
    assert done.stdout == "module 'inlay' has no attribute 'pytorch'\n", done.stderr


FIRST_USE = """
import sys
import numpy
before = set(sys.modules)
import inlay
loaded = set(sys.modules) - before
assert set(inlay.__all__) <= set(dir(inlay))
for name in inlay.__all__:
    assert getattr(inlay, name) is not None
from inlay import *
assert profile is inlay.profiling.profile and explain is inlay.explanation.explain
print(*sorted(loaded))
"""


def test_importing_inlay_loads_no_page_no_profile_and_no_listing():
    """They take as long as all the rest, and most programs never ask for them."""
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    parts = ("reporting", "explanation", "profiling", "notebook", "screen", "exporting", "memory", "low_level")
    assert not {f"inlay.{part}" for part in parts} & set(loaded)
    assert not {"logging", "html", "shutil", "pathlib"} & set(loaded)


def test_functions_have_their_methods_before_the_modules_are_loaded():
    code = """
import sys
import inlay
text = "graph @d(%x: f64[n]) { %y = add %x, %x; return %y }"
f = inlay.compile(text)
assert "inlay.explanation" not in sys.modules and "inlay.exporting" not in sys.modules
assert f._repr_html_().startswith("<")
assert inlay.Function.export.__qualname__ == "Function.export"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
