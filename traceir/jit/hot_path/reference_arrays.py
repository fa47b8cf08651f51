"""Calls of programs whose functions use references. Serves: ref.state, ref.alias"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from traceir import rules
from traceir.arrays.array import Array
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.hot_path.raw_keys import as_input, inputs_of, make_fast_path
from traceir.jit.staging import Prepared
from traceir.pytrees import flatten
from traceir.references import calls
from traceir.references.reference import Ref
from traceir.tracing.trace import typeof


def call_on_refs(
    entry: TraceCacheEntry, exe: Any, prepared: Prepared, numpy_out: bool
) -> Any:
    """The results of a call that reads the arrays of references, and writes them."""
    given = _with_arrays(prepared, entry.refs)
    run = make_fast_path(entry, exe, given, numpy_out)
    entry.hits -= 1  # `run` counts this call
    found = run([value for _, value in given.bound.dynamic], {})
    return calls.written_back(found, entry.refs, prepared.refs)


def record_on_refs(
    entry: TraceCacheEntry, prepared: Prepared, bind: Callable[..., Any]
) -> Any:
    """The results of a recorded call that reads references and writes them."""
    held = calls.operands(entry.refs, prepared.refs)
    results = bind(entry, [*entry.captures, *held, *prepared.leaves])
    return calls.written_back(
        entry.out_tree.unflatten(results), entry.refs, prepared.refs
    )


def compiled_on_refs(compiled: Any, args: Any, kwargs: Any) -> Any:
    """The results of a compiled function, which reads references and writes them.

    Raises TypeError (ref.region) for one whose arguments are to lie on devices as is
    said.
    """
    entry, form = compiled.entry, compiled.form
    if form.places or form.parts:
        got = f"{entry.closed.jaxpr.debug_name}, compiled with shardings"
        raise rules.error("ref.region", got=got)
    args, kwargs, refs = calls.opened_call(args, kwargs)
    leaves, given = compiled._leaves(args, kwargs), [*refs.values()]
    held = calls.operands(entry.refs, given)
    arrays = [as_input(value, typeof(value)) for value in held]
    results = compiled.exe.run(*arrays, *inputs_of(leaves, entry.call))
    outs = list(map(Array._wrap, results, entry.closed.out_avals))
    return calls.written_back(entry.out_tree.unflatten(outs), entry.refs, given)


def _with_arrays(prepared: Prepared, refs: Sequence[Ref]) -> Prepared:
    """A call with the arrays of references that its program closes over before its
    arguments, all of them by position.

    Raises ValueError (ref.alias) for one that is an argument, too.
    """
    held = tuple(calls.operands(refs, prepared.refs))
    bound, call = prepared.bound, prepared.call
    pairs = (("", held), *bound.dynamic) if held else bound.dynamic
    treedef = flatten.structure(tuple(value for _, value in pairs))
    labels = tuple(label for label, _ in pairs)
    avals = (*map(typeof, held), *call.avals)
    return replace(
        prepared,
        call=replace(call, labels=labels, treedef=treedef, avals=avals),
        bound=replace(bound, dynamic=pairs, origins=tuple(range(len(pairs)))),
        leaves=[*held, *prepared.leaves],
    )
