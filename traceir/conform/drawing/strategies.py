"""Strategies for types, arrays and applications of primitives.

An application is drawn near to being valid and then *classified* by the clauses of its
row: none violated, exactly one, or several. Serves: every clause of a primitive's row

>>> from hypothesis import find
>>> application = find(applications("add"), lambda a: not violated(a))
>>> len(application.avals)
2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from traceir.dtypes import (
    KEY,
    RBG,
    KeyDType,
    finfo,
    is_key,
    key_of,
    kind_of,
    part_dtype,
)
from traceir.exact.numerics import limits
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params, sort_params
from traceir.ir.typecheck import violations
from traceir.rules import Prim, Rules, default
from traceir.rules.formulas.domains import PRECISIONS

# Floats twice, since half of the primitives take nothing else.
DTYPES = ("float32", "int32", "bool", "float32", "uint32", "uint8")
# Dtypes that are drawn for the rows whose clauses speak of them.
OF_SETS = {"complex": (np.dtype("complex64"),), "key": (KEY,), "keys": (KEY, RBG)}
WIDE = ("int64", "float64")
MOST_ELEMENTS = 200
_EXTENTS = (2, 3, 1, 0, 4, 5)
_SPECIAL = (0.0, 1.0, 0.5, 2.5, 1e10, np.inf, np.nan)


@dataclass(frozen=True)
class DrawnApplication:
    """A primitive with the types of its operands and its params."""

    primitive: str
    avals: tuple[ShapedArray, ...]
    params: Params


def violated(application: DrawnApplication, rules: Rules | None = None) -> set[str]:
    """The ids of the clauses that an application violates."""
    it = application
    return violations(it.primitive, it.avals, it.params, rules)


# Types and arrays ---------------------------------------------------------------------

# A strategy is made once: making and checking it takes longer than a draw.


@cache
def dtypes(wide: bool = False) -> SearchStrategy[np.dtype]:
    """Dtypes of 32 bits and less; all of this version's when `wide`."""
    return st.sampled_from([np.dtype(d) for d in (*DTYPES, *(WIDE if wide else ()))])


@cache
def shapes() -> SearchStrategy[tuple[int, ...]]:
    """Shapes of rank 0 to 3 with extents 0 to 5."""
    return st.lists(st.sampled_from(_EXTENTS), max_size=3).map(tuple)


@cache
@st.composite
def avals(draw: DrawFn, wide: bool = False) -> ShapedArray:
    """Types with small shapes; scalars can be weak."""
    shape, dtype = draw(shapes()), draw(dtypes(wide))
    return ShapedArray(shape, dtype, draw(st.booleans()) and shape == ())


@cache
def elements(dtype: np.dtype, grid: bool = True) -> SearchStrategy[Any]:
    """Scalars of a dtype; on the grid, floats are k/8 and integers small.

    Sums and products of few such floats are exact in every order.
    """
    if kind_of(dtype) == "b":
        return st.booleans()
    if kind_of(dtype) in "iu":
        least, most = limits(dtype)
        few = st.integers(max(-9, least), min(9, most))
        ends = st.sampled_from((least, most, most - 1))
        return few if grid else few | ends | st.integers(least, most)
    if is_key(dtype):
        words = elements(np.dtype("uint32"), grid)
        key = key_of(dtype)
        return st.tuples(*[words] * key.words).map(partial(_key, key))
    if kind_of(dtype) == "c":
        part = elements(part_dtype(dtype), grid)
        return st.builds(complex, part, part)
    on_grid = st.integers(-32, 32).map(lambda k: k / 8)
    if grid:
        return on_grid
    info = finfo(dtype)
    sizes = (*_SPECIAL, info.max, info.tiny, info.smallest_subnormal)
    ends = st.sampled_from([float(s) for size in sizes for s in (size, -size)])
    width: Any = max(16, dtype.itemsize * 8)
    plain = st.floats(-30, 30, width=width)
    anything = st.floats(width=width)
    return on_grid | plain | ends | anything


def _key(key: KeyDType, words: tuple[int, ...]) -> Any:
    return np.array((words,), key.dtype)[()]


@st.composite
def arrays(draw: DrawFn, aval: ShapedArray, grid: bool = True) -> np.ndarray:
    """Arrays of a type."""
    size = aval.size
    found = draw(st.lists(elements(aval.dtype, grid), min_size=size, max_size=size))
    with np.errstate(over="ignore", under="ignore"):
        return np.array(found, aval.dtype).reshape(aval.shape)


# Applications -------------------------------------------------------------------------


def applications(
    primitive: str, wide: bool = False, rules: Rules | None = None
) -> SearchStrategy[DrawnApplication]:
    """Applications of a primitive whose params hold no program, near to valid."""
    return row_applications((rules or default()).prims[primitive], wide, ())


@st.composite
def row_applications(
    draw: DrawFn, row: Prim, wide: bool, pool: Sequence[ShapedArray]
) -> DrawnApplication:
    """Applications of a row, near to valid, with operands of the types in `pool`."""
    operands = draw(operand_types(row, wide, pool))
    params: dict[str, Any] = {}
    # Shapes come first, because axes and dimensions can refer to them.
    for param in sorted(row.params, key=lambda p: p.domain != "shape"):
        params[param.name] = draw(_DOMAINS[param.domain](operands, params))
    return DrawnApplication(row.name, operands, sort_params(params))


def spoken_of(row: Prim) -> list[np.dtype]:
    """The dtypes that clauses of a row speak of, besides those of all rows."""
    texts = [str(clause.holds) for clause in row.clauses]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    found = (dtype for name in OF_SETS if name in words for dtype in OF_SETS[name])
    return list(dict.fromkeys(found))


@st.composite
def operand_types(
    draw: DrawFn, row: Prim, wide: bool, pool: Sequence[ShapedArray]
) -> tuple[ShapedArray, ...]:
    """Types of operands that resemble one another, some of them from `pool`."""
    count = row.arity + (draw(st.integers(0, 3)) if row.variadic else 0)
    fresh = avals(wide)
    for dtype in spoken_of(row):
        fresh |= shapes().map(partial(ShapedArray, dtype=dtype))
    known = st.sampled_from(pool) if pool else fresh
    found: list[ShapedArray] = []
    while len(found) < count:
        if not found:
            found.append(draw(known if draw(st.integers(0, 9)) else fresh))
        elif draw(st.integers(0, 9)) < 6:
            found.append(found[-1])
        else:
            found.append(draw(neighbours(draw(st.sampled_from(found)), wide)))
    return tuple(found)


@st.composite
def neighbours(draw: DrawFn, aval: ShapedArray, wide: bool = False) -> ShapedArray:
    """Types that differ from one in a single respect."""
    shape = aval.shape
    match draw(st.sampled_from(("scalar", "dtype", "one", "order", "weak", "other"))):
        case "scalar":
            return aval.update(shape=())
        case "dtype":
            return ShapedArray(shape, draw(dtypes(wide)))
        case "one" if shape:
            axis = draw(st.integers(0, len(shape) - 1))
            size = draw(st.sampled_from((1, *_EXTENTS)))
            return aval.update(shape=(*shape[:axis], size, *shape[axis + 1 :]))
        case "order" if shape:
            return aval.update(shape=tuple(draw(st.permutations(shape))))
        case "weak":
            return aval.update(weak_type=not aval.weak_type)
    return draw(avals(wide))


# Params by domain ---------------------------------------------------------------------

Operands = Sequence[ShapedArray]
Given = dict[str, Any]
Drawn = SearchStrategy[Any]


def _rank(operands: Operands) -> int:
    return operands[0].ndim if operands else 2


def _axes(operands: Operands, params: Given) -> Drawn:
    rank = _rank(operands)
    room = max(rank, *(len(v) for v in params.values() if type(v) is tuple), 0)
    some = st.lists(st.integers(0, max(rank - 1, 0)), max_size=rank, unique=True)
    spread = st.lists(
        st.integers(0, max(room - 1, 0)), min_size=rank, max_size=rank, unique=True
    )
    ones = [k for k, n in enumerate(operands[0].shape) if n == 1] if operands else []
    wrong = st.lists(st.integers(-1, rank), max_size=2)
    twice = st.integers(0, max(rank - 1, 0)).map(lambda axis: (axis, axis))
    return st.one_of(
        st.integers(0, max(rank - 1, 0)).map(lambda axis: (axis,)),
        some.map(sorted).map(tuple),
        st.permutations(range(rank)).map(tuple),
        spread.map(sorted).map(tuple) if room >= rank else some.map(tuple),
        st.just(tuple(ones)),
        st.just((*ones[:1], *ones[:1])) if ones else twice,
        twice | wrong.map(tuple),
    )


def _shape(operands: Operands, params: Given) -> Drawn:
    if not operands:
        return shapes() | st.just((-1, 2))
    shape = operands[0].shape
    negative = st.sampled_from([(-1, 2), (-1, -operands[0].size)])
    wider = st.permutations((*shape, *(2, 3)[: 3 - len(shape)])).map(tuple)
    own = st.just(shape) | st.just(shape[-1:])
    return st.one_of(wider, own, _regroupings(shape), shapes(), negative)


@st.composite
def _regroupings(draw: DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shapes with as many elements, made by merging, splitting and adding extents."""
    size = int(np.prod(shape, dtype=np.int64))
    factors = [n for n in range(1, size + 1) if size % n == 0] or [0]
    first = draw(st.sampled_from(factors))
    rest = size // first if first else draw(st.sampled_from(_EXTENTS))
    return draw(st.sampled_from([(size,), (first, rest), (rest, first, 1), (1, size)]))


@st.composite
def _indices(draw: DrawFn, operands: Operands, params: Given) -> tuple[int, ...]:
    # Starts and limits are told apart by whether a start is known already.
    shape = operands[0].shape if operands else ()
    before = [v for v in params.values() if type(v) is tuple and len(v) == len(shape)]
    low = before[0] if before else (0,) * len(shape)
    found = [draw(st.integers(max(a, 0), max(a, n))) for a, n in zip(low, shape)]
    if found and draw(st.integers(0, 5)) == 0:
        axis = draw(st.integers(0, len(found) - 1))
        found[axis] = draw(st.sampled_from((-1, 1, shape[axis] + 1)))
    return tuple(found) if draw(st.integers(0, 9)) else (*found, 0)


def _maybe_indices(operands: Operands, params: Given) -> Drawn:
    rank = _rank(operands)
    steps = st.lists(st.integers(1, 3), min_size=rank, max_size=rank).map(tuple)
    return st.none() | steps | st.just((0,) * rank) | st.just((1,))


@st.composite
def _dimension_numbers(draw: DrawFn, operands: Operands, params: Given) -> Any:
    fault = draw(st.sampled_from(("", "", "", "sizes", "axis", "pairing")))
    left, right = operands[0].shape, operands[-1].shape
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right))]
    if fault != "sizes":
        pairs = [(i, j) for i, j in pairs if left[i] == right[j]]
    chosen: list[tuple[int, int]] = []
    for pair in draw(st.permutations(pairs)):
        if not any(pair[0] == i or pair[1] == j for i, j in chosen):
            chosen.append(pair)
    chosen = chosen[: draw(st.integers(min(1, len(chosen)), len(chosen)))]
    cut = draw(st.integers(0, len(chosen)))
    parts = [tuple(zip(*part)) or ((), ()) for part in (chosen[cut:], chosen[:cut])]
    lists = [parts[0][0], parts[0][1], parts[1][0], parts[1][1]]
    which = draw(st.integers(0, 3))
    if fault == "axis" and lists[which]:
        lists[which] = (*lists[which][1:], draw(st.sampled_from((-1, 7))))
    if fault == "pairing" and lists[which]:
        lists[which] = lists[which][1:]
    return (lists[0], lists[1]), (lists[2], lists[3])


@st.composite
def _padding(draw: DrawFn, operands: Operands, params: Given) -> Any:
    # Mostly of the operand's rank, and seldom more than there is to take away.
    rank = _rank(operands)
    end = st.integers(-1, 2) | st.integers(-6, 3)
    triple = st.tuples(end, end, st.integers(0, 2) | st.just(-1))
    count = draw(st.sampled_from((rank, rank, rank, rank + 1)))
    return tuple(draw(triple) for _ in range(count))


def _dtype(operands: Operands, params: Given) -> Drawn:
    return dtypes() | (st.just(operands[0].dtype) if operands else st.nothing())


_PRECISION = st.tuples(*[st.sampled_from(PRECISIONS)] * 2)
_DOMAINS: dict[str, Callable[[Operands, Given], Drawn]] = {
    "none": lambda operands, params: st.none(),
    "precision": lambda operands, params: st.none() | _PRECISION,
    "flag": lambda operands, params: st.booleans(),
    "int": lambda operands, params: st.one_of(
        st.integers(0, 2), st.integers(-2, 5), st.sampled_from((8, 32))
    ),
    "name": lambda operands, params: st.sampled_from(("f", "fry", "<lambda>")),
    "axes": _axes,
    "shape": _shape,
    "indices": _indices,
    "maybe_indices": _maybe_indices,
    "dtype": _dtype,
    "maybe_dtype": lambda operands, params: st.none() | _dtype(operands, params),
    "dimension_numbers": _dimension_numbers,
    "padding": _padding,
}
# The domains from which params can be drawn.
DRAWN = frozenset(_DOMAINS)
