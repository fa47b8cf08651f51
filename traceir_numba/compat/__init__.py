"""Numba's decorators and types, for programs that were written for Numba.

Serves: compat.option, compat.missing, compat.signature

`from traceir_numba.compat import njit, prange` takes the place of the same import from
`numba`. Options that say how Numba is to compile change nothing; what has no
counterpart is refused where it is asked for. Start reading at `decorators.njit`.

- `decorators`: `njit`, `jit` and `prange`, with Numba's options
- `element_functions`: `vectorize`: functions of numbers, as loops over elements
- `row_functions`: `guvectorize`: functions of rows, as loops over rows
- `stencils`: `stencil`: functions of an element's neighbours, as loops
- `written_loops`: loops in Python around a user's function
- `typed`: Numba's typed containers: lists and dicts of Python's own
- `signatures`: Numba's types and signatures: `float64[:]`, `"f8(f8, i4)"`

>>> import numpy as np
>>> from traceir_numba.compat import njit, prange
>>> @njit(parallel=True, fastmath=True)
... def total(x):
...     found = 0.0
...     for i in prange(len(x)):
...         found += x[i]
...     return found
>>> total(np.arange(4.0))
np.float64(6.0)
"""

from typing import Any

from traceir.base.tracebacks import publish as _publish
from traceir_numba.compat import signatures as types
from traceir_numba.compat import typed
from traceir_numba.compat.decorators import MissingName, jit, njit, prange
from traceir_numba.compat.element_functions import vectorize
from traceir_numba.compat.row_functions import guvectorize
from traceir_numba.compat.signatures import (
    b1,
    boolean,
    c8,
    c16,
    complex64,
    complex128,
    f4,
    f8,
    float32,
    float64,
    i1,
    i2,
    i4,
    i8,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    none,
    u1,
    u2,
    u4,
    u8,
    uint8,
    uint16,
    uint32,
    uint64,
    uintp,
    void,
)
from traceir_numba.compat.stencils import stencil

# Names of Numba's that have no counterpart.
_MISSING = frozenset(
    (
        *("jitclass", "cfunc", "overload", "generated_jit", "objmode"),
        *("literal_unroll", "extending", "experimental", "from_dtype", "typeof"),
        *("deferred_type", "optional", "types_module", "carray", "farray"),
    )
)


def __getattr__(name: str) -> Any:
    if name in _MISSING:
        return MissingName(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "b1",
    "boolean",
    "c16",
    "c8",
    "complex128",
    "complex64",
    "f4",
    "f8",
    "float32",
    "float64",
    "guvectorize",
    "i1",
    "i2",
    "i4",
    "i8",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "intc",
    "intp",
    "jit",
    "njit",
    "none",
    "prange",
    "stencil",
    "typed",
    "types",
    "u1",
    "u2",
    "u4",
    "u8",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintp",
    "vectorize",
    "void",
]

_publish(globals())
