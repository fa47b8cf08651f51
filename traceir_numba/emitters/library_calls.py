"""Primitives that are calls: matrix products and libraries.

Serves: choice.dot-order
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from traceir_numba import cost_model
from traceir_numba.device_functions import (
    DeviceFunction,
    device_function,
    short,
    template,
)
from traceir_numba.emitters.kinds import Matmul, ReferenceCall, register

register("dot_general", Matmul())
FACTORIZATIONS = ("cholesky", "eig", "eigh", "hessenberg", "lu", "schur", "svd")
SOLVERS = ("lu_pivots_to_permutation", "triangular_solve")
for _name in (*FACTORIZATIONS, *SOLVERS, "fft", "random_gamma", "sort", "top_k"):
    register(_name, ReferenceCall())
register("qr", ReferenceCall(selects=True))


# -- products as a reader has them: their machine code is made otherwise ---------------


@template
def place(name: str) -> DeviceFunction:
    """The offset of a line, or term, by its number.

    A way is how many dimensions it has, then of each, the last one first, the extent
    and the stride.
    """
    text = f"""
    def {name}(way, number):
        at = 0
        for d in range(way[0]):
            at = at + number % way[1 + 2 * d] * way[2 + 2 * d]
            number = number // way[1 + 2 * d]
        return at
    """
    return device_function(name, ("int64*", "int64"), "int64", text)


@template
def strided(name: str, dtype: str) -> DeviceFunction:
    """A product of stacks of matrices whose lines and terms lie by `ways`.

    There is one for rows, one for terms on the left, one for terms on the right, and
    one for columns.
    """
    t, floats = short(dtype), np.dtype(dtype).kind == "f"
    zero = f"{t}({0.0 if floats else 0})"
    more = "fma(left, right, acc[j])" if floats else f"{t}(acc[j] + left * right)"
    tile, depth = cost_model.COLUMN_TILE, cost_model.MATMUL_DEPTH
    text = f"""
    def {name}(
        x, y, ways, z, outer, batch, rows, inner, columns,
        x_outer, x_batch, y_outer, y_batch
    ):
        acc = lanes_{t}()
        along = row_of(ways, 1 + 2 * ways[0])
        down = row_of(along, 1 + 2 * along[0])
        across = row_of(down, 1 + 2 * down[0])
        for b in range(outer * batch):
            x_from = b // batch * x_outer + b % batch * x_batch
            y_from = b // batch * y_outer + b % batch * y_batch
            for first in range(0, columns, {tile}):
                wide = smaller({tile}, columns - first)
                for i in range(rows):
                    x_row = x_from + place(ways, i)
                    z_from = (b * rows + i) * columns + first
                    for start in range(0, inner, {depth}):
                        fill_{t}(acc, wide, {zero})
                        for k in range(start, smaller(start + {depth}, inner)):
                            left = x[x_row + place(along, k)]
                            y_row = y_from + place(down, k)
                            for j in range(wide):
                                right = y[y_row + place(across, first + j)]
                                acc[j] = {more}
                        for j in range(wide):
                            total = z[z_from + j] + acc[j]
                            z[z_from + j] = {t}(total) if start > 0 else acc[j]
    """
    args = (*[dtype + "*"] * 2, "int64*", dtype + "*", *["int64"] * 9)
    reads = [f"lanes_{t}", f"fill_{t}", "smaller", "place"]
    reads += ["fma"] if floats else []
    return replace(device_function(name, args, None, text), reads=tuple(reads))


@template
def product(name: str, dtype: str) -> DeviceFunction:
    """A product of stacks of matrices, by strides, with the sums of `gemm`."""
    t, floats = short(dtype), np.dtype(dtype).kind == "f"
    zero = f"{t}({0.0 if floats else 0})"
    more = "fma(left, right, acc[j])" if floats else f"{t}(acc[j] + left * right)"
    tile, depth = cost_model.COLUMN_TILE, cost_model.MATMUL_DEPTH
    text = f"""
    def {name}(
        x, y, z, outer, batch, rows, inner, columns,
        x_outer, x_batch, x_row, x_along, y_outer, y_batch, y_along, y_column,
    ):
        acc = lanes_{t}()
        for b in range(outer * batch):
            x_from = b // batch * x_outer + b % batch * x_batch
            y_from = b // batch * y_outer + b % batch * y_batch
            for first in range(0, columns, {tile}):
                wide = smaller({tile}, columns - first)
                for i in range(rows):
                    z_from = (b * rows + i) * columns + first
                    for start in range(0, inner if inner > 0 else 1, {depth}):
                        fill_{t}(acc, wide, {zero})
                        for k in range(start, smaller(start + {depth}, inner)):
                            left = x[x_from + i * x_row + k * x_along]
                            y_row = y_from + k * y_along + first * y_column
                            for j in range(wide):
                                right = y[y_row + j * y_column]
                                acc[j] = {more}
                        for j in range(wide):
                            total = z[z_from + j] + acc[j]
                            z[z_from + j] = {t}(total) if start > 0 else acc[j]
    """
    args = (*[dtype + "*"] * 3, *["int64"] * 13)
    reads = (f"lanes_{t}", f"fill_{t}", "smaller", *(("fma",) if floats else ()))
    return replace(device_function(name, args, None, text), reads=reads)
