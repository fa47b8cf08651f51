"""Special functions of a million elements; SciPy's stand for NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special

from benchmarks.workload import Function, Make, Workload, normal

COUNT = 1_000_000


def either(name: str, scipy_name: str) -> Make:
    """A function of `lax`, or SciPy's where a world has none."""

    def make(world: Any) -> Function:
        lax = getattr(world, "lax", None)
        found: Function = getattr(lax or special, name if lax else scipy_name)
        return found

    return make


def workloads() -> Iterator[Workload]:
    """Operands of both signs where there are any, of shares above 0."""
    x, size = normal(COUNT) * np.float32(4), abs(normal(COUNT)) * np.float32(4) + 1
    pairs = size, abs(normal(COUNT)) * np.float32(4) + 1
    half = np.float32(0.5)
    share = (np.tanh(normal(COUNT)) * half + half).clip(0.01, 0.99)
    rows = (
        ("lgamma", "gammaln", (size,)),
        ("digamma", "psi", (size,)),
        ("bessel_i0e", "i0e", (x,)),
        ("bessel_i1e", "i1e", (x,)),
        ("igamma", "gammainc", pairs),
        ("betainc", "betainc", (*pairs, share)),
    )
    for name, other, args in rows:
        yield Workload(name, either(name, other), args, near=0.99)
    yield Workload(
        "lgamma, f64", either("lgamma", "gammaln"), (size.astype("float64"),), near=0.99
    )
