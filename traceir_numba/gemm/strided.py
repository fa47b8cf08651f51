"""Products of operands with strides of any kind, such as windows.

The offset of an element in its operand is the sum of two numbers, one for its line and
one for its term. `ways` have the dimensions of lines and terms with their extents and
strides; tiles read these numbers in tables of a block at a time, and the elements where
they are. Sums are in the order of `gemm`.

Serves: choice.dot-order

No array of the windows of a convolution is made. An element of a window lies at a sum
of strides, some of which belong to the row or column of the product and some to the
term: the call is given the extents and strides of each. It writes the numbers of a
block's rows, terms and columns into tables, and the tiles read one operand through them
where it lies, the other one where columns are neighbours that few rows read, or laid
out for the tile. Where rows are very few, tiles have one row and more columns. The sums
are the same. Small convolutions, those of complex numbers and those on a device lay out
windows; few products for each result are a sum over slices
(`emitters.folds.convolutions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from traceir_numba import cost_model
from traceir_numba.device_functions import short
from traceir_numba.gemm import microkernel, packing, threaded
from traceir_numba.gemm.blocked import SHORT, linked_once, parts, words_of
from traceir_numba.llvm import optimize
from traceir_numba.llvm.lower import lower
from traceir_numba.llvm.symbols import Callee, Cast

TABLE = """
def {name}(way, to, first, count):
    # How far lines, or terms, first..first + count are; the last dimension comes first.
    i = 0
    while i < count:
        left = (first + i) // way[1]
        start = (first + i) % way[1]
        many = way[1] - start if way[1] - start < count - i else count - i
        at = start * way[2]
        for d in range(1, way[0]):
            at = at + left % way[1 + 2 * d] * way[2 + 2 * d]
            left = left // way[1 + 2 * d]
        for k in range(many):
            to[i + k] = at + k * way[2]
        i = i + many
"""

BESIDE = """
def {name}(table, first, most):
    # How many from number `first` on lie side by side.
    n = 1
    while n < most and table[first + n] == table[first] + n:
        n = n + 1
    return n
"""

ADJACENT = """
def {name}(way, first, most):
    # How many lines from number `first` on lie side by side.
    n = way[1] - first % way[1] if way[2] == 1 else 1
    return n if n < most else most
"""

LAY_OUT = """
def {name}(a, to, lines, terms, wide, count):
    # `wide` lines as a tile reads them, term after term.
    if beside(lines, 0, wide) >= beside(terms, 0, count):
        i = 0
        while i < wide:
            n = beside(lines, i, wide - i)
            listed(row_of(a, lines[i]), row_of(to, i), terms, count, n)
            i = i + n
    else:
        whole = wide - wide % {square}
        k = 0
        while k < count:
            n = beside(terms, k, count - k)
            deep = k + n - n % {square}
            for i in range(0, whole, {square}):
                for m in range(k, deep, {square}):
                    turned(
                        row_of(a, terms[m]), row_of(to, m * {width} + i),
                        row_of(lines, i), {width}
                    )
            for m in range(k, deep):
                for i in range(whole, wide):
                    to[m * {width} + i] = a[lines[i] + terms[m]]
            for m in range(deep, k + n):
                for i in range(wide):
                    to[m * {width} + i] = a[lines[i] + terms[m]]
            k = k + n
    for k in range(count):
        for i in range(wide, {width}):
            to[k * {width} + i] = {zero}
"""

PRODUCT = """
def {name}(
    x, y, ways, z, low, high, left, right, rows, columns, inner, inner_batch,
    x_outer, x_batch, y_outer, y_batch
):
    # Rows low..high of all matrices one below the other, columns left..right.
    deep = inner if inner < {depth} else {depth}
    most = right - left if right - left < {wide} else {wide}
    panels = (most + {columns} - 1) // {columns} * {columns}
    lists = {tall} + panels + 3 * deep
    lists = (lists + 7) // 8 * 8
    lines = allocate(lists * 8 + (panels * deep + {edge}) * {size})
    work = behind(lines, lists * 8)
    edge = row_of(work, panels * deep)
    across = row_of(lines, {tall})
    x_terms = row_of(across, panels)
    y_terms = row_of(x_terms, deep)
    packed = row_of(y_terms, deep)
    for k in range(deep):
        packed[k] = k * {columns}
    along = row_of(ways, 1 + 2 * ways[0])
    down = row_of(along, 1 + 2 * along[0])
    side = row_of(down, 1 + 2 * down[0])
    known = -1
    b = low // rows
    while b * rows < high:
        first = low - b * rows if b * rows < low else 0
        last = high - b * rows if high < (b + 1) * rows else rows
        outer = b // inner_batch
        within = b % inner_batch
        xb = row_of(x, outer * x_outer + within * x_batch)
        yb = row_of(y, outer * y_outer + within * y_batch)
        zb = row_of(z, b * rows * columns)
        for j0 in range(left, right, {wide}):
            j1 = j0 + {wide} if j0 + {wide} < right else right
            few = last - first <= {few}
            if not few:
                table(side, across, j0, j1 - j0)
            for k0 in range(0, inner, {depth}):
                count = inner - k0 if inner - k0 < {depth} else {depth}
                if known != k0:
                    table(along, x_terms, k0, count)
                    table(down, y_terms, k0, count)
                    known = k0
                if not few:
                    for j in range(j0, j1, {columns}):
                        wide = j1 - j if j1 - j < {columns} else {columns}
                        lay_out(
                            yb, row_of(work, (j - j0) * deep), row_of(across, j - j0),
                            y_terms, wide, count
                        )
                for i0 in range(first, last, {tall}):
                    i1 = i0 + {tall} if i0 + {tall} < last else last
                    table(ways, lines, i0, i1 - i0)
                    for i in range(i1 - i0, {tall}):
                        lines[i] = lines[0]
                    j = j0
                    while j < j1:
                        yt = row_of(work, (j - j0) * deep)
                        steps = packed
                        wide = j1 - j if j1 - j < {columns} else {columns}
                        n = 0
                        if few:
                            n = adjacent(side, j, j1 - j)
                            table(side, across, j, 1 if n >= {columns} else wide)
                            if n < {columns}:
                                lay_out(yb, yt, across, y_terms, wide, count)
                            else:
                                yt = row_of(yb, across[0])
                                steps = y_terms
                        flat = n >= {broad} and last - first <= {low}
                        wide = {broad} if flat else {columns}
                        for i in range(i0, i1, 1 if flat else {rows}):
                            at = row_of(lines, i - i0)
                            zt = row_of(zb, i * columns + j)
                            if flat:
                                broad(
                                    xb, yt, zt, at, x_terms, steps, count, columns, k0
                                )
                            elif j + {columns} <= j1 and i + {rows} <= i1:
                                tile(xb, yt, zt, at, x_terms, steps, count, columns, k0)
                            else:
                                if j1 - j > {lanes}:
                                    tile(
                                        xb, yt, edge, at, x_terms, steps, count,
                                        {columns}, 0
                                    )
                                else:
                                    narrow(
                                        xb, yt, edge, at, x_terms, steps, count,
                                        {columns}, 0
                                    )
                                tall = i1 - i if i1 - i < {rows} else {rows}
                                most = j1 - j if j1 - j < {columns} else {columns}
                                part(edge, zt, columns, k0, tall, most)
                        j = j + wide
        b = b + 1
    release(lines)
"""

# Operands and sizes of `PRODUCT`, and of the function that routines call.
POINTERS, SIZES, ALL_SIZES = 4, 12, 9
COUNTS = POINTERS, SIZES
WHOLE = """
def {name}(
    x, y, ways, z, outer, batch, rows, inner, columns,
    x_outer, x_batch, y_outer, y_batch
):
    product(
        x, y, ways, z, 0, outer * batch * rows, 0, columns, rows, columns, inner, batch,
        x_outer, x_batch, y_outer, y_batch
    )
"""


# Elements of another dtype behind some bytes.
BEHIND = """
define ptr @{name}(ptr %from, i64 %bytes) nounwind {{
  %at = getelementptr i8, ptr %from, i64 %bytes
  ret ptr %at
}}
"""


def work_size(
    dtype: str, inner: int, columns: int, have: tuple[str, ...] | None = None
) -> int:
    """The bytes that a product asks for: those that `PRODUCT` allocates, and a line."""
    t = microkernel.tile_of(dtype, have)
    deep = min(inner, cost_model.MATMUL_DEPTH)
    panels = -(-min(columns, cost_model.MATMUL_PANEL_COLUMNS) // t.columns) * t.columns
    lists = -(-(cost_model.MATMUL_PANEL_ROWS + panels + 3 * deep) // 8) * 8
    elements = panels * deep + t.rows * t.columns
    return 8 * lists + elements * np.dtype(dtype).itemsize + packing.LINE


@cache
def texts_of(dtype: str, have: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """LLVM text of the products of a dtype, and of all that they call.

    For a processor with these sets of instructions, or for this one.
    """
    t = microkernel.tile_of(dtype, have)
    calls = _calls(t)
    own = {name: call.symbol for name, call in calls.items() if name != short(dtype)}
    texts = [
        _text(PRODUCT, "product", t, calls),
        _text(TABLE, "table", t, calls),
        _text(BESIDE, "beside", t, calls),
        _text(ADJACENT, "adjacent", t, calls),
        _text(LAY_OUT, "lay_out", t, calls),
        microkernel.tile_text(t, own["tile"], listed=True),
        microkernel.tile_text(replace(t, vectors=1), own["narrow"], listed=True),
        microkernel.tile_text(microkernel.broad_tile(t), own["broad"], listed=True),
        microkernel.part_text(t, own["part"]),
        packing.transposed_text(t, own["turned"], listed=True),
        packing.gathered_text(t, own["listed"], t.columns),
        BEHIND.format(name=own["behind"]),
        packing.MEMORY.format(allocate=own["allocate"], release=own["release"]),
    ]
    if "shared" in parts():
        shared, run = symbol_of(dtype, "shared"), symbol_of(dtype, "run")
        texts.append(threaded.shared_text(shared, run, own["product"], *COUNTS))
    return tuple(texts)


def symbol_of(dtype: str, part: str = "product") -> str:
    """The name of a loaded function."""
    return f"traceir_strided_{part}_{short(dtype)}"


def load(dtype: str) -> optimize.MachineCode:
    """The code of the products of a dtype, compiled once."""
    return linked_once([symbol_of(dtype, part) for part in parts()], texts_of, dtype)


def whole_text(symbol: str, dtype: str) -> str:
    """LLVM text of the function that routines call, whose code they use."""
    calls = _calls(microkernel.tile_of(dtype))
    args = (*calls["product"].args[:POINTERS], *["int64"] * ALL_SIZES)
    product = replace(calls["product"], symbol=symbol_of(dtype, parts()[-1]))
    text = WHOLE.format(name="whole").strip()
    return lower(text, symbol, args, None, {"product": product}, SHORT)


def _text(
    template: str, part: str, t: microkernel.RegisterTile, calls: Mapping[str, Any]
) -> str:
    """LLVM text of a template for a tile."""
    broad = microkernel.broad_tile(t).columns
    own = {"width": t.columns, "square": t.rows, "broad": broad}
    own["low"] = cost_model.BROAD_TILE_ROWS
    text = template.format(name=part, **words_of(t), **own)
    made = calls[part]
    return lower(text.strip(), made.symbol, made.args, made.result, calls, SHORT)


def _calls(t: microkernel.RegisterTile) -> dict[str, Any]:
    """The functions that the templates define and call."""
    dtype = t.dtype

    def of(part: str, kinds: str, result: str | None = None) -> Callee:
        args = {"a": f"{dtype}*", "t": "int64*", "i": "int64"}
        return Callee(symbol_of(dtype, part), tuple(args[k] for k in kinds), result)

    return {
        short(dtype): Cast(dtype),
        "product": of("product", "aata" + "i" * SIZES),
        "table": of("table", "ttii"),
        "adjacent": of("adjacent", "tii", "int64"),
        "beside": of("beside", "tii", "int64"),
        "lay_out": of("lay_out", "aattii"),
        "tile": of("tile", "aaatttiii"),
        "narrow": of("narrow", "aaatttiii"),
        "broad": of("broad", "aaatttiii"),
        "part": of("part", "aaiiii"),
        "turned": of("turned", "aati"),
        "listed": of("listed", "aatii"),
        "allocate": of("allocate", "i", "int64*"),
        "behind": of("behind", "ti", f"{dtype}*"),
        "release": of("release", "t"),
    }
