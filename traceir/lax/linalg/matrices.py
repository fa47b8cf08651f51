"""Products, triangles and diagonals of stacks of matrices.

A matrix is the last two dimensions of a value. Serves: matrices.*
"""

from __future__ import annotations

from operator import index

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    like,
    shape_of,
    typed,
)
from traceir.lax.derived import full_like
from traceir.lax.elementwise.arithmetic import add, div, eq, ge
from traceir.lax.elementwise.complexes import conj, real
from traceir.lax.elementwise.selection import convert_element_type, select
from traceir.lax.reductions.reductions import reduce_sum
from traceir.lax.structural.gather_scatter import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    gather,
    scatter,
)
from traceir.lax.structural.shapes import broadcasted_iota, expand_dims, full, transpose
from traceir.tracing.trace import bind, bind_one, typeof

HIGHEST = ("Precision.HIGHEST", "Precision.HIGHEST")


def product(x: Operand, y: Operand) -> Array:
    """The products of two stacks of matrices of one shape.

    >>> import traceir.numpy as jnp
    >>> product(jnp.ones((2, 3)), 2 * jnp.ones((3, 1)))
    Array([[6.],
           [6.]], dtype=float32)
    """
    rank = len(shape_of(x))
    stack = tuple(range(rank - 2))
    numbers = (((rank - 1,), (rank - 2,)), (stack, stack))
    return bind_one("dot_general", x, y, dimension_numbers=numbers, precision=HIGHEST)


def transposed(x: Operand) -> Array:
    """The transpose of each matrix.

    >>> transposed(full((2, 3), 1.0)).shape
    (3, 2)
    """
    rank = len(shape_of(x))
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def adjoint(x: Operand) -> Array:
    """The conjugate transpose of each matrix: of a real one the transpose.

    >>> adjoint(full((2, 1), 2j))
    Array([[0.-2.j, 0.-2.j]], dtype=complex64, weak_type=True)
    """
    found = transposed(x)
    return conj(found) if typeof(x).dtype.kind == "c" else found


def symmetric(x: Operand) -> Array:
    """The mean of each matrix and its conjugate transpose.

    >>> import traceir.numpy as jnp
    >>> symmetric(jnp.array([[1.0, 4.0], [2.0, 3.0]]))
    Array([[1., 3.],
           [3., 3.]], dtype=float32)
    """
    total = add(x, adjoint(x))
    aval = typeof(total)
    return div(total, typed(2, aval.dtype, aval.weak_type))


def subset_places(subset: tuple[int, int], count: int) -> tuple[int, int]:
    """The places that `subset_by_index` asks for: the first, and the one after them.

    Raises ValueError (face.choice).

    >>> subset_places((1, 3), 4)
    (1, 3)
    """
    start, end = map(index, subset)
    if not 0 <= start < end <= count:
        hint = f"two places among {count}, the first before the second"
        raise rules.error("face.choice", got=f"subset_by_index={subset}", hint=hint)
    return start, end


def real_part(x: Operand) -> Array:
    """The real parts: of a real value the value.

    >>> real_part(full((), 2.0))
    Array(2., dtype=float32, weak_type=True)
    """
    return real(x) if typeof(x).dtype.kind == "c" else x


def places(shape: tuple[int, ...], k: int = 0) -> tuple[Array, Array]:
    """The number of each element's row, and `k` more; and that of its column.

    >>> places((1, 2), 5)
    (Array([[5, 5]], dtype=int32), Array([[0, 1]], dtype=int32))
    """
    rank = len(shape)
    rows = broadcasted_iota("int32", shape, rank - 2)
    rows = add(rows, like(k, rows))
    return rows, broadcasted_iota("int32", shape, rank - 1)


def lower(x: Operand, k: int = 0) -> Array:
    """Each matrix with zeros above its diagonal number `k`.

    >>> lower(full((2, 2), 1.0))
    Array([[1., 0.],
           [1., 1.]], dtype=float32, weak_type=True)
    """
    kept = ge(*places(shape_of(x), k))
    return select(kept, x, full_like(x, 0))


def upper(x: Operand, k: int = 0) -> Array:
    """Each matrix with zeros below its diagonal number `k`.

    >>> upper(full((2, 2), 1.0), 1)
    Array([[0., 1.],
           [0., 0.]], dtype=float32)
    """
    left = ge(*places(shape_of(x), k - 1))
    return select(left, full(shape_of(x), 0, typeof(x).dtype), x)


def eye_like(x: Operand) -> Array:
    """Ones on the diagonals of matrices of this shape and dtype, zeros elsewhere.

    >>> eye_like(full((2, 2), 5.0))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    on = eq(*places(shape_of(x)))
    return convert_element_type(on, typeof(x).dtype)


def diagonal(x: Operand) -> Array:
    """The diagonals of square matrices.

    >>> diagonal(full((2, 2), 5.0))
    Array([5., 5.], dtype=float32)
    """
    zeros = full(shape_of(x), 0, typeof(x).dtype)
    alone = select(eq(*places(shape_of(x))), x, zeros)
    return reduce_sum(alone, (len(shape_of(x)) - 2,))


def beside(x: Operand) -> Array:
    """Vectors as matrices of one row, to stretch over the rows of others.

    >>> beside(full((3,), 1.0)).shape
    (1, 3)
    """
    return expand_dims(x, (len(shape_of(x)) - 1,))


def permuted(x: Operand, order: Operand) -> Array:
    """The rows of each matrix in this order.

    >>> import traceir.numpy as jnp
    >>> permuted(jnp.array([[1.0], [2.0]]), jnp.array([1, 0]))
    Array([[2.],
           [1.]], dtype=float32)
    """
    if not typeof(x).size:
        return x  # type: ignore[no-any-return]  # nothing to put in order
    stack = shape_of(order)[:-1]
    rank = len(stack)
    outer = tuple(range(rank))
    places = expand_dims(order, (rank + 1,))
    numbers = GatherDimensionNumbers(
        offset_dims=(rank + 1,),
        collapsed_slice_dims=(rank,),
        start_index_map=(rank,),
        operand_batching_dims=outer,
        start_indices_batching_dims=outer,
    )
    sizes = (*(1 for _ in stack), 1, shape_of(x)[-1])
    return gather(x, places, numbers, sizes)


def put_back(x: Array, order: Array) -> Array:
    """The matrices whose rows in this order, a permutation, `x` has.

    >>> import traceir.numpy as jnp
    >>> order = jnp.array([2, 0, 1])
    >>> put_back(permuted(jnp.array([[1.0], [2.0], [3.0]]), order), order).ravel()
    Array([1., 2., 3.], dtype=float32)
    """
    if not typeof(x).size:
        return x  # nothing to put in order
    rank = len(shape_of(order)) - 1
    outer = tuple(range(rank))
    numbers = ScatterDimensionNumbers(
        update_window_dims=(rank + 1,),
        inserted_window_dims=(rank,),
        scatter_dims_to_operand_dims=(rank,),
        operand_batching_dims=outer,
        scatter_indices_batching_dims=outer,
    )
    places = expand_dims(order, (rank + 1,))
    mode = GatherScatterMode.PROMISE_IN_BOUNDS
    zeros = full_like(x, 0)
    return scatter(zeros, places, x, numbers, unique_indices=True, mode=mode)


def solved(
    a: Operand,
    y: Operand,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """The solutions of triangular systems, of operands of one stack.

    Those of halves are computed in float32, and rounded.

    >>> import traceir.numpy as jnp
    >>> solved(jnp.array([[2.0]]), jnp.array([[6.0]]), left_side=True, lower=True)
    Array([[3.]], dtype=float32)
    """
    dtype = typeof(a).dtype
    half = dtype.itemsize == 2 and typeof(y).dtype == dtype
    if half:
        a, y = (convert(x, np.dtype("float32")) for x in (a, y))
    result: Array = bind(
        "triangular_solve",
        a,
        y,
        conjugate_a=conjugate_a,
        left_side=left_side,
        lower=lower,
        transpose_a=transpose_a,
        unit_diagonal=unit_diagonal,
    )
    return as_array(convert(result, dtype)) if half else result
