"""The source lines that make a program long.

Serves: cache.flag.unrolled_loops, jit.unrolled
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from traceir import rules
from traceir.base import config, cost_model, source_info
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, subjaxprs

_SHOWN = 5
_ADVICE = (
    "a Python loop is traced once for each of its steps; "
    "`lax.fori_loop` or `lax.scan` traces the body once"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the user's, and the equations that it recorded, by primitive."""

    file: str
    line: int
    function: str
    text: str
    primitives: tuple[tuple[str, int], ...]

    @property
    def equations(self) -> int:
        """The number of equations that the line recorded."""
        return sum(times for _, times in self.primitives)

    def __str__(self) -> str:
        shown = ", ".join(f"{times} {name}" for name, times in self.primitives[:_SHOWN])
        more = ", ..." if len(self.primitives) > _SHOWN else ""
        place = f"{self.file}:{self.line} in {self.function}: {self.text}"
        return f"{self.equations:,} equations at {place.rstrip(': ')} ({shown}{more})"


@dataclass(frozen=True, slots=True)
class Constant:
    """An array that a program has captured, and where it is first read."""

    aval: ShapedArray
    source: Source | None

    @property
    def nbytes(self) -> int:
        """The size of its elements."""
        return self.aval.size * self.aval.dtype.itemsize

    def __str__(self) -> str:
        at = f" at {self.source}" if self.source else ""
        return f"{self.nbytes:,} bytes, {self.aval.str_short()}, first read{at}"


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The lines of a program by their equations, and its constants by their size.

    Programs within equations are counted too, each once.
    """

    name: str
    equations: int
    lines: tuple[Line, ...]
    constants: tuple[Constant, ...]

    @property
    def nbytes(self) -> int:
        """The size of all constants."""
        return sum(c.nbytes for c in self.constants)

    def __str__(self) -> str:
        return "\n".join(self._text())

    def _text(self) -> Iterator[str]:
        yield f"{self.name or 'program'}: {self.equations:,} equations"
        yield from (f"  {line}" for line in self.lines[:_SHOWN])
        if len(self.lines) > _SHOWN:
            yield f"  and {len(self.lines) - _SHOWN:,} lines more"
        if self.lines and self.lines[0].equations >= cost_model.REPORTED_EQUATIONS:
            yield f"  hint: {_ADVICE}"
        if self.constants:
            yield f"  constants: {len(self.constants):,}, {self.nbytes:,} bytes"
            yield from (f"    {constant}" for constant in self.constants[:_SHOWN])


def source_report(
    program: ClosedJaxpr | Jaxpr, call: Source | None = None
) -> SourceReport:
    """Count a program's equations by the user's line, the most frequent first.

    Those without a line of their own count for the `call` of their program.

    >>> import traceir, traceir.numpy as jnp
    >>> def steps(x):
    ...     for _ in range(500):
    ...         x = jnp.sin(x) * 2.0
    ...     return x
    >>> report = source_report(traceir.make_jaxpr(steps)(1.0))
    >>> report.equations, report.lines[0].line, report.lines[0].primitives
    (1000, 3, ((mul, 500), (sin, 500)))
    """
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    counts: Counter[tuple[int, int, str]] = Counter()
    places: dict[tuple[int, int], Source] = {}
    constants: list[Constant] = []
    total = 0
    for one, line in _programs(jaxpr, call):
        total += len(one.eqns)
        constants += _constants(one, line)
        for eqn in one.eqns:
            source = eqn.source or line
            if source is not None:
                # A code object is hashed by all that it has; its identity is enough.
                place = id(source.code), source.lasti
                places.setdefault(place, source)
                counts[*place, eqn.primitive] += 1
    constants.sort(key=lambda c: -c.nbytes)
    lines = _lines(counts, places)
    return SourceReport(jaxpr.debug_name, total, tuple(lines), tuple(constants))


def _programs(
    jaxpr: Jaxpr, call: Source | None
) -> Iterator[tuple[Jaxpr, Source | None]]:
    """A program and those within its equations, each once, with the line of a call."""
    seen: set[int] = set()
    todo = [(jaxpr, call)]
    while todo:
        one, call = todo.pop()
        if id(one) not in seen:
            seen.add(id(one))
            for eqn in one.eqns:
                todo += [(p.jaxpr, eqn.source or call) for p in subjaxprs(eqn)]
            yield one, call


def _constants(jaxpr: Jaxpr, call: Source | None) -> Iterator[Constant]:
    readers: dict[Var, Eqn] = {}
    if jaxpr.constvars:
        for eqn in reversed(jaxpr.eqns):
            readers.update((a, eqn) for a in eqn.inputs if isinstance(a, Var))
    for var in jaxpr.constvars:
        source = readers[var].source if var in readers else None
        yield Constant(var.aval, source or call)


def _lines(
    counts: Counter[tuple[int, int, str]], places: dict[tuple[int, int], Source]
) -> list[Line]:
    by_line: dict[tuple[str, int, str], Counter[str]] = {}
    shown: dict[tuple[str, int, str], Source] = {}
    for (code, lasti, primitive), times in counts.items():
        source = places[code, lasti]
        line = source.file, source.line, source.function
        by_line.setdefault(line, Counter())[primitive] += times
        shown.setdefault(line, source)
    lines = [
        Line(*line, shown[line].text, _ordered(primitives))
        for line, primitives in by_line.items()
    ]
    return sorted(lines, key=lambda line: (-line.equations, line.file, line.line))


def _ordered(times: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(times.items(), key=lambda item: (-item[1], item[0])))


def warn(text: str, *values: object) -> None:
    """Warn in the log of traceir.

    >>> import logging
    >>> logging.getLogger("traceir").setLevel("ERROR")
    >>> warn("Tracing %s", "f")
    >>> logging.getLogger("traceir").setLevel("NOTSET")
    """
    import logging  # not on the way of an import

    logging.getLogger("traceir").warning(text, *values)


def last_line(eqns: Sequence[Eqn]) -> str:
    """The number of equations of a trace under way, and the line that it is at."""
    at = next((e.source for e in reversed(eqns) if e.source is not None), None)
    where = f", at line {at.line} of {os.path.basename(at.file)}" if at else ""
    return _counted(len(eqns)) + where


def longest_line(program: ClosedJaxpr) -> str:
    """The number of equations of a program, and the line that recorded most of many.

    >>> import traceir
    >>> longest_line(traceir.make_jaxpr(lambda x: x * 2)(1.0))
    '1 equation'
    """
    report = source_report(program)
    told = _counted(report.equations)
    if not report.lines or report.lines[0].equations < cost_model.REPORTED_EQUATIONS:
        return told
    line = report.lines[0]
    place = f"line {line.line} of {os.path.basename(line.file)}"
    return f"{told}; {place}, unrolled, has {line.equations:,}"


def _counted(equations: int) -> str:
    return f"{equations:,} equation{'s' * (equations != 1)}"


def tell_unrolled(jaxpr: Jaxpr) -> None:
    """Log a warning when one line recorded very many equations of a new trace.

    Raises RuntimeError (jit.unrolled) where the flag `unrolled_loops` is "raise".
    """
    refuse_unrolled(jaxpr)
    if config.local.context.unrolled_loops == "warn":
        report, missing = _most_in_a_line(jaxpr)
        if not missing:
            warn("Tracing %s: %s; %s", report.name, report.lines[0], _ADVICE)


def refuse_unrolled(jaxpr: Jaxpr) -> int:
    """Raise RuntimeError (jit.unrolled) for a trace, or one under way, in which a line
    recorded very many equations, where the flag `unrolled_loops` is "raise".

    The number of equations at which to look again, 0 for never.
    """
    if config.local.context.unrolled_loops != "raise":
        return 0
    report, missing = _most_in_a_line(jaxpr)
    if missing:  # a long program is not counted anew for each equation
        return len(jaxpr.eqns) + max(missing, len(jaxpr.eqns) // 4)
    got = f"{report.lines[0]}, of {report.equations:,} in {report.name}"
    raise rules.error("jit.unrolled", got=got)


def _most_in_a_line(jaxpr: Jaxpr) -> tuple[SourceReport, int]:
    """The lines of a program, and how many equations one lacks to be told of."""
    most = cost_model.REPORTED_EQUATIONS
    if len(jaxpr.eqns) < most:
        return SourceReport(jaxpr.debug_name, 0, (), ()), most - len(jaxpr.eqns)
    report = source_report(jaxpr, source_info.capture())
    top = report.lines[0].equations if report.lines else 0
    return report, max(most - top, 0)
