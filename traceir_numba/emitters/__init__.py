"""The table of emitters: how the backend computes each primitive.

A test compares its keys with the specification's primitives and the kernels. An entry
is of one of the kinds in `kinds`: a scalar expression, an index map, a reduction, a
library call, control flow, or a rewrite into other primitives. The passes look entries
up in `EMITTERS`; modules register theirs when they are imported. Start reading at
`kinds.emitter`.

- `folds`: emitters that combine many elements: reductions, windows, convolutions
- `pairs`: rules that turn values of two numbers (complex, keys) into real numbers
- `bits`: scalar expressions over the bits of integers and floating numbers
- `decompositions`: primitives that are rewritten in terms of others
- `draws`: draws from NumPy's generators: calls of the functions that NumPy exports
- `formats`: bitcasts, and rounding to formats of fewer digits
- `gather_scatter`: reads and writes at indices that are values
- `host`: primitives that call the host, and the entries of equations
- `kinds`: the closed set of kinds of emitter, and the table of them all
- `library_calls`: primitives that are calls: matrix products and libraries
- `narrow_bits`: conversions between formats of 16 bits and fewer and wider ones
- `regions`: control flow: equations read and written as loops or choices
- `scalars`: scalar expressions: one primitive, one entry
- `split_pad`: splitting and padding, in terms of slices and concatenation
- `structure`: structural primitives as index maps
- `threefry`: random bits: the hash of a counter in the loop that uses it
- `ziggurats`: ziggurats of NumPy's: normal and exponential numbers of one word, mostly
"""

from traceir_numba.emitters import (
    bits,
    decompositions,
    draws,
    formats,
    gather_scatter,
    host,
    library_calls,
    narrow_bits,
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
    "draws",
    "folds",
    "formats",
    "functions",
    "inverse_functions",
    "gather_scatter",
    "host",
    "keys",
    "library_calls",
    "narrow_bits",
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
