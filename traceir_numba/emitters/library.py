"""Calls of NumPy on whole arrays. Serves: choice.dot-order"""

from __future__ import annotations

from math import prod

from traceir.ir import Eqn
from traceir_numba.emitters.entry import Library, register
from traceir_numba.matmul import is_large


def dot_general(eqn: Eqn, names: tuple[str, ...]) -> str:
    """A matrix product of operands laid out as batch, rows, columns."""
    x, y = (atom.aval.shape for atom in eqn.inputs)
    (lc, rc), (lb, rb) = eqn.param("dimension_numbers")
    left = [d for d in range(len(x)) if d not in (*lb, *lc)]
    right = [d for d in range(len(y)) if d not in (*rb, *rc)]
    rows, inner = prod(x[d] for d in left), prod(x[d] for d in lc)
    columns = prod(y[d] for d in right)
    batch = tuple(x[d] for d in lb)
    a = _laid_out(names[0], x, (*lb, *left, *lc), (*batch, rows, inner))
    b = _laid_out(names[1], y, (*rb, *rc, *right), (*batch, inner, columns))
    dtype = eqn.outputs[0].aval.dtype
    if dtype != eqn.inputs[0].aval.dtype:
        a, b = (f"{operand}.astype({dtype.name.upper()})" for operand in (a, b))
    large = is_large(prod(batch), rows, inner, columns)
    product = f"matmul{'_large' if large else ''}({a}, {b})"
    out = eqn.outputs[0].aval.shape
    return product if out == (*batch, rows, columns) else f"{product}.reshape({out})"


def _laid_out(
    name: str, shape: tuple[int, ...], order: tuple[int, ...], target: tuple[int, ...]
) -> str:
    text = name
    if order != tuple(range(len(shape))):
        text += ".T" if order == (1, 0) else f".transpose({order})"
    moved = tuple(shape[d] for d in order)
    return text if moved == target else f"{text}.reshape({target})"


register("dot_general", Library(dot_general))
