"""Questions to an implementation: cases without their answers. Serves: every table

Programs come without the types of results, calls without their outcomes. An answer that
stands among what was asked, such as the type of an input, is asked for once more beside
inputs that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from traceir.conform.casefiles.sessions import Call, Function, Probe, Session, Step
from traceir.conform.casefiles.untyped import typed, untyped
from traceir.dtypes import is_key
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Var

# The rule about written types: programs that violate it come with theirs.
WRITTEN = "program.result-type"
# Types of inputs that nobody reads; no case has all of them among its answers.
UNREAD = (("int16", (7, 1)), ("bool", (1, 9)), ("float64", (3, 1, 5)))


def program(closed: ClosedJaxpr, reject: str | None) -> ClosedJaxpr:
    """The program of a case as it is asked for types.

    >>> from traceir.text import parse
    >>> closed = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> print(program(closed, None))
    { lambda ; a:f32[]. let b = sin a in (b,) }
    """
    return closed if reject == WRITTEN else untyped(closed)


def mended(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with right types in the place of those that are written."""
    return typed(untyped(closed))


def beside(closed: ClosedJaxpr, others: Iterable[ShapedArray]) -> ClosedJaxpr:
    """The program with an input before and one after its own, which nobody reads."""
    first, last = map(Var, others)
    jaxpr = closed.jaxpr
    invars = (first, *jaxpr.invars, last)
    return replace(closed, jaxpr=replace(jaxpr, invars=invars))


def shown(closed: ClosedJaxpr) -> str:
    """A program in words: its text, which leaves weak types out, and its weak inputs.

    >>> from traceir.ir.jaxpr import Jaxpr
    >>> weak = Var(ShapedArray((), "float32", True))
    >>> shown(ClosedJaxpr(Jaxpr((), (weak,), (), (weak,)), ()))
    '{ lambda ; a:f32[]. let  in (a,) } (weakly typed: input 0)'
    """
    weak = [str(k) for k, aval in enumerate(closed.in_avals) if aval.weak_type]
    return f"{closed} (weakly typed: input {', '.join(weak)})" if weak else str(closed)


def unread(types: Sequence[ShapedArray]) -> list[ShapedArray]:
    """Two types that are not among others.

    >>> unread([ShapedArray((7, 1), "int16")])
    [ShapedArray(bool[1,9]), ShapedArray(float64[3,1,5])]
    """
    found = (ShapedArray(shape, dtype) for dtype, shape in UNREAD)
    return [aval for aval in found if aval not in types][:2]


def other(array: np.ndarray) -> np.ndarray:
    """An array of the same type with other elements.

    >>> other(np.zeros(2)), other(np.ones(1))
    (array([1., 1.]), array([0.]))
    """
    if is_key(array.dtype):
        return array[::-1].copy() if array.ndim and len(array) > 1 else array
    found = np.zeros_like(array)
    return np.ones_like(array) if np.array_equal(found, array) else found


def session(asked: Session) -> Session:
    """The session without the outcomes of its calls and the answers to its questions.

    >>> from traceir.conform import read_cases
    >>> text = '''
    ... case a/b
    ...   given f = { lambda ; x. let in (x,) }
    ...   session f(f32[]{2}) traces = f32[]{2} ; cache_size('f') = 1
    ... '''
    >>> call, probe = session(read_cases(text)[0].session).steps
    >>> call.verdict, call.values, probe.answer
    (None, None, None)
    """
    functions = {name: _function(f) for name, f in asked.functions.items()}
    return replace(asked, functions=functions, steps=tuple(map(_step, asked.steps)))


def _step(step: Step) -> Step:
    match step:
        case Call():
            return replace(
                step,
                verdict=None,
                rule=None,
                values=None,
                program=None,
                staged=step.gives,
            )
        case Probe():
            return replace(step, answer=None)
    return step


def _function(function: Function) -> Function:
    """The function, whose text is no longer that of the whole file."""
    source = function.source
    text = source.text
    stop = len(text) if source.stop < 0 else source.stop
    alone = (
        _blank(text[: source.start]) + text[source.start : stop] + _blank(text[stop:])
    )
    return replace(function, source=replace(source, text=alone))


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))
