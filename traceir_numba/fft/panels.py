"""Work on panels besides passes, as LLVM text.

Each function runs for `count` points, of which there is one at least.

Serves: fft.*
"""

from __future__ import annotations

from traceir_numba.fft.codelets import VectorText


def load_text(symbol: str, dtype: str) -> str:
    """LLVM text: points, each a vector of neighbours, `step` apart, into a panel."""
    v = VectorText(dtype)
    found = v.load_pairs(v.place("%x", v.integer("mul", "%k", "%step")))
    to = v.place("%to", v.integer("mul", "%k", 2 * v.lanes))
    v.store(found[0], to)
    v.store(found[1], v.place(to, f"{v.lanes}"))
    args = "ptr noalias %x, ptr noalias %to, i64 %step, i64 %count"
    return v.loop(symbol, args)


def store_text(symbol: str, dtype: str) -> str:
    """LLVM text: points of a panel to where `load_text` reads them."""
    v = VectorText(dtype)
    at = v.place("%x", v.integer("mul", "%k", 2 * v.lanes))
    found = v.load(at), v.load(v.place(at, f"{v.lanes}"))
    v.store_pairs(found, v.place("%to", v.integer("mul", "%k", "%step")))
    args = "ptr noalias %x, ptr noalias %to, i64 %step, i64 %count"
    return v.loop(symbol, args)


def scale_text(symbol: str, dtype: str) -> str:
    """LLVM text: points of a panel times a number, which is in memory."""
    v = VectorText(dtype)
    factor = v.splat(v.number("%factor", "0"))
    first = v.integer("mul", "%k", 2 * v.lanes)
    for at in (first, v.integer("add", first, v.lanes)):
        place = v.place("%x", at)
        v.store(v.multiply(v.load(place), factor), place)
    args = "ptr noalias %x, ptr noalias %factor, i64 %count"
    return v.loop(symbol, args)


def twiddle_text(symbol: str, dtype: str) -> str:
    """LLVM text: points of a panel times twiddle factors.

    One is the product of a `coarse` one, which a point has for all lanes, and of a
    `fine` one, which lie as in a panel.
    """
    v = VectorText(dtype)
    twice, at = v.integer("mul", "%k", 2), v.integer("mul", "%k", 2 * v.lanes)
    far = v.integer("add", at, v.lanes)
    places = v.place("%x", at), v.place("%x", far)
    real = v.splat(v.number("%coarse", twice))
    coarse = real, v.splat(v.number("%coarse", v.integer("add", twice, 1)))
    fine = v.load(v.place("%fine", at)), v.load(v.place("%fine", far))
    x = v.load(places[0]), v.load(places[1])
    made = v.times(x, v.times(fine, coarse))
    v.store(made[0], places[0])
    v.store(made[1], places[1])
    args = "ptr noalias %x, ptr noalias %coarse, ptr noalias %fine, i64 %count"
    return v.loop(symbol, args)
