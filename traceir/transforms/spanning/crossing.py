"""The question if parts are enough, asked while functions are traced.

Serves: sharding.value
"""

from __future__ import annotations

import threading

from traceir.arrays.propagation.programs import mesh_within
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.tracing.trace import around, current_trace
from traceir.transforms.spanning.trace import SpanningTrace


class Crossing(Exception):
    """A function that is being jitted divides arrays over processes; nobody sees it."""


class _Jitting(threading.local):
    """True in a thread that jits a function which may turn out to divide arrays."""

    jitting = False


HERE = _Jitting()


def in_parts() -> bool:
    """True if what comes next can be computed from parts: outside of every trace, or in
    that of a function of arrays over processes.

    False in a trace within that one. Raises Crossing where a function is being jitted
    that is not yet known to be one.
    """
    trace = current_trace()
    if trace is None or isinstance(trace, SpanningTrace):
        return True
    if HERE.jitting and spanning_around() is None:
        raise Crossing
    return False


def check_here(closed: ClosedJaxpr) -> None:
    """Raise Crossing for a jitted function whose program is over a mesh of devices."""
    if HERE.jitting and mesh_within(closed) is not None:
        raise Crossing


def spanning_around() -> SpanningTrace | None:
    """The trace of arrays over processes, or devices, in which another one is."""
    outer = around(current_trace())
    return next((t for t in outer if isinstance(t, SpanningTrace)), None)
