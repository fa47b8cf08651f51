"""Programs of parts, cut where devices exchange something.

What lies between two exchanges is compiled whole, once for all devices; loops and
choices with exchanges inside are driven from the host. Serves: backend.device
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, subjaxprs
from traceir.ranks.groups import axes_of, axes_within

Compile = Callable[[ClosedJaxpr, str], Any]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPart:
    """Equations of one device, compiled: from some variables to others."""

    executable: Any
    inputs: tuple[Var, ...]
    outputs: tuple[Var, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DrivenEqn:
    """A collective, or an equation whose programs have some: these are cut, too."""

    eqn: Eqn
    programs: tuple[CutProgram, ...]


CutStep: TypeAlias = CompiledPart | DrivenEqn


@dataclass(frozen=True, slots=True, eq=False)
class CutProgram:
    """A program as the steps of each device, in order."""

    closed: ClosedJaxpr
    steps: tuple[CutStep, ...]


def exchanges(eqn: Eqn) -> bool:
    """True if devices exchange something in an equation, or ask for their number."""
    within = (axes_within(closed.jaxpr) for closed in subjaxprs(eqn))
    return any(axes_of(eqn)) or any(within)


def cut(closed: ClosedJaxpr, name: str, compile: Compile) -> CutProgram:
    """The steps of a program, whose parts get names of their own."""
    return CutProgram(closed, tuple(_steps(closed.jaxpr, name, compile)))


def _steps(jaxpr: Jaxpr, name: str, compile: Compile) -> Iterator[CutStep]:
    last: dict[Atom, int] = {v: k for k, e in enumerate(jaxpr.eqns) for v in e.inputs}
    last.update(dict.fromkeys(jaxpr.outvars, len(jaxpr.eqns)))
    done = 0
    for number, (driven, group) in enumerate(groupby(jaxpr.eqns, exchanges)):
        eqns = list(group)
        done += len(eqns)
        called = f"{name}_part_{number}"
        if driven:
            for k, eqn in enumerate(eqns):
                inner = enumerate(subjaxprs(eqn))
                yield DrivenEqn(
                    eqn,
                    tuple(cut(c, f"{called}_{k}_{i}", compile) for i, c in inner),
                )
            continue
        made = (v for eqn in eqns for v in eqn.outputs)
        wanted = tuple(v for v in made if last.get(v, -1) >= done)
        if part := _compiled(eqns, wanted, called, compile):
            yield part


def _compiled(
    eqns: Sequence[Eqn], wanted: tuple[Var, ...], name: str, compile: Compile
) -> CompiledPart | None:
    """Equations as a program of their own; None if nothing needs them."""
    doing = [eqn for eqn in eqns if eqn.effects]
    if not wanted and not doing:
        return None
    own = {v for eqn in eqns for v in eqn.outputs}
    read = (a for eqn in eqns for a in eqn.inputs)
    inputs = tuple(
        dict.fromkeys(a for a in read if not isinstance(a, Literal) and a not in own)
    )
    program = ClosedJaxpr(Jaxpr((), inputs, tuple(eqns), wanted, name))
    return CompiledPart(compile(program, name), inputs, wanted)
