"""Sparse arrays of nothing, of ones and of random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import random
from traceir.dtypes import as_dtype
from traceir.experimental.sparse.bcoo import BCOO
from traceir.experimental.sparse.bcsr import BCSR
from traceir.experimental.sparse.coordinates import unraveled
from traceir.transforms.batching.vmap import vmap


def _as_format(mat: BCOO, sparse_format: str) -> Any:
    if sparse_format not in ("bcoo", "bcsr"):
        raise ValueError(f'A sparse array is "bcoo" or "bcsr", got {sparse_format!r}.')
    return mat if sparse_format == "bcoo" else BCSR.from_bcoo(mat)


def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    *,
    n_batch: int = 0,
    n_dense: int = 0,
    nse: int = 0,
) -> Any:
    """A sparse array of zeros.

    >>> empty((2, 3))
    BCOO(float32[2, 3], nse=0)
    """
    full = tuple(shape)
    batch, places = full[:n_batch], full[n_batch : len(full) - n_dense]
    data = jnp.zeros((*batch, nse, *full[len(full) - n_dense :]), dtype or np.float32)
    outside = jnp.asarray(np.array(places, int), index_dtype)
    indices = jnp.broadcast_to(outside, (*batch, nse, len(places)))
    return _as_format(BCOO((data, indices), shape=full), sparse_format)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
) -> Any:
    """A sparse matrix with ones on a diagonal.

    >>> eye(3, k=1).todense()[0]
    Array([0., 1., 0.], dtype=float32)
    """
    width = N if M is None else M
    count = max(min(N + min(k, 0), width - max(k, 0)), 0)
    step = np.arange(count)
    places = np.stack([step - min(k, 0), step + max(k, 0)], axis=-1)
    mat = BCOO(
        (jnp.ones(count, dtype or np.float32), jnp.asarray(places, index_dtype)),
        shape=(N, width),
        indices_sorted=True,
        unique_indices=True,
    )
    return _as_format(mat, sparse_format)


def random_bcoo(
    key: Any,
    shape: Sequence[int],
    *,
    dtype: Any = np.float32,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., Any] = random.uniform,
    **kwds: Any,
) -> BCOO:
    """A sparse array of random values at random places, `nse` of them or that part.

    Raises ValueError for more values than places.

    >>> random_bcoo(random.key(0), (10, 10), nse=0.1)
    BCOO(float32[10, 10], nse=10)
    """
    full = tuple(map(int, shape))
    batch, places = full[:n_batch], full[n_batch : len(full) - n_dense]
    most = prod(places)
    if not 0 <= nse < most:
        raise ValueError(f"There are {most} places, got nse={nse}.")
    count = ceil(nse * most) if 0 < nse < 1 else int(nse)
    kind = as_dtype(indices_dtype or np.int32)

    def indices(key: Any) -> Any:
        replace = not unique_indices
        flat = random.choice(key, most, shape=(count,), replace=replace)
        return unraveled(flat, places).astype(kind)

    keys = random.split(key, prod(batch) + 1)
    values = (*batch, count, *full[len(full) - n_dense :])
    data = generator(keys[0], shape=values, dtype=dtype, **kwds)
    rows = vmap(indices)(keys[1:]).reshape(*batch, count, len(places))
    found = BCOO((data, rows), shape=full)
    return found.sort_indices() if sorted_indices else found
