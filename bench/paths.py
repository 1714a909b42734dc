"""Where things are, and that what is measured was compiled now: nothing is taken from the user's cache."""

import os
import pathlib

os.environ["INLAY_CACHE"] = "0"

BENCH = pathlib.Path(__file__).parent
EXAMPLES = BENCH.parent / "examples"
BUILD = BENCH.parent / "build" / "release"
