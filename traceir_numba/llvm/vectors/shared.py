"""Elements that several vectors have in common, read once, in LLVM text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from traceir_numba.llvm.vectors.ir_text import SIZES, bytes_of

# Numbers of fewer bits take several instructions to be moved between registers.
LEAST_BITS = 32


class PastRead(NamedTuple):
    """A read of a vector some elements past an index: its line, its name, where."""

    past: int
    line: int
    name: str
    pointer: str


def runs(reads: Iterable[PastRead], most: int) -> list[list[PastRead]]:
    """Reads that begin within so many elements of each other, where there are several.

    >>> reads = [PastRead(past, 0, "%x", "%p") for past in (0, 20, 2, 40)]
    >>> [[read.past for read in run] for run in runs(reads, 16)]
    [[0, 2]]
    """
    found: list[list[PastRead]] = []
    for read in sorted(reads):
        if not found or read.past - found[-1][0].past > most:
            found.append([])
        found[-1].append(read)
    return [run for run in found if run[-1].past > run[0].past]


def shared_read(
    kind: str, lanes: int, most: int, run: Sequence[PastRead]
) -> dict[int, str]:
    """The lines of reads that begin close to each other, whose elements are read once.

    A register holds `most` of them. All are read up to the last one, in the vector that
    begins first and a register that ends with the last.
    """
    first, end = run[0].past, run[-1].past - run[0].past
    above = min(run, key=lambda read: read.line)
    name, t, rest = above.name, f"<{lanes} x {kind}>", lanes + end - most
    last, size = f"<{most} x {kind}>", bytes_of(kind)
    at = f"getelementptr inbounds {kind}, ptr"
    every = ", ".join(f"i32 {k}" if k < most else "i32 poison" for k in range(lanes))
    lines = {}
    for read in run:
        past = range(read.past - first, read.past - first + lanes)
        places = ", ".join(f"i32 {k if k < lanes else lanes + k - rest}" for k in past)
        text = f"shufflevector {t} {name}.x, {t} {name}.z, <{lanes} x i32> <{places}>"
        lines[read.line] = f"{read.name} = {text}"
    before = [
        f"{name}.first = {at} {above.pointer}, i64 {first - above.past}",
        f"{name}.last = {at} {name}.first, i64 {rest}",
        f"{name}.x = load {t}, ptr {name}.first, align {size}",
        f"{name}.y = load {last}, ptr {name}.last, align {size}",
        f"{name}.z = shufflevector {last} {name}.y, {last} poison, "
        f"<{lanes} x i32> <{every}>",
    ]
    lines[above.line] = "\n".join([*before, lines[above.line]])
    return lines


def share(
    out: list[str],
    reads: Mapping[tuple[str, str, str], Iterable[PastRead]],
    lanes: int,
    bits: int,
) -> None:
    """Take elements that lie a few past others' out of the same registers of so many
    bits.

    `reads` are those of one array and type past one index, and lines of `out`.
    """
    for (_, kind, _), every in reads.items():
        most = bits // SIZES[kind]
        if SIZES[kind] < LEAST_BITS or lanes < most:
            continue
        for run in runs(every, most):
            for line, text in shared_read(kind, lanes, most, run).items():
                out[line] = text
