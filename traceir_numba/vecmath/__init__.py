"""Real functions that LLVM vectorises, as source for kernels.

Serves: the accuracy of the real functions' rows.
"""

from traceir_numba.vecmath.accuracy import ULP, WORST, Worst
from traceir_numba.vecmath.registry import (
    FUNCTIONS,
    JIT_OPTIONS,
    STATEMENTS,
    VALUES,
    Function,
    Statement,
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
    "Function",
    "Statement",
    "Worst",
    "closure",
    "source",
]
