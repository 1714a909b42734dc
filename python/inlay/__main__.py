"""The command line tool: `inlay` where a wheel is installed, and `python -m inlay`."""

import os
import sys

from . import _inlay


def main():
    """Does what the words of the command line say, and ends the process with the tool's exit code."""
    sys.exit(_inlay.command_line([b"inlay", *map(os.fsencode, sys.argv[1:])]))


if __name__ == "__main__":
    main()
