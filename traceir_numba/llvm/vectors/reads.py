"""Elements that do not lie side by side, as vectors, in LLVM text."""

from __future__ import annotations

from typing import NamedTuple

from traceir_numba.llvm.vectors.ir_text import SHORT, bytes_of

# How far apart elements are at most that are read with what lies between them.
LONGEST_STEP = 4
# In the place of a step: elements may be anywhere.
ANYWHERE = -1


class VectorRead(NamedTuple):
    """The instructions before a read, its own, and what it declares."""

    before: list[str]
    text: str
    declared: str


def apart(
    name: str, kind: str, lanes: int, mask: str | None, at: str, step: int
) -> VectorRead:
    """Every second element, or third, from one on, taken out of a vector of all.

    Only these are read: the last one may be the last of its array. `name` begins the
    names of what is computed.
    """
    count = step * lanes
    wide, truths, own = f"<{count} x {kind}>", f"<{count} x i1>", f"<{lanes} x i1>"
    symbol = f"llvm.masked.load.v{count}{SHORT.get(kind, kind)}.p0"
    every = ", ".join(f"i1 {int(k % step == 0)}" for k in range(count))
    read, before = f"<{every}>", []
    if mask is not None:
        numbers = ", ".join(f"i32 {k // step}" for k in range(count))
        before = [
            f"{name}.all = shufflevector {own} {mask}, {own} poison, "
            f"<{count} x i32> <{numbers}>",
            f"{name}.mask = and {truths} {name}.all, <{every}>",
        ]
        read = f"{name}.mask"
    given = f"ptr {at}, i32 {bytes_of(kind)}, {truths} {read}, {wide} zeroinitializer"
    before.append(f"{name}.near = call {wide} @{symbol}({given})")
    places = ", ".join(f"i32 {step * k}" for k in range(lanes))
    text = f"shufflevector {wide} {name}.near, {wide} poison, <{lanes} x i32>"
    declared = f"declare {wide} @{symbol}(ptr, i32, {truths}, {wide})"
    return VectorRead(before, f"{text} <{places}>", declared)


def anywhere(
    name: str, kind: str, lanes: int, mask: str | None, base: str, places: str
) -> VectorRead:
    """Elements of an array at places that a vector of numbers tells."""
    t, truths = f"<{lanes} x {kind}>", f"<{lanes} x i1>"
    pointers, numbers = f"<{lanes} x ptr>", f"<{lanes} x i64>"
    at = f"getelementptr inbounds {kind}, ptr {base}, {numbers} {places}"
    symbol = f"llvm.masked.gather.v{lanes}{SHORT.get(kind, kind)}.v{lanes}p0"
    given = f"{pointers} {name}.at, i32 {bytes_of(kind)}, "
    given += f"{truths} {mask or 'splat (i1 true)'}, {t} zeroinitializer"
    declared = f"declare {t} @{symbol}({pointers}, i32, {truths}, {t})"
    text = f"call {t} @{symbol}({given})"
    return VectorRead([f"{name}.at = {at}"], text, declared)
