"""Microkernels as LLVM text: tiles of the result in registers.

Serves: choice.dot-order
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from textwrap import indent

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir_numba.runtime.mcjit import processor


@dataclass(frozen=True, slots=True)
class RegisterTile:
    """The part of a product that stays in registers: its rows, and vectors a row."""

    dtype: str
    kind: str  # LLVM's name of an element
    lanes: int
    rows: int
    vectors: int

    @property
    def columns(self) -> int:
        """The elements of one of its rows."""
        return self.lanes * self.vectors

    @property
    def floats(self) -> bool:
        """True if elements are floating numbers."""
        return self.kind in ("float", "double")


@cache
def tile_of(dtype: str, have: tuple[str, ...] | None = None) -> RegisterTile:
    """The tile for a processor's registers, by the sets of instructions that it has.

    Those of this one if none are given.
    """
    size = np.dtype(dtype).itemsize
    kind = {"float32": "float", "float64": "double"}.get(dtype, f"i{8 * size}")
    if have is None:
        have = tuple(name.removeprefix("+") for name in processor()[1].split(","))
    if "avx512f" in have and (size >= 4 or "avx512bw" in have):
        return RegisterTile(dtype, kind, 64 // size, 8, 2)
    if "avx2" in have:  # sixteen registers
        return RegisterTile(dtype, kind, 32 // size, 4, 3)
    return RegisterTile(dtype, kind, 16 // size, 8, 2)


def broad_tile(t: RegisterTile) -> RegisterTile:
    """The tile of one row, of several of a tile's: its sums need not wait for another.

    A processor begins some eight before the first one is there.
    """
    return replace(t, rows=1, vectors=t.vectors * -(-8 // t.vectors))


# -- in registers ---------------------------------------------------------------------


def tile_text(t: RegisterTile, name: str, listed: bool = False) -> str:
    """LLVM text: a tile of x y, stored or added to memory.

    Of an x that is laid out, and a y with steps from row to row; or, if `listed`, of
    an x with a list of where its lines are, and lists of the steps of both.
    """
    vector = f"<{t.lanes} x {t.kind}>"
    places = [(r, v) for r in range(t.rows) for v in range(t.vectors)]
    loop = [
        "%i = phi i64 [0, %entry], [%i_next, %loop]",
        *(() if listed else FOLLOWED),
    ]
    for r, v in places:
        zero = "zeroinitializer, %entry"
        loop.append(f"%old_{r}_{v} = phi {vector} [{zero}], [%new_{r}_{v}, %loop]")
    loop += _listed(t) if listed else []
    for v in range(t.vectors):
        loop += _load(t, f"y_{v}", "%at_y", v * t.lanes)
    for r in range(t.rows):
        line = f"ptr %line_{r}, i64 %x_step" if listed else f"ptr %at_x, i64 {r}"
        loop += [
            f"%p_{r} = getelementptr {t.kind}, {line}",
            f"%e_{r} = load {t.kind}, ptr %p_{r}",
            f"%s_{r} = insertelement {vector} poison, {t.kind} %e_{r}, i64 0",
            f"%x_{r} = shufflevector {vector} %s_{r}, {vector} poison, "
            f"<{t.lanes} x i32> zeroinitializer",
        ]
        for v in range(t.vectors):
            loop += _multiply_add(t, f"{r}_{v}", f"%x_{r}", f"%y_{v}")
    if not listed:
        loop += [
            f"%x_next = getelementptr {t.kind}, ptr %at_x, i64 {t.rows}",
            f"%y_next = getelementptr {t.kind}, ptr %at_y, i64 %y_row",
        ]
    loop += [
        "%i_next = add i64 %i, 1",
        "%more = icmp slt i64 %i_next, %count",
        "br i1 %more, label %loop, label %end",
    ]
    args = "ptr noalias %x, ptr noalias %y, ptr noalias %z"
    lists = "ptr noalias %lines, ptr noalias %x_steps, ptr noalias %y_steps, i64 %count"
    args += f", {lists}" if listed else ", i64 %count, i64 %y_row"
    blocks = {
        "entry": [*_prefetch(t), *(_lines(t) if listed else []), "br label %loop"],
        "loop": loop,
        "end": ["%is = icmp ne i64 %add, 0", "br i1 %is, label %sum, label %put"],
        "put": [*_leave(t, "put"), "ret void"],
        "sum": [*_leave(t, "sum"), "ret void"],
    }
    return _declared(t) + define(name, f"{args}, i64 %z_row, i64 %add", blocks)


# Where a tile reads in each round, if one round's place follows another's.
FOLLOWED = (
    "%at_x = phi ptr [%x, %entry], [%x_next, %loop]",
    "%at_y = phi ptr [%y, %entry], [%y_next, %loop]",
)


def _listed(t: RegisterTile) -> list[str]:
    """The offsets that a tile reads in each round, if they are listed."""
    return [
        "%at_x_step = getelementptr i64, ptr %x_steps, i64 %i",
        "%x_step = load i64, ptr %at_x_step",
        "%at_y_step = getelementptr i64, ptr %y_steps, i64 %i",
        "%y_step = load i64, ptr %at_y_step",
        f"%at_y = getelementptr {t.kind}, ptr %y, i64 %y_step",
    ]


def _lines(t: RegisterTile) -> list[str]:
    """Lines of text for the beginnings of the lines that are listed."""
    found = []
    for r in range(t.rows):
        found += [
            f"%at_line_{r} = getelementptr i64, ptr %lines, i64 {r}",
            f"%far_{r} = load i64, ptr %at_line_{r}",
            f"%line_{r} = getelementptr {t.kind}, ptr %x, i64 %far_{r}",
        ]
    return found


def _declared(t: RegisterTile) -> str:
    vector = f"<{t.lanes} x {t.kind}>"
    found = "declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)\n"
    if t.floats:
        found += f"declare {vector} @{_fma(t)}({vector}, {vector}, {vector})\n"
    return found


def _prefetch(t: RegisterTile) -> list[str]:
    """Lines that ask for the memory of the tile, which takes as long as its sums."""
    lines = []
    for r, v in ((r, v) for r in range(t.rows) for v in range(t.vectors)):
        if v == 0:
            lines.append(f"%fetch_{r} = mul i64 %z_row, {r}")
        place = f"fetch_{r}_{v}"
        lines += [
            f"%{place}_at = add i64 %fetch_{r}, {v * t.lanes}",
            f"%{place} = getelementptr {t.kind}, ptr %z, i64 %{place}_at",
            f"call void @llvm.prefetch.p0(ptr %{place}, i32 1, i32 3, i32 1)",
        ]
    return lines


def _fma(t: RegisterTile) -> str:
    return f"llvm.fma.v{t.lanes}f{8 * np.dtype(t.dtype).itemsize}"


def _multiply_add(t: RegisterTile, place: str, x: str, y: str) -> list[str]:
    vector = f"<{t.lanes} x {t.kind}>"
    if t.floats:
        args = f"{vector} {x}, {vector} {y}, {vector} %old_{place}"
        return [f"%new_{place} = call {vector} @{_fma(t)}({args})"]
    return [
        f"%term_{place} = mul {vector} {x}, {y}",
        f"%new_{place} = add {vector} %old_{place}, %term_{place}",
    ]


def _load(t: RegisterTile, name: str, pointer: str, offset: int) -> list[str]:
    """Lines that load a vector that lies anywhere."""
    size = np.dtype(t.dtype).itemsize
    return [
        f"%at_{name} = getelementptr {t.kind}, ptr {pointer}, i64 {offset}",
        f"%{name} = load <{t.lanes} x {t.kind}>, ptr %at_{name}, align {size}",
    ]


def _leave(t: RegisterTile, how: str) -> list[str]:
    """Lines that store the tile, after adding memory in a `sum`."""
    vector, size = f"<{t.lanes} x {t.kind}>", np.dtype(t.dtype).itemsize
    lines = []
    for r, v in ((r, v) for r in range(t.rows) for v in range(t.vectors)):
        place, value = f"{how}_{r}_{v}", f"%new_{r}_{v}"
        if v == 0:
            lines += [
                f"%{how}_row_{r} = mul i64 %z_row, {r}",
                f"%{how}_z_{r} = getelementptr {t.kind}, ptr %z, i64 %{how}_row_{r}",
            ]
        at = f"%at_{place}"
        lines.append(
            f"{at} = getelementptr {t.kind}, ptr %{how}_z_{r}, i64 {v * t.lanes}"
        )
        if how == "sum":
            lines += [
                f"%{place} = load {vector}, ptr {at}, align {size}",
                f"%all_{place} = {_add(t)} {vector} %{place}, {value}",
            ]
            value = f"%all_{place}"
        lines.append(f"store {vector} {value}, ptr {at}, align {size}")
    return lines


def _add(t: RegisterTile) -> str:
    return "fadd" if t.floats else "add"


def define(name: str, args: str, blocks: dict[str, list[str]]) -> str:
    """The LLVM text of a function without a result, from blocks by label."""
    body = "\n".join(
        f"{label}:\n{indent(chr(10).join(lines), '  ')}"
        for label, lines in blocks.items()
    )
    return f"define void @{name}({args}) nounwind {{\n{body}\n}}\n"


# -- parts of tiles -------------------------------------------------------------------


def masked(lanes: int, kind: str) -> str:
    """The declarations of loads and stores of some lanes."""
    vector, bits = f"<{lanes} x {kind}>", f"<{lanes} x i1>"
    return (
        f"declare {vector} @llvm.masked.load.{suffix_of(lanes, kind)}"
        f"(ptr, i32 immarg, {bits}, {vector})\n"
        f"declare void @llvm.masked.store.{suffix_of(lanes, kind)}"
        f"({vector}, ptr, i32 immarg, {bits})\n"
    )


def suffix_of(lanes: int, kind: str) -> str:
    """The suffix that LLVM adds to a function's name for a type of vectors."""
    short = {"float": "f32", "double": "f64"}.get(kind, kind)
    return f"v{lanes}{short}.p0"


def lanes_below(name: str, lanes: int, count: str, offset: int = 0) -> list[str]:
    """Lines for the mask of the lanes below a count, the first one being `offset`."""
    numbers = ", ".join(f"i64 {offset + k}" for k in range(lanes))
    vector = f"<{lanes} x i64>"
    return [
        f"%{name}_one = insertelement {vector} poison, i64 {count}, i64 0",
        f"%{name}_all = shufflevector {vector} %{name}_one, {vector} poison, "
        f"<{lanes} x i32> zeroinitializer",
        f"%{name} = icmp slt {vector} <{numbers}>, %{name}_all",
    ]


def part_text(t: RegisterTile, name: str) -> str:
    """LLVM text: the first rows and columns of a tile in memory, put or added."""
    vector, bits = f"<{t.lanes} x {t.kind}>", f"<{t.lanes} x i1>"
    suffix, size = suffix_of(t.lanes, t.kind), np.dtype(t.dtype).itemsize
    entry = ["%is = icmp ne i64 %add, 0"]
    loop = [
        "%r = phi i64 [0, %entry], [%next, %loop]",
        f"%own_row = mul i64 %r, {t.columns}",
        "%z_at = mul i64 %r, %z_row",
    ]
    for v in range(t.vectors):
        entry += [
            *lanes_below(f"mask_{v}", t.lanes, "%wide", v * t.lanes),
            f"%read_{v} = select i1 %is, {bits} %mask_{v}, {bits} zeroinitializer",
        ]
        old = f"ptr %z_{v}, i32 {size}, {bits} %read_{v}, {vector} zeroinitializer"
        new = f"{vector} %all_{v}, ptr %z_{v}, i32 {size}, {bits} %mask_{v}"
        loop += [
            f"%own_at_{v} = add i64 %own_row, {v * t.lanes}",
            f"%tile_{v} = getelementptr {t.kind}, ptr %tile, i64 %own_at_{v}",
            f"%own_{v} = load {vector}, ptr %tile_{v}, align {size}",
            f"%z_at_{v} = add i64 %z_at, {v * t.lanes}",
            f"%z_{v} = getelementptr {t.kind}, ptr %z, i64 %z_at_{v}",
            f"%old_{v} = call {vector} @llvm.masked.load.{suffix}({old})",
            f"%sum_{v} = {_add(t)} {vector} %old_{v}, %own_{v}",
            # To add nothing would make a zero of -0.
            f"%all_{v} = select i1 %is, {vector} %sum_{v}, {vector} %own_{v}",
            f"call void @llvm.masked.store.{suffix}({new})",
        ]
    loop += [
        "%next = add i64 %r, 1",
        "%more = icmp slt i64 %next, %tall",
        "br i1 %more, label %loop, label %end",
    ]
    args = "ptr noalias %tile, ptr noalias %z, i64 %z_row, i64 %add"
    blocks = {
        "entry": [*entry, "br label %loop"],
        "loop": loop,
        "end": ["ret void"],
    }
    head = masked(t.lanes, t.kind)
    return head + define(name, f"{args}, i64 %tall, i64 %wide", blocks)
