"""What a value's type tells of the axes of a mesh. Serves: shard_map.vma"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from traceir.tracing.trace import Value, bind_one, typeof


def varied(value: Value, along: Iterable[Hashable]) -> Value:
    """A value whose type tells that it may vary along axes of a mesh (shard_map.vma)."""
    vma = typeof(value).vma
    missing = tuple(dict.fromkeys(name for name in along if name not in vma))
    return bind_one("pvary", value, axes=missing) if missing else value
