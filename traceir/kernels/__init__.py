"""One NumPy kernel for each primitive. Serves: the `value` of every primitive's row.

A kernel takes arrays and the params by name and gives an array of exactly the type that
the row says, or a NumPy scalar for one without dimensions. It may give a view of an
operand and may raise floating-point flags: `traceir.evaluate` runs it quietly and makes
results whole.
"""

from traceir.kernels import (
    algebra,
    bessel,
    betas,
    bits,
    collectives,
    complexes,
    contract,
    convert,
    cumulative,
    formats,
    fourier,
    gammas,
    gaussian,
    indexing,
    loggamma,
    ordering,
    pointwise,
    random,
    reduce,
    special,
    structure,
    sums,
    threefry,
    windows,
)
from traceir.kernels.registry import KERNELS, kernel

__all__ = [
    "KERNELS",
    "algebra",
    "bessel",
    "betas",
    "bits",
    "collectives",
    "complexes",
    "contract",
    "convert",
    "cumulative",
    "formats",
    "fourier",
    "gammas",
    "gaussian",
    "indexing",
    "kernel",
    "loggamma",
    "ordering",
    "pointwise",
    "random",
    "reduce",
    "special",
    "structure",
    "sums",
    "threefry",
    "windows",
]
