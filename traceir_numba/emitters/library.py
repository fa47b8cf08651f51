"""Products of matrices, which are no loop nests. Serves: choice.dot-order"""

from __future__ import annotations

from traceir_numba.emitters.entry import Library, register

register("dot_general", Library())
