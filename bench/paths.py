"""Where things are."""

import pathlib

BENCH = pathlib.Path(__file__).parent
EXAMPLES = BENCH.parent / "examples"
BUILD = BENCH.parent / "build" / "release"
