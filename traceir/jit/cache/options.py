"""The options of a jitted function. Serves: jit.control-flow"""

from __future__ import annotations

from typing import Any

from traceir import rules
from traceir.base import config
from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `jit`, and the face and types of the drop-in decorator."""

    backend: str | None = None
    keep_unused: bool = False
    inline: bool = False
    max_traces: int | None = None
    face: str = "jax"
    x64: bool | None = None
    numpy_out: bool = False
    strict: bool = False
    write_arguments: bool = True
    sanitize: bool = False
    boundscheck: bool = True
    control_flow: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.max_traces, int | None):
            raise TypeError(f"max_traces is an int or None, got {self.max_traces!r}")
        if self.control_flow not in (None, "staged", "python"):
            got = f"control_flow={self.control_flow!r}"
            raise rules.error("jit.control-flow", got=got)

    def scope(self, context: config.Context) -> config.ConfigScope:
        """The scope in which the function runs: what they change in a context."""
        fields: dict[str, Any] = {}
        if self.x64 is not None and self.x64 != context.x64:
            fields["x64"] = self.x64
        if self.sanitize and not context.sanitize:
            fields["sanitize"] = True
        if not self.boundscheck and context.boundscheck:
            fields["boundscheck"] = False
        if self.control_flow not in (None, context.control_flow):
            fields["control_flow"] = self.control_flow
        return config.ConfigScope(fields)
