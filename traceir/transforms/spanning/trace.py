"""The trace whose values are arrays over several processes. Serves: sharding.value

A value knows how it lies, and has this process's part, a value of the trace around. An
operation on such values is one on parts (`rules`), of operands that lie as it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from traceir.arrays.meshes import Mesh, Shape
from traceir.arrays.process_mesh import check_devices, is_apart, process_mesh
from traceir.arrays.propagation.primitives import LaidOutCall
from traceir.arrays.propagation.programs import results_over
from traceir.arrays.propagation.specs import Spec, sharding_of, spec_of, whole
from traceir.arrays.sharding import NamedSharding, PartitionSpec
from traceir.base import config, source_info
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Params, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.tracing.knowledge import passed_on
from traceir.tracing.staging import apply, stage
from traceir.tracing.trace import (
    Trace,
    Tracer,
    Value,
    bind_all,
    in_force,
    living,
    typeof,
)
from traceir.transforms.spanning.moves import relaid
from traceir.transforms.spanning.regions import REGIONS, LaidOutRegion
from traceir.transforms.spanning.rules import PartCall, part_call

_CALLS = {
    "jit": "jaxpr",
    "remat2": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_primitive_call": "call_jaxpr",
}


# Applies a function of parts to values of such a trace; `shard_map` enters it.
OF_PARTS: list[Callable[[SpanningTrace, Sequence[Value], Params], list[Value]]] = []


class SpanningTracer(Tracer):
    """An array over several processes, of whose elements this one has a `part`."""

    __slots__ = ("part", "sharding")
    _trace: SpanningTrace

    def __init__(
        self,
        trace: SpanningTrace,
        part: Value,
        aval: ShapedArray,
        sharding: NamedSharding,
    ) -> None:
        self._trace, self.aval = trace, aval
        self.part, self.sharding = part, sharding
        self._source = config.local.source or source_info.capture()

    @property
    def knowledge(self) -> str:
        """Knowledge of the part, as far as this trace lets it be known."""
        return passed_on(self.part, self._trace.transform)

    def lying(self, sharding: NamedSharding) -> SpanningTracer:
        """The same array on devices as a sharding says."""
        return self._trace.lying(self, sharding)


class SpanningTrace(Trace):
    """A function being applied to arrays over several processes.

    Values that all processes have whole are those of the trace around. The first mesh
    that is met tells the devices of all, where these have memory of their own.
    """

    __slots__ = ("mesh",)
    kind = "SpanningTrace"
    inlines = True

    def __init__(self, name: str) -> None:
        super().__init__(name, "vmap")
        self.mesh: Mesh | None = None

    def value(
        self, part: Value, aval: ShapedArray, sharding: NamedSharding
    ) -> SpanningTracer:
        """The array of which this process has a part."""
        self.over(sharding.mesh)
        return SpanningTracer(self, part, aval, sharding)

    def over(self, mesh: Mesh) -> None:
        """Note a mesh; ValueError (sharding.devices) if one was of other devices."""
        self.mesh = self.mesh or mesh
        check_devices(self.mesh, mesh, "an array")

    def take(self, value: Value, mesh: Mesh) -> tuple[Value, Spec]:
        """The part of a value, and how the value lies over a mesh."""
        if isinstance(value, SpanningTracer) and value._trace is self:
            sharding, ndim = value.sharding, value.ndim
            if sharding.mesh == mesh:
                return value.part, spec_of(sharding, ndim)
            return self.gathered(value), whole(ndim)
        if isinstance(value, Tracer) and value._trace not in self.opened:
            self.admit(value)
        return value, whole(typeof(value).ndim)

    def gathered(self, value: SpanningTracer) -> Value:
        """The whole array, in each process."""
        mesh, ndim = process_mesh(value.sharding.mesh), value.ndim
        before = spec_of(value.sharding, ndim)
        with in_force(self.parent):
            return relaid(value.part, mesh, before, whole(ndim))

    def cut(self, value: Value, sharding: NamedSharding) -> Value:
        """This process's part of a value that is to lie so."""
        part, before = self.take(value, sharding.mesh)
        after = spec_of(sharding, len(before))
        with in_force(self.parent):
            return relaid(part, process_mesh(sharding.mesh), before, after)

    def lying(self, value: Value, sharding: NamedSharding) -> SpanningTracer:
        """A value that lies as a sharding says; where that is open, as it does."""
        free, spec = PartitionSpec.UNCONSTRAINED, sharding.spec
        if free in spec.partitions:
            _, own = self.take(value, sharding.mesh)
            asked = spec_of(sharding, len(own))
            opened = [*spec.partitions, *[None] * (len(own) - len(spec))]
            entries = zip(opened, own, asked, strict=True)
            kept = [axes if entry is free else new for entry, axes, new in entries]
            sharding = sharding_of(sharding.mesh, tuple(kept))
        return self.value(self.cut(value, sharding), typeof(value), sharding)

    def bind(
        self, primitive: str, values: Sequence[Value], params: Params
    ) -> Sequence[Value]:
        """Apply a primitive to parts, in the trace around."""
        if primitive == "shard_map":
            return OF_PARTS[0](self, values, params)
        if primitive in _CALLS:
            known: dict[str, Any] = dict(params)
            return apply(known[_CALLS[primitive]], values)
        mesh = next(v.sharding.mesh for v in values if isinstance(v, SpanningTracer))
        taken = [self.take(v, mesh) for v in values]
        parts, specs = [p for p, _ in taken], [s for _, s in taken]
        avals = [typeof(v) for v in values]
        outs = infer(primitive, tuple(avals), params)
        own = process_mesh(mesh)

        def extents(shape: Shape, spec: Spec) -> Shape:
            return own.shape(sharding_of(mesh, spec), shape)

        call = LaidOutCall(
            *(primitive, [a.shape for a in avals], specs, dict(params)),
            *([a.shape for a in outs], mesh.shape),
        )
        given, made = map(Var, avals), map(Var, outs)
        eqn = Eqn(primitive, tuple(given), tuple(made), params)
        lying = results_over(mesh, eqn, specs)
        with in_force(self.parent):
            if primitive in REGIONS:
                region = LaidOutRegion(call.params, specs, lying)
                found = REGIONS[primitive](region, partial(_on_parts, mesh))
            else:
                found = part_call(call, extents) or _whole_call(call)
            operands = [
                relaid(part, own, before, after)
                for part, before, after in zip(parts, specs, found.operands)
            ]
            results = bind_all(primitive, operands, sort_params(found.params))
            results = [
                relaid(part, own, before, after)
                for part, before, after in zip(results, found.results, lying)
            ]
        rows = zip(results, outs, lying, strict=True)
        return [self._result(mesh, *row) for row in rows]

    def _result(self, mesh: Mesh, part: Value, aval: ShapedArray, spec: Spec) -> Value:
        if not any(spec) and not is_apart(mesh):
            return part
        return self.value(part, aval, sharding_of(mesh, spec))


def _on_parts(
    mesh: Mesh, closed: ClosedJaxpr, ins: Sequence[Spec], outs: Sequence[Spec]
) -> ClosedJaxpr:
    """The program of parts of a program, made once for each way in which they lie."""
    key = "parts", mesh, tuple(ins), tuple(outs)
    return closed.memo(key, lambda: _made_of_parts(mesh, closed, ins, outs))


def _made_of_parts(
    mesh: Mesh, closed: ClosedJaxpr, ins: Sequence[Spec], outs: Sequence[Spec]
) -> ClosedJaxpr:
    own, name, apart = process_mesh(mesh), closed.jaxpr.debug_name, is_apart(mesh)
    places = [sharding_of(mesh, spec) for spec in ins]
    rows = list(zip(closed.in_avals, places, strict=True))

    def call(parts: Sequence[Value]) -> Sequence[Value]:
        trace = SpanningTrace(name)
        with living(trace):
            given = [
                trace.value(part, aval, place) if any(spec) or apart else part
                for part, (aval, place), spec in zip(parts, rows, ins, strict=True)
            ]
            results = apply(closed, given)
            pairs = zip(results, outs, strict=True)
            return [trace.cut(v, sharding_of(mesh, spec)) for v, spec in pairs]

    avals = [a.update(shape=own.shape(place, a.shape)) for a, place in rows]
    face = config.local.context.face
    jaxpr, constants, captured = stage(
        call, avals, [""] * len(avals), name, "jit", face
    )
    assert not captured  # a program refers to nothing outside of it
    return ClosedJaxpr(jaxpr, constants, closed.backend)


def _whole_call(call: LaidOutCall) -> PartCall:
    """The operation itself, which each process does on whole operands."""
    results = [whole(len(shape)) for shape in call.outs]
    return PartCall([whole(len(s)) for s in call.specs], results, dict(call.params))
