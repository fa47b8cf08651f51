"""Real functions that LLVM vectorises, as source for kernels.

Serves: the accuracy of the real functions' rows.

Takes the names of the functions that a kernel calls; gives their source, with all that
they call in turn. Each is tested against exact values; `accuracy` has the worst errors.
Start reading at `registry.source`.

- `special`: special functions as source: gamma, beta, Bessel and error functions
- `accuracy`: the greatest errors that were found, in ulps
- `area`: inverse hyperbolic functions
- `basics`: conversions between floating numbers and their bits, and constants
- `cube_root`: the cube root
- `exponential`: exponentials
- `hyperbolic`: hyperbolic functions
- `inverse_trigonometric`: inverse trigonometric functions
- `logarithm`: the natural logarithm
- `marks`: decorators that mark the functions' source, without Numba
- `power`: powers
- `registry`: the functions as data: source, signatures and what they call
- `trigonometric`: sine, cosine and tangent of any argument
"""

from traceir_numba.vecmath.accuracy import ULP, WORST, Worst
from traceir_numba.vecmath.registry import (
    FUNCTIONS,
    JIT_OPTIONS,
    STATEMENTS,
    VALUES,
    MathFunction,
    MathStatement,
    closure,
    source,
)

__all__ = [
    "FUNCTIONS",
    "JIT_OPTIONS",
    "STATEMENTS",
    "ULP",
    "VALUES",
    "WORST",
    "MathFunction",
    "MathStatement",
    "Worst",
    "closure",
    "source",
]
