"""References in bodies: carried by loops, results of branches.

Serves: ref.body, ref.condition
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import wraps
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.promotion import is_reference
from traceir.lax.control.bodies import TracedBody, called, carrying
from traceir.pytrees import flatten
from traceir.tracing.trace import Value
from traceir.transforms.rules.rewrites import keep_outputs

if TYPE_CHECKING:
    from traceir.references.reference import Ref

Body = Callable[..., Any]


def arrays_of(written: Sequence[Ref]) -> list[Value]:
    """The arrays of references before a loop or a choice that writes them."""
    return [ref[...] for ref in written]


def written_back(written: Sequence[Ref], results: Sequence[Value]) -> list[Value]:
    """The results without those of references, which have been written."""
    for ref, value in zip(written, results):
        ref[...] = value
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
    if not any(map(is_reference, leaves)):
        return operands, funs

    def of_arrays(fun: Body) -> Body:
        @wraps(fun)
        def call(*arrays: Any) -> Any:
            rest = iter(arrays)
            given = [x if is_reference(x) else next(rest) for x in leaves]
            return fun(*tree.unflatten(given))

        return call

    arrays = tuple(x for x in leaves if not is_reference(x))
    return arrays, [of_arrays(fun) for fun in funs]


def rows_of(xs: Any, f: Body) -> tuple[Any, Body]:
    """The rows and the body of a scan: of a reference among the rows, the numbers, of
    each of which the body gets the part of the reference."""
    leaves, tree = flatten.flatten(xs)
    if not any(map(is_reference, leaves)):
        return xs, f

    @wraps(f)
    def call(carry: Any, rows: Any) -> Any:
        parts = [
            x.at[row] if is_reference(x) else row
            for x, row in zip(leaves, rows, strict=True)
        ]
        return f(carry, tree.unflatten(parts))

    numbers = [np.arange(len(x), dtype=np.int32) for x in leaves if is_reference(x)]
    rest = iter(numbers)
    return [next(rest) if is_reference(x) else x for x in leaves], call
