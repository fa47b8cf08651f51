"""Layouts through a program, its loops and its choices. Serves: sharding.value"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from traceir.arrays.devices import SingleDeviceSharding
from traceir.arrays.meshes import Mesh
from traceir.arrays.propagation.primitives import LaidOutCall, results_of
from traceir.arrays.propagation.specs import (
    GivenUp,
    Spec,
    dividing,
    joined,
    sharding_of,
    shown,
    spec_of,
    whole,
)
from traceir.arrays.sharding import (
    CONSTRAINTS,
    NamedSharding,
    PartitionSpec,
    Sharding,
)
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import user_frame_summary
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, subjaxprs

# How often the layout of a carry is looked at before it is given up.
ROUNDS = 8
_CALLS = {
    "jit": "jaxpr",
    "remat2": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_primitive_call": "call_jaxpr",
}


@dataclass(frozen=True, slots=True)
class Layouts:
    """The layout of each result; None: wherever it is. And a line for each equation
    after which nothing divides a result, since it would be a guess.
    """

    shardings: tuple[Sharding | None, ...]
    given_up: tuple[str, ...] = ()


def propagate(closed: ClosedJaxpr, operands: Sequence[Sharding | None]) -> Layouts:
    """The layouts of a program's results, for operands that lie so.

    They are over the mesh of the first operand, or constraint, that has one (a result
    that lies as this operand has its very sharding); without
    any, results are on the device on which all operands are that were put on one.

    >>> import traceir, traceir.numpy as jnp
    >>> from traceir.sharding import P, make_mesh
    >>> rows = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> product = traceir.make_jaxpr(jnp.dot)(jnp.ones((4, 3)), jnp.ones((3, 2)))
    >>> propagate(product, [rows, None]).shardings[0].spec
    P('x',)
    """
    jaxpr = closed.jaxpr
    used = {atom for eqn in jaxpr.eqns for atom in eqn.inputs}.union(jaxpr.outvars)
    pairs = list(zip(jaxpr.invars, operands, strict=True))
    placed = [s for v, s in pairs if v in used and s is not None]
    asked = _asked(jaxpr) if CONSTRAINTS else iter(())
    meshes = [s.mesh for s in (*placed, *asked) if isinstance(s, NamedSharding)]
    if not meshes:
        devices = {s for s in placed if isinstance(s, SingleDeviceSharding)}
        only = devices.pop() if len(devices) == 1 else None
        return Layouts((only,) * len(jaxpr.outvars))
    walk = _Walk(meshes[0])
    specs = walk.program(jaxpr, [walk.given(s, v.aval.ndim) for v, s in pairs])
    named = [
        (spec_of(s, v.aval.ndim), s)
        for v, s in pairs
        if v in used and isinstance(s, NamedSharding)
    ]
    first = dict(named[:1])
    found = tuple(first.get(spec) or sharding_of(walk.mesh, spec) for spec in specs)
    return Layouts(found, tuple(dict.fromkeys(walk.given_up)))


def results_over(mesh: Mesh, eqn: Eqn, specs: Sequence[Spec]) -> list[Spec]:
    """The specs of an equation's results over a mesh, for operands that lie so."""
    return _Walk(mesh).results(eqn, list(specs))


def _asked(jaxpr: Jaxpr) -> Iterator[Sharding]:
    """The constraints in a program, and in those of its equations."""
    variables: list[Atom] = [*jaxpr.constvars, *jaxpr.invars]
    for eqn in jaxpr.eqns:
        variables += eqn.outputs
        for inner in _inner(eqn):
            yield from _asked(inner)
    for var in variables:
        if isinstance(var, Var) and (found := CONSTRAINTS.get(var)) is not None:
            yield found


def _inner(eqn: Eqn) -> Iterator[Jaxpr]:
    for _, value in eqn.params:
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, ClosedJaxpr):
                yield part.jaxpr


def name_mesh(closed: ClosedJaxpr, mesh: Mesh | None) -> None:
    """Note the mesh of a function of parts with its program; equal ones have others."""
    if mesh is not None:
        closed.memo("mesh", lambda: mesh)


def mesh_of(closed: ClosedJaxpr) -> Mesh | None:
    """The mesh that was noted, of devices with memory of their own."""
    known: dict[Any, Any] = closed.__dict__.get("_memo", {})
    return known.get("mesh")


def mesh_within(closed: ClosedJaxpr) -> Mesh | None:
    """The mesh of such devices that a program names somewhere within, if any."""

    def find() -> Mesh | None:
        for eqn in closed.jaxpr.eqns:
            for inner in subjaxprs(eqn):
                mesh = mesh_of(inner) or mesh_within(inner)
                if mesh is not None:
                    return mesh
        return None

    return closed.memo("mesh within", find)


class _Walk:
    """The way through a program, over one mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.sizes = mesh.shape
        self.given_up: list[str] = []

    def given(self, sharding: Sharding | None, ndim: int) -> Spec:
        """The spec of an operand; one over another mesh is not this mesh's."""
        if not isinstance(sharding, NamedSharding):
            return whole(ndim)
        if sharding.mesh != self.mesh:
            self.given_up.append(f"operand: {sharding.mesh} is another mesh")
            return whole(ndim)
        return spec_of(sharding, ndim)

    def program(self, jaxpr: Jaxpr, operands: Sequence[Spec]) -> list[Spec]:
        """The specs of a program's results."""
        known: dict[Atom, Spec] = {v: whole(v.aval.ndim) for v in jaxpr.constvars}
        known.update(zip(jaxpr.invars, operands, strict=True))
        for var in list(known):
            known[var] = self._constrained(var, known[var])

        def read(atom: Atom) -> Spec:
            return whole(atom.aval.ndim) if isinstance(atom, Literal) else known[atom]

        for eqn in jaxpr.eqns:
            specs = self.results(eqn, list(map(read, eqn.inputs)))
            for var, spec in zip(eqn.outputs, specs, strict=True):
                known[var] = self._constrained(var, spec)
        return list(map(read, jaxpr.outvars))

    def _constrained(self, var: Atom, spec: Spec) -> Spec:
        """The spec of a variable, or what the program asks for."""
        asked = CONSTRAINTS.get(var) if CONSTRAINTS and isinstance(var, Var) else None
        if not isinstance(asked, NamedSharding) or asked.mesh != self.mesh:
            return spec
        free, open_ = PartitionSpec.UNCONSTRAINED, asked.spec.partitions
        wanted = spec_of(asked, len(spec))
        entries = zip(wanted, (*open_, *[None] * len(spec)), spec, strict=False)
        return tuple(own if entry is free else axes for axes, entry, own in entries)

    def results(self, eqn: Eqn, specs: list[Spec]) -> list[Spec]:
        """The specs of an equation's results; whole where they would be a guess."""
        shapes = [v.aval.shape for v in eqn.outputs]
        try:
            found = self._applied(eqn, specs)
        except GivenUp as reason:
            self._note(eqn, str(reason))
            return [whole(len(shape)) for shape in shapes]
        even = [dividing(s, n, self.sizes) for s, n in zip(found, shapes, strict=True)]
        for spec, kept, shape in zip(found, even, shapes, strict=True):
            if spec != kept and shape and 1 not in shape:
                self._note(eqn, f"{shown(spec)} does not divide {shape}")
        return even

    def _note(self, eqn: Eqn, reason: str) -> None:
        at = f", {user_frame_summary(eqn.source)}" if eqn.source else ""
        self.given_up.append(f"{eqn.primitive}: {reason}{at}")

    def _applied(self, eqn: Eqn, specs: list[Spec]) -> list[Spec]:
        params = eqn.stored()
        match eqn.primitive:
            case "scan":
                return self._scan(params, specs)
            case "while":
                consts = params["cond_nconsts"], params["body_nconsts"]
                own = specs[consts[0] : sum(consts)]
                return self._carry(params["body_jaxpr"], own, specs[sum(consts) :], [])
            case "cond":
                branches = [
                    self.program(branch.jaxpr, specs[1:])
                    for branch in params["branches"]
                ]
                return [joined(found) for found in zip(*branches, strict=True)]
            case "shard_map":
                return self._put_together(params, eqn)
            case name if name in _CALLS:
                return self.program(params[_CALLS[name]].jaxpr, specs)
        shapes = [v.aval.shape for v in eqn.inputs]
        outs = [v.aval.shape for v in eqn.outputs]
        call = LaidOutCall(eqn.primitive, shapes, specs, params, outs, self.sizes)
        return results_of(call)

    def _put_together(self, params: dict[str, Any], eqn: Eqn) -> list[Spec]:
        """The results of a function of parts, which says how they lie."""
        if any(self.sizes.get(name) != size for name, size, _ in params["mesh"]):
            raise GivenUp("it is over another mesh")
        pairs = zip(params["out_specs"], eqn.outputs, strict=True)
        return [(*spec, *whole(v.aval.ndim - len(spec))) for spec, v in pairs]

    def _scan(self, params: dict[str, Any], specs: list[Spec]) -> list[Spec]:
        """The carry, and results of steps with one more dimension."""
        consts, carries = params["num_consts"], params["num_carry"]
        start = consts + carries
        rows = [spec[1:] for spec in specs[start:]]
        init = specs[consts:start]
        found = self._carry(params["jaxpr"], specs[:consts], init, rows)
        return [*found[:carries], *[((), *spec) for spec in found[carries:]]]

    def _carry(
        self, body: ClosedJaxpr, consts: list[Spec], carry: list[Spec], rows: list[Spec]
    ) -> list[Spec]:
        """The results of a body, for a carry that lies as before it after each step."""
        for _ in range(ROUNDS):
            found = self.program(body.jaxpr, [*consts, *carry, *rows])
            pairs = zip(carry, found[: len(carry)], strict=True)
            met = [joined(pair) for pair in pairs]
            if met == carry:
                return [*carry, *found[len(carry) :]]
            carry = met
        raise GivenUp("the carry lies in another way after each step")
