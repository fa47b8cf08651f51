"""The emitter table: for every primitive, how the backend computes it.

A test compares its keys with the specification's primitives and the kernels.
"""

from traceir_numba.emitters import (
    bits,
    collectives,
    convolutions,
    counters,
    cumulative,
    formats,
    halves,
    host,
    library,
    pair_folds,
    pair_functions,
    pair_keys,
    pair_numbers,
    pair_products,
    pairs,
    partings,
    places,
    reductions,
    regions,
    rewrites,
    scalars,
    structure,
    windows,
)
from traceir_numba.emitters.entry import EMITTERS

__all__ = [
    "EMITTERS",
    "bits",
    "halves",
    "formats",
    "host",
    "collectives",
    "counters",
    "convolutions",
    "cumulative",
    "library",
    "pair_keys",
    "pair_folds",
    "pair_functions",
    "pair_numbers",
    "pair_products",
    "pairs",
    "partings",
    "places",
    "reductions",
    "regions",
    "rewrites",
    "scalars",
    "structure",
    "windows",
]
