"""Real functions that LLVM vectorises, as source for kernels.

Serves: the accuracy of the real functions' rows.
"""

from traceir_numba.vecmath.registry import (
    FUNCTIONS,
    STATEMENTS,
    VALUES,
    Function,
    Statement,
    closure,
    source,
)

__all__ = [
    "FUNCTIONS",
    "STATEMENTS",
    "VALUES",
    "Function",
    "Statement",
    "closure",
    "source",
]
