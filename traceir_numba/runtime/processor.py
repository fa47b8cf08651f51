"""The processor's own words about itself, which tell stored code apart.

LLVM chooses instructions by them; to ask LLVM would load it, which a process that
compiles nothing does not need.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from traceir_numba.runtime import elf

# `void words(uint32_t leaf, uint32_t subleaf, uint32_t *out)`: the instruction cpuid.
_CPUID = bytes.fromhex(
    "53"  # push rbx
    "4989d0"  # mov r8, rdx
    "89f8 89f1"  # mov eax, edi; mov ecx, esi
    "0fa2"  # cpuid
    "418900 41895804 41894808 4189500c"  # mov [r8 + 4 k], eax, ebx, ecx, edx
    "5b c3"  # pop rbx; ret
)
# `uint64_t states(void)`: which registers the system saves, the instruction xgetbv.
_XGETBV = bytes.fromhex(
    "31c9"  # xor ecx, ecx
    "0f01d0"  # xgetbv
    "48c1e220 4809d0"  # shl rdx, 32; or rax, rdx
    "c3"  # ret
)
# Leaves and subleaves that name a processor or its instructions, and which of the four
# registers do so: others differ between cores.
_LEAVES = {
    (0x0, 0): "abcd",
    (0x1, 0): "acd",
    (0x7, 0): "bcd",
    (0x7, 1): "abcd",
    (0xD, 1): "a",
    (0x14, 0): "b",
    (0x19, 0): "b",
    (0x1E, 1): "a",
    (0x24, 0): "b",
    (0x80000001, 0): "cd",
    (0x80000008, 0): "b",
}
_EXTENDED = 0x80000000
_SAVES_STATES = 1 << 27  # in the register c of leaf 1


@cache
def instructions() -> str:
    """Words that are the same for two processors that run the same code.

    >>> instructions() == instructions() != ""
    True
    """
    if not elf.is_loaded_here():
        from traceir_numba.runtime import mcjit  # which is loaded there anyway

        return " ".join((mcjit.triple(), *mcjit.processor()))
    return " ".join(("linux", "x86_64", *_answers()))


def _answers() -> list[str]:
    """The processor's answers, as words."""
    code = elf.CodeMemory(len(_CPUID + _XGETBV))
    code.fill(np.frombuffer(_CPUID + _XGETBV, np.uint8), code.size)
    ask = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
    cpuid = ask(code.address)
    states = ctypes.CFUNCTYPE(ctypes.c_uint64)(code.address + len(_CPUID))
    out = (ctypes.c_uint32 * 4)()
    found: list[str] = []
    most: dict[int, int] = {}
    for first in (0, _EXTENDED):
        cpuid(first, 0, out)
        most[first] = out[0]
    for (leaf, subleaf), registers in _LEAVES.items():
        if leaf > most[leaf & _EXTENDED]:
            continue
        cpuid(leaf, subleaf, out)
        found += [f"{out['abcd'.index(name)]:x}" for name in registers]
        if leaf == 1 and out[2] & _SAVES_STATES:
            found.append(f"{states():x}")
    code.free()
    return found
