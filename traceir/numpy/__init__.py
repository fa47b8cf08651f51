"""NumPy's functions on traceable arrays: `import traceir.numpy as jnp`.

Promotion, weak types and the equations that are traced are those of `jax.numpy`. The
names are those of `__init__.pyi`; a function's module is imported with its first use.
Start reading at `elementwise.arithmetic.add`.

- `arrays`: creation of arrays, their dtypes, and their input and output
- `assembly`: arrays put together: tiled, padded, inserted into
- `elementwise`: functions applied element by element
- `fft`: Fourier transforms, their frequencies and shifts: `traceir.numpy.fft`
- `functional`: functions of functions: universal functions, `vectorize`
- `indexing`: reads and updates by index
- `linalg`: linear algebra as `numpy.linalg` has it: `traceir.numpy.linalg`
- `manipulation`: reshaping, joining, splitting and reordering
- `polynomials`: polynomials, and calculus on samples
- `products`: products of vectors, matrices and tensors
- `ranges`: ranges, triangles and window functions
- `reductions`: reductions along axes, statistics and histograms
- `sets`: sorting, searching and set operations

>>> import traceir.numpy as jnp
>>> jnp.sum(jnp.arange(4.0) ** 2)
Array(14., dtype=float32)
"""

from functools import partial as _partial
from typing import Any as _Any

from traceir.base import lazy_exports as _lazy
from traceir.base.tracebacks import publish as _publish
from traceir.numpy.functional import ufunc_methods as _named

_places = _lazy.places(__file__)
__all__ = sorted(_places)


def _named_function(name: str) -> _Any:
    return globals().get(name) or __getattr__(name)


# Dtypes of which there are names alone begin so.
_SMALL = ("float6_", "int1", "uint1")


def __getattr__(name: str) -> _Any:
    if name in _places:
        # Whole before any other thread sees it.
        shown = _partial(_named.equipped, _named_function, name)
        return _lazy.load(globals(), _places[name], name, shown)
    if name.startswith(_SMALL):
        from traceir.numpy.arrays import small_dtypes

        if name in small_dtypes.NAMES:
            return getattr(small_dtypes, name)
    from traceir.lax.checks.attribute_hints import missing

    raise missing(name, __all__)


def __dir__() -> list[str]:
    return __all__


_publish(globals())
