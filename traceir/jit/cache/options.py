"""The options of a jitted function. Serves: jit.control-flow"""

from __future__ import annotations

from traceir import rules
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
