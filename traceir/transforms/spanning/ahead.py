"""Functions over several processes that are compiled before they are called.

The stages of such a function tell of whole arrays; what is compiled is the function of
this process's parts, for arguments that lie as they are to. Serves: jit.compiled
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from traceir.arrays.process_mesh import is_spanning, part_shape
from traceir.base.config import ConfigScope
from traceir.ir.structs import struct_of
from traceir.jit.function import JitFunction
from traceir.jit.stages import Compiled, Lowered
from traceir.jit.staging import AHEAD, Prepared
from traceir.transforms.spanning import calls
from traceir.transforms.spanning.calls import (
    Laid,
    WholeArguments,
    everywhere_of,
    on_parts,
    own_part,
    put_together,
)


class PartsAhead:
    """The parts of a function for calls of one form, made when they are asked for."""

    __slots__ = ("_bound", "_call", "_compiled", "_function", "_made")

    def __init__(self, function: JitFunction[..., Any], prepared: Prepared) -> None:
        bound = prepared.bound
        labels = tuple((label, None) for label, _ in bound.dynamic)
        self._function, self._call = function, prepared.call
        self._bound = replace(bound, dynamic=labels)  # which holds no array
        self._made: tuple[Laid, Lowered] | None = None
        self._compiled: Compiled | None = None

    def lowered(self, places: Sequence[Any]) -> Lowered:
        """The stage that compiles it, for arguments that lie so."""
        return self._parts(places)[1]

    def called(self, places: Sequence[Any], leaves: Sequence[Any]) -> Any:
        """The results of a call, put together."""
        laid, lowered = self._parts(places)
        if self._compiled is None:
            self._compiled = lowered.compile()
        return put_together(self._compiled(*map(own_part, leaves)), laid.results)

    def results(self, places: Sequence[Any]) -> Sequence[Any]:
        """The layout of each result."""
        results = self._parts(places)[0].results
        everywhere = everywhere_of(results)
        return [row[1] if row else everywhere for row in results["places"]]

    def _parts(self, places: Sequence[Any]) -> tuple[Laid, Lowered]:
        if self._made is None:
            context = self._call.context
            with ConfigScope(
                {f.name: getattr(context, f.name) for f in fields(context)}
            ):
                self._made = self._traced(places)
        return self._made

    def _traced(self, places: Sequence[Any]) -> tuple[Laid, Lowered]:
        avals = self._call.avals
        given = [
            place if place is not None and is_spanning(place) else None
            for place in places or [None] * len(avals)
        ]
        laid = on_parts(self._function, WholeArguments(self._rebuild, given, avals))
        rows = list(zip(avals, given, strict=True))
        shapes = [a.shape if p is None else part_shape(p, a.shape) for a, p in rows]
        pairs = zip(avals, shapes, strict=True)
        traced = laid.function.trace(*[struct_of(a.update(shape=s)) for a, s in pairs])
        own = replace(traced, form=replace(traced.form, parts=None))
        return laid, own.lower()

    def _rebuild(self, leaves: Sequence[Any]) -> tuple[Any, Any]:
        return self._bound.rebuild(self._call.treedef.unflatten(leaves))


def start() -> None:
    """Have functions and arrays over processes handled here."""
    calls.start()
    AHEAD[:] = [PartsAhead]


def stop() -> None:
    """No more of them."""
    calls.stop()
    AHEAD.clear()
