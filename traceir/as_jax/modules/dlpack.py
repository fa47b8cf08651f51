"""Arrays of other libraries, without a copy."""

from traceir.numpy import from_dlpack

__all__ = ["from_dlpack"]
