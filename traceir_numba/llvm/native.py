"""Functions of generated code that this processor has an instruction for.

Their texts are replaced on this machine alone: exported code, which may run on another
one, keeps what every processor can do. The bits are the same.

Serves: accuracy.rounded
"""

from __future__ import annotations

import re
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
_FENCE = "%r0 = call float @llvm.arithmetic.fence.f32(float %a0)\n"
_FLOAT16_BITS = f"""
define i16 @traceir_function_float16_bits_f32(float %a0) nounwind {{
b:
{_FENCE}%r1 = fptrunc float %r0 to half
%r2 = bitcast half %r1 to i16
%r3 = and i16 %r2, -32768
%r4 = or i16 %r3, 32256
%r5 = fcmp oeq float %a0, %a0
%r6 = select i1 %r5, i16 %r2, i16 %r4
ret i16 %r6
}}
"""
# The quotient of two numbers as floating ones is less than 2**14 wrong; that of what is
# left, which is exact, at most one. Divisors from 2**62 on are in a number 3 times at
# most.
_QUOTIENT = """
%r1 = icmp eq i64 {y}, 0
%r2 = select i1 %r1, i64 1, i64 {y}
%r3 = uitofp i64 %r2 to double
%r4 = fdiv double 0x3FF0000000000000, %r3
%r5 = uitofp i64 {x} to double
%r6 = fmul double %r5, %r4
%r7 = fcmp ogt double %r6, 0x43EFFFFFFFFFFFFF
%r8 = select i1 %r7, double 0x43EFFFFFFFFFFFFF, double %r6
%r9 = fptoui double %r8 to i64
%r10 = mul i64 %r9, %r2
%r11 = sub i64 {x}, %r10
%r12 = sitofp i64 %r11 to double
%r13 = fmul double %r12, %r4
%r14 = fptosi double %r13 to i64
%r15 = mul i64 %r14, %r2
%r16 = sub i64 %r11, %r15
%r17 = add i64 %r9, %r14
%r18 = icmp slt i64 %r16, 0
%r19 = add i64 %r16, %r2
%r20 = select i1 %r18, i64 %r19, i64 %r16
%r21 = add i64 %r17, -1
%r22 = select i1 %r18, i64 %r21, i64 %r17
%r23 = icmp sge i64 %r20, %r2
%r24 = add i64 %r22, 1
%r25 = select i1 %r23, i64 %r24, i64 %r22
%r26 = icmp uge i64 {x}, %r2
%r27 = sub i64 {x}, %r2
%r28 = select i1 %r26, i64 %r27, i64 {x}
%r29 = icmp uge i64 %r28, %r2
%r30 = sub i64 %r28, %r2
%r31 = select i1 %r29, i64 %r30, i64 %r28
%r32 = icmp uge i64 %r31, %r2
%r33 = select i1 %r26, i64 1, i64 0
%r34 = select i1 %r29, i64 2, i64 %r33
%r35 = select i1 %r32, i64 3, i64 %r34
%r36 = icmp ugt i64 %r2, 4611686018427387903
%r37 = select i1 %r36, i64 %r35, i64 %r25
%r38 = select i1 %r1, i64 -1, i64 %r37
"""
_DIV_U64 = f"""
define i64 @traceir_function_div_u64(i64 %a0, i64 %a1) nounwind {{
b:
{_QUOTIENT.strip().format(x="%a0", y="%a1")}
ret i64 %r38
}}
"""
# By magnitudes; the least number has one, as a number without a sign.
_DIV_I64 = f"""
define i64 @traceir_function_div_i64(i64 %a0, i64 %a1) nounwind {{
b:
%r50 = icmp slt i64 %a0, 0
%r51 = sub i64 0, %a0
%r52 = select i1 %r50, i64 %r51, i64 %a0
%r53 = icmp slt i64 %a1, 0
%r54 = sub i64 0, %a1
%r55 = select i1 %r53, i64 %r54, i64 %a1
{_QUOTIENT.strip().format(x="%r52", y="%r55")}
%r60 = xor i1 %r50, %r53
%r61 = sub i64 0, %r38
%r62 = select i1 %r60, i64 %r61, i64 %r38
%r63 = icmp eq i64 %a1, 0
%r64 = select i1 %r63, i64 -1, i64 %r62
ret i64 %r64
}}
"""
_HALVES = {"float16_value": _FLOAT16_VALUE, "float16_bits_f32": _FLOAT16_BITS}
# By the set of instructions that each needs; and those that are for vectors alone.
NATIVE = {"+f16c": _HALVES}
VECTORS = {"+avx512dq": {"div_u64": _DIV_U64, "div_i64": _DIV_I64}}


_BY_NUMBER = re.compile(r"@traceir_function_(?:div|rem)_[iu]64\(i64 \S+, i64 -?(\d+)\)")


def native(texts: Iterable[str], kernels: Iterable[str] = ()) -> tuple[str, ...]:
    """Texts of functions, those that are an instruction here as that instruction.

    Where they are called in loops over vectors, those of `kernels`, functions that are
    instructions of vectors are these, too.
    """
    vectors = [*kernels]
    own = _own(bool(vectors) and not any(map(_shifts, vectors)))
    return tuple(own.get(_defined(text), text) for text in texts)


def unfenced(text: str) -> str:
    """The text without the fence between two roundings, for kernels without numbers of
    64 bits.

    Of a rounding from 64 bits that changes nothing and the next one LLVM would make
    one, for which there is no instruction. But no loop with a fence becomes vectors.
    """
    before, fence, after = text.partition(_FENCE)
    return before + after.replace("%r0", "%a0") if fence else text


def _shifts(kernel: str) -> bool:
    """True if a kernel divides by a power of two, which LLVM makes a shift."""
    return any(int(n).bit_count() == 1 for n in _BY_NUMBER.findall(kernel))


@cache
def _own(vectors: bool) -> dict[str, str]:
    have = processor()[1].split(",")
    known = [*NATIVE.items(), *(VECTORS.items() if vectors else ())]
    found = [
        {f"@traceir_function_{name}(": text.strip() for name, text in texts.items()}
        for needed, texts in known
        if needed in have
    ]
    return {symbol: text for known in found for symbol, text in known.items()}


def _defined(text: str) -> str:
    """The name of the function that a text defines, as it is called."""
    head = text[text.find("define ") :].partition("(")[0]
    return head[head.find("@") :] + "("
