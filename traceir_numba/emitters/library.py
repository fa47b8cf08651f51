"""What is no loop nest: products of matrices, and functions of other libraries.

Serves: choice.dot-order
"""

from __future__ import annotations

from traceir_numba.emitters.entry import Evaluated, Library, register

register("dot_general", Library())
register("sort", Evaluated())
register("top_k", Evaluated())
for name in ("cholesky", "lu", "lu_pivots_to_permutation", "qr", "eigh", "eig", "svd"):
    register(name, Evaluated())
register("triangular_solve", Evaluated())
register("random_gamma", Evaluated())
register("fft", Evaluated())
