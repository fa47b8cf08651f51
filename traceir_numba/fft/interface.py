"""The interface between generated code of transforms and its callers.

Serves: fft.*
"""

from __future__ import annotations

# The bytes of a vector. They are the same on each machine, and so are the bits.
VECTOR = 64
# Where points lie: those of a transform side by side; those of transforms side by side,
# which are neighbours; in panels.
ROWS, COLUMNS, PANELS = range(3)
# The numbers of a pass: its address, s and six steps, m, and where its twiddles are.
WIDTH = 10
# What Python calls: how many pointers and sizes each takes.
ENTRIES = {"groups": (9, 16), "halve_line": (4, 3)}


def lanes_of(dtype: str) -> int:
    """The elements of a vector: 16 of float32, 8 of float64."""
    return VECTOR // (4 if dtype == "float32" else 8)


def symbol_of(name: str, dtype: str) -> str:
    """The name of a loaded function."""
    return f"traceir_fft_{name}_{dtype}"
