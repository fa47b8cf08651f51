"""The order of an array's elements in memory, with where it lies."""

from traceir.arrays.layout import Format, Layout

__all__ = ["Format", "Layout"]
