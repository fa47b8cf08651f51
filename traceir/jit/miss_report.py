"""Reasons for a retrace: the nearest entry and the difference.

Serves: cache.key.*
"""

from __future__ import annotations

from traceir.jit.cache.cache_key import CallSignature, Key, KeyedCall
from traceir.jit.cache.trace_cache import FunctionCache
from traceir.jit.staging import key_table


def retrace_reason(cache: FunctionCache, call: CallSignature, key: Key) -> str:
    """The fewest differences of a key from an entry's: row, argument, old and new."""
    entries = list(cache.entries.values())
    if not entries:
        return "no trace of this function yet"
    table = key_table()
    new = KeyedCall(call, key)
    candidates = [
        list(table.differences(KeyedCall(entry.call, entry.key), new))
        for entry in reversed(entries)
    ]
    closest = min(candidates, key=len)
    return "; ".join(closest)
