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
