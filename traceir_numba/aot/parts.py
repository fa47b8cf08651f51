"""LLVM text of an artefact's constants, memory and sums."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from traceir_numba.runtime import mcjit

# Arrays between start at a cache line.
ALIGNMENT = 64
# Where each thread has the memory of products.
WORK = "traceir_work"
# The function that adds the parts of long sums, by its dtype.
SUM = "traceir_ahead_sum_"
# What products ask for while they run: memory that the entry asked for at its begin, so
# that no product finds none. Each thread has its own.
MEMORY = f"""
@{WORK} = thread_local global ptr null
define ptr @traceir_malloc(i64 %size) nounwind {{
  %p = load ptr, ptr @{WORK}
  ret ptr %p
}}
define void @traceir_free(ptr %p) nounwind {{
  ret void
}}
"""


def sum_text(dtype: str) -> str:
    """Source of the function that adds parts of sums, one after the other."""
    return (
        f"def {SUM}{dtype}(parts, z, count, n):\n"
        "    for i in range(n):\n"
        "        z[i] = parts[i] + parts[n + i]\n"
        "    for k in range(2, count):\n"
        "        for i in range(n):\n"
        "            z[i] = z[i] + parts[k * n + i]\n"
    )


def constant_text(name: str, value: np.ndarray) -> str:
    """A constant array as bytes."""
    data = np.ascontiguousarray(value).tobytes() or b"\0"
    text = "".join(f"\\{byte:02X}" for byte in data)
    kind = f"[{len(data)} x i8]"
    return f'@{name} = private constant {kind} c"{text}", align {ALIGNMENT}'


# Where what nobody writes is, by the system's name in LLVM's triples.
READ_ONLY = {"linux": ".section .rodata,\\22a\\22", "darwin": ".const"}


def data_text(large: Mapping[str, bytes], folder: Path) -> str:
    """LLVM text of constants that are read from files when the object is made.

    As text they would take LLVM many times their memory.
    """
    system = mcjit.triple()
    section = next((s for name, s in READ_ONLY.items() if name in system), ".data")
    lines = [section]
    for name, data in large.items():
        path = folder / f"{name}.bin"
        path.write_bytes(data)
        symbol = f"_{name}" if "darwin" in system else name
        lines += [".p2align 6", f"{symbol}:", f".incbin \\22{path.as_posix()}\\22"]
    return "".join(f'module asm "{line}"\n' for line in (*lines, ".text"))
