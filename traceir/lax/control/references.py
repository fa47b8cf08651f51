"""References in bodies of control flow: carried by loops, given to branches.

Serves: ref.body, ref.condition
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import wraps
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.lax.control.bodies import TracedBody, called, carrying
from traceir.pytrees import flatten
from traceir.references.cells import read, write
from traceir.references.reference import Ref
from traceir.tracing.trace import Value
from traceir.transforms.rules.rewrites import keep_outputs

Body = Callable[..., Any]


def arrays_of(written: Sequence[Ref]) -> list[Value]:
    """The arrays of references before a loop or a choice that writes them."""
    return list(map(read, written))


def settled(written: Sequence[Ref], results: Sequence[Value]) -> list[Value]:
    """The results without those of references, which have been written."""
    for ref, value in zip(written, results):
        write(ref, value)
    return list(results[len(written) :])


def written_by(bodies: Sequence[TracedBody]) -> list[Ref]:
    """The references that some of these bodies write, each once."""
    every = [ref for body in bodies for ref in body.written]
    return list({id(ref): ref for ref in every}.values())


def condition_on(
    test: TracedBody, written: Sequence[Ref], cond_fun: Body
) -> TracedBody:
    """The condition of a loop whose body writes references, which are before its carry.

    Raises ValueError (ref.condition) for one that writes some itself.
    """
    if test.written:
        got = f"{called(cond_fun)} writes {test.written[0].aval!r}"
        raise rules.error("ref.condition", got=got)
    if not written:
        return test
    found = carrying(test, written)
    closed: ClosedJaxpr = keep_outputs(found.closed, [False] * len(written) + [True])
    return TracedBody(closed, found.consts, test.tree, found.sources)


def closing_over(
    operands: tuple[Any, ...], funs: Sequence[Body]
) -> tuple[tuple[Any, ...], Sequence[Body]]:
    """The operands that are no references; functions that close over those that are."""
    leaves, tree = flatten.flatten(operands)
    if Ref not in map(type, leaves):
        return operands, funs

    def of_arrays(fun: Body) -> Body:
        @wraps(fun)
        def call(*arrays: Any) -> Any:
            rest = iter(arrays)
            given = [x if type(x) is Ref else next(rest) for x in leaves]
            return fun(*tree.unflatten(given))

        return call

    arrays = tuple(x for x in leaves if type(x) is not Ref)
    return arrays, [of_arrays(fun) for fun in funs]


def rows_of(xs: Any, f: Body) -> tuple[Any, Body]:
    """What a scan goes over, and its body: of a reference among its rows, the numbers,
    and the part of the reference that a number is of."""
    leaves, tree = flatten.flatten(xs)
    if Ref not in map(type, leaves):
        return xs, f

    @wraps(f)
    def call(carry: Any, rows: Any) -> Any:
        parts = [
            x.at[row] if type(x) is Ref else row
            for x, row in zip(leaves, rows, strict=True)
        ]
        return f(carry, tree.unflatten(parts))

    numbers = [np.arange(len(x), dtype=np.int32) for x in leaves if type(x) is Ref]
    rest = iter(numbers)
    return [next(rest) if type(x) is Ref else x for x in leaves], call
