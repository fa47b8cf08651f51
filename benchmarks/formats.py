"""Numbers of 16 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.workload import Function, Workload, each, normal, numpy_only


def gelu(xp: Any) -> Function:
    """The unit of transformers, by `tanh`."""
    return lambda x: 0.5 * x * (1 + xp.tanh(0.7978846 * (x + 0.044715 * x * x * x)))


def softmax(xp: Any) -> Function:
    """Rows that sum to 1."""

    def run(x: Any) -> Any:
        e = xp.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return run


def widened(xp: Any) -> Function:
    """Products of 16 bits, summed in 32."""
    return lambda x, y: (x * y).astype("float32").sum()


def workloads() -> Iterator[Workload]:
    """A million elements; NumPy has no `bfloat16` of its own."""
    x, square = normal(1_000_000), normal(1000, 1000)
    half = square[:256, :256]
    rows: tuple[tuple[str, Any, tuple[Any, ...]], ...] = (
        ("x * x + x", each(lambda a: a * a + a), (x,)),
        ("gelu", numpy_only(gelu), (x,)),
        ("softmax of rows", numpy_only(softmax), (square,)),
        ("sum", each(lambda a: a.sum()), (np.abs(x[:1000]),)),
        ("sum of rows", each(lambda a: a.sum(1)), (square,)),
        ("widened sum", numpy_only(widened), (x, x)),
        ("to float32", each(lambda a: a.astype("float32")), (x,)),
        ("256 x 256", each(lambda a, b: a @ b), (half, half)),
    )
    for dtype in (np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)):
        for name, make, args in rows:
            # Each rounds to few digits in other places.
            yield Workload(
                f"{dtype.name}, {name}",
                make,
                tuple(a.astype(dtype) for a in args),
                in_numpy=dtype.kind == "f",
                near=0.9,
            )
