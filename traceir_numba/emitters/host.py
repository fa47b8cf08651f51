"""Primitives that call the host."""

from __future__ import annotations

from traceir_numba.emitters.kinds import HostCallback, register

for _name in ("debug_print", "debug_callback", "pure_callback", "io_callback"):
    register(_name, HostCallback())
