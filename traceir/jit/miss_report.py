"""Reasons for a retrace: the nearest entry and the difference.

Serves: cache.key.*, jit.compiled-tree
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.base import config
from traceir.errors import StaleCaptureError, shown
from traceir.ir.unroll_report import warn
from traceir.jit.cache.cache_key import CallSignature, Key, KeyedCall
from traceir.jit.cache.trace_cache import FunctionCache
from traceir.jit.staging import Prepared, check_seal, key_table
from traceir.pytrees import flatten


def explained(cache: FunctionCache, prepared: Prepared, fun: Callable[..., Any]) -> str:
    """`hit`, or the reason of a miss or of a stale entry; below, the arguments that are
    known by demand."""
    key = key_table().key(prepared.call)
    found, entry = "hit", cache.entries.get(key)
    if entry is None:
        found = f"miss: {retrace_reason(cache, prepared.call, key)}"
    else:
        try:
            check_seal(entry, fun)
        except StaleCaptureError as error:
            found = f"stale: {error.rule}: {error.got}"
    return "\n".join([found, *cache.known.described(prepared.call.known)])


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


def tell_trace(
    name: str, count: int, limit: int | None, reason: Callable[[], str]
) -> None:
    """Log a trace of a function, the first of which has the count 1.

    Raises RuntimeError (cache.no_tracing), RetraceError (cache.max_traces).
    """
    context = config.local.context
    if context.no_tracing:
        raise rules.error("cache.no_tracing", got=f"{name}; {reason()}")
    if limit is not None and count > limit:
        got = f"trace {count} of {name} with max_traces={limit}"
        raise rules.error("cache.max_traces", got=f"{got}; {reason()}")
    if context.explain_cache_misses:
        warn("Cache miss of %s: %s", name, reason())
    if context.log_compiles:
        warn("Tracing %s for jit: %s", name, reason())


def differing(
    labels: Sequence[str], given: flatten.TreeDef, wanted: flatten.TreeDef, made: str
) -> str:
    """The arguments in which two structures of all arguments differ.

    >>> given, wanted = flatten.structure((1, {})), flatten.structure((1, 2))
    >>> differing(("x", "y"), given, wanted, "compiled")
    'y is PyTreeDef({}), compiled for PyTreeDef(*)'
    """
    parts = [
        f"{label} is {shown(have)}, {made} for {shown(want)}"
        for label, have, want in zip(labels, given.below, wanted.below, strict=False)
        if have != want
    ]
    return "; ".join(parts) or f"{shown(given)}, {made} for {shown(wanted)}"
