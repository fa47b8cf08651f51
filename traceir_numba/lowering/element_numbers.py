"""Sums of indices that number elements in the order of memory, as one index.

A counter of random numbers is the sum of products of indices. As one `iota`, whose own
param `apart` says how far apart elements of each dimension are, it is the index of one
loop where the loops are one: `loops.element_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from traceir.ir.jaxpr import Atom, Eqn, Literal
from traceir_numba.emitters.decompositions import params_of

Producer = Callable[[Atom, str], Eqn | None]


def as_number(eqn: Eqn, producer: Producer) -> Eqn | None:
    """A sum of indices as an `iota` over several dimensions; None for other sums.

    `producer` gives the equation that makes an operand by a primitive.
    """
    out = eqn.outputs[0].aval
    if out.dtype.kind not in "iu":
        return None
    parts = [_apart(a, out.shape, producer) for a in eqn.inputs]
    if None in parts:
        return None
    apart = tuple(map(sum, zip(*parts, strict=True)))
    moving = [d for d, k in enumerate(apart) if k]
    nested = (apart[d] == apart[e] * out.shape[e] for d, e in pairwise(moving))
    if len(moving) < 2 or not all(nested):
        return None
    own = {"dimension": moving[-1], "apart": apart}
    return replace(eqn, primitive="iota", inputs=(), params=params_of("iota", out, own))


def _apart(
    atom: Atom, shape: tuple[int, ...], producer: Producer
) -> tuple[int, ...] | None:
    """How far apart elements of each dimension are in a number times an index."""
    if atom.aval.shape != shape:
        return None
    factor = 1
    product = producer(atom, "mul")
    if product is not None:
        atom, times = sorted(product.inputs, key=lambda a: isinstance(a, Literal))
        if not isinstance(times, Literal):
            return None
        factor = int(times.array)
    made = producer(atom, "iota")
    if made is None:
        return None
    one = tuple(int(d == made.param("dimension")) for d in range(len(shape)))
    apart = dict(made.params).get("apart", one)
    assert isinstance(apart, tuple)
    return tuple(factor * k for k in apart)
