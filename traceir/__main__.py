"""`traceir` and `python -m traceir`: the commands, each with a line about it."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from traceir.base.version import VERSION

Command = Callable[[Sequence[str], str], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the process's exit status.

    A reader that stops early, such as ``head``, ends the command without a word.
    """
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer has nowhere to go, and is not to be missed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def program() -> str:
    """The command as it was typed: by its name, or as a module."""
    name = os.path.basename(sys.argv[0])
    return "traceir" if name in ("traceir", "traceir.exe") else "python -m traceir"


def _run(arguments: Sequence[str]) -> int:
    match arguments:
        case [str() as name, *rest] if name in COMMANDS:
            return COMMANDS[name][1](rest, f"{program()} {name}")
    parser = _parser()
    parser.parse_args(arguments[:1])
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    near = difflib.get_close_matches(arguments[0], COMMANDS, 1)
    print(f"{parser.prog}: there is no command {arguments[0]!r}", file=sys.stderr)
    hint = f"did you mean `{near[0]}`?" if near else "`--help` lists the commands"
    print(hint, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    lines = "\n".join(f"  {name:8} {line}" for name, (line, _) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=program(),
        description="A tracing JIT for plain NumPy functions, exactly specified.",
        epilog=f"commands:\n{lines}\n\n`{program()} COMMAND --help` tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [-h] [--version] COMMAND ...",
    )
    parser.add_argument("--version", action="version", version=f"traceir {VERSION}")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=argparse.SUPPRESS)
    return parser


# Each command is imported when it is asked for.


def _tour(arguments: Sequence[str], prog: str) -> int:
    says = "Show a function before and after, then each step to machine code."
    parser = argparse.ArgumentParser(prog, description=says)
    whole = "show the whole generated module"
    parser.add_argument("--verbose", action="store_true", help=whole)
    given = parser.parse_args(arguments)
    from traceir.commands.tour import tour

    tour(given.verbose)
    return 0


def _script(arguments: Sequence[str], prog: str) -> int:
    from traceir.commands.run import command

    return command(arguments, prog)


def _show(arguments: Sequence[str], prog: str) -> int:
    from traceir.commands.show import command

    return command(arguments, prog)


def _cache(arguments: Sequence[str], prog: str) -> int:
    from traceir.commands.cache import command

    return command(arguments, prog)


def _spec(arguments: Sequence[str], prog: str) -> int:
    from traceir.commands.spec import command

    return command(arguments, prog)


def _conform(arguments: Sequence[str], prog: str) -> int:
    from traceir.conform.__main__ import main as conform

    return conform(arguments, prog)


COMMANDS: Mapping[str, tuple[str, Command]] = {
    "tour": ("the main job, from a Python function to machine code", _tour),
    "run": ("run a program, and tell what it traced and compiled", _script),
    "show": ("the jaxpr, source or assembly of FILE:FUNCTION", _show),
    "cache": ("what was compiled and kept: list, show, prune, clear", _cache),
    "spec": ("a rule or a primitive as the tables have it", _spec),
    "conform": ("judge an implementation by the cases", _conform),
}


if __name__ == "__main__":
    sys.exit(main())
