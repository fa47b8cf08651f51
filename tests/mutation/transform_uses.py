"""Tests that functions are run as the rows of `levels.toml` say.

Each way is used twice on a function that counts how often it is run, and that makes an
array of its own: `keeps` is that the second use runs nothing, `handles` all operations
that what the function does with its own array is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import traceir
from traceir import lax
from traceir.rules import Rules
from traceir.tracing.trace import Tracer

Use = Callable[[], Any]
ONE = np.float32(1)
TWO = np.ones(2, np.float32)


def ways(f: Callable[[Any], Any]) -> Mapping[str, Use]:
    """The uses of a function of one number, one for each way that makes a trace."""

    def step(carry: Any, _: Any) -> tuple[Any, None]:
        return f(carry), None

    def turn(_: Any, x: Any) -> Any:
        return f(x)

    recomputed = traceir.checkpoint(f)
    forward, reverse = traceir.custom_jvp(f), traceir.custom_vjp(f)
    forward.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    reverse.defvjp(lambda x: (x, x), lambda x, ct: (ct,))
    return {
        "jit": lambda: traceir.jit(f)(ONE),
        "make_jaxpr": lambda: traceir.make_jaxpr(f)(ONE),
        "eval_shape": lambda: traceir.eval_shape(f, ONE),
        "jvp": lambda: traceir.jvp(f, (ONE,), (ONE,)),
        "linearize": lambda: traceir.linearize(f, ONE),
        "vjp": lambda: traceir.vjp(f, ONE),
        "grad": lambda: traceir.grad(f)(ONE),
        "value_and_grad": lambda: traceir.value_and_grad(f)(ONE),
        "jacfwd": lambda: traceir.jacfwd(f)(ONE),
        "jacrev": lambda: traceir.jacrev(f)(ONE),
        "vmap": lambda: traceir.vmap(f)(TWO),
        "custom_jvp": lambda: traceir.make_jaxpr(lambda x: forward(x))(ONE),
        "custom_vjp": lambda: traceir.make_jaxpr(lambda x: reverse(x))(ONE),
        "linear_transpose": lambda: traceir.linear_transpose(f, ONE)(ONE),
        "checkpoint": lambda: recomputed(ONE),
        "cond": lambda: lax.cond(True, f, f, ONE),
        "switch": lambda: lax.switch(0, [f, f], ONE),
        "while_loop": lambda: lax.while_loop(lambda x: x < 2, f, ONE),
        "fori_loop": lambda: lax.fori_loop(0, 2, turn, ONE),
        "scan": lambda: lax.scan(step, ONE, None, length=2),
        "map": lambda: lax.map(f, TWO),
    }


def seen(name: str) -> tuple[str, bool]:
    """The operations that a way handles, and a flag: True if it keeps what it has made.

    >>> seen("jit"), seen("grad")
    (('all', True), ('own', False))
    """
    recorded: list[bool] = []

    def f(x: Any) -> Any:
        recorded.append(isinstance(lax.mul(traceir.numpy.ones(()), ONE), Tracer))
        return x * 2

    use = ways(f)[name]
    use()
    once = len(recorded)
    use()
    return "all" if any(recorded) else "own", len(recorded) == once


def misused(rules: Rules) -> list[str]:
    """The ways of running a function that do something else than their rows say."""
    rows = rules.levels.transforms.values()
    traces = [row for row in rows if row.traces]
    return [row.id for row in traces if seen(row.name) != (row.handles, row.keeps)]
