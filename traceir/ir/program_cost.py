"""The cost of a program: arithmetic, and bytes of equations and buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, log2, prod
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, subjaxprs

FLOPS, FUNCTIONS, MOVED = "flops", "transcendentals", "bytes accessed"
_FUNCTIONS = {"function", "real_function", "special1", "special2"}
_BINARY = ("pow", "atan2", "regularized_incomplete_beta")
# Of these each element of the result is one of an operand.
_MOVES = ("stop_gradient", "name", "reshard", "real", "imag", "complex")


@dataclass(frozen=True)
class MemoryStats:
    """The bytes of a compiled program: of arguments, results, of buffers that live
    while it runs, and of arguments whose memory results have.
    """

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int


def program_cost(closed: ClosedJaxpr) -> dict[str, float]:
    """Arithmetic operations, values of functions such as `sin`, and bytes.

    Each equation reads its operands and writes its results, as if none were fused. A
    `scan` counts by its turns, a `while` as one turn, a `cond` as its costliest branch;
    of factorizations, draws and calls of the host, the bytes are all that counts.
    """
    found = _of(closed.jaxpr)
    return {name: float(found[name]) for name in (FLOPS, FUNCTIONS, MOVED)}


def _of(jaxpr: Jaxpr) -> Counter[str]:
    total: Counter[str] = Counter()
    for eqn in jaxpr.eqns:
        total += _equation(eqn)
    return total


def _equation(eqn: Eqn) -> Counter[str]:
    inner = [_of(program.jaxpr) for program in subjaxprs(eqn)]
    if eqn.primitive == "cond":
        return max(inner, key=lambda cost: (cost[FLOPS] + cost[FUNCTIONS], cost[MOVED]))
    if inner:
        turns = eqn.param("length") if eqn.primitive == "scan" else 1
        whole = sum(inner, Counter[str]())
        return Counter({name: count * turns for name, count in whole.items()})
    avals = [atom.aval for atom in eqn.inputs]
    outs = [var.aval for var in eqn.outvars]
    cost = Counter({MOVED: sum(map(_bytes, [*avals, *outs]))})
    row = rules.default().prims[eqn.primitive]
    functions = _FUNCTIONS.intersection(row.classes) or eqn.primitive in _BINARY
    cost[FUNCTIONS if functions else FLOPS] += _work(eqn, row, avals, outs)
    return cost


def _bytes(aval: ShapedArray) -> int:
    return int(aval.size) * int(aval.dtype.itemsize)


def _work(
    eqn: Eqn, row: Any, avals: Sequence[ShapedArray], outs: Sequence[ShapedArray]
) -> int:
    """The operations of an equation that has no program in it."""
    rule = row.batch.rule if row.batch else ""
    if eqn.primitive == "dot_general":
        (contracted, _), _ = eqn.param("dimension_numbers")
        return 2 * int(outs[0].size * prod(avals[0].shape[d] for d in contracted))
    if eqn.primitive == "conv_general_dilated":
        features = avals[1].shape[eqn.param("dimension_numbers")[1][0]]
        return 2 * int(outs[0].size) * int(avals[1].size // max(features, 1))
    if eqn.primitive == "sort":
        length = avals[0].shape[eqn.param("dimension")]
        return int(avals[0].size) * ceil(log2(max(length, 1)))
    if "window" in row.classes:
        return int(outs[0].size * (prod(eqn.param("window_dimensions")) - 1))
    if "cumulative" in row.classes:
        return int(avals[0].size)
    if any(name.endswith("reduction") for name in row.classes):
        return int(avals[0].size - outs[0].size)
    if "scatter_numeric" in row.classes or "scatter_extremum" in row.classes:
        return int(avals[-1].size)
    arithmetic = rule in ("pointwise", "aligned") and eqn.primitive not in _MOVES
    return int(outs[0].size) if arithmetic else 0
