"""Large constants that are nearly one number: made at run time.

To read such a constant takes as long as to write the array, and it would be a part of
all that keeps the program. A table of `np.full` in which a corner is set is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var, sort_params
from traceir_numba import cost_model

INDEX = ShapedArray((), np.dtype("int64"))


def fill_constants(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same program with equations for constants that are nearly one number."""
    jaxpr = closed.jaxpr
    made: list[Eqn] = []
    kept: list[tuple[Var, np.ndarray]] = []
    for var, value in zip(jaxpr.constvars, map(np.asarray, closed.consts), strict=True):
        places = _others(value)
        if places is None:
            kept.append((var, value))
        else:
            made += _equations(var, value, places)
    if not made:
        return closed
    constvars = tuple(var for var, _ in kept)
    eqns = (*made, *jaxpr.eqns)
    consts = tuple(value for _, value in kept)
    return ClosedJaxpr(replace(jaxpr, constvars=constvars, eqns=eqns), consts)


def _others(value: np.ndarray) -> np.ndarray | None:
    """The few places where a large constant is not what it is at its end; None for
    other constants."""
    if value.nbytes < cost_model.FILLED_BYTES or value.dtype.kind not in "biuf":
        return None
    bits = np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}").ravel()
    most = cost_model.FILLED_PLACES
    few = bits[: most + 1] != bits[-1]
    if few.all() or np.isnan(value.flat[-1]):
        return None
    places = np.flatnonzero(bits != bits[-1])
    return places if len(places) <= most else None


def _equations(var: Var, value: np.ndarray, places: np.ndarray) -> Iterator[Eqn]:
    """The equations that make a constant."""
    shape, number = value.shape, ShapedArray((), value.dtype)

    def full(atom: Atom, shape: tuple[int, ...], out: Var) -> Eqn:
        params = {"shape": shape, "broadcast_dimensions": ()}
        return Eqn("broadcast_in_dim", (atom,), (out,), sort_params(params))

    def element(place: int) -> Literal:
        return Literal(value.flat[place].item(), number)

    last = Var(var.aval) if len(places) else var
    yield full(element(-1), shape, last)
    for k, place in enumerate(places.tolist()):
        one = Var(ShapedArray((1,) * value.ndim, value.dtype))
        yield full(element(place), one.aval.shape, one)
        out = var if k == len(places) - 1 else Var(var.aval)
        at = [Literal(int(i), INDEX) for i in np.unravel_index(place, shape)]
        yield Eqn("dynamic_update_slice", (last, one, *at), (out,))
        last = out
