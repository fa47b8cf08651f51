"""`python -m traceir tour`: the main job, shown step by step."""

from __future__ import annotations

import sys

from traceir.tour import tour

USAGE = "usage: python -m traceir tour"


def main(arguments: list[str]) -> int:
    """Run a command; returns the process's exit status."""
    if arguments != ["tour"]:
        print(USAGE, file=sys.stderr)
        return 2
    tour()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
