"""Functions of matrices, and matrix equations, by Schur forms.

A triangle is filled element by element: by the recurrences of Bjorck and Hammarling
(1983) for square roots, of Parlett (1976) for other functions, of Bartels and Stewart
(1972) for Sylvester's equation. Serves: linalg.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand, convert, promoted_inexact, shape_of
from traceir.lax.linalg.matrices import adjoint, diagonal, product, real_part, upper
from traceir.numpy.arrays.creation import array, asarray
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.logic import isinf
from traceir.numpy.functional.vectorize import vectorize
from traceir.numpy.linalg import eig, eigvals, inv, norm
from traceir.numpy.linalg import solve as solved
from traceir.numpy.linalg.checks import option, shown
from traceir.numpy.ranges.linspace import arange
from traceir.numpy.reductions.diagonals import diag
from traceir.scipy.linalg.canonical_forms import rsf2csf, schur

# What stands at a row and column of a matrix of which the elements before are known.
Element = Callable[[Array, Array, Array], Array]


def _filled(x: Array, places: Sequence[tuple[int, int]], element: Element) -> Array:
    """A matrix with its elements at these places computed, one after the other."""
    if not places:
        return x

    def step(x: Array, place: Sequence[Array]) -> tuple[Array, None]:
        return x.at[place[0], place[1]].set(element(x, *place)), None

    rows, columns = np.array(places, np.int32).T
    found: Array = lax.scan(step, x, (array(rows), array(columns)))[0]
    return found


def _sum(kept: Array, x: Array, y: Array) -> Array:
    """The sum of products of elements that are kept."""
    return where(kept, x * y, 0).sum()


def _between(i: Array, j: Array, size: int) -> Array:
    """The numbers, of so many, that lie between two."""
    places = arange(size)
    return (places > i) & (places < j)


def _single(name: str, x: Operand) -> None:
    """Raise ValueError (linalg.shapes) for a stack, or a matrix that is not square."""
    shape = shape_of(x)
    if len(shape) != 2 or shape[0] != shape[1]:
        hint = "give it one square matrix; `vmap` takes a stack one by one"
        raise rules.error("linalg.shapes", got=f"{name} of {shown(x)}", hint=hint)


def sqrtm(A: Operand, blocksize: int = 1) -> Array:
    """The matrix whose product with itself is `A`, complex in any case.

    Shape (n, n) to the same. If the matrix has no such root, because an eigenvalue is
    0, elements may not be finite. Raises TypeError (matrices.rank, matrices.dtype),
    ValueError (square_matrices.extents, linalg.shapes), NotImplementedError
    (linalg.option, derive.missing).

    >>> import traceir.numpy as jnp
    >>> sqrtm(jnp.array([[4, 1], [0, 4]]))
    Array([[2.  +0.j, 0.25+0.j],
           [0.  +0.j, 2.  +0.j]], dtype=complex64)
    """
    if blocksize > 1:
        hint = "leave it out: elements are computed one by one"
        raise rules.error("linalg.option", got=f"{blocksize=} of sqrtm", hint=hint)
    return _sqrtm(A)


@composite
def _sqrtm(A: Operand) -> Array:
    t, z = schur(A, output="complex")
    _single("sqrtm", t)
    size, roots = t.shape[0], lax.sqrt(diagonal(t))

    def element(u: Array, i: Array, j: Array) -> Array:
        rest = t[i, j] - _sum(_between(i, j, size), u[i], u[:, j])
        return where(rest == 0, 0, rest / (roots[i] + roots[j]))

    places = [(i, j) for j in range(size) for i in reversed(range(j))]
    root = _filled(diag(roots), places, element)
    return product(product(z, root), adjoint(z))


def funm(A: Operand, func: Callable[[Array], Any], disp: bool = True) -> Any:
    """A function of a matrix, by `func` of its eigenvalues.

    Shape (n, n) to the same, complex in any case; unless `disp`, with an estimate of
    the relative error, which is large where eigenvalues lie close together. Raises
    ValueError (linalg.shapes), TypeError (matrices.dtype), NotImplementedError
    (derive.missing).

    >>> import traceir.numpy as jnp
    >>> funm(jnp.array([[1.0, 1.0], [0.0, 2.0]]), lambda x: x * x)
    Array([[1.+0.j, 3.+0.j],
           [0.+0.j, 4.+0.j]], dtype=complex64)
    """
    x = asarray(A)
    _single("funm", x)
    form, vectors = schur(x)
    t, z = rsf2csf(form, vectors)
    values = diagonal(t)
    found = convert(diag(func(values)), t.dtype)
    found = z @ _parlett(found, t) @ adjoint(z)
    return found if disp else (found, _estimate(found, t, values))


@composite
def _parlett(found: Array, t: Array) -> Array:
    """The function of a triangle, of which the diagonal is known."""
    size = t.shape[0]

    def element(f: Array, i: Array, j: Array) -> Array:
        kept = _between(i, j, size)
        rest = t[i, j] * (f[j, j] - f[i, i])
        rest += _sum(kept, t[i], f[:, j]) - _sum(kept, f[i], t[:, j])
        apart = t[j, j] - t[i, i]
        return where(apart != 0, rest / apart, rest)

    places = [(i, i + p) for p in range(1, size) for i in range(size - p)]
    return _filled(found, places, element)


def _estimate(found: Array, t: Array, values: Array) -> Array:
    """The possible error of a function of a matrix, by the eigenvalues' distances."""
    least = finfo(t.dtype).eps
    apart = abs(values[:, None] - values)
    places = arange(len(values))
    apart = where(places[:, None] > places, apart, np.inf)
    nearest = lax.min(apart.min(initial=np.inf), abs(values[0]))
    nearest = where(nearest == 0, least, nearest)
    size = norm(upper(t, 1), 1)
    error = (least / nearest * size).clip(least).clip(None, 1)
    return where(isinf(found).any(), np.inf, error)


@composite(static_argnames=["method"])
def solve_sylvester(
    A: Operand, B: Operand, C: Operand, *, method: str = "schur", tol: Operand = 1e-8
) -> Array:
    """The x of `A @ x + x @ B == C`.

    Shapes (..., m, m), (..., n, n) and (..., m, n), whose stacks broadcast, to
    (..., m, n). All is NaN where the sum of an eigenvalue of `A` and one of `B` is less
    than `tol`: no x is the only one then. With the method "eigen" the matrices need
    a basis of eigenvectors. Raises ValueError (linalg.shapes, linalg.option), TypeError
    (matrices.dtype), NotImplementedError (derive.missing, derive.eigenvectors), the
    latter for derivatives by `A` and `B`.

    >>> import traceir.numpy as jnp
    >>> solve_sylvester(jnp.array([[1]]), jnp.array([[3]]), jnp.array([[8]]))
    Array([[2.]], dtype=float32)
    """
    a, b, c = promoted_inexact("solve_sylvester", *map(asarray, (A, B, C)))
    shapes = [shape_of(x)[-2:] for x in (a, b, c)]
    if len(shapes[2]) < 2 or [(n, n) for n in shapes[2]] != shapes[:2]:
        got = " and ".join(map(shown, (a, b, c)))
        raise rules.error("linalg.shapes", got=f"solve_sylvester of {got}")
    option("solve_sylvester", "method", method, ("schur", "eigen"))
    solve = partial(_sylvester, METHODS[method], tol)
    found: Array = vectorize(solve, signature="(m,m),(n,n),(m,n)->(m,n)")(a, b, c)
    return found


def _sylvester(method: Any, tol: Operand, a: Array, b: Array, c: Array) -> Array:
    found = method(a, b, c)
    found = found if c.dtype.kind == "c" else real_part(found)
    sums = abs(eigvals(a)[:, None] + eigvals(b))
    return where((sums < tol).any(), lax.full_like(found, 0) * np.nan, found)


def _by_schur(a: Array, b: Array, c: Array) -> Array:
    """The function by triangles: each element by those below and to the right."""
    r, u = schur(a, output="complex")
    s, v = schur(adjoint(b), output="complex")
    s = adjoint(s)
    rows, columns = c.shape
    right = product(product(adjoint(u), convert(c, r.dtype)), v)

    def element(y: Array, i: Array, j: Array) -> Array:
        below = _sum(arange(rows) > i, r[i], y[:, j])
        known = below + _sum(arange(columns) > j, y[i], s[:, j])
        return (right[i, j] - known) / (r[i, i] + s[j, j])

    places = [divmod(k, columns) for k in reversed(range(rows * columns))]
    found = _filled(lax.full_like(right, 0), places, element)
    return product(product(u, found), adjoint(v))


def _by_eigenvectors(a: Array, b: Array, c: Array) -> Array:
    """The function by diagonals: each element alone."""
    (ahead, left), (behind, right) = eig(a), eig(b)
    inner = solved(left, product(convert(c, left.dtype), right))
    return product(product(left, inner / (ahead[:, None] + behind)), inv(right))


METHODS = {"schur": _by_schur, "eigen": _by_eigenvectors}
