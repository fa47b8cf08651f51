"""The emitter table: for every primitive, how the backend computes it.

A test compares its keys with the specification's primitives and the kernels.
"""

from traceir_numba.emitters import (
    bits,
    decompositions,
    float16_bits,
    formats,
    gather_scatter,
    host,
    library_calls,
    regions,
    scalars,
    split_pad,
    structure,
    threefry,
)
from traceir_numba.emitters.folds import (
    collectives,
    convolutions,
    cumulative,
    reductions,
    strided_convolutions,
    windows,
)
from traceir_numba.emitters.kinds import EMITTERS
from traceir_numba.emitters.pairs import (
    arithmetic,
    folds,
    functions,
    inverse_functions,
    keys,
    products,
    values,
)

__all__ = [
    "EMITTERS",
    "arithmetic",
    "bits",
    "collectives",
    "convolutions",
    "cumulative",
    "decompositions",
    "float16_bits",
    "folds",
    "formats",
    "functions",
    "inverse_functions",
    "gather_scatter",
    "host",
    "keys",
    "library_calls",
    "products",
    "reductions",
    "regions",
    "scalars",
    "split_pad",
    "strided_convolutions",
    "structure",
    "threefry",
    "values",
    "windows",
]
