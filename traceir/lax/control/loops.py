"""Loops with a condition or a range: `while_loop` and `fori_loop`.

Serves: control.*, while.*
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import rules
from traceir.dtypes import kind_of
from traceir.errors import ConcretizationTypeError
from traceir.lax.checks.operands import as_array, convert, operand, typed
from traceir.lax.control.agree import check_alone, check_carry, promoted
from traceir.lax.control.bodies import (
    FlatTree,
    LoopTurns,
    TracedBody,
    called,
    demand_callable,
    flat,
    known_number,
    trace_body,
    with_results_varied,
)
from traceir.lax.control.references import arrays_of, condition_on, written_back
from traceir.lax.control.scans import scan
from traceir.lax.control.wrappers import told, wrapped
from traceir.lax.elementwise.arithmetic import add, lt
from traceir.pytrees import flatten
from traceir.tracing.knowledge import way_of
from traceir.tracing.trace import Value, bind, typeof
from traceir.transforms.rules.dce import live_program
from traceir.transforms.rules.rewrites import (
    flipped,
    forwarded,
    keep_outputs,
    move_to_front,
)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """`init_val` with `body_fun` applied to it for as long as `cond_fun` holds of it.

    The carry is a tree of arrays; `body_fun` returns one of the same structure, shapes
    and dtypes, `cond_fun` a boolean scalar. Both are traced once for each type of the
    carry and may read arrays and traced values around them. A Python number in
    `init_val` takes the dtype that the body makes of it. Forward derivatives go through
    the loop, reverse ones do not: how often it ran is not known beforehand.

    Raises TypeError (control.callable, control.condition, control.carry-tree,
    control.carry-types), ValueError (shard_map.loop).

    >>> from traceir import lax
    >>> lax.while_loop(lambda n: n < 100, lambda n: 3 * n + 1, 1)
    Array(121, dtype=int32, weak_type=True)
    """
    demand_callable("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    if not way_of(told(body_fun, "while_loop").asker).traces:
        try:
            return _in_python(cond_fun, body_fun, init_val)
        except ConcretizationTypeError:
            pass  # the condition is traced: an equation then
    carry = flat(init_val, "while_loop", "init_val")
    test, body = _traced(cond_fun, body_fun, carry)
    while (
        better := promoted(carry, body.out_avals, test.out_avals[0].vma)
    ) is not None:
        carry = better
        test, body = _traced(cond_fun, body_fun, carry)
    check_carry("while_loop", body_fun, carry, body.tree, body.out_avals)
    check_alone("while_loop", body_fun, test.out_avals[0].vma, body)
    body = with_results_varied(body, [a.vma for a in carry.avals])
    test = condition_on(test, body.written, cond_fun)
    leaves = [*arrays_of(body.written), *carry.leaves]
    return body.tree.unflatten(written_back(body.written, repeat(test, body, leaves)))


def _in_python(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    value = flatten.map_(as_array, init_val)
    while cond_fun(value):
        value = flatten.map_(as_array, body_fun(value))
    return value


def _traced(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], carry: FlatTree
) -> tuple[TracedBody, TracedBody]:
    types = [(carry.tree, carry.avals)]
    test = trace_body(cond_fun, types, "while_loop")
    body = trace_body(body_fun, types, "while_loop")
    found = [(a.shape, a.dtype) for a in test.out_avals]
    if test.tree.kind is not None or found != [((), np.dtype(bool))]:
        shown = ", ".join(a.str_short() for a in test.out_avals)
        got = f"{called(cond_fun)} returns {shown if found else test.tree}"
        if test.tree.kind is not None and found:
            got += f" in {test.tree}"
        raise rules.error("control.condition", got=got)
    return test, body


def repeat(
    test: TracedBody,
    body: TracedBody,
    leaves: list[Value],
    turns: LoopTurns = LoopTurns(),  # noqa: B008  # never changes
) -> list[Value]:
    """One `while` equation; a carry that only passes through the body is a constant of
    it, unless the condition reads it."""
    own, tested = len(body.consts), len(test.consts)
    varies = [own + k != f for k, f in enumerate(forwarded(body.closed))]
    # What passes through and is not read by the condition need not be carried.
    small, taken = live_program(test.closed, [True], [True] * tested + varies)
    moved = flipped(taken[tested:])
    consts, carried = body.consts, leaves
    cond_jaxpr, body_jaxpr = test.closed, body.closed
    if any(moved):
        cond_jaxpr = small
        body_jaxpr = keep_outputs(body_jaxpr, [not m for m in moved])
        body_jaxpr = move_to_front(body_jaxpr, [False] * own + moved)
        consts = (*(v for v, m in zip(leaves, moved) if m), *consts)
        carried = [v for v, m in zip(leaves, moved) if not m]
    results = bind(
        "while",
        *(*test.consts, *consts, *carried),
        cond_jaxpr=cond_jaxpr,
        cond_nconsts=tested,
        body_jaxpr=body_jaxpr,
        body_nconsts=len(consts),
        **turns.params(flipped(moved)),
    )
    found = iter(results)
    return [v if m else next(found) for v, m in zip(leaves, moved)]


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """`init_val` with `body_fun(i, value)` applied for `i` from `lower` to `upper`.

    `upper` is left out, as in `range`. If both bounds are known when this is traced,
    the loop is a `scan`, through which reverse derivatives go; else a `while_loop`.
    `unroll` is for `scan`.

    Raises TypeError (control.callable, control.bounds, control.carry-tree,
    control.carry-types), ValueError (control.unroll).

    >>> from traceir import lax
    >>> lax.fori_loop(0, 5, lambda i, total: total + i, 0)
    Array(10, dtype=int32, weak_type=True)
    """
    demand_callable("fori_loop", body_fun=body_fun)
    first, last = operand("fori_loop", lower), operand("fori_loop", upper, 1)
    dtype = _index_dtype(first, last)
    low, high = known_number(lower), known_number(upper)
    if low is not None and high is not None:
        length = max(high - low, 0)
        if not way_of("fori_loop").traces and length == 0:
            return init_val
        steps = bool(unroll) if unroll is None else unroll
        parts = ("carry[0]", "carry[1]")
        body = wrapped(_counted, body_fun, "fori_loop", parts)
        (_, result), _ = scan(body, (low, init_val), None, length, unroll=steps)
        return result
    if unroll is not None and unroll is not False and unroll != 1:
        got = f"unroll={unroll} with bounds that are traced"
        raise rules.error("control.unroll", got=got)
    bounds = _converted(first, dtype), _converted(last, dtype)
    parts = ("carry[0]", "carry[2]")
    body = wrapped(_counting, body_fun, "fori_loop", parts)
    _, _, result = while_loop(_below, body, (*bounds, init_val))
    return result


def _index_dtype(lower: Value, upper: Value) -> np.dtype:
    """The dtype in which the bounds meet: a weak integer yields to another one."""
    a, b = typeof(lower), typeof(upper)
    scalars = not (a.shape or b.shape)
    if scalars and a.dtype == b.dtype:
        return a.dtype
    if (
        scalars
        and kind_of(a.dtype) == "i"
        and kind_of(b.dtype) == "i"
        and a.weak_type != b.weak_type
    ):
        return b.dtype if a.weak_type else a.dtype
    got = f"{a.str_short()} and {b.str_short()}"
    raise rules.error("control.bounds", got=got)


def _converted(value: Value, dtype: np.dtype) -> Value:
    return value if typeof(value).dtype == dtype else convert(value, dtype)


def _below(carry: tuple[Any, Any, Any]) -> Any:
    index, upper, _ = carry
    return lt(index, upper)


def _counting(body_fun: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    def body(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        index, upper, value = carry
        one = typed(1, typeof(index).dtype, False)
        return add(index, one), upper, body_fun()(index, value)

    return body


def _counted(body_fun: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    def body(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], None]:
        index, value = carry
        return (index + 1, body_fun()(index, value)), None

    return body
