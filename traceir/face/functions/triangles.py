"""Functions of NumPy's that read one triangle of a matrix.

Serves: face.function

NumPy takes the other triangle for the conjugate of the one that it reads, and a
diagonal for real, whatever they have; the functions of `traceir.numpy` take the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.face.arrays.array import traced
from traceir.face.arrays.values import array_of
from traceir.face.functions.functions import arguments, by_name, own


def _whole(a: Any, upper: bool) -> Any:
    """The matrix that has one triangle of another, and its conjugate as the other."""
    value = array_of(a).now()
    if value.ndim < 2:
        return a
    part = jnp.triu(value, 1) if upper else jnp.tril(value, -1)
    other = jnp.conj(jnp.swapaxes(part, -1, -2))
    own_diagonal = jnp.eye(value.shape[-2], value.shape[-1], dtype=bool)
    return traced(jnp.where(own_diagonal, jnp.real(value), part + other))


@own(np.linalg.eigh)
def _eigh(a: Any, UPLO: str = "L") -> Any:
    UPLO = UPLO.upper()
    return by_name(np.linalg.eigh, (_whole(a, UPLO == "U"), UPLO), {})


@own(np.linalg.eigvalsh)
def _eigvalsh(a: Any, UPLO: str = "L") -> Any:
    UPLO = UPLO.upper()
    return by_name(np.linalg.eigvalsh, (_whole(a, UPLO == "U"), UPLO), {})


@own(np.linalg.cholesky)
def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return by_name(np.linalg.cholesky, (_whole(a, upper),), {"upper": upper})


def _hermitian(func: Any) -> None:
    """Register a function that reads one triangle where `hermitian` says so."""

    def called(*args: Any, **kwargs: Any) -> Any:
        given = arguments(func, args, kwargs)
        name = next(iter(given))
        if given.get("hermitian"):
            given[name] = _whole(given[name], False)
        return by_name(func, (given.pop(name),), given)

    own(func)(called)


for _func in (np.linalg.svd, np.linalg.pinv, np.linalg.matrix_rank):
    _hermitian(_func)
