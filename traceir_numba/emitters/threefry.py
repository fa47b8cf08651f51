"""Random bits: the hash of a counter in the loop that uses it. Serves: threefry2x32

The hash is a function of four words that gives both results as one number of 64 bits,
of which two more equations take them. The compiler sees that nothing has to be packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import indent

import numpy as np

from traceir.exact.threefry import INJECTIONS, PARITY, ROTATIONS
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, sort_params
from traceir_numba.device_functions import TEMPLATES, DeviceFunction, scalar
from traceir_numba.emitters.decompositions import constant, params_of
from traceir_numba.emitters.kinds import Elementwise, ExpressionContext, register

WORDS = 4
BITS = 32
WORD, LONG = np.dtype("uint32"), np.dtype("uint64")


def both(e: ExpressionContext, *words: str) -> str:
    """The results as one number, of an equation that has been made for that."""
    return e.call("threefry2x32", *words)


def parts(eqn: Eqn) -> ClosedJaxpr | None:
    """Both results of one evaluation; None for the evaluation."""
    if len(eqn.outputs) == 1:
        return None
    operands = tuple(Var(x.aval) for x in eqn.inputs)
    results = tuple(Var(x.aval) for x in eqn.outputs)
    hashed, moved = (Var(results[0].aval.update(dtype=LONG)) for _ in range(2))
    shift = constant(BITS, LONG)
    word = params_of("convert_element_type", results[0].aval, {})
    made = (
        Eqn("threefry2x32", operands, (hashed,), sort_params({"joined": True})),
        Eqn("shift_right_logical", (hashed, shift), (moved,), ()),
        Eqn("convert_element_type", (moved,), results[:1], word),
        Eqn("convert_element_type", (hashed,), results[1:], word),
    )
    eqns = tuple(replace(one, source=eqn.source) for one in made)
    return ClosedJaxpr(Jaxpr((), operands, eqns, results))


# Twenty rounds of five operations, and the key.
register("threefry2x32", Elementwise(both, decompose=parts))


def _rotated(name: str) -> DeviceFunction:
    """Bits moved up, those that leave at the top coming back below."""
    text = f"""
    def {name}(x, by):
        return u32((x << by) | (x >> u32(32 - by)))
    """
    return scalar(name, "uint32", 2, text)


def _threefry2x32(name: str) -> DeviceFunction:
    """Both words of the hash as one number, the first above the second."""
    rounds = indent("\n".join(_rounds()), "    ")
    text = f"""def {name}(k0, k1, x, y):
    k2 = u32(k0 ^ k1 ^ u32({PARITY:#x}))
    x = u32(x + k0)
    y = u32(y + k1)
{rounds}
    return u64((u64(x) << u64(32)) | u64(y))"""
    return DeviceFunction(name, ("uint32",) * WORDS, "uint64", text, ("rotated_word",))


def _rounds() -> Iterator[str]:
    for number in range(1, INJECTIONS + 1):
        for by in ROTATIONS[(number - 1) % 2]:
            yield "x = u32(x + y)"
            yield f"y = u32(x ^ rotated_word(y, u32({by})))"
        yield f"x = u32(x + k{number % 3})"
        # What is the same for all words stands by itself.
        yield f"y = u32(y + u32(k{(number + 1) % 3} + u32({number})))"


TEMPLATES.update(rotated_word=_rotated, threefry2x32=_threefry2x32)
