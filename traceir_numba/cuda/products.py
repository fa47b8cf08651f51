"""Products of stacks of matrices on a device: tiles in the memory that blocks share.

Each element of the result is summed from the first product to the last, whatever the
tile is. Serves: choice.dot-order
"""

from __future__ import annotations

from textwrap import dedent

from traceir_numba.functions import short

SIZES = (
    *("outer", "batch", "rows", "inner", "columns"),
    *("x_outer", "x_batch", "x_row", "x_along"),
    *("y_outer", "y_batch", "y_along", "y_column"),
)


def name_of(dtype: str) -> str:
    """The name of the products of a dtype."""
    return f"product_{short(dtype)}"


def source(dtype: str, tile: int) -> str:
    """The kernel for a dtype, run by blocks of `tile` times `tile` threads."""
    t, zero = short(dtype), "0.0" if dtype.startswith("float") else "0"
    total = "total + left[y, k] * right[k, x]"
    text = f"""
    def {name_of(dtype)}(X, Y, Z, {", ".join(SIZES)}):
        left = cuda.shared.array(({tile}, {tile}), np.{dtype})
        right = cuda.shared.array(({tile}, {tile}), np.{dtype})
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        for b in range(cuda.blockIdx.z, outer * batch, cuda.gridDim.z):
            x_from = b // batch * x_outer + b % batch * x_batch
            y_from = b // batch * y_outer + b % batch * y_batch
            high = cuda.gridDim.y * {tile}
            wide = cuda.gridDim.x * {tile}
            for top in range(cuda.blockIdx.y * {tile}, rows, high):
                for side in range(cuda.blockIdx.x * {tile}, columns, wide):
                    i = top + y
                    j = side + x
                    total = {t}({zero})
                    for start in range(0, inner, {tile}):
                        left[y, x] = {t}({zero})
                        right[y, x] = {t}({zero})
                        if (i < rows) & (start + x < inner):
                            along = (start + x) * x_along
                            left[y, x] = X[x_from + i * x_row + along]
                        if (j < columns) & (start + y < inner):
                            along = (start + y) * y_along
                            right[y, x] = Y[y_from + along + j * y_column]
                        cuda.syncthreads()
                        for k in range({tile}):
                            total = {t}({total})
                        cuda.syncthreads()
                    if (i < rows) & (j < columns):
                        Z[(b * rows + i) * columns + j] = total
    """
    return dedent(text).strip()
