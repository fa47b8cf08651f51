"""`print` in a traced function: it prints when the program runs.

Serves: python.print
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from traceir import lax
from traceir.face.arrays.texts import decoder
from traceir.face.arrays.unwrapping import in_numpy_trace
from traceir.face.checks.status import guard
from traceir.ir.jaxpr import HostFunction
from traceir.tracing.trace import Tracer, bind, current_trace


def print(*values: Any, **options: Any) -> None:
    """Print values: whenever the program runs, traced ones as they are then."""
    if not in_numpy_trace():
        builtins.print(*values, **options)
        return
    operands: list[Tracer] = []
    made = decoder(list(values), operands)

    def target(*arrays: np.ndarray) -> list[np.ndarray]:
        builtins.print(*made(arrays), **options)
        return []

    def written() -> tuple[()]:
        bind(
            "debug_callback",
            *operands,
            callback=HostFunction("print", target),
            effect="OrderedDebug",
            partitioned=False,
        )
        return ()

    stop = guard(current_trace())
    if stop is None:
        written()
    else:  # what Python comes to alone
        lax.cond(stop.is_fine(), written, lambda: ())
