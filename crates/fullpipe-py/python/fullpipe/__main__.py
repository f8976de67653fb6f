"""The command `fullpipe`."""

import sys

from . import _fullpipe


def main() -> int:
    """Runs the command; the exit code."""
    return _fullpipe.command(["fullpipe", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
