"""LLVM text of our own in its parts: functions, blocks, instructions."""

from __future__ import annotations

import re

from traceir.base.fast_dataclass import dataclass

_DEFINE = re.compile(r"define (\S+) @(\S+?)\((.*)\) nounwind (.*)\{$")
LINE = re.compile(r"(?:(%\S+) = )?(\w+) (.*)")
COMPARE = re.compile(r"(\w+) (\S+) (\S+), (\S+)")

_INTEGERS = {f"i{bits}": bits for bits in (1, 8, 16, 32, 64)}
SIZES = {**_INTEGERS, "half": 16, "float": 32, "double": 64}
SHORT = {"half": "f16", "float": "f32", "double": "f64"}
# What a processor computes for each lane alone, whatever is in the others.
INTRINSICS = frozenset(
    ("fma", "fabs", "sqrt", "copysign", "ceil", "floor", "rint", "trunc")
)
OPERATIONS = frozenset(
    (
        *("fadd", "fsub", "fmul", "fdiv", "add", "sub", "mul"),
        *("and", "or", "xor", "shl", "ashr", "lshr"),
    )
)
CASTS = frozenset(
    (
        *("trunc", "sext", "zext", "fpext", "fptrunc", "bitcast"),
        *("fptosi", "fptoui", "sitofp", "uitofp"),
    )
)


class LeftAlone(Exception):
    """Text that stays as it is, for LLVM to make vectors of."""


def bytes_of(kind: str) -> int:
    """The bytes of a number in memory; raises LeftAlone for what is none."""
    if kind not in SIZES:
        raise LeftAlone(kind)
    return max(SIZES[kind] // 8, 1)


def matched(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """The parts of a text; raises LeftAlone for one of another form."""
    found = pattern.fullmatch(text)
    if found is None:
        raise LeftAlone(text)
    return found.groups()


@dataclass(frozen=True, slots=True)
class FunctionText:
    """The text of a function, in its parts; `around` are tables and declarations."""

    around: list[str]
    head: tuple[str, ...]
    blocks: dict[str, list[str]]


def function_text(text: str) -> FunctionText:
    """The parts of a text that defines one function; raises LeftAlone for others."""
    around: list[str] = []
    head: tuple[str, ...] | None = None
    blocks: dict[str, list[str]] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("define "):
            if head is not None:
                raise LeftAlone(line)
            head = matched(_DEFINE, line)
            block: list[str] = []
            for inner in lines:
                if inner == "}":
                    break
                if inner.endswith(":"):
                    block = blocks[inner[:-1]] = []
                else:
                    block.append(inner)
        else:
            around.append(line)
    if head is None:
        raise LeftAlone(text)
    return FunctionText(around, head, blocks)


def spread(name: str, kind: str, number: str, lanes: int) -> list[str]:
    """The vector of that name and type, whose lanes are one number."""
    return [
        f"{name}.0 = insertelement {kind} poison, {number}, i64 0",
        f"{name} = shufflevector {kind} {name}.0, {kind} poison, "
        f"<{lanes} x i32> zeroinitializer",
    ]
