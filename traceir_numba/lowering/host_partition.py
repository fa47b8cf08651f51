"""Programs cut at their host calls, and driven from Python.

A part without calls is compiled whole. The rest, calls and the control flow around
them, is done by the reference, equation by equation. A loop or a choice with a
library's function in it is driven in the same way.

A loop or a choice that calls the host, or a kernel of the reference such as a sort, is
driven from Python, too. Such a kernel is called between two kernels of ours and gives
arrays of its own; in a generated module stands its own source
(`codegen.embedded_reference`). Matrices of up to 65,536 elements are factorized in one
thread of OpenBLAS: its threads wait in a busy loop, and where processors have other
work a small system takes a hundred times as long with two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import (
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    sort_params,
    subjaxprs,
)
from traceir.reference.interpreter import InterpretedProgram

Compile = Callable[[ClosedJaxpr, str], Any]


class HostDrivenExecutable:
    """A program with calls of the host; `parts` are its compiled programs, which call
    foreign functions if machine code of the target can."""

    __slots__ = ("run", "parts", "_closed")

    def __init__(
        self, closed: ClosedJaxpr, name: str, compile: Compile, foreign: bool = True
    ) -> None:
        cut = _Partitioner(name or "program", compile, foreign)
        self._closed = cut.closed(closed)
        self.parts: list[Any] = cut.parts
        self.run: Callable[..., tuple[np.ndarray, ...]] = InterpretedProgram(
            self._closed.jaxpr, self._closed.consts
        ).run

    def as_text(self, form: str) -> str:
        """The program that drives, and its parts in a form, such as "source"."""
        driving = "\n".join(f"# {line}" for line in str(self._closed).split("\n"))
        texts = [part.as_text(form) for part in self.parts]
        head = "# Driven from Python, since the host is called:\n"
        return "\n\n\n".join([f"{head}{driving}", *texts])


class _Partitioner:
    """A cutter that puts equations between host calls into programs of their own."""

    def __init__(self, name: str, compile: Compile, foreign: bool) -> None:
        self.name = name
        self.compile = compile
        self.foreign = foreign
        self.parts: list[Any] = []

    def closed(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        """The same program with a `jit` equation for each part."""
        jaxpr = closed.jaxpr
        last = {v: k for k, eqn in enumerate(jaxpr.eqns) for v in eqn.inputs}
        last.update(dict.fromkeys(jaxpr.outvars, len(jaxpr.eqns)))
        eqns: list[Eqn] = []
        done = 0
        for on_host, group in groupby(jaxpr.eqns, self.on_host):
            part = list(group)
            done += len(part)
            if on_host:
                eqns += map(self.inside, part)
            elif all(eqn.primitive == "reshape" for eqn in part):
                eqns += part  # the same memory, where machine code would copy it
            else:
                made = (v for eqn in part for v in eqn.outputs)
                eqns += self.part(part, [v for v in made if last.get(v, -1) >= done])
        return ClosedJaxpr(replace(jaxpr, eqns=tuple(eqns)), closed.consts)

    def on_host(self, eqn: Eqn) -> bool:
        """True if an equation is driven from Python."""
        calls = not self.foreign and calls_host(Jaxpr((), (), (eqn,), ()))
        return calls or _needs_host(eqn)

    def inside(self, eqn: Eqn) -> Eqn:
        """An equation whose own programs are cut."""
        params = {name: self.value(value) for name, value in eqn.params}
        return replace(eqn, params=sort_params(params))

    def value(self, value: Any) -> Any:
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(map(self.value, value))
        return self.closed(value) if isinstance(value, ClosedJaxpr) else value

    def part(self, eqns: Sequence[Eqn], wanted: Sequence[Var]) -> Iterator[Eqn]:
        """Equations as one, of machine code; none if nothing needs them."""
        doing = [eqn for eqn in eqns if eqn.effects]
        if not wanted and not doing:
            return
        wanted = wanted or doing[-1].outputs[:1]
        outputs = tuple(wanted)
        own = {v for eqn in eqns for v in eqn.outputs}
        inputs = tuple(dict.fromkeys(v for v in _variables(eqns) if v not in own))
        name = f"{self.name}_part_{len(self.parts)}"
        program = ClosedJaxpr(Jaxpr((), inputs, tuple(eqns), outputs, name))
        compiled = self.compile(program, name)
        self.parts.append(compiled)
        program.memo("run", lambda: lambda *arrays: list(compiled.run(*arrays)))
        params = {"jaxpr": program, "name": name, "keep_unused": False}
        yield Eqn("jit", inputs, outputs, sort_params(params))


def needs_host(jaxpr: Jaxpr) -> bool:
    """True if some of a program is driven from Python.

    It calls the host, or has a library's function in a loop or a choice.
    """
    found: bool | None = jaxpr.__dict__.get("_is_driven")
    if found is None:
        found = any(map(_needs_host, jaxpr.eqns))
        object.__setattr__(jaxpr, "_is_driven", found)
    return found


def _needs_host(eqn: Eqn) -> bool:
    """True if an equation calls the host, or a region has reference calls inside."""
    # Where all of a program is in the store, nothing asks for the emitters.
    from traceir_numba.emitters.host import entry_of
    from traceir_numba.emitters.kinds import HostCallback, ReferenceCall, Region

    def evaluates(jaxpr: Jaxpr) -> bool:
        return any(
            isinstance(entry_of(e), ReferenceCall)
            or any(evaluates(c.jaxpr) for c in subjaxprs(e))
            for e in jaxpr.eqns
        )

    entry = entry_of(eqn)
    inner = [c.jaxpr for c in subjaxprs(eqn)]
    if isinstance(entry, Region) and any(map(evaluates, inner)):
        return True
    return isinstance(entry, HostCallback) or any(map(needs_host, inner))


def _variables(eqns: Sequence[Eqn]) -> Iterator[Var]:
    return (a for e in eqns for a in e.inputs if not isinstance(a, Literal))
