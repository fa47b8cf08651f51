"""`python -m traceir`: `tour` shows the main job step by step, `cache` the store."""

from __future__ import annotations

import sys

USAGE = """\
usage: python -m traceir tour    the main job, shown step by step
       python -m traceir cache   what was compiled and kept: list, show, prune, clear"""


def main(arguments: list[str]) -> int:
    """Run a command; returns the process's exit status."""
    match arguments:
        case ["tour"]:
            from traceir.tour import tour  # takes a moment to import

            tour()
            return 0
        case ["cache", *rest]:
            from traceir.store.command import command

            return command(rest)
    print(USAGE, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
