"""`python -m traceir`: `tour` shows the main job step by step, `cache` the store."""

from __future__ import annotations

import os
import sys

USAGE = """\
usage: python -m traceir tour    the main job, shown step by step
       python -m traceir cache   what was compiled and kept: list, show, prune, clear"""


def main(arguments: list[str]) -> int:
    """Run a command; returns the process's exit status.

    A reader that stops early, such as ``head``, ends the command without a word.
    """
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer has nowhere to go, and is not to be missed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _run(arguments: list[str]) -> int:
    match arguments:
        case ["tour"]:
            from traceir.commands.tour import tour  # takes a moment to import

            tour()
            return 0
        case ["cache", *rest]:
            from traceir.commands.cache import command

            return command(rest)
        case ["-h" | "--help"]:
            print(USAGE)
            return 0
    print(USAGE, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
