"""Parts common to the rules: tangents, zeros, fixpoints.

Serves: derive.*, batch.*, control.reverse-mode
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Params, sort_params
from traceir.tracing.staging import StagedTracer, apply
from traceir.tracing.trace import Value, bind_all, call_form
from traceir.transforms.autodiff.cached_transforms import staged
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import Mask, Tangent, Values, Zero


def moving(tangents: Iterable[Tangent]) -> list[bool]:
    """The mask of tangents that are not zero."""
    return [type(t) is not Zero for t in tangents]


def nonzero(tangents: Iterable[Tangent]) -> list[Value]:
    """The tangents that are not zero."""
    return [t for t in tangents if type(t) is not Zero]


def instantiated(tangent: Tangent) -> Value:
    """A tangent or cotangent as a value."""
    return zeros(tangent.aval) if type(tangent) is Zero else tangent


def either(a: Iterable[bool], b: Iterable[bool]) -> list[bool]:
    """The mask that is True where one of two masks is."""
    return [x or y for x, y in zip(a, b, strict=True)]


def any_of(masks: Iterable[Mask]) -> list[bool]:
    """The mask that is True where one of the masks is."""
    return [any(column) for column in zip(*masks, strict=True)]


def fixpoint(carry: Mask, step: Callable[[Mask], Mask]) -> list[bool]:
    """The least mask above `carry` that `step` does not enlarge.

    >>> fixpoint([True, False, False], lambda m: [False, m[0], m[1]])
    [True, True, True]
    """
    found = list(carry)
    while (larger := either(found, step(found))) != found:
        found = larger
    return found


def parts(values: Sequence[Any], *counts: int) -> Iterator[list[Any]]:
    """Consecutive parts of so many values, and the rest.

    >>> list(parts("abcde", 1, 2))
    [['a'], ['b', 'c'], ['d', 'e']]
    """
    first = 0
    for count in counts:
        yield list(values[first : first + count])
        first += count
    yield list(values[first:])


Slot = int | ShapedArray


def extended(closed: ClosedJaxpr, slots: Sequence[Slot]) -> ClosedJaxpr:
    """The program with these results: one of its own by number, or zeros of a type.

    >>> from traceir import parse
    >>> program = parse("{ lambda ; a:f32[]. let  in (a,) }")
    >>> extended(program, [ShapedArray((), "int32"), 0])
    { lambda ; a:f32[]. let  in (0:i32[], a) }
    """
    if list(slots) == list(range(len(closed.jaxpr.outvars))):
        return closed

    def call(inputs: list[StagedTracer]) -> Values:
        found = apply(closed, inputs)
        return [found[s] if isinstance(s, int) else zeros(s) for s in slots]

    return closed.memo(
        ("extended", tuple(slots)), lambda: staged(closed, call, closed.in_avals)
    )


def with_tangents(
    closed: ClosedJaxpr,
    first: int,
    avals: Sequence[ShapedArray],
    have: Mask,
    want: Mask,
) -> ClosedJaxpr:
    """A program whose results from number `first` on are tangents of values of these
    types, those that it has; where one is wanted that it has not, zeros."""
    slots: list[Slot] = list(range(first))
    number = first
    for aval, own, wanted in zip(avals, have, want, strict=True):
        if wanted:
            slots.append(number if own else aval)
        number += own
    return extended(closed, slots)


def symbolic(
    values: Iterable[Value], moves: Mask, avals: Sequence[ShapedArray]
) -> list[Tangent]:
    """Tangents of all results from those of the results that move."""
    given = iter(values)
    return [
        next(given) if moved else Zero(aval)
        for moved, aval in zip(moves, avals, strict=True)
    ]


def region(primitive: str, values: Values, **params: Any) -> list[Value]:
    """Apply a region to values; params that are not given are as usual."""
    defaults, _ = call_form(primitive)
    return list(bind_all(primitive, values, sort_params({**defaults, **params})))


def given(params: Params) -> dict[str, Any]:
    """The params of an equation by name."""
    return dict(params)
