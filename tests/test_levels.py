"""The table of transforms: every trace is of one, and every one makes such a trace.

Cites: level.bind, level.strictest, level.concretize.bool
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mutation.transform_uses import misused
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.rules import default
from traceir.tracing.trace import current_trace

F = Callable[[Any], Any]
X = jnp.float32(2)

# Each way of running a function of one scalar, by the name of its row.
WAYS: dict[str, Callable[[F], Any]] = {
    "eager": lambda f: f(X),
    "jit": lambda f: traceir.jit(f)(X),
    "make_jaxpr": lambda f: traceir.make_jaxpr(f)(X),
    "eval_shape": lambda f: traceir.eval_shape(f, X),
    "jvp": lambda f: traceir.jvp(f, (X,), (X,)),
    "linearize": lambda f: traceir.linearize(f, X),
    "vjp": lambda f: traceir.vjp(f, X),
    "grad": lambda f: traceir.grad(f)(X),
    "value_and_grad": lambda f: traceir.value_and_grad(f)(X),
    "jacfwd": lambda f: traceir.jacfwd(f)(X),
    "jacrev": lambda f: traceir.jacrev(f)(X),
    "vmap": lambda f: traceir.vmap(f)(X[None]),
    "custom_jvp": lambda f: traceir.jit(with_rule(f))(X),
    "custom_vjp": lambda f: traceir.jit(with_rules(f))(X),
    "linear_transpose": lambda f: traceir.linear_transpose(f, X)(X),
    "checkpoint": lambda f: traceir.checkpoint(f)(X),
    "cond": lambda f: lax.cond(True, f, f, X),
    "switch": lambda f: lax.switch(0, [f, f], X),
    "while_loop": lambda f: lax.while_loop(lambda x: x < 0, f, X),
    "fori_loop": lambda f: lax.fori_loop(0, 2, lambda _, x: f(x), X),
    "scan": lambda f: lax.scan(lambda c, x: (f(c), x), X, None, length=2),
    "map": lambda f: lax.map(f, X[None]),
}


def with_rule(f: F) -> F:
    """The function with a rule of its own for tangents."""
    made = traceir.custom_jvp(f)
    made.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    return made


def with_rules(f: F) -> F:
    """The function with rules of its own for cotangents."""
    made = traceir.custom_vjp(f)
    made.defvjp(lambda x: (f(x), x), lambda x, ct: (ct,))
    return made


def test_every_row_is_run() -> None:
    assert WAYS.keys() == default().levels.transforms.keys()


def answered(way: str, question: F) -> bool:
    """True if a question about the argument has an answer there."""
    found: list[bool] = []

    def f(x: Any) -> Any:
        try:
            question(x)
            found.append(True)
        except (TypeError, AttributeError):
            found.append(False)
        return x * 1.0

    WAYS[way](f)
    return found[0]


QUESTIONS: dict[str, F] = {
    "level.concretize.bool": bool,
    "level.concretize.number": float,
    "level.concretize.array": np.asarray,
    "level.concretize.item": lambda x: x.item(),
    "level.concretize.format": lambda x: f"{x:.2f}",
    "level.attribute": lambda x: x.sharding,
    "level.shape": lambda x: x.shape,
    "level.print": repr,
    "level.hash": hash,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_answered_is_what_the_row_says(way: str) -> None:
    levels = default().levels
    knows = levels.transforms[way].knows
    for row, question in QUESTIONS.items():
        assert answered(way, question) == levels.permits(knows, row), row


@pytest.mark.parametrize("way", WAYS)
def test_the_trace_names_its_row(way: str) -> None:
    traces: list[str] = []

    def f(x: Any) -> Any:
        trace = getattr(x, "_trace", None)
        traces.append(trace.transform if trace else "")
        return x * 1.0

    WAYS[way](f)
    row = default().levels.transforms[way]
    assert (traces[0] in default().levels.transforms) == row.traces
    if row.traces:
        named = default().levels.transforms[traces[0]]
        assert (named.knows, named.handles) == (row.knows, row.handles)


@pytest.mark.parametrize("way", WAYS)
def test_an_operation_of_constants_is_handled_as_the_row_says(way: str) -> None:
    recorded: list[bool] = []

    def f(x: Any) -> Any:
        recorded.append(isinstance(jnp.sin(jnp.float32(2)), traceir.Tracer))
        return x * 1.0

    WAYS[way](f)
    row = default().levels.transforms[way]
    assert recorded[0] == (row.traces and row.handles == "all")


def test_functions_are_run_again_where_the_row_says_that_nothing_is_kept() -> None:
    assert misused(default()) == []


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("inner", ["jit", "grad", "vmap", "eager"])
def test_the_strictest_decides(outer: str, inner: str) -> None:
    levels = default().levels
    known: list[bool] = []

    def f(x: Any) -> Any:
        try:
            known.append(bool(x > 0))
        except TypeError:
            known.append(False)
        return x * 1.0

    ways: dict[str, F] = {
        "jit": lambda x: traceir.jit(f)(x),
        "grad": lambda x: traceir.grad(f)(x),
        "vmap": lambda x: traceir.vmap(f)(x[None])[0],
        "eager": f,
    }
    WAYS[outer](ways[inner])
    transforms = levels.transforms
    knows = levels.within(transforms[outer].knows, transforms[inner].knows)
    assert known[0] == (levels.rank(knows) >= levels.rank("value"))


def test_a_refusal_names_the_transform_and_the_function() -> None:
    def positive(x: Any) -> Any:
        return x if x > 0 else -x

    text = r"in the trace of positive for vmap; it depends on .* the argument x"
    with raises_rule("level.concretize.bool", TypeError, text):
        traceir.vmap(positive)(jnp.ones(3))
    with raises_rule(
        "level.concretize.number", TypeError, "of reading for grad, which"
    ):
        traceir.grad(reading)(1.0)
    assert float(traceir.grad(positive)(-1.0)) == -1
    assert current_trace() is None


def reading(x: Any) -> Any:
    """Takes the number out of an argument."""
    return x * float(x)
