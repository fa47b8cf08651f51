"""Many transforms of one length, a vector of them at a time.

A group is as many transforms as a vector has lanes. Its points are loaded into a panel,
transformed there by passes and stored where they belong. After the first pass, of a
radix r, the panel is r shorter transforms, each of which the nearest cache holds: their
passes follow one another.

Serves: fft.*
"""

from __future__ import annotations

from functools import cache
from typing import Any

from traceir_numba.device_functions import short
from traceir_numba.fft.codelets import KINDS
from traceir_numba.fft.interface import (
    COLUMNS,
    PANELS,
    ROWS,
    WIDTH,
    lanes_of,
    symbol_of,
)
from traceir_numba.fft.panels import load_text, scale_text, store_text, twiddle_text
from traceir_numba.fft.passes import call_text, half_text
from traceir_numba.gemm.blocked import SHORT
from traceir_numba.gemm.microkernel import RegisterTile
from traceir_numba.gemm.packing import transposed_text
from traceir_numba.llvm.lower import lower
from traceir_numba.llvm.symbols import Callee, Cast

LOAD_ROWS = """
def load_rows(x, to, step, rows, count):
    # Points of `rows` transforms that are `step` apart.
    for k in range(0, count if count >= {points} else 0, {points}):
        at = k if k + {points} <= count else count - {points}
        own = row_of(x, 2 * at)
        turned(own, row_of(to, at * {pair}), step, {lanes}, 0, rows - 1)
    for lane in range({lanes} if count < {points} else 0):
        own = row_of(x, (lane if lane < rows else 0) * step)
        for k in range(2 * count):
            to[k * {lanes} + lane] = own[k]
"""

STORE_ROWS = """
def store_rows(panel, y, step, rows, count):
    many = rows == {lanes} and count >= {points}
    for k in range(0, count if many else 0, {points}):
        at = k if k + {points} <= count else count - {points}
        here = row_of(panel, at * {pair})
        turned(here, row_of(y, 2 * at), {lanes}, step, 0, {lanes} - 1)
    for lane in range(0 if many else rows):
        own = row_of(y, lane * step)
        for k in range(2 * count):
            own[k] = panel[k * {lanes} + lane]
"""

LOAD_COLUMNS = """
def load_columns(x, to, step, wide, count):
    # Points of `wide` transforms side by side; those of one are `step` apart.
    if wide == {lanes}:
        load(x, to, step, count)
    for k in range(0 if wide == {lanes} else count):
        own = row_of(x, k * step)
        for lane in range({lanes}):
            many = lane < wide
            to[k * {pair} + lane] = own[2 * lane] if many else {zero}
            to[k * {pair} + {lanes} + lane] = own[2 * lane + 1] if many else {zero}
"""

STORE_COLUMNS = """
def store_columns(panel, y, step, wide, count):
    if wide == {lanes}:
        store(panel, y, step, count)
    for k in range(0 if wide == {lanes} else count):
        for lane in range(wide):
            y[k * step + 2 * lane] = panel[k * {pair} + lane]
            y[k * step + 2 * lane + 1] = panel[k * {pair} + {lanes} + lane]
"""

# Between the two steps of a long transform points and lanes change places.
TRANSPOSE = """
def transpose(panel, y, count, step):
    for k in range(0, count, {lanes}):
        last = count - k - 1 if count - k < {lanes} else {lanes} - 1
        to = row_of(y, k // {lanes} * step)
        turned(row_of(panel, k * {pair}), to, {pair}, {pair}, 0, last)
        here = row_of(panel, k * {pair} + {lanes})
        turned(here, row_of(to, {lanes}), {pair}, {pair}, 0, last)
"""

GROUPS = """
def groups(
    x, y, work, table, twiddles, coarse, fine, halves, factor, low, high, n, inside,
    source, sink, half, scaled, xi, yi, x_outer, x_step, x_lane, y_outer, y_step, y_lane
):
    # Groups low..high of those of each `inside` transforms.
    passes = table[0]
    radix = table[1]
    m = n // radix
    panel = work
    other = row_of(panel, (n + 1) * {pair})
    scratch = row_of(other, (n + 1) * {pair})
    first = row_of(table, 2)
    around = (inside + {lanes} - 1) // {lanes}
    points = n + 1 if half == 2 else n
    for g in range(low, high):
        outer = g // around
        lane = g % around * {lanes}
        wide = inside - lane if inside - lane < {lanes} else {lanes}
        given = row_of(x, outer * x_outer + lane * x_lane)
        if source == {rows}:
            load_rows(given, other, x_lane, wide, points)
        elif source == {columns}:
            load_columns(given, other, x_step, wide, points)
        if scaled != 0:
            scale(other, factor, points)
        if half == 2:
            for k in range({lanes}):
                other[k + {lanes}] = {zero}
                other[n * {pair} + k + {lanes}] = {zero}
            halve(other, halves, n, n // 2 + 1)
        if source == {panels}:
            pass_(first, given, panel, twiddles, m, xi, yi if passes == 1 else {lanes})
        else:
            pass_(first, other, panel, twiddles, m, xi, yi if passes == 1 else {lanes})
        for k in range(radix if passes > 1 else 0):
            a = row_of(panel, k * m * {pair})
            b = scratch
            for i in range(1, passes):
                row = row_of(first, i * {width})
                last = i == passes - 1
                to = row_of(other, k * {pair}) if last else b
                own_yi = yi if last else {lanes}
                pass_(row, a, to, row_of(twiddles, row[9]), row[8], {lanes}, own_yi)
                c = a
                a = b
                b = c
        made = other if passes > 1 else panel
        if half == 1:
            for k in range({pair}):
                made[n * {pair} + k] = made[k]
            halve(made, halves, n, n // 2 + 1)
        to = row_of(y, outer * y_outer + lane * y_lane)
        if sink == {rows}:
            store_rows(made, to, y_lane, wide, n + 1 if half == 1 else n)
        elif sink == {columns}:
            store_columns(made, to, y_step, wide, n)
        else:
            twiddle(made, row_of(coarse, g % around * n * 2), fine, n)
            transpose(made, to, n, y_step)
"""

# As `passes.half_text`, of one spectrum of n + 1 points in a row.
HALVE_LINE = """
def halve_line(x, y, twiddles, scale, low, high, n):
    half = {half} * scale[0]
    for k in range(low, high):
        far = n - k
        a = x[2 * k]
        b = x[2 * k + 1]
        c = x[2 * far]
        d = x[2 * far + 1]
        even = (a + c) * half
        odd = (b - d) * half
        real = (a - c) * half
        imaginary = (b + d) * half
        cosine = twiddles[2 * k]
        sine = twiddles[2 * k + 1]
        re = real * cosine - imaginary * sine
        im = real * sine + imaginary * cosine
        y[2 * k] = even + re
        y[2 * k + 1] = odd + im
        y[2 * far] = even - re
        y[2 * far + 1] = im - odd
"""

# The types of arguments: elements (a), integers by address (t), sizes (i).
_TEXTS = {
    "load_rows": (LOAD_ROWS, "aaiii"),
    "store_rows": (STORE_ROWS, "aaiii"),
    "load_columns": (LOAD_COLUMNS, "aaiii"),
    "store_columns": (STORE_COLUMNS, "aaiii"),
    "transpose": (TRANSPOSE, "aaii"),
    "groups": (GROUPS, "aaataaaaa" + "i" * 16),
    "halve_line": (HALVE_LINE, "aaaaiii"),
}
_OTHERS = {
    "pass_": "taaaiii",
    "turned": "aaiiii",
    "halve": "aaii",
    "load": "aaii",
    "store": "aaii",
    "scale": "aai",
    "twiddle": "aaai",
}


_MADE = {
    "halve": half_text,
    "load": load_text,
    "store": store_text,
    "scale": scale_text,
    "twiddle": twiddle_text,
}


@cache
def texts_of(dtype: str) -> tuple[str, ...]:
    """LLVM text of `groups` and `halve_line`, and all that they call but passes."""
    lanes, real = lanes_of(dtype), short(dtype)
    words = {
        "lanes": lanes,
        "points": lanes // 2,
        "pair": 2 * lanes,
        "width": WIDTH,
        "rows": ROWS,
        "columns": COLUMNS,
        "panels": PANELS,
        "zero": f"{real}(0.0)",
        "half": f"{real}(0.5)",
    }
    kinds = {"a": f"{dtype}*", "t": "int64*", "i": "int64"}
    args = {
        name: tuple(kinds[kind] for kind in text)
        for name, text in [*((k, v[1]) for k, v in _TEXTS.items()), *_OTHERS.items()]
    }
    known: dict[str, Any] = {
        name: Callee(symbol_of(name, dtype), types, None)
        for name, types in args.items()
    }
    known[real] = Cast(dtype)
    tile = RegisterTile(dtype, KINDS[dtype], lanes, lanes, 1)
    found = [
        call_text(symbol_of("pass_", dtype)),
        transposed_text(tile, symbol_of("turned", dtype)),
    ]
    for name, made in _MADE.items():
        found.append(made(symbol_of(name, dtype), dtype))
    for name, (text, _) in _TEXTS.items():
        filled = text.strip().format(**words)
        symbol = symbol_of(name, dtype)
        found.append(lower(filled, symbol, args[name], None, known, SHORT))
    return tuple(found)
