"""Arrays that are known while tracing, as NumPy's own.

Serves: face.box
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from traceir.face.arrays.array import NumpyTracer, known
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, current_trace


def unwrapped(value: Any) -> Any:
    """Arrays as NumPy's own, in nested tuples, lists and dicts, where all are known.

    Raises KeyError for one that is traced.
    """
    kind = type(value)
    if isinstance(value, Tracer):
        found = value.concrete if isinstance(value, NumpyTracer) else None
        if found is None:
            raise KeyError
        return found if not getattr(value, "number", False) else found[()]
    if kind is tuple or kind is list:
        return kind(map(unwrapped, value))
    if kind is dict:
        return {key: unwrapped(part) for key, part in value.items()}
    if kind is slice:
        return slice(*map(unwrapped, (value.start, value.stop, value.step)))
    return value


def wrapped(value: Any) -> Any:
    """NumPy's results as arrays of the trace; scalars stay as they are."""
    if isinstance(value, np.ndarray) and type(value) is np.ndarray:
        return known(value) if value.dtype.kind in "biufc" else value
    if type(value) in (tuple, list):
        return type(value)(map(wrapped, value))
    return value


def claim_for_writing(targets: Iterable[Any]) -> None:
    """Have the region in force, if there is one, take over arrays that are about to be
    written to: what is known of them while tracing is so no longer."""
    trace = current_trace()
    if trace is not None and trace.writes_outside:
        for target in targets:
            if isinstance(target, NumpyTracer):
                target.check_home()


def in_numpy_trace() -> bool:
    """True if the trace in force is one of a function that is written with NumPy."""
    trace = current_trace()
    return isinstance(trace, StagingTrace) and trace.tracer is NumpyTracer
