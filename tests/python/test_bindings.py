"""What `inlay._inlay` says of arguments that do not fit: no door gives them, but none may end the process."""

import subprocess
import sys

from inlay import _inlay

THREADS_THAT_DRAW = """
import sys, threading
from inlay import _inlay
assert "numpy.random._generator" not in sys.modules
sys.setswitchinterval(1e-6)
begin = threading.Barrier(4)
def look_up():
    begin.wait()
    assert _inlay.draw("normal", 0, None, [1, 2], "f64", None) is not None
threads = [threading.Thread(target=look_up, daemon=True) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_threads_that_import_the_samplers_do_not_wait_for_each_other():
    subprocess.run([sys.executable, "-c", THREADS_THAT_DRAW], check=True, timeout=120)
