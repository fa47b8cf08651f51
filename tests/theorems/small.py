"""All small programs: of one equation on a grid of small types, of two, within regions.

The grid has each kind of element, and shapes of no, one and two dimensions. Params are
those of a short list for their domain, each changed alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from equations import OWN, TRIVIAL

from traceir.dtypes import KEY
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.rules import Prim, default

Avals = tuple[ShapedArray, ...]
Params = Mapping[str, Any]
# Scalars, vectors that stretch and that do not, matrices that are not square.
SHAPES: tuple[tuple[int, ...], ...] = ((), (2,), (1,), (2, 3), (2, 2), (0,))
DTYPES = ("float32", "int32", "bool", "uint8")
# More dtypes, for the rows that speak of them.
SPOKEN = {"complex": "complex64", "key": KEY, "uint32": "uint32"}
# The types of two operands, and of more: with fewer shapes.
FEW: tuple[tuple[int, ...], ...] = ((), (2,), (2, 3))
PAIRED = ("float32", "int32", "bool")
# Values of params by their domains, the first of which is that of most programs.
VALUES: dict[str, tuple[Any, ...]] = {
    "flag": (False, True),
    "int": (0, 1, 2, -1),
    "axes": ((0,), (), (1,), (0, 1), (1, 0), (0, 0)),
    "axis_names": ((0,), (1,)),
    "shape": ((2,), (), (1, 2), (2, 1), (3, 2), (6,)),
    "indices": ((0,), (1,), (0, 0), (1, 2), (2,)),
    "maybe_indices": (None, (1,), (1, 1)),
    "dtype": tuple(map(np.dtype, ("float32", "int32", "bool"))),
    "maybe_dtype": (None, np.dtype("float32")),
    "padding": (((0, 0, 0),), ((1, 0, 1),), ((0, -1, 0), (0, 1, 0))),
    "dimension_numbers": (
        (((0,), (0,)), ((), ())),
        (((1,), (0,)), ((), ())),
        (((), ()), ((0,), (0,))),
        (((), ()), ((), ())),
    ),
    "pairs": (((0, 0),), ((0, 1), (1, 0))),
}


@dataclass(frozen=True)
class Application:
    """A primitive on operands of some types, with params: well typed, or not."""

    primitive: str
    avals: Avals
    params: Params

    def __str__(self) -> str:
        shown = " ".join(a.str_short() for a in self.avals)
        return f"{self.primitive}{dict(self.params) or ''} {shown}"


@cache
def rows() -> tuple[Prim, ...]:
    """The primitives that have a meaning alone, and whose params are no programs."""
    known = {*VALUES, *TRIVIAL}
    return tuple(
        row
        for row in default().prims.values()
        if row.steps is None
        and row.across is None
        and {p.domain for p in row.params} <= known
    )


def params_of(row: Prim) -> Iterator[Params]:
    """The usual params, and those that differ from them in one."""
    usual: dict[str, Any] = {}
    for param in row.params:
        first = VALUES.get(param.domain, (TRIVIAL.get(param.domain),))[0]
        usual[param.name] = row.defaults.get(param.name, first)
    usual |= OWN.get(row.name, {})
    yield usual
    for param in row.params:
        for value in VALUES.get(param.domain, ()):
            if value != usual[param.name]:
                yield {**usual, param.name: value}


def grid(shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]) -> list[ShapedArray]:
    """The types of these shapes and dtypes; scalar numbers are weak, too."""
    strong = [ShapedArray(s, d) for d in dtypes for s in shapes]
    weak = [a.update(weak_type=True) for a in strong if not a.shape]
    return strong + [a for a in weak if a.dtype.kind in "if"]


def operands_of(row: Prim) -> Iterator[Avals]:
    """The types of operands with which a row is tried."""
    words = " ".join(str(c.holds) for c in row.clauses)
    spoken = tuple(d for word, d in SPOKEN.items() if word in words)
    count = row.arity + row.variadic
    if count <= 1:
        yield from ((a,) for a in grid(SHAPES, (*DTYPES, *spoken)))
    elif count == 2:
        yield from itertools.product(grid(FEW, (*PAIRED, *spoken)), repeat=2)
    else:
        some = grid(((), (2,)), spoken or ("float32", "int32"))
        yield from itertools.product(some, repeat=count)


@cache
def applications() -> tuple[Application, ...]:
    """All applications of the grid."""
    return tuple(
        Application(row.name, avals, params)
        for row in rows()
        for avals in (operands_of(row) if row.inputs else ((),))
        for params in params_of(row)
    )


# Programs -----------------------------------------------------------------------------

# The types of an application's results, or None if it is ill-typed.
Types = Callable[[Application], Avals | None]


def program(it: Application, outs: Avals) -> ClosedJaxpr:
    """The program of one equation."""
    inputs, outputs = tuple(map(Var, it.avals)), tuple(map(Var, outs))
    eqn = Eqn(it.primitive, inputs, outputs, sort_params(it.params))
    return ClosedJaxpr(Jaxpr((), inputs, (eqn,), outputs))


def chained(
    first: Application, middle: Avals, then: Application, outs: Avals
) -> ClosedJaxpr:
    """The program of two equations, the second of which reads the first's result."""
    inputs, outputs = tuple(map(Var, first.avals)), tuple(map(Var, middle))
    eqn = Eqn(first.primitive, inputs, outputs, sort_params(first.params))
    place = next(k for k, a in enumerate(then.avals) if a in middle)
    extra = [Var(a) for k, a in enumerate(then.avals) if k != place]
    reads = [*extra[:place], outputs[middle.index(then.avals[place])], *extra[place:]]
    results = tuple(map(Var, outs))
    last = Eqn(then.primitive, tuple(reads), results, sort_params(then.params))
    inner = Jaxpr((), (*inputs, *extra), (eqn, last), (*results, *outputs[:1]))
    return ClosedJaxpr(inner)


def within_regions(it: Application, outs: Avals) -> Iterator[ClosedJaxpr]:
    """The program of one equation as what `jit`, `cond`, `scan` and `while` run."""
    body = program(it, outs)
    yield region("jit", it.avals, outs, jaxpr=body, keep_unused=False, name="f")
    which = ShapedArray((), "int32")
    yield region("cond", (which, *it.avals), outs, branches=(body, body))
    rows = tuple(a.update(shape=(2, *a.shape)) for a in outs)
    counts: dict[str, Any] = {"length": 2, "reverse": False, "unroll": 1}
    counts |= {"independent": False, "status": 0}
    scanned = {**counts, "num_consts": len(it.avals), "num_carry": 0}
    yield region("scan", it.avals, rows, jaxpr=body, **scanned)
    if len(it.avals) == 1 and typed_alike(it.avals, outs):
        carried = {**counts, "num_consts": 0, "num_carry": 1}
        yield region("scan", it.avals, outs, jaxpr=body, **carried)
        yield region(
            *("while", it.avals, outs),
            cond_jaxpr=never(it.avals),
            cond_nconsts=0,
            body_jaxpr=body,
            body_nconsts=0,
            independent=False,
            status=0,
        )


def typed_alike(some: Avals, others: Avals) -> bool:
    """True if types are equal but for their weakness."""
    pairs = [[(a.shape, a.dtype) for a in avals] for avals in (some, others)]
    return pairs[0] == pairs[1]


def never(avals: Avals) -> ClosedJaxpr:
    """The condition of a loop that has no turn."""
    inputs = tuple(map(Var, avals))
    no = Literal(np.False_, ShapedArray((), "bool"))
    return ClosedJaxpr(Jaxpr((), inputs, (), (no,)))


def region(primitive: str, avals: Avals, outs: Avals, **params: Any) -> ClosedJaxpr:
    """The program of one equation that has programs among its params."""
    return program(Application(primitive, avals, params), outs)


# Arguments ----------------------------------------------------------------------------


def argument(aval: ShapedArray, seed: int) -> np.ndarray:
    """An array of a type, of small numbers that differ."""
    count = np.arange(aval.size) + seed
    if aval.dtype == KEY:
        words = np.stack([count, count * 7 + 1], -1).astype("uint32")
        return np.ascontiguousarray(words).view(KEY).reshape(aval.shape)
    if aval.dtype.kind == "f":
        numbers: Any = (count * 5 % 13 - 3) / 4
    elif aval.dtype.kind == "c":
        numbers = (count * 5 % 13 - 3) / 4 + 1j * (count * 3 % 7 - 2) / 2
    else:
        numbers = count * 5 % 7
    return np.asarray(numbers).astype(aval.dtype).reshape(aval.shape)


def arguments(avals: Sequence[ShapedArray]) -> list[np.ndarray]:
    """Arrays of these types."""
    return [argument(aval, k) for k, aval in enumerate(avals)]
