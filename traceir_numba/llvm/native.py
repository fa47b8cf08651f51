"""Functions of generated code that this processor has an instruction for.

Their texts are replaced on this machine alone: exported code, which may run on another
one, keeps what every processor can do. The bits are the same.

Serves: accuracy.rounded
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from traceir_numba.runtime.mcjit import processor

# The instruction reads subnormal numbers, infinities and signs as they are; a NaN that
# signals is quiet then, as after any operation.
_FLOAT16_VALUE = """
define float @traceir_function_float16_value(i16 %a0) nounwind {
b:
%r1 = bitcast i16 %a0 to half
%r2 = fpext half %r1 to float
ret float %r2
}
"""
# It rounds ties to even, and to infinity from halfway beyond the greatest number on. Of
# a NaN only the sign stays.
_FLOAT16_BITS = """
define i16 @traceir_function_float16_bits_f32(float %a0) nounwind {
b:
%r1 = fptrunc float %a0 to half
%r2 = bitcast half %r1 to i16
%r3 = and i16 %r2, -32768
%r4 = or i16 %r3, 32256
%r5 = fcmp oeq float %a0, %a0
%r6 = select i1 %r5, i16 %r2, i16 %r4
ret i16 %r6
}
"""
_HALVES = {"float16_value": _FLOAT16_VALUE, "float16_bits_f32": _FLOAT16_BITS}
# By the set of instructions that each needs.
NATIVE = {
    "+f16c": {
        f"@traceir_function_{name}(": text.strip() for name, text in _HALVES.items()
    }
}


def native(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts of functions, those that are an instruction here as that instruction."""
    own = _own()
    return tuple(own.get(_defined(text), text) for text in texts)


@cache
def _own() -> dict[str, str]:
    have = processor()[1].split(",")
    found = [known for name, known in NATIVE.items() if name in have]
    return {symbol: text for known in found for symbol, text in known.items()}


def _defined(text: str) -> str:
    """The name of the function that a text defines, as it is called."""
    head = text[text.find("define ") :].partition("(")[0]
    return head[head.find("@") :] + "("
