"""Choices: `cond` and `switch`. Serves: control.*, cond.*"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING
from traceir.dtypes import kind_of
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.lax.checks.operands import as_array, convert, operand, typed
from traceir.lax.control.agree import check_branches
from traceir.lax.control.bodies import (
    TracedBody,
    carrying,
    demand_callable,
    flat,
    known_number,
    trace_body,
    with_results_varied,
)
from traceir.lax.control.references import (
    arrays_of,
    closing_over,
    written_back,
    written_by,
)
from traceir.lax.elementwise.arithmetic import ne
from traceir.lax.elementwise.selection import clamp
from traceir.tracing.knowledge import way_of
from traceir.tracing.trace import Tracer, Value, bind, typeof
from traceir.transforms.rules.rewrites import forwarded, keep_outputs, spread

INDEX = np.dtype("int32")
MISSING: Any = object()


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = MISSING,
) -> Any:
    """`true_fun(*operands)` where `pred` holds, else `false_fun(*operands)`.

    `pred` is a scalar: a truth value, or a number that is compared to zero. Both
    functions are traced, and must return trees of one structure, of arrays of equal
    shapes and dtypes; one of them is run. They may read arrays and traced values around
    them. Under `vmap` with a batch of predicates, both are run and elements selected.
    The older form `cond(pred, x, true_fun, y, false_fun)` gives each its own operand.

    Raises TypeError (control.callable, control.predicate, control.branch-tree,
    control.branch-types).

    >>> import traceir
    >>> from traceir import lax
    >>> half = traceir.jit(lambda n: lax.cond(n % 2 == 0, lambda: n // 2, lambda: n))
    >>> half(6), half(7)
    (Array(3, dtype=int32, weak_type=True), Array(7, dtype=int32, weak_type=True))
    """
    if _of_two(operands, false_fun) and not callable(operands[0]):
        x, first, y, second = true_fun, false_fun, *operands
        return cond(pred, lambda own, _: first(own), lambda _, own: second(own), x, y)
    demand_callable("cond", true_fun=true_fun, false_fun=false_fun)
    values = _operands("cond", operands, operand)
    truth = _truth(pred)
    if not way_of("cond").traces:
        known = known_number(truth, bool)
        if known is not None:
            return (true_fun if known else false_fun)(*values)
    if isinstance(truth, Tracer):
        index = convert(truth, INDEX)
    else:
        index = typed(bool(truth), INDEX, False)
    names, funs = ("true_fun", "false_fun"), (true_fun, false_fun)
    return _choose("cond", index, names, funs, values, reverse=True)


def _of_two(operands: tuple[Any, ...], second: Any) -> bool:
    """True for the older form, in which each function has an operand of its own."""
    return len(operands) == 2 and callable(second) and callable(operands[1])


def _operands(asker: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is MISSING:
        return operands
    if operands:
        got = f"{len(operands)} operands and `operand=` of {asker}"
        raise rules.error("control.operand", got=got)
    return (operand,)


def _truth(pred: Any) -> Value:
    """The predicate as a boolean scalar."""
    try:
        value = operand("cond", pred)
    except rules.TraceirError as error:
        raise rules.error("control.predicate", got=error.got) from None
    aval = typeof(value)
    if aval.shape or kind_of(aval.dtype) not in "biuf":
        raise rules.error("control.predicate", got=aval.str_short())
    if kind_of(aval.dtype) == "b":
        return value
    if isinstance(value, Tracer):
        return ne(value, typed(0, aval.dtype, aval.weak_type))
    return bool(value)


def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = MISSING,
) -> Any:
    """`branches[index](*operands)`; an index out of range means the nearest branch.

    All branches are traced, and must return trees of one structure, of arrays of equal
    shapes and dtypes; one of them is run.

    Raises TypeError (control.callable, control.index, control.branch-tree,
    control.branch-types), ValueError (control.branches).

    >>> from traceir import lax
    >>> branches = [lambda x: x + 1.0, lambda x: x * x]
    >>> lax.switch(1, branches, 3.0), lax.switch(-5, branches, 3.0)
    (Array(9., dtype=float32, weak_type=True), Array(4., dtype=float32, weak_type=True))
    """
    funs = tuple(branches)
    names = tuple(f"branch {k}" for k in range(len(funs)))
    demand_callable("switch", **dict(zip(names, funs)))
    values = _operands("switch", operands, operand)
    number = _index(index)
    if not funs:
        raise rules.error("control.branches", got="no branches")
    if len(funs) == 1:
        return funs[0](*values)
    if not way_of("switch").traces:
        known = known_number(number)
        if known is not None:
            return funs[min(max(known, 0), len(funs) - 1)](*values)
    last = INDEX.type(len(funs) - 1)
    chosen = clamp(INDEX.type(0), convert(number, INDEX), last)
    return _choose("switch", chosen, names, funs, values)


def _index(index: Any) -> Value:
    try:
        value = operand("switch", index)
    except rules.TraceirError as error:
        raise rules.error("control.index", got=error.got) from None
    aval = typeof(value)
    if aval.shape or kind_of(aval.dtype) not in "iu":
        raise rules.error("control.index", got=aval.str_short())
    return value


def _choose(
    asker: str,
    index: Value,
    names: Sequence[str],
    funs: Sequence[Callable[..., Any]],
    operands: tuple[Any, ...],
    reverse: bool = False,
) -> Any:
    """One `cond` equation; results that are the same operand in all branches are it."""
    operands, funs = closing_over(operands, funs)
    args = [flat(o, asker, f"operand {k}") for k, o in enumerate(operands)]
    types = [(a.tree, a.avals) for a in args]
    bodies = [trace_body(fun, types, asker) for fun in funs]
    check_branches(asker, names, funs, bodies)
    along = [
        [name for a in avals for name in a.vma]
        for avals in zip(*(body.out_avals for body in bodies))
    ]
    bodies = [with_results_varied(body, along) for body in bodies]
    written = written_by(bodies)
    bodies = [carrying(body, written) for body in bodies] if written else bodies
    leaves = [*arrays_of(written), *(leaf for a in args for leaf in a.leaves)]
    found = written_back(written, choose(index, bodies, leaves, reverse))
    return bodies[0].tree.unflatten(map(as_array, found))


def choose(
    index: Value, bodies: Sequence[TracedBody], leaves: Sequence[Value], reverse: bool
) -> list[Value]:
    """The results of one `cond` equation, or the operands that pass through.

    Where devices may choose differently, all branches are run (shard_map.vma).
    """
    consts, branches = shared_consts(bodies)
    values = [*consts, *leaves]
    sources = list(zip(*map(forwarded, branches)))
    passed = [k[0] if len(set(k)) == 1 else None for k in sources]
    keep = [k is None for k in passed]
    kept = [keep_outputs(b, keep) for b in branches]
    if reverse:
        kept.reverse()
    if typeof(index).vma:
        from traceir.transforms.control.cond import of_all_branches

        results = iter(of_all_branches(index, values, kept))
    else:
        results = iter(bind("cond", index, *values, branches=tuple(kept)))
    return [next(results) if k is None else values[k] for k in passed]


def shared_consts(
    bodies: Sequence[TracedBody],
) -> tuple[list[Value], list[ClosedJaxpr]]:
    """The values that the bodies close over, and their programs with all of them as
    inputs.
    """
    number: dict[int, int] = {}
    values: list[Value] = []
    for body in bodies:
        for value in body.consts:
            if identity(value) not in number:
                number[identity(value)] = len(values)
                values.append(value)
    avals = tuple(map(typeof, values))
    programs = [
        spread(b.closed, tuple(number[identity(v)] for v in b.consts), avals)
        for b in bodies
    ]
    return values, programs


def identity(value: Value) -> int:
    """The key by which two bodies that close over one value share it."""
    return id(value._value if type(value) in LIVING else value)
