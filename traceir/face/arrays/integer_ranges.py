"""Interval analysis of the integers of a trace.

Serves: index.bounds

Interval arithmetic over the equations. Unknown integers have the range of their dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.ir.jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from traceir.jit.make_jaxpr import make_jaxpr
from traceir.jit.stages import struct_of

Range = tuple[int, int]
Ranges = Sequence[Range]
# Primitives whose results are elements of their first operand.
_MOVES = frozenset(
    {
        *("broadcast_in_dim", "reshape", "transpose", "squeeze", "slice", "rev"),
        *("dynamic_slice", "reduce_max", "reduce_min", "stop_gradient"),
        *("cummax", "cummin", "split", "unstack"),
    }
)


class RangeAnalysis:
    """The ranges of the integers that equations make; constants have those of their
    elements."""

    def __init__(
        self, eqns: Sequence[Eqn], constants: Mapping[Var, np.ndarray] | None = None
    ) -> None:
        self._makers = {v: (e, k) for e in eqns for k, v in enumerate(e.outputs)}
        self._known: dict[Atom, Range] = {
            var: _of_elements(array) for var, array in (constants or {}).items()
        }

    def assume(self, var: Atom, found: Range) -> None:
        """Take a range of an input for granted."""
        self._known[var] = found

    def of(self, atom: Atom) -> Range:
        """The least and the greatest value that an integer may have."""
        todo = [atom]
        while todo:
            now = todo[-1]
            waiting = [a for a in self._operands(now) if a not in self._known]
            if now in self._known or not waiting:
                self._known.setdefault(now, self._made(now))
                todo.pop()
            else:
                todo += waiting
        return self._known[atom]

    def _operands(self, atom: Atom) -> Sequence[Atom]:
        if isinstance(atom, Literal) or atom not in self._makers:
            return ()
        return self._makers[atom][0].inputs

    def _made(self, atom: Atom) -> Range:
        if isinstance(atom, Literal):
            return _of_elements(atom.array)
        whole = _of_dtype(atom.aval.dtype)
        if atom not in self._makers:
            return whole
        eqn, k = self._makers[atom]
        found = _result(eqn, k, [self._known[a] for a in eqn.inputs])
        if found is None or found[0] < whole[0] or found[1] > whole[1]:
            return whole  # not known, or it wraps
        return found


# Of what is no integer nothing is known.
_ANY: Range = (-(2**70), 2**70)


def _of_dtype(dtype: np.dtype) -> Range:
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind not in "iu":
        return _ANY
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _of_elements(array: np.ndarray) -> Range:
    value = np.asarray(array)
    if not value.size or value.dtype.kind not in "biu":
        return _ANY
    return int(value.min()), int(value.max())


def _result(eqn: Eqn, k: int, ranges: Ranges) -> Range | None:
    """The range of one result of an equation, by those of its operands."""
    name = eqn.primitive
    params: dict[str, Any] = dict(eqn.params)
    if name in _MOVES:
        return ranges[0]
    if name == "sort":
        return ranges[k]
    if name == "iota":
        return 0, max(eqn.outputs[k].aval.shape[params["dimension"]] - 1, 0)
    if name in ("argmax", "argmin"):
        return 0, max(eqn.inputs[0].aval.shape[a] - 1 for a in params["axes"])
    if name == "gather":
        clips = str(params["mode"]).upper().endswith(("CLIP", "PROMISE_IN_BOUNDS"))
        return ranges[0] if clips else None
    if name == "convert_element_type":
        return None if ranges[0] == _ANY else ranges[0]
    if name == "jit":
        return _called(params["jaxpr"].jaxpr, params["name"], k, ranges)
    rule = _RULES.get(name)
    if rule is None or _ANY in ranges:
        return None
    if name == "shift_right_arithmetic" and eqn.inputs[0].aval.dtype.kind != "i":
        return None  # the first bit is taken for a sign
    return rule(*ranges)


def _called(jaxpr: Jaxpr, name: str, k: int, ranges: Ranges) -> Range | None:
    """The range of a result of an inner program."""
    if name in _DIVISIONS and ranges[1][0] > 0 and _is_own(name, jaxpr):
        if name == "remainder":
            return 0, ranges[1][1] - 1
        return _corners(lambda x, y: x // y, *ranges)
    inner = RangeAnalysis(jaxpr.eqns)
    for var, found in zip(jaxpr.invars, ranges, strict=True):
        inner.assume(var, found)
    return inner.of(jaxpr.outvars[k])


# Functions of `traceir.numpy` that are too much for interval arithmetic.
_DIVISIONS = {"remainder": jnp.remainder, "floor_divide": jnp.floor_divide}


def _is_own(name: str, jaxpr: Jaxpr) -> bool:
    """True if a program is that of the function of `traceir.numpy` with its name."""
    structs = [struct_of(var.aval) for var in jaxpr.invars]
    (eqn,) = make_jaxpr(_DIVISIONS[name])(*structs).eqns
    found: bool = eqn.param("jaxpr").jaxpr == jaxpr
    return found


def _corners(combine: Callable[[int, int], int], a: Range, b: Range) -> Range:
    found = [combine(x, y) for x in a for y in b]
    return min(found), max(found)


def _rem(a: Range, b: Range) -> Range | None:
    if b[0] <= 0:
        return None
    return (0 if a[0] >= 0 else 1 - b[1]), (0 if a[1] <= 0 else b[1] - 1)


def _and(a: Range, b: Range) -> Range | None:
    masks = [r[1] for r in (a, b) if r[0] >= 0]
    return (0, min(masks)) if masks else None


def _div(a: Range, b: Range) -> Range | None:
    """Integers divided towards zero."""
    if b[0] <= 0:
        return None
    return _corners(lambda x, y: abs(x) // y * (1 if x >= 0 else -1), a, b)


def _shifted(a: Range, b: Range) -> Range | None:
    return _corners(lambda x, y: x >> y, a, b) if 0 <= b[0] <= b[1] < 64 else None


def _eq(a: Range, b: Range) -> Range:
    if a[1] < b[0] or b[1] < a[0]:
        return 0, 0
    same = a == b and a[0] == a[1]
    return int(same), 1


def _select(which: Range, *cases: Range) -> Range:
    return _union(*cases[max(which[0], 0) : which[1] + 1])


def _union(*ranges: Range) -> Range:
    return min(r[0] for r in ranges), max(r[1] for r in ranges)


_RULES: dict[str, Callable[..., Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": lambda a, b: _corners(lambda x, y: x * y, a, b),
    "neg": lambda a: (-a[1], -a[0]),
    "abs": lambda a: (max(a[0], -a[1], 0), max(-a[0], a[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "clamp": lambda low, x, high: (
        min(max(x[0], low[0]), high[0]),
        min(max(x[1], low[1]), high[1]),
    ),
    "rem": _rem,
    "div": _div,
    "and": _and,
    "shift_right_arithmetic": _shifted,
    "eq": _eq,
    "select_n": _select,
    "concatenate": _union,
    "stack": _union,
}
