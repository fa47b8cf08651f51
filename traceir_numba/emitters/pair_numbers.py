"""Rules of complex numbers: arithmetic, comparison and their parts.

Serves: prim.real, prim.imag, prim.complex, prim.conj
"""

from __future__ import annotations

from traceir.ir import Eqn
from traceir_numba.emitters.entry import Paired, register
from traceir_numba.emitters.pairs import Pair, Value, Work, part_of, rule

for name in ("real", "imag", "complex", "conj"):
    register(name, Paired())


@rule("real")
def real(w: Work, eqn: Eqn) -> list[Value]:
    """The first number."""
    return [w.pair(eqn.inputs[0])[0]]


@rule("imag")
def imag(w: Work, eqn: Eqn) -> list[Value]:
    """The second number."""
    return [w.pair(eqn.inputs[0])[1]]


@rule("complex")
def complex_(w: Work, eqn: Eqn) -> list[Value]:
    """Two numbers, of which one may be stretched."""
    x, y = map(w.use, eqn.inputs)
    return [Pair(x, y)]


@rule("conj")
def conj(w: Work, eqn: Eqn) -> list[Value]:
    """The second number with the other sign; of a real number, zero with it."""
    (x,) = eqn.inputs
    if part_of(x.aval.dtype) is None:
        return [Pair(w.use(x), w.number(-0.0, x))]
    first, second = w.pair(x)
    return [Pair(first, w.bind("neg", second))]


@rule("neg", "reduce_sum", "cumsum")
def each(w: Work, eqn: Eqn) -> list[Value]:
    """The same of both numbers."""
    return w.each(eqn)


@rule("add", "sub", "add_any")
def add(w: Work, eqn: Eqn) -> list[Value]:
    """Both numbers, each for itself."""
    (a, b), (c, d) = map(w.pair, eqn.inputs)
    return [Pair(w.bind(eqn.primitive, a, c), w.bind(eqn.primitive, b, d))]


@rule("mul")
def mul(w: Work, eqn: Eqn) -> list[Value]:
    """Four products."""
    (a, b), (c, d) = map(w.pair, eqn.inputs)
    first = w.bind("sub", w.bind("mul", a, c), w.bind("mul", b, d))
    second = w.bind("add", w.bind("mul", a, d), w.bind("mul", b, c))
    return [Pair(first, second)]


@rule("eq")
def eq(w: Work, eqn: Eqn) -> list[Value]:
    """Both numbers are equal."""
    (a, b), (c, d) = map(w.pair, eqn.inputs)
    return [w.bind("and", w.bind("eq", a, c), w.bind("eq", b, d))]


@rule("ne")
def ne(w: Work, eqn: Eqn) -> list[Value]:
    """One of the numbers differs."""
    (a, b), (c, d) = map(w.pair, eqn.inputs)
    return [w.bind("or", w.bind("ne", a, c), w.bind("ne", b, d))]


@rule("is_finite")
def is_finite(w: Work, eqn: Eqn) -> list[Value]:
    """Both numbers are."""
    first, second = w.pair(eqn.inputs[0])
    return [w.bind("and", w.bind("is_finite", first), w.bind("is_finite", second))]


@rule("select_n")
def select_n(w: Work, eqn: Eqn) -> list[Value]:
    """The same of both numbers."""
    return w.each(eqn)
