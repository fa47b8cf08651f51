"""Types of values that devices may have of their own. Serves: shard_map.vma"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from traceir.tracing.trace import bind_one, typeof


def varied(value: Any, along: Iterable[Hashable]) -> Any:
    """A value whose type tells that it may vary along axes of a mesh."""
    vma = typeof(value).vma
    missing = tuple(dict.fromkeys(name for name in along if name not in vma))
    return bind_one("pvary", value, axes=missing) if missing else value
