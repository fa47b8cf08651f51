"""The CPU instructions that exported code uses, and a test for them. For x86-64:
elsewhere the code keeps to what every processor of its kind has.

Serves: artefact.cpu
"""

from __future__ import annotations

import platform
from itertools import accumulate
from operator import add
from textwrap import dedent

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir_numba.runtime.mcjit import processor

# What the system keeps for a thread, in bits of the register XCR0.
_VECTORS, _WIDE = 0x6, 0xE6


@dataclass(frozen=True, slots=True)
class Instruction:
    """A set of instructions: its bit in a register of `cpuid`, by the manuals of Intel
    and AMD, and what the system must keep for it.
    """

    leaf: int
    register: int  # eax, ebx, ecx, edx
    bit: int
    state: int = 0


_EBX, _ECX = 1, 2
EXTENDED = 0x80000001
INSTRUCTIONS = {
    "sse3": Instruction(1, _ECX, 0),
    "ssse3": Instruction(1, _ECX, 9),
    "fma": Instruction(1, _ECX, 12, _VECTORS),
    "sse4.1": Instruction(1, _ECX, 19),
    "sse4.2": Instruction(1, _ECX, 20),
    "popcnt": Instruction(1, _ECX, 23),
    "avx": Instruction(1, _ECX, 28, _VECTORS),
    "f16c": Instruction(1, _ECX, 29, _VECTORS),
    "bmi": Instruction(7, _EBX, 3),
    "avx2": Instruction(7, _EBX, 5, _VECTORS),
    "bmi2": Instruction(7, _EBX, 8),
    "avx512f": Instruction(7, _EBX, 16, _WIDE),
    "avx512dq": Instruction(7, _EBX, 17, _WIDE),
    "avx512cd": Instruction(7, _EBX, 28, _WIDE),
    "avx512bw": Instruction(7, _EBX, 30, _WIDE),
    "avx512vl": Instruction(7, _EBX, 31, _WIDE),
    "avx512vbmi": Instruction(7, _ECX, 1, _WIDE),
    "lzcnt": Instruction(EXTENDED, _ECX, 5),
}
# The levels of processors that the ABI of x86-64 names, by what each adds.
_ADDED: dict[str, tuple[str, ...]] = {
    "x86-64": (),
    "x86-64-v2": ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"),
    "x86-64-v3": ("fma", "avx", "f16c", "bmi", "avx2", "bmi2", "lzcnt"),
    "x86-64-v4": ("avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"),
}
LEVELS: dict[str, tuple[str, ...]] = dict(
    zip(_ADDED, accumulate(_ADDED.values(), add), strict=True)
)
NATIVE = "native"
# Attributes of a function that runs on every processor of its kind.
_PLAIN = '"target-cpu"="x86-64" "target-features"="+sse2"'


def is_known() -> bool:
    """True if this machine's processors can be asked for their instructions."""
    return platform.machine().lower() in ("x86_64", "amd64")


def plain() -> str:
    """Attributes of functions that run before the processor is known."""
    return _PLAIN if is_known() else ""


def instructions_of(cpu: str) -> tuple[str, ...]:
    """The sets of instructions that code for some processors may use.

    Raises ValueError (artefact.cpu).
    """
    if cpu == NATIVE:
        return own()
    levels = LEVELS if is_known() else {}
    if cpu not in levels:
        got = f"{cpu!r}; there are {', '.join((NATIVE, *levels))}"
        raise rules.error("artefact.cpu", got=got)
    return levels[cpu]


def own() -> tuple[str, ...]:
    """The sets of instructions of this processor that exported code may use."""
    if not is_known():
        return ()
    have = set(processor()[1].split(","))
    return tuple(name for name in INSTRUCTIONS if f"+{name}" in have)


def missing_text(symbol: str, names: tuple[str, ...]) -> str:
    """LLVM text of a function that says which instructions the processor lacks.

    Bit k of its result stands for the k-th of `names`.
    """
    if not names:
        return f"define i64 @{symbol}() {{\n  ret i64 0\n}}\n"
    lines = []
    for k, name in enumerate(names):
        one = INSTRUCTIONS[name]
        leaf = {1: "one", 7: "seven", EXTENDED: "extended"}[one.leaf]
        lines += [
            f"%word{k} = extractvalue {{i32, i32, i32, i32}} %{leaf}, {one.register}",
            f"%there{k} = select i1 %has_{leaf}, i32 %word{k}, i32 0",
            f"%bit{k} = and i32 %there{k}, {1 << one.bit}",
            f"%set{k} = icmp ne i32 %bit{k}, 0",
            f"%kept{k} = and i32 %state, {one.state}",
            f"%keeps{k} = icmp eq i32 %kept{k}, {one.state}",
            f"%both{k} = and i1 %set{k}, %keeps{k}",
            f"%lack{k} = select i1 %both{k}, i64 0, i64 {1 << k}",
            f"%sum{k} = or i64 {f'%sum{k - 1}' if k else 0}, %lack{k}",
        ]
    body = "\n  ".join(lines)
    last = f"%sum{len(names) - 1}"
    return dedent(_TEXT).format(symbol=symbol, plain=_PLAIN, body=body, last=last)


# Only where the system says that it keeps some registers may one ask which.
_TEXT = """
define internal {{i32, i32, i32, i32}} @cpuid(i32 %leaf) {plain} {{
  %r = call {{i32, i32, i32, i32}} asm sideeffect "cpuid",
    "={{ax}},={{bx}},={{cx}},={{dx}},{{ax}},{{cx}},~{{dirflag}},~{{fpsr}},~{{flags}}"
    (i32 %leaf, i32 0)
  ret {{i32, i32, i32, i32}} %r
}}
define i64 @{symbol}() {plain} {{
entry:
  %zero = call {{i32, i32, i32, i32}} @cpuid(i32 0)
  %most = extractvalue {{i32, i32, i32, i32}} %zero, 0
  %one = call {{i32, i32, i32, i32}} @cpuid(i32 1)
  %seven = call {{i32, i32, i32, i32}} @cpuid(i32 7)
  %further = call {{i32, i32, i32, i32}} @cpuid(i32 -2147483648)
  %farthest = extractvalue {{i32, i32, i32, i32}} %further, 0
  %extended = call {{i32, i32, i32, i32}} @cpuid(i32 -2147483647)
  %has_one = icmp uge i32 %most, 1
  %has_seven = icmp uge i32 %most, 7
  %has_extended = icmp uge i32 %farthest, -2147483647
  %words = extractvalue {{i32, i32, i32, i32}} %one, 2
  %osxsave = and i32 %words, 134217728
  %asks = icmp ne i32 %osxsave, 0
  br i1 %asks, label %ask, label %rest
ask:
  %xcr0 = call {{i32, i32}} asm sideeffect "xgetbv", "={{ax}},={{dx}},{{cx}}"(i32 0)
  %low = extractvalue {{i32, i32}} %xcr0, 0
  br label %rest
rest:
  %state = phi i32 [0, %entry], [%low, %ask]
  {body}
  ret i64 {last}
}}
"""
