"""Matrix exponentials and polar factors.

Serves: linalg.*
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand, promoted_inexact, shape_of
from traceir.lax.linalg.matrices import eye_like, product
from traceir.numpy import linalg as _linalg
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.linalg.checks import option, shown, square
from traceir.numpy.linalg.norms import norm
from traceir.numpy.manipulation.shapes import concatenate
from traceir.tracing.trace import typeof

# The numerator of the Pade approximant of degree 13, and up to which norm it is exact
# in double precision: N. J. Higham, "The scaling and squaring method for the matrix
# exponential revisited" (2005), section 2.
_PADE = (
    *(64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800),
    *(129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920),
    *(40840800, 960960, 16380, 182, 1),
)
_THETA = 5.371920351148152


@composite(static_argnames=["upper_triangular", "max_squarings"])
def expm(
    A: Operand, *, upper_triangular: bool = False, max_squarings: int = 16
) -> Array:
    """The exponential of square matrices, by scaling and squaring.

    Shape (..., n, n) to the same; NaN where it takes more than `max_squarings`. Raises
    LinAlgError (linalg.matrix, linalg.square), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> expm(jnp.array([[0, 1], [0, 0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    x = square("expm", A)
    dtype, shape = typeof(x).dtype, shape_of(x)
    size = norm(x, 1, axis=(-2, -1))  # real, though the matrix may be complex
    tiny = lax.full_like(size, float(finfo(dtype).tiny))
    ratio = lax.div(lax.max(size, tiny), lax.full_like(size, _THETA))
    steps = lax.ceil(lax.div(lax.log(ratio), lax.full_like(size, np.log(2))))
    more = [
        _over(lax.gt(steps, lax.full_like(size, done)), shape)
        for done in range(max_squarings + 1)
    ]
    half = lax.full(shape, 0.5, dtype)
    for halved in more[:-1]:
        x = lax.select(halved, lax.mul(x, half), x)
    found = _approximant(x)
    for squared in more[:-1]:
        found = lax.select(squared, product(found, found), found)
    return lax.select(more[-1], lax.full(shape, np.nan, dtype), found)


def _over(value: Operand, shape: tuple[int, ...]) -> Array:
    """One value for each matrix, over all of its elements."""
    return lax.broadcast_in_dim(value, shape, tuple(range(len(shape) - 2)))


def _approximant(x: Operand) -> Array:
    """The Pade approximant of the exponential."""
    one = eye_like(x)
    powers = [one, product(x, x)]
    for _ in range(2):
        powers.append(product(powers[-1], powers[1]))
    odd = product(x, _polynomial(powers, _PADE[1::2]))
    even = _polynomial(powers, _PADE[::2])
    return _linalg.solve(lax.sub(even, odd), lax.add(even, odd))


def _polynomial(powers: list[Array], terms: tuple[int, ...]) -> Array:
    """The sum of terms times even powers: three low ones, and three times the sixth."""
    low = _combined(powers, terms[:4])
    return lax.add(low, product(powers[3], _combined(powers[1:], terms[4:])))


def _combined(powers: list[Array], terms: tuple[int, ...]) -> Array:
    found: Any = None
    for power, term in zip(powers, terms, strict=False):
        factor = lax.full(shape_of(power), float(term), typeof(power).dtype)
        part = lax.mul(power, factor)
        found = part if found is None else lax.add(found, part)
    result: Array = found
    return result


def polar(
    a: Operand,
    side: str = "right",
    *,
    method: str = "svd",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """A unitary factor and a positive semidefinite one, on this side of it.

    Shape (m, n) to (m, n) and (n, n), or (m, m) on the left. Both are made of the
    singular values, whatever `method` says, so `eps` and `max_iterations` change
    nothing. Raises ValueError (linalg.option).

    >>> import traceir.numpy as jnp
    >>> polar(jnp.array([[0.0, -2.0], [2.0, 0.0]]))[1]
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    option("polar", "side", side, ("left", "right"))
    option("polar", "method", method, ("qdwh", "svd"))
    u, s, vh = _linalg.svd(asarray(a), full_matrices=False)
    if side == "left":
        return u @ vh, (u * s[..., None, :]) @ _linalg.matrix_transpose(u).conj()
    return u @ vh, _linalg.matrix_transpose(vh).conj() @ (s[..., :, None] * vh)


def expm_frechet(
    A: Operand, E: Operand, *, method: str | None = None, compute_expm: bool = True
) -> Any:
    """The exponential of matrices, and its derivative in the direction `E`.

    Shapes (..., n, n); the derivative alone without `compute_expm`. It is a block of
    the exponential of a matrix of twice the size, whatever `method` says. Raises what
    `expm` does, and ValueError (linalg.shapes, linalg.option).

    >>> import traceir.numpy as jnp
    >>> expm_frechet(jnp.zeros((1, 1)), jnp.array([[2.0]]), compute_expm=False)
    Array([[2.]], dtype=float32)
    """
    option("expm_frechet", "method", method, (None, "SPS", "blockEnlarge"))
    x, t = promoted_inexact("expm_frechet", A, E)
    x, t = square("expm_frechet", x), square("expm_frechet", t)
    if shape_of(x) != shape_of(t):
        raise rules.error("linalg.shapes", got=f"{shown(x)} and {shown(t)}")
    n = shape_of(x)[-1]
    rows = concatenate([x, t], axis=-1), concatenate([lax.full_like(x, 0), x], axis=-1)
    found = expm(concatenate(rows, axis=-2))
    derivative = found[..., :n, n:]
    return (found[..., :n, :n], derivative) if compute_expm else derivative
