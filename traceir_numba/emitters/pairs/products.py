"""Rules of complex matrix products, by real products. Serves: choice.dot-order

A large product of matrices is one product of real ones, as many rows, twice as many
terms and columns: its result is the complex one as it lies.
"""

from __future__ import annotations

from math import prod
from typing import Any

from traceir.ir.jaxpr import Atom, Eqn
from traceir_numba import cost_model
from traceir_numba.emitters.pairs.values import (
    Pair,
    PairedArray,
    PairRewriter,
    Value,
    part_of,
    rule,
)

Shape = tuple[int, ...]


@rule("dot_general")
def dot_general(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """One product where it is large; else as many as there are pairs of parts."""
    part = part_of(eqn.outputs[0].aval.dtype)
    wanted = eqn.param("preferred_element_type")
    params = {**dict(eqn.params), "preferred_element_type": wanted and part}
    if part_of(eqn.inputs[1].aval.dtype) and _is_large(eqn):
        return [_at_once(w, eqn, params)]
    return [_by_parts(w, eqn, params)]


def _is_large(eqn: Eqn) -> bool:
    (summed, _), (batch, _) = eqn.param("dimension_numbers")
    shape = eqn.inputs[0].aval.shape
    inner, outer = (prod(shape[d] for d in dims) for dims in (summed, batch))
    rows = prod(shape) // max(1, inner * outer)
    size = eqn.outputs[0].aval.size * inner
    columns = eqn.outputs[0].aval.size // max(1, rows * outer)
    return size >= cost_model.COMPLEX_MATMUL_WORK and 1 not in (rows, inner, columns)


def _at_once(w: PairRewriter, eqn: Eqn, params: dict[str, Any]) -> PairedArray:
    """One product of real matrices, whose result is the complex one as it lies.

    [a b] [[c d] [-d c]] is [ac - bd, ad + bc]: the left operand has its imaginary parts
    behind the real ones, the right one has two rows and two columns for each element.
    """
    x, y = eqn.inputs
    (lc, rc), (lb, rb) = eqn.param("dimension_numbers")
    shape = (*eqn.outputs[0].aval.shape, 2)
    part = part_of(y.aval.dtype)
    if part_of(x.aval.dtype) is None:
        made = w.bind("dot_general", w.use(x), w.whole(y), shape=shape, **params)
        return PairedArray(made)
    (a, b), (c, d) = w.pair(x), w.pair(y)
    at, to = min(lc), min(rc)
    left = w.bind("stack", a, b, shape=_inserted(x.aval.shape, at), axis=at, mixed=True)
    square = (*_inserted(y.aval.shape, to), 2)
    rows = c, d, w.bind("neg", d), c
    right = w.bind("stack", *rows, shape=square, axis=to, mixed=True, lanes=2)
    summed = (at, *_after(lc, at)), (to, *_after(rc, to))
    batched = _after(lb, at), _after(rb, to)
    params = {**params, "dimension_numbers": (summed, batched)}
    found = w.bind("dot_general", left, right, shape=shape, dtype=part, **params)
    return PairedArray(found)


def _inserted(shape: Shape, axis: int) -> Shape:
    """A shape with a dimension of two more."""
    return (*shape[:axis], 2, *shape[axis:])


def _after(dims: Shape, axis: int) -> Shape:
    """Dimensions by number once there is one more."""
    return tuple(d + (d >= axis) for d in dims)


def _by_parts(w: PairRewriter, eqn: Eqn, params: dict[str, Any]) -> Pair:
    """Four products of matrices, or two where one of them is real."""
    (out,) = eqn.outputs
    part = part_of(out.aval.dtype)

    def product(x: Atom, y: Atom) -> Atom:
        shape = out.aval.shape
        return w.bind("dot_general", x, y, shape=shape, dtype=part, **params)

    (a, b), (c, d) = (_parts(w, x) for x in eqn.inputs)
    first, second = product(a, c), None
    if b is not None and d is not None:
        first = w.bind("sub", first, product(b, d))
    for x, y in ((a, d), (b, c)):
        if x is not None and y is not None:
            term = product(x, y)
            second = term if second is None else w.bind("add", second, term)
    return Pair(first, w.number(0.0, first) if second is None else second)


def _parts(w: PairRewriter, atom: Atom) -> tuple[Atom, Atom | None]:
    """The two numbers of an operand; one of a real one."""
    return (w.use(atom), None) if part_of(atom.aval.dtype) is None else w.pair(atom)
