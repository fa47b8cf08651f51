"""Trials of traces and of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

import traceir
from theorems.small import arguments
from traceir.arrays.array import Array
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Literal, Var
from traceir.jit.cache.signature import bind_arguments, form_of, resolve_static
from traceir.jit.staging import prepare
from traceir.oracle.abstract_syntax import as_host_function, as_program
from traceir.reference.interpreter import eval_jaxpr
from traceir.tracing.staging import apply

# So many calls of a drawn program are compared with the usual one.
CALLS = 3


def wrapped(array: np.ndarray, aval: ShapedArray) -> Array:
    """An array as functions take it, weak if its type is."""
    return Array._wrap(np.array(array), aval)


def variants(program: ClosedJaxpr) -> Iterator[ClosedJaxpr]:
    """The program, and those in which one input is a captured array or a number."""
    yield program
    jaxpr = program.jaxpr
    for var, value in zip(jaxpr.invars, arguments(program.in_avals), strict=True):
        others = tuple(v for v in jaxpr.invars if v is not var)
        if any(var in eqn.inputs for eqn in jaxpr.eqns):
            captured = replace(jaxpr, constvars=(var,), invars=others)
            yield ClosedJaxpr(captured, (value,))
        if var.aval.weak_type:
            number = Literal(value.item(), var.aval)
            eqns = tuple(_put(eqn, var, number) for eqn in jaxpr.eqns)
            yield ClosedJaxpr(replace(jaxpr, invars=others, eqns=eqns))


def _put(eqn: Eqn, var: Var, number: Literal) -> Eqn:
    inputs = tuple(number if atom is var else atom for atom in eqn.inputs)
    return replace(eqn, inputs=inputs)


def tracing(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """The rules trace a function as the reference does, to what it does itself."""
    for one in subject.chosen(variants(program)):
        avals = one.in_avals
        found = subject.derivation.derive(
            *("judgement.trace", as_host_function(one), avals)
        )
        want = as_program(found[0])
        pairs = zip(arguments(avals), avals, strict=True)
        args = [wrapped(a, aval) for a, aval in pairs]

        def function(*xs: Any, program: ClosedJaxpr = one) -> list[Any]:
            return apply(program, xs)

        with np.errstate(all="ignore"):
            got = traceir.make_jaxpr(function)(*args)
            eager = function(*args)
        if got != want:
            yield f"traced to {got}, by the rules {want}"
        results = eval_jaxpr(want, want.consts, *arguments(avals))
        for result, one_of in zip(results, eager, strict=True):
            if result.tobytes() != np.asarray(one_of).tobytes():
                yield f"the trace gives {result}, the function {one_of}"


# Keys ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SmallCall:
    """A call of a function of arrays and a static number, in a context."""

    arrays: tuple[Any, ...]
    static: Any = 1
    wide: bool = False

    def __str__(self) -> str:
        return f"{self.arrays}, {self.static!r}, x64={self.wide}"


def calls(avals: Sequence[ShapedArray]) -> Iterator[SmallCall]:
    """Calls with arguments of these types, and those that differ in one respect."""
    usual = tuple(wrapped(a, v) for a, v in zip(arguments(avals), avals, strict=True))
    yield SmallCall(usual)
    yield SmallCall(tuple(arguments(avals)))
    for static in (True, 1.0, 2):
        yield SmallCall(usual, static)
    yield SmallCall(usual, wide=True)
    for k, aval in enumerate(avals):
        for other in _others(aval):
            (array,) = arguments((other,))
            yield SmallCall((*usual[:k], wrapped(array, other), *usual[k + 1 :]))
        yield SmallCall((*usual[:k], [usual[k]], *usual[k + 1 :]))


def _others(aval: ShapedArray) -> Iterator[ShapedArray]:
    if aval.dtype.kind in "if" and not aval.shape:
        yield aval.update(weak_type=not aval.weak_type)
    dtype = "int32" if aval.dtype.kind == "f" else "float32"
    yield aval.update(dtype=dtype, weak_type=False)
    yield aval.update(shape=(*aval.shape, 1), weak_type=False)
    yield aval.update(shape=(3, *aval.shape[1:]), weak_type=False)


def keys(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """Calls with equal keys leave equal programs; the reference has the same keys."""

    def function(*xs: Any, n: Any) -> list[Any]:
        flat = [x[0] if isinstance(x, list) else x for x in xs]
        return [*apply(program, flat), n]

    having: dict[Any, list[SmallCall]] = {}
    for call in subject.chosen(calls(program.in_avals), CALLS):
        with traceir.enable_x64(call.wide):
            own, theirs = key_of(function, call, subject)
        having.setdefault(own, []).append(call)
        if own != theirs:
            yield f"the key of {call} is {own}, the reference has {theirs}"
    for some in (some for some in having.values() if len(some) > 1):
        left = [left_by(function, call) for call in some]
        for (one, its), (other, others) in combinations(zip(some, left), 2):
            if its != others:
                yield f"{one} and {other} have one key, and leave different programs"


def key_of(
    function: Callable[..., Any], call: SmallCall, subject: Any
) -> tuple[Any, Any]:
    """The key of a call by the rules, and by the reference's table."""
    form = form_of(function)
    static = resolve_static(form.signature, None, ("n",))
    bound = bind_arguments(form, static, call.arrays, {"n": call.static})
    made = replace(prepare(bound, "jax").call, function=function)
    term = ("call", made, made.avals, made.statics, made.known)
    (own,) = subject.derivation.derive("judgement.key", term)
    return own, subject.key_table.key(made)


def left_by(function: Callable[..., Any], call: SmallCall) -> Any:
    """The program that tracing leaves, or the rule that refuses."""
    made = traceir.make_jaxpr(lambda *xs: function(*xs, n=call.static))
    try:
        with traceir.enable_x64(call.wide), np.errstate(all="ignore"):
            return made(*call.arrays)
    except TraceirError as error:
        return error.rule
