"""Loops over the rows of arrays: `scan` and `map`. Serves: control.*, scan.*"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from traceir import rules
from traceir.lax.checks.operands import as_array
from traceir.lax.control.agree import check_carry, promoted
from traceir.lax.control.bodies import (
    FlatTree,
    LoopTurns,
    TracedBody,
    called,
    demand_callable,
    flat,
    trace_body,
    with_results_varied,
)
from traceir.lax.control.references import arrays_of, rows_of, written_back
from traceir.lax.control.wrappers import told, wrapped
from traceir.lax.structural.shapes import (
    concatenate,
    index_in_dim,
    reshape,
    slice,
    stack,
)
from traceir.pytrees import flatten
from traceir.pytrees.flatten import short
from traceir.tracing.knowledge import way_of
from traceir.tracing.trace import Tracer, Value, bind
from traceir.transforms.batching.vmap import vmap
from traceir.transforms.rules.rewrites import forwarded, keep_outputs, move_to_front


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:
    """Apply `f(carry, x)` for each row `x` of `xs`; the last carry and all results.

    `f` returns a pair: the next carry, a tree of the structure, shapes and dtypes of
    `init`, and a tree of arrays, which are stacked. `xs` is a tree of arrays with equal
    leading extents, or None with a `length`. `f` is traced once for each type and may
    read arrays and traced values around it. A Python number in `init` takes the dtype
    that `f` makes of it. With `reverse`, the last row comes first; `unroll` says how
    many steps a backend may write out for one turn of the loop, 0 or True all of them.
    `_split_transpose` is about how JAX transposes, and changes nothing here.

    Raises TypeError (control.callable, control.pair, control.carry-tree,
    control.carry-types, level.concretize.number for a traced `length`), ValueError
    (control.rows, control.length, control.unroll).

    >>> import traceir.numpy as jnp
    >>> from traceir import lax
    >>> lax.scan(lambda total, x: (total + x, total * x), 0.0, jnp.arange(1.0, 4.0))
    (Array(6., dtype=float32), Array([0., 2., 9.], dtype=float32))
    """
    demand_callable("scan", f=f)
    xs, f = rows_of(xs, f)
    carry, rows = flat(init, "scan", "init"), flat(xs, "scan", "xs")
    count = _length(rows, length)
    if not way_of(told(f, "scan").asker).traces:
        return _in_python(f, carry, rows, count, reverse)
    steps = _unrolled(unroll, count)
    body, split = _traced(f, carry, rows)
    while (better := promoted(carry, body.out_avals[:split])) is not None:
        carry = better
        body, split = _traced(f, carry, rows)
    trees = body.tree.below
    check_carry("scan", f, carry, trees[0], body.out_avals[:split])
    body = with_results_varied(body, [a.vma for a in carry.avals])
    held = replace(carry, leaves=[*arrays_of(body.written), *carry.leaves])
    results = written_back(body.written, fold(body, held, rows, count, reverse, steps))
    return (
        trees[0].unflatten(results[:split]),
        trees[1].unflatten(results[split:]),
    )


def _length(rows: FlatTree, length: int | None) -> int:
    """The number of rows."""
    for leaf, path in zip(rows.leaves, rows.paths, strict=True):
        if leaf.ndim == 0:
            got = f"{leaf.aval.str_short()}, which is {path}"
            raise rules.error("control.rows", got=got)
    counts = [leaf.shape[0] for leaf in rows.leaves]
    if length is not None:
        counts.insert(0, _number(length))
    if not counts:
        raise rules.error("control.length", got="no arrays and no length")
    if len(set(counts)) > 1 or counts[0] < 0:
        names = ["length"] * (length is not None) + rows.paths
        listed = [f"{name} has {n}" for name, n in zip(names, counts)]
        raise rules.error("control.length", got=", ".join(listed))
    return int(counts[0])


def _number(length: Any) -> int:
    if isinstance(length, Tracer):
        length = length.known("level.concretize.number", "length")
    return int(length)


def _unrolled(unroll: int | bool, length: int) -> int:
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if not isinstance(unroll, int) or unroll < 0:
        raise rules.error("control.unroll", got=f"unroll={unroll!r}")
    return unroll


def _traced(
    f: Callable[..., Any], carry: FlatTree, rows: FlatTree
) -> tuple[TracedBody, int]:
    """The body on the carry and one row, and how many of its results are the carry."""
    row = [a.update(shape=a.shape[1:]) for a in rows.avals]
    body = trace_body(f, [(carry.tree, carry.avals), (rows.tree, row)], "scan")
    if body.tree.node_type is not tuple or len(body.tree.below) != 2:
        what = short(body.tree)
        if body.tree.kind is None:
            what = body.out_avals[0].str_short()
        got = f"{called(f)} returns {what}"
        raise rules.error("control.pair", got=got)
    return body, body.tree.below[0].num_leaves


def fold(
    body: TracedBody,
    carry: FlatTree,
    rows: FlatTree,
    length: int,
    reverse: bool,
    unroll: int,
    turns: LoopTurns = LoopTurns(),  # noqa: B008  # never changes
) -> list[Value]:
    """One `scan` equation: values that pass through are no carry, rows no results."""
    own, carried = len(body.consts), len(carry.leaves)
    sources = forwarded(body.closed)
    moved = [own + k == f for k, f in enumerate(sources[:carried])]
    stacked = len(sources) - carried
    kept = [not m for m in moved]
    program = keep_outputs(body.closed, kept + [True] * stacked)
    if any(moved):
        order = [False] * own + moved + [False] * len(rows.leaves)
        program = move_to_front(program, order)
    consts = [*(v for v, m in zip(carry.leaves, moved) if m), *body.consts]
    init = [v for v, k in zip(carry.leaves, kept) if k]
    first = own + carried
    same = [k if k is not None and k >= first else None for k in sources[carried:]]
    program = keep_outputs(program, [True] * len(init) + [k is None for k in same])
    results = bind(
        "scan",
        *(*consts, *init, *rows.leaves),
        jaxpr=program,
        length=length,
        reverse=reverse,
        num_consts=len(consts),
        num_carry=len(init),
        unroll=unroll,
        **turns.params(kept),
    )
    found = iter(results)
    last = [v if m else next(found) for v, m in zip(carry.leaves, moved)]
    return last + [next(found) if k is None else rows.leaves[k - first] for k in same]


def _in_python(
    f: Callable[..., Any], carry: FlatTree, rows: FlatTree, length: int, reverse: bool
) -> tuple[Any, Any]:
    """The loop as Python runs it: the types of no rows are not known."""
    if length == 0:
        raise rules.error("control.no-steps", got=called(f))
    value, found = carry.tree.unflatten(carry.leaves), []
    for k in range(length - 1, -1, -1) if reverse else range(length):
        row = [index_in_dim(x, k, keepdims=False) for x in rows.leaves]
        value, y = f(value, rows.tree.unflatten(row))
        found.append(y)
    if reverse:
        found.reverse()
    return value, flatten.map_(lambda *ys: stack([as_array(y) for y in ys], 0), *found)


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` of each row of `xs`, the results stacked: a `scan` without a carry.

    With `batch_size`, `f` is applied to so many rows at once by `vmap`, and to those
    that are left; 0 means all.

    Raises ValueError (control.rows, control.length, control.batch-size).

    >>> import traceir.numpy as jnp
    >>> from traceir import lax
    >>> lax.map(lambda x: x * x, jnp.arange(4))
    Array([0, 1, 4, 9], dtype=int32)
    """
    demand_callable("map", f=f)
    if batch_size is not None:
        return _in_batches(f, xs, batch_size)
    return scan(wrapped(_each, f, "map", ["x"]), (), xs)[1]


def _each(f: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    return lambda _, x: ((), f()(x))


def _each_batch(f: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    return lambda _, x: ((), vmap(f())(x))


def _in_batches(f: Callable[[Any], Any], xs: Any, batch_size: int) -> Any:
    rows = flat(xs, "map", "xs")
    length = _length(rows, None)
    if not isinstance(batch_size, int) or batch_size < 0:
        raise rules.error("control.batch-size", got=f"batch_size={batch_size!r}")
    count, left = divmod(length, batch_size) if batch_size else (0, length)
    whole = length - left
    batches = [
        reshape(_rows(x, 0, whole), (count, batch_size, *x.shape[1:]))
        for x in rows.leaves
        if count
    ]
    rest = [_rows(x, whole, length) for x in rows.leaves]
    parts: list[Any] = []
    if count:
        body = wrapped(_each_batch, f, "map", ["x"])
        ys = scan(body, (), rows.tree.unflatten(batches))[1]
        parts.append(ys)
    if left or not count:
        parts.append(vmap(f)(rows.tree.unflatten(rest)))
    if count:
        parts[0] = flatten.map_(_merged, parts[0])
    if len(parts) == 1:
        return parts[0]
    return flatten.map_(lambda a, b: concatenate([a, b], 0), *parts)


def _rows(x: Value, first: int, last: int) -> Value:
    """Some rows of an array; itself where those are all."""
    if (first, last) == (0, x.shape[0]):
        return x
    starts = (first, *(0 for _ in x.shape[1:]))
    return slice(x, starts, (last, *x.shape[1:]))


def _merged(y: Value) -> Value:
    return reshape(y, (y.shape[0] * y.shape[1], *y.shape[2:]))
