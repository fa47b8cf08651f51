"""Programs being made: equations, typed by the rows. Serves: derive.*, batch.*"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.rules import Rules, default

Mask = Sequence[bool]
Params = Mapping[str, Any]
NO_PARAMS: Final[Params] = MappingProxyType({})
# A tangent or a cotangent, None where it is zero.
Moving = Atom | None


class Beyond(Exception):
    """No inference rule here speaks of something, which others may define."""


@dataclass(frozen=True)
class NamedFunction:
    """A function that is a param: of the host, or a rule."""

    name: str
    call: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)


def has_effects(program: ClosedJaxpr, rules: Rules) -> bool:
    """True if an equation of a program, or of one within it, has an effect."""
    return any(
        rules.prims[eqn.primitive].effects
        or any(has_effects(p, rules) for p in regions_of(eqn.params))
        for eqn in program.eqns
    )


def regions_of(params: Any) -> Iterator[ClosedJaxpr]:
    """The programs among the params of an equation."""
    for _, value in params:
        parts = value if isinstance(value, tuple) else (value,)
        yield from (p for p in parts if isinstance(p, ClosedJaxpr))


@dataclass
class DerivedProgram:
    """A program that is being made: equations, typed by the rows, and constants.

    `effects` is whether it does those of what it is made of (effect.derivative).
    """

    rules: Rules = field(default_factory=default)
    effects: bool = True
    eqns: list[Eqn] = field(default_factory=list)
    constants: list[tuple[Var, np.ndarray]] = field(default_factory=list)

    def apply(
        self, primitive: str, operands: Sequence[Atom], params: Params = NO_PARAMS
    ) -> list[Atom]:
        """The results of a primitive; params that have defaults may be left out."""
        row = self.rules.prims[primitive]
        known = sort_params({**row.defaults, **params})
        if not self.effects and any(
            has_effects(p, self.rules) for p in regions_of(known)
        ):
            raise Beyond(f"effects within {primitive}, which are done already")
        types = infer(primitive, [a.aval for a in operands], known, self.rules)
        outputs = tuple(map(Var, types))
        self.eqns.append(Eqn(primitive, tuple(operands), outputs, known))
        return list(outputs)

    @contextmanager
    def doing_effects(self) -> Iterator[None]:
        """Within this, effects are done: of what is computed again."""
        before, self.effects = self.effects, True
        try:
            yield
        finally:
            self.effects = before

    def stretched(
        self, value: Atom, shape: Sequence[int], dims: Sequence[int] | None = None
    ) -> Atom:
        """A value repeated to a shape, whose last dimensions are its own."""
        if value.aval.shape == tuple(shape):
            return value
        rank = len(shape)
        dims = range(rank - value.aval.ndim, rank) if dims is None else dims
        params = {"shape": tuple(shape), "broadcast_dimensions": tuple(dims)}
        return self.apply("broadcast_in_dim", [value], params)[0]

    def filled(self, number: float, aval: ShapedArray) -> Atom:
        """An array of one number."""
        scalar = ShapedArray((), aval.dtype, aval.weak_type)
        value = np.asarray(number, aval.dtype).item()
        return self.stretched(Literal(value, scalar), aval.shape)

    def zero_for(self, moving: Moving, aval: ShapedArray) -> Atom:
        """A tangent; zeros where it is zero."""
        return self.filled(0, aval) if moving is None else moving

    def varied(self, moving: Moving, along: Iterable[Hashable]) -> Moving:
        """A tangent that is one for each device along axes (shard_map.vma)."""
        if moving is None:
            return None
        missing = tuple(name for name in along if name not in moving.aval.vma)
        return (
            self.apply("pvary", [moving], {"axes": missing})[0] if missing else moving
        )

    def added(self, one: Moving, other: Moving) -> Moving:
        """The sum of two tangents or cotangents of one value."""
        if one is None or other is None:
            return other if one is None else one
        return self.apply("add_any", [one, other])[0]

    def inlined(self, closed: ClosedJaxpr, operands: Sequence[Atom]) -> list[Atom]:
        """The results of a program for these operands."""
        env = self.environment(closed, operands)
        for eqn in closed.eqns:
            inputs = [env[a] if isinstance(a, Var) else a for a in eqn.inputs]
            outs = self.apply(eqn.primitive, inputs, dict(eqn.params))
            env.update(zip(eqn.outputs, outs, strict=True))
        return [env[a] if isinstance(a, Var) else a for a in closed.jaxpr.outvars]

    def environment(
        self, closed: ClosedJaxpr, operands: Sequence[Atom]
    ) -> dict[Var, Atom]:
        """The values of a program's constants and inputs."""
        made = [(Var(v.aval), np.asarray(c)) for v, c in self.pairs(closed)]
        self.constants += made
        env: dict[Var, Atom] = dict(zip(closed.jaxpr.constvars, (v for v, _ in made)))
        return env | dict(zip(closed.jaxpr.invars, operands, strict=True))

    def pairs(self, closed: ClosedJaxpr) -> list[tuple[Var, Any]]:
        """The constants of a program with their values."""
        return list(zip(closed.jaxpr.constvars, closed.consts, strict=True))

    def closed(self, inputs: Sequence[Var], outputs: Sequence[Atom]) -> ClosedJaxpr:
        """The program."""
        names = tuple(v for v, _ in self.constants)
        jaxpr = Jaxpr(names, tuple(inputs), tuple(self.eqns), tuple(outputs))
        return ClosedJaxpr(jaxpr, tuple(c for _, c in self.constants))
