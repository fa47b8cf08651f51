"""The table of kernels, by the name of their primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from traceir.base.lazy_exports import LazyTable

Kernel = Callable[..., Any]
K = TypeVar("K", bound=Kernel)

# The modules that enter kernels, which are imported when one is asked for.
MODULES = (
    *("collectives", "fourier", "gamma_draws", "random", "threefry"),
    *("elementwise.bits", "elementwise.complexes", "elementwise.convert"),
    *("elementwise.formats", "elementwise.pointwise"),
    *("linalg.contract", "linalg.factorizations"),
    *("special.bessel", "special.beta", "special.gaussian", "special.incomplete"),
    *("special.loggamma", "special.power_sums"),
    *("structural.cumulative", "structural.indexing", "structural.reductions"),
    *("structural.sorting", "structural.structure", "structural.windows"),
)
KERNELS: LazyTable[Kernel] = LazyTable(
    *(f"traceir.reference.kernels.{module}" for module in MODULES)
)


def kernel(*primitives: str) -> Callable[[K], K]:
    """Enter a function as the kernel of these primitives."""

    def enter(function: K) -> K:
        for name in primitives:
            KERNELS[name] = function
        return function

    return enter
