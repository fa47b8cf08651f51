"""Random compositions of transforms over random programs, and how to run them.

A function here takes arrays and returns a list of arrays, so that any transform can
follow any other. Serves: derive.*, vmap.*

>>> from hypothesis import find
>>> find(chains(), lambda chain: chain.steps == ("jit", "jvp")).steps
('jit', 'jvp')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from traceir.avals import ShapedArray
from traceir.conform.programs import programs
from traceir.ir import ClosedJaxpr, Eqn, subjaxprs

Fun = Callable[..., list[Any]]
STEPS = ("jit", "vmap", "jvp", "vjp", "grad", "checkpoint")
EXAMPLES = 2
MOST_STEPS = 4


@dataclass(frozen=True)
class Chain:
    """A program, its transforms, the first one innermost, and a numbering of axes.

    `axes` has a number for each use of an axis: which arguments `vmap` maps, and where.
    """

    program: ClosedJaxpr
    steps: tuple[str, ...]
    axes: tuple[int, ...]

    def function(self, api: Any, program: Fun) -> Fun:
        """The transformed function, by the transforms of a package."""
        return self.built(api, program)[0]

    def avals(self, api: Any, program: Fun) -> list[ShapedArray]:
        """The types of its arguments."""
        return self.built(api, program)[1]

    def built(self, api: Any, program: Fun) -> tuple[Fun, list[ShapedArray]]:
        """The function and the types of its arguments."""
        fun, avals = program, list(self.program.in_avals)
        turns = iter(self.axes * 64)
        for step in self.steps:
            fun, avals = _step(api, step, fun, avals, turns)
        return fun, avals


def _step(
    api: Any, step: str, fun: Fun, avals: list[ShapedArray], turns: Any
) -> tuple[Fun, list[ShapedArray]]:
    floats = [k for k, a in enumerate(avals) if a.dtype.kind == "f"]
    match step:
        case "jit":
            return api.jit(fun), avals
        case "checkpoint":
            return api.checkpoint(fun), avals
        case "vmap":
            return _vmap(api, fun, avals, turns)
        case "jvp":
            tangents = [avals[k] for k in floats]
            return _jvp(api, fun, len(avals), floats), [*avals, *tangents]
        case "vjp":
            return _vjp(api, fun, floats), avals
    return _grad(api, fun, floats), avals


def _vmap(
    api: Any, fun: Fun, avals: list[ShapedArray], turns: Any
) -> tuple[Fun, list[ShapedArray]]:
    axes: list[int | None] = []
    for aval in avals:
        places = [*range(len(aval.shape) + 1), None]
        axes.append(places[next(turns) % len(places)])
    if axes and all(axis is None for axis in axes):
        axes[0] = 0
    mapped = [
        a if axis is None else a.update(shape=_inserted(a.shape, axis))
        for a, axis in zip(avals, axes, strict=True)
    ]
    return api.vmap(fun, in_axes=tuple(axes), axis_size=EXAMPLES), mapped


def _inserted(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], EXAMPLES, *shape[axis:])


def _of_floats(fun: Fun, args: Sequence[Any], floats: Sequence[int]) -> Fun:
    """The function of the floating arguments alone, and of its floating results."""

    def call(*given: Any) -> list[Any]:
        filled = list(args)
        for k, value in zip(floats, given, strict=True):
            filled[k] = value
        return [r for r in fun(*filled) if r.dtype.kind == "f"]

    return call


def _jvp(api: Any, fun: Fun, count: int, floats: Sequence[int]) -> Fun:
    def call(*args: Any) -> list[Any]:
        primals = tuple(args[k] for k in floats)
        if not primals:
            return fun(*args[:count])
        of_floats = _of_floats(fun, args[:count], floats)
        outs, tangents = api.jvp(of_floats, primals, tuple(args[count:]))
        return [*outs, *tangents]

    return call


def _vjp(api: Any, fun: Fun, floats: Sequence[int]) -> Fun:
    """Each result's cotangent is a half of it, and a quarter."""

    def call(*args: Any) -> list[Any]:
        primals = tuple(args[k] for k in floats)
        if not primals:
            return fun(*args)
        outs, back = api.vjp(_of_floats(fun, args, floats), *primals)
        return [*outs, *back([r * 0.5 + 0.25 for r in outs])]

    return call


def _grad(api: Any, fun: Fun, floats: Sequence[int]) -> Fun:
    """By all floating arguments, of the weighted sum of all floating results."""

    def call(*args: Any) -> list[Any]:
        primals = tuple(args[k] for k in floats)
        if not primals:
            return fun(*args)
        of_floats = _of_floats(fun, args, floats)

        def total(*given: Any) -> Any:
            found = api.numpy.float32(0.0)
            for k, result in enumerate(of_floats(*given)):
                found = found + api.numpy.sum(result) * (k + 1.0)
            return found

        return list(api.grad(total, argnums=tuple(range(len(floats))))(*primals))

    return call


@st.composite
def chains(draw: DrawFn, size: int = 4, without: frozenset[str] = frozenset()) -> Chain:
    """Chains of up to four transforms over programs with control flow.

    A loop whose number of steps is not known has no reverse mode, so a program with one
    is differentiated forward alone. `without` are primitives that programs lack.
    """
    from traceir.rules import default

    names = [n for n, row in default().prims.items() if _differs(row, without)]
    program = draw(programs(size, grid=True, primitives=names, depth=2, control=True))
    allowed = [s for s in STEPS if s not in ("vjp", "grad") or not _has_while(program)]
    steps = draw(st.lists(st.sampled_from(allowed), min_size=1, max_size=MOST_STEPS))
    axes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    return Chain(program, tuple(steps), tuple(axes))


def _differs(row: Any, without: frozenset[str]) -> bool:
    return (row.name not in without and row.derivative is not None) or row.name == "jit"


def _has_while(program: ClosedJaxpr) -> bool:
    return any(_while_in(eqn) for eqn in program.eqns)


def _while_in(eqn: Eqn) -> bool:
    return eqn.primitive == "while" or any(map(_has_while, subjaxprs(eqn)))
