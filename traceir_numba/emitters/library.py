"""What is no loop nest: products of matrices, and functions of other libraries.

Serves: choice.dot-order
"""

from __future__ import annotations

from traceir_numba.emitters.entry import Evaluated, Library, register

register("dot_general", Library())
register("sort", Evaluated())
register("top_k", Evaluated())
for name in ("cholesky", "lu", "qr", "eigh", "svd", "triangular_solve"):
    register(name, Evaluated())
