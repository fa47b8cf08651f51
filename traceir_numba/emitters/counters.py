"""Random bits: a hash of counters, in the loop that uses them. Serves: threefry2x32

The hash is a function of four words that gives both results as one of 64 bits. Each of
them is an equation of its own. Where a loop uses both, the compiler sees that it is one
evaluation, and that nothing has to be packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

from traceir.ir import ClosedJaxpr, Eqn, Jaxpr, Var, sort_params
from traceir.rules.threefry import INJECTIONS, PARITY, ROTATIONS
from traceir_numba.emitters.entry import Expression, Scalar, register
from traceir_numba.functions import TEMPLATES, Function, scalar

WORDS = 4


def word(e: Expression, *words: str) -> str:
    """The first or the second result, by the param `part`."""
    both = e.call("threefry2x32", *words)
    return f"u32({both} >> u64(32))" if e.params["part"] == 0 else f"u32({both})"


def parts(eqn: Eqn) -> ClosedJaxpr | None:
    """An equation for each of two results; None for one of these."""
    if len(eqn.outputs) == 1:
        return None
    operands = tuple(Var(x.aval) for x in eqn.inputs)
    results = tuple(Var(x.aval) for x in eqn.outputs)
    made = (
        Eqn(eqn.primitive, operands, (v,), sort_params({"part": k}), source=eqn.source)
        for k, v in enumerate(results)
    )
    return ClosedJaxpr(Jaxpr((), operands, tuple(made), results))


# Twenty rounds of five operations, and the key.
register("threefry2x32", Scalar(word, cost=120, otherwise=parts))


def _rotated(name: str) -> Function:
    """Bits moved up, those that leave at the top coming back below."""
    text = f"""
    def {name}(x, by):
        return u32((x << by) | (x >> u32(32 - by)))
    """
    return scalar(name, "uint32", 2, text)


def _threefry2x32(name: str) -> Function:
    """Both words of the hash as one number, the first above the second."""
    rounds = indent("\n".join(_rounds()), "    ")
    text = f"""def {name}(k0, k1, x, y):
    k2 = u32(k0 ^ k1 ^ u32({PARITY:#x}))
    x = u32(x + k0)
    y = u32(y + k1)
{rounds}
    return u64((u64(x) << u64(32)) | u64(y))"""
    return Function(name, ("uint32",) * WORDS, "uint64", text, ("rotated_word",))


def _rounds() -> Iterator[str]:
    for number in range(1, INJECTIONS + 1):
        for by in ROTATIONS[(number - 1) % 2]:
            yield "x = u32(x + y)"
            yield f"y = u32(x ^ rotated_word(y, u32({by})))"
        yield f"x = u32(x + k{number % 3})"
        yield f"y = u32(y + k{(number + 1) % 3} + u32({number}))"


TEMPLATES.update(rotated_word=_rotated, threefry2x32=_threefry2x32)
