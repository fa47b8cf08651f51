"""Functions over several processes, or GPUs, that are compiled before a call.

The stages of such a function tell of whole arrays; what is compiled is the function of
one part, for arguments that lie as they are to. Serves: jit.compiled
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from traceir.arrays.divided import over_mesh
from traceir.arrays.process_mesh import is_on_devices, is_spanning, part_shape
from traceir.arrays.propagation.programs import mesh_within
from traceir.base.config import ConfigScope
from traceir.ir.avals import ShapedArray
from traceir.ir.structs import struct_of
from traceir.jit.function import JitFunction
from traceir.jit.stages import Compiled, Lowered
from traceir.jit.staging import AHEAD, Prepared
from traceir.ranks.topology import STATE
from traceir.transforms.spanning import calls, device_mesh
from traceir.transforms.spanning.calls import (
    Laid,
    WholeArguments,
    everywhere_of,
    on_parts,
    own_part,
    put_together,
)
from traceir.transforms.spanning.device_mesh import OverDevices, over_devices


class CallAhead:
    """The calls of one form of a function, whose arguments are not there yet."""

    __slots__ = ("_bound", "_call", "function")

    def __init__(self, function: JitFunction[..., Any], prepared: Prepared) -> None:
        bound = prepared.bound
        labels = tuple((label, None) for label, _ in bound.dynamic)
        self.function, self._call = function, prepared.call
        self._bound = replace(bound, dynamic=labels)  # which holds no array

    @property
    def avals(self) -> Sequence[ShapedArray]:
        """The types of the leaves."""
        return self._call.avals

    def lying(
        self, places: Sequence[Any], apart: Callable[[Any], bool]
    ) -> WholeArguments:
        """The arguments, of which some lie so, apart from one another."""
        given = [
            over_mesh(place) if place is not None and apart(place) else None
            for place in places or [None] * len(self.avals)
        ]
        return WholeArguments(self._rebuild, given, self.avals)

    def scope(self) -> ConfigScope:
        """The configuration in which the function was traced."""
        context = self._call.context
        return ConfigScope({f.name: getattr(context, f.name) for f in fields(context)})

    def _rebuild(self, leaves: Sequence[Any]) -> tuple[Any, Any]:
        return self._bound.rebuild(self._call.treedef.unflatten(leaves))


class PartsAhead:
    """The parts of a function for calls of one form, made when they are asked for."""

    __slots__ = ("_calls", "_compiled", "_made")

    def __init__(self, calls: CallAhead) -> None:
        self._calls = calls
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
            with self._calls.scope():
                self._made = self._traced(places)
        return self._made

    def _traced(self, places: Sequence[Any]) -> tuple[Laid, Lowered]:
        given, avals = self._calls.lying(places, is_spanning), self._calls.avals
        laid = on_parts(self._calls.function, given)
        rows = list(zip(avals, given.places, strict=True))
        shapes = [a.shape if p is None else part_shape(p, a.shape) for a, p in rows]
        pairs = zip(avals, shapes, strict=True)
        traced = laid.function.trace(*[struct_of(a.update(shape=s)) for a, s in pairs])
        own = replace(traced, form=replace(traced.form, parts=None))
        return laid, own.lower()


class DevicesAhead:
    """The same of a function that devices with memory of their own run."""

    __slots__ = ("_calls", "_made")

    def __init__(self, calls: CallAhead) -> None:
        self._calls = calls
        self._made: OverDevices | None = None

    def lowered(self, places: Sequence[Any]) -> DevicesAhead:
        """The stage that compiles it, for arguments that lie so: this one."""
        self._over(places)
        return self

    def _executable(self) -> Any:
        return self._over(()).executable

    def called(self, places: Sequence[Any], leaves: Sequence[Any]) -> Any:
        """The results of a call, put together."""
        return self._over(places).on_leaves(leaves)

    def results(self, places: Sequence[Any]) -> Sequence[Any]:
        """The layout of each result."""
        return self._over(places).layouts()

    def _over(self, places: Sequence[Any]) -> OverDevices:
        if self._made is None:
            given = self._calls.lying(places, is_on_devices)
            structs = list(map(struct_of, self._calls.avals))
            with self._calls.scope():
                self._made = over_devices(self._calls.function, given, structs)
        return self._made


def ahead(
    function: JitFunction[..., Any], prepared: Prepared, places: Sequence[Any]
) -> PartsAhead | DevicesAhead | None:
    """The parts of a function that is compiled before it is called, if it has some."""
    call = CallAhead(function, prepared)
    if any(place is not None and is_on_devices(place) for place in places):
        return DevicesAhead(call)
    entry, _ = function._entry(prepared)
    entry.hits -= 1  # nobody has called it
    if mesh_within(entry.closed) is not None:
        return DevicesAhead(call)
    return PartsAhead(call) if STATE.several else None


def start() -> None:
    """Have functions and arrays over processes handled here."""
    calls.start()
    AHEAD[:] = [ahead]


def start_devices(platform: str) -> None:
    """Have those over the devices of a platform handled here."""
    device_mesh.start(platform)
    AHEAD[:] = [ahead]


def stop() -> None:
    """No more of them."""
    calls.stop()
    if not calls.ON_DEVICES:
        AHEAD.clear()
