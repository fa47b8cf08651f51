"""Rules of complex arithmetic, comparison and parts.

Serves: prim.real, prim.imag, prim.complex, prim.conj
"""

from __future__ import annotations

from traceir.ir.jaxpr import Atom, Eqn
from traceir_numba.emitters.kinds import PairRule, register
from traceir_numba.emitters.pairs.values import Pair, PairRewriter, Value, part_of, rule

Atoms = tuple[Atom, Atom]

for name in ("real", "imag", "complex", "conj"):
    register(name, PairRule())


@rule("real")
def real(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The first number."""
    return [w.pair(eqn.inputs[0])[0]]


@rule("imag")
def imag(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The second number."""
    return [w.pair(eqn.inputs[0])[1]]


@rule("complex")
def complex_(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Two numbers, of which one may be stretched."""
    x, y = map(w.use, eqn.inputs)
    return [Pair(x, y)]


@rule("bitcast_convert_type")
def same(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The bits of the same dtype: no other is taken for pairs."""
    return [Pair(*w.pair(eqn.inputs[0]))]


@rule("conj")
def conj(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The second number with the other sign; of a real number, 0."""
    (x,) = eqn.inputs
    if part_of(x.aval.dtype) is None:
        return [Pair(w.use(x), w.number(0.0, x))]
    first, second = w.pair(x)
    return [Pair(first, w.bind("neg", second))]


@rule("neg", "select_n", "reduce_sum", "cumsum", "scatter-add", "scatter-sub")
def each(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The same of both numbers."""
    return w.each(eqn)


@rule("add", "sub", "add_any")
def add(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Both numbers, each for itself."""
    (a, b), (c, d) = map(w.pair, eqn.inputs)
    return [Pair(w.bind(eqn.primitive, a, c), w.bind(eqn.primitive, b, d))]


@rule("mul")
def mul(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Four products."""
    x, y = map(w.pair, eqn.inputs)
    return [Pair(*product(w, x, y))]


def product(w: PairRewriter, x: Atoms, y: Atoms) -> Atoms:
    """The product of two numbers."""
    (a, b), (c, d) = x, y
    first = w.bind("sub", w.bind("mul", a, c), w.bind("mul", b, d))
    second = w.bind("add", w.bind("mul", a, d), w.bind("mul", b, c))
    return first, second


@rule("eq")
def eq(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Both numbers are equal."""
    (a, b), (c, d) = map(w.pair, eqn.inputs)
    return [w.bind("and", w.bind("eq", a, c), w.bind("eq", b, d))]


@rule("ne")
def ne(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """One of the numbers differs."""
    (a, b), (c, d) = map(w.pair, eqn.inputs)
    return [w.bind("or", w.bind("ne", a, c), w.bind("ne", b, d))]


@rule("is_finite")
def is_finite(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Both numbers are."""
    first, second = w.pair(eqn.inputs[0])
    return [w.bind("and", w.bind("is_finite", first), w.bind("is_finite", second))]


@rule("convert_element_type")
def convert(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Each part; of a real number a part 0 more, of a truth whether one is not 0."""
    (x,), dtype = eqn.inputs, eqn.outputs[0].aval.dtype
    to = part_of(dtype)

    def converted(atom: Atom) -> Atom:
        return w.bind("convert_element_type", atom, dtype=to or dtype)

    if part_of(x.aval.dtype) is None:
        first = converted(w.use(x))
        return [Pair(first, w.number(0.0, first))]
    first, second = w.pair(x)
    if to is not None:
        return [Pair(converted(first), converted(second))]
    if dtype.kind == "b":
        zero = w.number(0.0, first)
        return [w.bind("or", w.bind("ne", first, zero), w.bind("ne", second, zero))]
    return [converted(first)]


@rule("iota")
def iota(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Real numbers."""
    (out,) = eqn.outputs
    part = part_of(out.aval.dtype)
    own = {name: v for name, v in eqn.params if name not in ("shape", "dtype")}
    first = w.bind("iota", shape=out.aval.shape, dtype=part, **own)
    return [Pair(first, w.number(0.0, first))]
