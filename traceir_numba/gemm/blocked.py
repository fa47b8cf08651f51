"""Blocked matrix products whose order of summation depends on length alone.

A sum is cut into blocks of `MATMUL_DEPTH` terms. A block is summed term by term from
zero, for floats by fused multiply-adds, and the blocks' sums are added in order: so the
bits depend on no machine's tile, on no thread and on no neighbour. Blocks of operands
are laid out as the tiles read them, as Goto and van de Geijn describe it ("Anatomy of
high-performance matrix multiplication", 2008).

Serves: choice.dot-order

Tiles of the result are added up in registers, with vectors as wide as the processor's.
Rows, or columns, are given to our threads; sums of 16,384 terms and more that have few
results are cut into parts of 4,096, by their length alone. A library for matrices is
not called: its order would differ with the number of threads, and its own threads wait
in a busy loop for processors that others may have.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from traceir.base.fork_safety import kept_over_forks
from traceir.ir.avals import short_dtype
from traceir_numba import cost_model
from traceir_numba.device_functions import short
from traceir_numba.gemm import microkernel, packing, threaded
from traceir_numba.llvm import optimize
from traceir_numba.llvm.lower import lower
from traceir_numba.llvm.symbols import Callee, Cast

# These functions run little themselves: short code compiles in a third of the time.
SHORT = "minsize optsize "

LAY_OUT = """
def {name}(a, to, stride, along, wide, count):
    # `wide` of {width} lines, `stride` apart, whose elements are `along` apart.
    if stride == 1 and wide == {width}:
        straight_{width}(a, to, along, count, wide)
    elif stride == 1:
        partly_{width}(a, to, along, count, wide)
    else:
        # Squares of neighbours first, what is left over then. The last line stands
        # in place of those that there are not: nobody reads what is made of these.
        deep = count - count % {square} if along == 1 else 0
        least = {least} if wide <= {least} else {width}
        for i in range(0, least, {square}):
            for k in range(0, deep, {square}):
                turned(
                    row_of(a, k), row_of(to, k * {width} + i), stride, {width}, i,
                    wide - 1
                )
        for k in range(deep, count):
            for i in range(wide):
                to[k * {width} + i] = a[i * stride + k * along]
            for i in range(wide, {width}):
                to[k * {width} + i] = {zero}
"""

PRODUCT = """
def {name}(
    x, y, z, low, high, left, right, rows, columns, inner, inner_batch,
    x_outer, x_batch, x_row, x_along, y_outer, y_batch, y_along, y_column, z_row
):
    # Rows low..high of all matrices one below the other, columns left..right.
    deep = inner if inner < {depth} else {depth}
    most = right - left if right - left < {wide} else {wide}
    panels = (most + {columns} - 1) // {columns} * {columns}
    work = allocate((({tall} + panels) * deep + {edge}) * {size})
    ys = row_of(work, {tall} * deep)
    edge = row_of(ys, panels * deep)
    b = low // rows
    while b * rows < high:
        first = low - b * rows if b * rows < low else 0
        last = high - b * rows if high < (b + 1) * rows else rows
        outer = b // inner_batch
        within = b % inner_batch
        xb = row_of(x, outer * x_outer + within * x_batch)
        yb = row_of(y, outer * y_outer + within * y_batch)
        zb = row_of(z, b * rows * z_row)
        for j0 in range(left, right, {wide}):
            j1 = j0 + {wide} if j0 + {wide} < right else right
            for k0 in range(0, inner, {depth}):
                count = inner - k0 if inner - k0 < {depth} else {depth}
                here = last - first <= {few} and y_column == 1
                for j in range(j0, j1, {columns}):
                    if j + {columns} > j1 or not here:
                        wide = j1 - j if j1 - j < {columns} else {columns}
                        lay_right(
                            row_of(yb, k0 * y_along + j * y_column),
                            row_of(ys, (j - j0) * deep), y_column, y_along, wide, count
                        )
                for i0 in range(first, last, {tall}):
                    i1 = i0 + {tall} if i0 + {tall} < last else last
                    for i in range(i0, i1, {rows}):
                        wide = i1 - i if i1 - i < {rows} else {rows}
                        lay_left(
                            row_of(xb, i * x_row + k0 * x_along),
                            row_of(work, (i - i0) * deep), x_row, x_along, wide, count
                        )
                    for j in range(j0, j1, {columns}):
                        whole = j + {columns} <= j1
                        yt = row_of(ys, (j - j0) * deep)
                        if whole and here:
                            yt = row_of(yb, k0 * y_along + j)
                        y_step = y_along if whole and here else {columns}
                        for i in range(i0, i1, {rows}):
                            xt = row_of(work, (i - i0) * deep)
                            zt = row_of(zb, i * z_row + j)
                            if whole and i + {rows} <= i1:
                                tile(xt, yt, zt, count, y_step, z_row, k0)
                            else:
                                if j1 - j > {lanes}:
                                    tile(xt, yt, edge, count, y_step, {columns}, 0)
                                else:
                                    narrow(xt, yt, edge, count, y_step, {columns}, 0)
                                tall = i1 - i if i1 - i < {rows} else {rows}
                                wide = j1 - j if j1 - j < {columns} else {columns}
                                part(edge, zt, z_row, k0, tall, wide)
        b = b + 1
    release(work)
"""

# Operands and sizes of `PRODUCT`, and of the function that routines call.
POINTERS, SIZES, ALL_SIZES = 3, 17, 13
COUNTS = POINTERS, SIZES
WHOLE = """
def {name}(
    x, y, z, outer, batch, rows, inner, columns,
    x_outer, x_batch, x_row, x_along, y_outer, y_batch, y_along, y_column
):
    if inner == 0:
        for i in range(outer * batch * rows * columns):
            z[i] = {zero}
    elif rows > 0 and batch > 0:
        product(
            x, y, z, 0, outer * batch * rows, 0, columns, rows, columns, inner, batch,
            x_outer, x_batch, x_row, x_along, y_outer, y_batch, y_along, y_column,
            columns
        )
"""


def symbol_of(dtype: str, part: str = "product") -> str:
    """The name of a loaded function."""
    return f"traceir_gemm_{part}_{short_dtype(np.dtype(dtype))}"


_lock = kept_over_forks(threading.RLock())
_codes: dict[str, optimize.MachineCode] = {}  # by the first of its symbols


def load(dtype: str) -> optimize.MachineCode:
    """The code of the products of a dtype, compiled once: `PRODUCT` is its symbol."""
    return linked_once([symbol_of(dtype, part) for part in parts()], texts_of, dtype)


def linked_once(
    symbols: Sequence[str], texts: Callable[[str], Iterable[str]], dtype: str
) -> optimize.MachineCode:
    """The code of texts for a dtype, in which functions of these names are."""
    with _lock:
        if symbols[0] not in _codes:
            _codes[symbols[0]] = optimize.link([*texts(dtype)], symbols)
        return _codes[symbols[0]]


def work_size(
    dtype: str, inner: int, columns: int, have: tuple[str, ...] | None = None
) -> int:
    """The bytes that a product asks for: those that `PRODUCT` allocates, and a line."""
    t = microkernel.tile_of(dtype, have)
    panels = -(-min(columns, cost_model.MATMUL_PANEL_COLUMNS) // t.columns) * t.columns
    elements = (cost_model.MATMUL_PANEL_ROWS + panels) * min(
        inner, cost_model.MATMUL_DEPTH
    ) + t.rows * t.columns
    return elements * np.dtype(dtype).itemsize + packing.LINE


@cache
def texts_of(dtype: str, have: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """LLVM text of the products of a dtype, and of all that they call.

    For a processor with these sets of instructions, or for this one.
    """
    t = microkernel.tile_of(dtype, have)
    calls = _calls(t)
    texts = [
        _text(PRODUCT, "product", t, calls, POINTERS, SIZES),
        microkernel.tile_text(t, calls["tile"].symbol),
        microkernel.tile_text(replace(t, vectors=1), calls["narrow"].symbol),
        microkernel.part_text(t, calls["part"].symbol),
        packing.transposed_text(t, calls["turned"].symbol),
        packing.MEMORY.format(
            allocate=calls["allocate"].symbol, release=calls["release"].symbol
        ),
    ]
    for width in sorted({t.rows, t.columns}):
        for part in ("straight", "partly"):
            symbol = calls[f"{part}_{width}"].symbol
            texts.append(packing.contiguous_text(t, symbol, width, part == "partly"))
    for side, width in (("left", t.rows), ("right", t.columns)):
        least = min(width, t.lanes) if t.rows <= t.lanes else width
        own = {"width": width, "square": t.rows, "least": least}
        texts.append(_text(LAY_OUT, f"lay_{side}", t, calls, 2, 4, own))
    if "shared" in parts():
        shared, run, product = (
            symbol_of(dtype, part) for part in ("shared", "run", "product")
        )
        texts.append(threaded.shared_text(shared, run, product, POINTERS, SIZES))
    return tuple(texts)


def parts() -> tuple[str, ...]:
    """The functions that others call; that of routines is the last one."""
    return ("product", "shared") if threaded.can_share() else ("product",)


def whole_text(symbol: str, dtype: str) -> str:
    """LLVM text of the function that routines call, whose code they use."""
    t = microkernel.tile_of(dtype)
    product = _callee(dtype, parts()[-1], POINTERS, SIZES)
    text = WHOLE.format(name="whole", zero=words_of(t)["zero"]).strip()
    calls = {"product": product, short(dtype): Cast(dtype)}
    return lower(text, symbol, _args(dtype, POINTERS, ALL_SIZES), None, calls, SHORT)


def _text(
    template: str,
    part: str,
    t: microkernel.RegisterTile,
    calls: Mapping[str, Any],
    pointers: int,
    sizes: int,
    own: Mapping[str, int] | None = None,
) -> str:
    """LLVM text of a template for a tile."""
    text = template.format(name=part, **words_of(t), **(own or {}))
    args = _args(t.dtype, pointers, sizes)
    return lower(text.strip(), symbol_of(t.dtype, part), args, None, calls, SHORT)


def words_of(t: microkernel.RegisterTile) -> dict[str, Any]:
    """The words of templates: sizes of a tile, entries of the cost model."""
    return {
        "depth": cost_model.MATMUL_DEPTH,
        "tall": cost_model.MATMUL_PANEL_ROWS,
        "wide": cost_model.MATMUL_PANEL_COLUMNS,
        "few": cost_model.UNPACKED_MATMUL_ROWS,
        "rows": t.rows,
        "columns": t.columns,
        "lanes": t.lanes,
        "edge": t.rows * t.columns,
        "size": np.dtype(t.dtype).itemsize,
        "zero": f"{short(t.dtype)}({'0.0' if t.floats else '0'})",
    }


def _args(dtype: str, pointers: int, sizes: int) -> tuple[str, ...]:
    return (f"{dtype}*",) * pointers + ("int64",) * sizes


def _callee(dtype: str, part: str, pointers: int, sizes: int) -> Callee:
    return Callee(symbol_of(dtype, part), _args(dtype, pointers, sizes), None)


def _calls(t: microkernel.RegisterTile) -> dict[str, Any]:
    """The functions that the templates call."""
    dtype = t.dtype
    found: dict[str, Any] = {
        short(dtype): Cast(dtype),
        "tile": _callee(dtype, "tile", 3, 4),
        "narrow": _callee(dtype, "narrow", 3, 4),
        "part": _callee(dtype, "part", 2, 4),
        "turned": _callee(dtype, "turned", 2, 4),
        "lay_left": _callee(dtype, "lay_left", 2, 4),
        "lay_right": _callee(dtype, "lay_right", 2, 4),
        "allocate": Callee(symbol_of(dtype, "allocate"), ("int64",), f"{dtype}*"),
        "release": Callee(symbol_of(dtype, "release"), (f"{dtype}*",), None),
    }
    for width in (t.rows, t.columns):
        for part in (f"straight_{width}", f"partly_{width}"):
            found[part] = _callee(dtype, part, 2, 3)
    return found
