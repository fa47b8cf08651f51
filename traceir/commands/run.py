"""`traceir run`: a program, and what it traced and compiled."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from traceir import as_jax
from traceir.base import config
from traceir.base.flags import FLAGS
from traceir.commands.scripts import tell
from traceir.jit.cache.trace_cache import FunctionCache, caches


def command(arguments: Sequence[str], prog: str) -> int:
    """Run a program as Python would, with flags; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog,
        description="Run a program as Python would, where `import jax` leads to this"
        " library; at its end, tell on standard error which functions it traced, how"
        " often, and how long that took.",
        epilog=f"flags: {', '.join(FLAGS)}",
    )
    text = "the program: a .py file, or -m and the name of a module"
    parser.add_argument(
        "-m", dest="module", action="store_true", help=argparse.SUPPRESS
    )
    parser.add_argument("file", metavar="FILE", help=text)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="its own arguments")
    text = "set a flag, as in --set debug_nans=True; may be repeated"
    parser.add_argument("--set", action="append", default=[], metavar="F=V", help=text)
    text = "leave `import jax` to JAX"
    parser.add_argument("--real-jax", action="store_true", help=text)
    parser.add_argument("--quiet", action="store_true", help="tell nothing at the end")
    options = parser.parse_args(arguments)
    if not options.module and not os.path.isfile(options.file):
        parser.error(f"there is no file {options.file}")
    for text in options.set:
        try:
            _set(text)
        except ValueError as error:
            parser.error(str(error))
    with nullcontext() if options.real_jax else as_jax.standing_in():
        status, kept = _ran(options.file, options.rest, options.module)
    if not options.quiet:
        sys.stdout.flush()
        print(report(), end="", file=sys.stderr)
    del kept  # its functions have the caches that were told of
    return status


def _set(text: str) -> None:
    """Set a flag; raises ValueError for none, or for a value that it does not have."""
    name, _, value = text.partition("=")
    if name not in FLAGS or not value:
        raise ValueError(f"{text!r} is not FLAG=VALUE; flags are {', '.join(FLAGS)}")
    flag = FLAGS[name]
    try:
        config.update(name, config.from_environment({flag.variable: value})[flag.field])
    except ValueError:
        known = ", ".join(map(str, flag.values))
        raise ValueError(f"{name} is one of {known}, not {value!r}") from None


def _ran(
    file: str, arguments: Sequence[str], module: bool = False
) -> tuple[int, Mapping[str, object]]:
    """Run a file or a module as the main program; its exit status, and its names."""
    sys.argv = [file, *arguments]
    sys.path.insert(
        0, os.getcwd() if module else os.path.dirname(os.path.abspath(file))
    )
    try:
        if module:
            return 0, runpy.run_module(file, run_name="__main__", alter_sys=True)
        return 0, runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        code = 0 if end.code is None else end.code
        if not isinstance(code, int):
            print(code, file=sys.stderr)
        return (code if isinstance(code, int) else 1), {}
    except Exception as error:
        tell(error, file)
        return 1, {}


def report() -> str:
    """A table of the functions that were traced, with their counts; empty if none was.

    >>> import traceir
    >>> f = traceir.jit(lambda x: x + 1)
    >>> _ = f(1.0), f(2.0)
    >>> print(report())
    function ...traces...
    """
    rows = [_row(cache) for cache in caches() if cache.entries]
    if not rows:
        return "no function was traced\n"
    rows.sort(key=lambda row: (-row[-1], row[0]))
    width = max(len("function"), *(len(row[0]) for row in rows))
    head = (
        f"{'function':{width}}{'calls':>9}{'traces':>8}{'compiled':>10}{'tracing':>12}"
    )
    lines = [
        f"{name:{width}}{calls:>9,}{traces:>8,}{compiled:>10,}{seconds:>10.3f} s"
        for name, calls, traces, compiled, seconds in rows
    ]
    return "\n".join([head, *lines, ""])


def _row(cache: FunctionCache) -> tuple[str, int, int, int, float]:
    info, entries = cache.info(), [*cache.entries.values()]
    name = entries[0].closed.jaxpr.debug_name
    seconds = sum(entry.seconds for entry in entries)
    return name, info.hits + info.misses, info.currsize, info.compiles, seconds
