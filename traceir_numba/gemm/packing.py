"""Packing of operands into the order in which tiles read them.

Serves: choice.dot-order
"""

from __future__ import annotations

import numpy as np

from traceir_numba.gemm.microkernel import (
    RegisterTile,
    define,
    lanes_below,
    masked,
    suffix_of,
)


def contiguous_text(t: RegisterTile, name: str, width: int, part: bool) -> str:
    """LLVM text: rows of so many neighbours, put one behind the other.

    Of a `part` there are fewer, and zeros in place of the others.
    """
    size = np.dtype(t.dtype).itemsize
    vector = f"<{width} x {t.kind}>"
    load = f"load {vector}, ptr %at, align {size}"
    if part:
        mask = f"<{width} x i1> %mask, {vector} zeroinitializer"
        load = f"call {vector} @llvm.masked.load.{suffix_of(width, t.kind)}"
        load += f"(ptr %at, i32 {size}, {mask})"
    loop = [
        "%i = phi i64 [0, %entry], [%i_next, %loop]",
        "%at = phi ptr [%from, %entry], [%next, %loop]",
        "%there = phi ptr [%to, %entry], [%then, %loop]",
        f"%row = {load}",
        f"store {vector} %row, ptr %there, align {size}",
        f"%next = getelementptr {t.kind}, ptr %at, i64 %stride",
        f"%then = getelementptr {t.kind}, ptr %there, i64 {width}",
        "%i_next = add i64 %i, 1",
        "%more = icmp slt i64 %i_next, %count",
        "br i1 %more, label %loop, label %end",
    ]
    args = "ptr noalias %from, ptr noalias %to, i64 %stride, i64 %count, i64 %wide"
    first = lanes_below("mask", width, "%wide") if part else []
    blocks = {"entry": [*first, "br label %loop"], "loop": loop, "end": ["ret void"]}
    return (masked(width, t.kind) if part else "") + define(name, args, blocks)


def gathered_text(t: RegisterTile, name: str, width: int) -> str:
    """LLVM text: the first of so many neighbours of rows that are listed, likewise.

    Nothing is put in place of the others.
    """
    size, suffix = np.dtype(t.dtype).itemsize, suffix_of(width, t.kind)
    vector, bits = f"<{width} x {t.kind}>", f"<{width} x i1>"
    loop = [
        "%i = phi i64 [0, %entry], [%i_next, %loop]",
        "%at_step = getelementptr i64, ptr %steps, i64 %i",
        "%step = load i64, ptr %at_step",
        f"%at = getelementptr {t.kind}, ptr %from, i64 %step",
        f"%place = mul i64 %i, {width}",
        f"%there = getelementptr {t.kind}, ptr %to, i64 %place",
        f"%row = call {vector} @llvm.masked.load.{suffix}"
        f"(ptr %at, i32 {size}, {bits} %mask, {vector} zeroinitializer)",
        f"call void @llvm.masked.store.{suffix}"
        f"({vector} %row, ptr %there, i32 {size}, {bits} %mask)",
        "%i_next = add i64 %i, 1",
        "%more = icmp slt i64 %i_next, %count",
        "br i1 %more, label %loop, label %end",
    ]
    args = "ptr noalias %from, ptr noalias %to, ptr noalias %steps"
    first = [*lanes_below("mask", width, "%wide"), "br label %loop"]
    blocks = {"entry": first, "loop": loop, "end": ["ret void"]}
    head = masked(width, t.kind)
    return head + define(name, f"{args}, i64 %count, i64 %wide", blocks)


def transposed_text(t: RegisterTile, name: str, listed: bool = False) -> str:
    """LLVM text: a square of as many rows as a tile has, transposed in registers.

    The rows are a stride apart, from the first one on, and the last one is there as
    often as there are none behind it; or they begin where it is `listed`.
    """
    n, size = t.rows, np.dtype(t.dtype).itemsize
    vector = f"<{n} x {t.kind}>"
    lines = []
    for r in range(n):
        if listed:
            lines.append(f"%at_from_{r} = getelementptr i64, ptr %lines, i64 {r}")
        else:
            lines.append(f"%own_{r} = add i64 %first, {r}")
            least = f"i64 %own_{r}, i64 %last"
            lines.append(f"%row_{r} = call i64 @llvm.smin.i64({least})")
        apart = f"mul i64 %stride, %row_{r}"
        place = f"load i64, ptr %at_from_{r}" if listed else apart
        lines += [
            f"%from_{r} = {place}",
            f"%at_{r} = getelementptr {t.kind}, ptr %from, i64 %from_{r}",
            f"%v0_{r} = load {vector}, ptr %at_{r}, align {size}",
        ]
    step, stage = 1, 0
    while step < n:  # halves of 2 * step neighbours change places between rows
        for r in range(n):
            low, high = (r, r + step) if not r & step else (r - step, r)
            own = step if r & step else 0
            picks = [(k & ~step) + own + (n if k & step else 0) for k in range(n)]
            mask = ", ".join(f"i32 {p}" for p in picks)
            lines.append(
                f"%v{stage + 1}_{r} = shufflevector {vector} %v{stage}_{low}, "
                f"{vector} %v{stage}_{high}, <{n} x i32> <{mask}>"
            )
        step, stage = 2 * step, stage + 1
    for r in range(n):
        lines += [
            f"%to_{r} = mul i64 %width, {r}",
            f"%there_{r} = getelementptr {t.kind}, ptr %to, i64 %to_{r}",
            f"store {vector} %v{stage}_{r}, ptr %there_{r}, align {size}",
        ]
    args = "ptr noalias %from, ptr noalias %to"
    args += ", ptr noalias %lines" if listed else ", i64 %stride"
    args += ", i64 %width" if listed else ", i64 %width, i64 %first, i64 %last"
    head = "" if listed else "declare i64 @llvm.smin.i64(i64, i64)\n"
    return head + define(name, args, {"entry": [*lines, "ret void"]})


# -- memory ---------------------------------------------------------------------------

# Vectors straddle no two lines of the cache: memory begins at one, and what the C
# library gave stands before it.
LINE = 64
MEMORY = """
declare ptr @traceir_malloc(i64)
declare void @traceir_free(ptr)
define ptr @{allocate}(i64 %size) nounwind {{
  %all = add i64 %size, 64
  %given = call ptr @traceir_malloc(i64 %all)
  %address = ptrtoint ptr %given to i64
  %past = and i64 %address, 63
  %rest = sub i64 64, %past
  %line = getelementptr i8, ptr %given, i64 %rest
  %before = getelementptr i8, ptr %line, i64 -8
  store ptr %given, ptr %before, align 8
  ret ptr %line
}}
define void @{release}(ptr %line) nounwind {{
  %before = getelementptr i8, ptr %line, i64 -8
  %given = load ptr, ptr %before, align 8
  call void @traceir_free(ptr %given)
  ret void
}}
"""
