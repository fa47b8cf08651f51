"""Batching rules of users, and transposes. Cites: custom_vmap.value,
custom_vmap.undefined, custom_vmap.structure, custom_primitive.rule"""

from __future__ import annotations

from typing import Any

import numpy as np
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.as_jax.modules.custom_batching import custom_vmap, sequential_vmap
from traceir.as_jax.modules.custom_derivatives import linear_call

X = jnp.arange(6.0).reshape(2, 3)


def marked() -> tuple[Any, list[Any]]:
    """The product of a pair, whose rule adds 100 to tell itself, and its calls."""
    calls: list[Any] = []

    @custom_vmap
    def product(pair: Any, y: Any) -> Any:
        """A result in a dictionary."""
        return {"out": pair[0] * pair[1] * y}

    @product.def_vmap
    def rule(size: int, batched: Any, pair: Any, y: Any) -> Any:
        """The product of the batch, and a hundred."""
        calls.append((size, batched))
        some = batched[0][0] or batched[0][1] or batched[1]
        return {"out": pair[0] * pair[1] * y + 100}, {"out": some}

    return product, calls


def test_a_rule_is_for_batches_alone() -> None:
    product, calls = marked()
    pair = (2.0, 3.0)
    assert product(pair, 4.0)["out"] == 24 and not calls
    assert traceir.jit(product)(pair, 4.0)["out"] == 24 and not calls
    forward = traceir.jvp(lambda y: product(pair, y)["out"], (4.0,), (1.0,))
    assert forward == (24, 6) and not calls
    rows = traceir.vmap(lambda y: product(pair, y)["out"])
    assert rows(X[0]).tolist() == [100, 106, 112]
    assert calls == [(3, [(False, False), True])]
    assert traceir.jit(rows)(X[0]).tolist() == [100, 106, 112]
    both = traceir.vmap(lambda a, y: product((a, 3.0), y)["out"], (1, None))
    assert both(X[:1], 2.0).tolist() == [[100], [106], [112]]
    assert calls[-1] == (3, [(True, False), False])


def test_derivatives_of_a_batch_are_those_of_the_rule() -> None:
    @custom_vmap
    def square(x: Any) -> Any:
        return x * x

    @square.def_vmap
    def rule(size: int, batched: Any, x: Any) -> Any:
        """Another function, so that it is told."""
        return x**3, batched[0]

    x = jnp.array([1.0, 2.0])
    assert traceir.grad(lambda x: traceir.vmap(square)(x).sum())(x).tolist() == [3, 12]
    outs, moved = traceir.jvp(traceir.vmap(square), (x,), (x,))
    assert outs.tolist() == [1, 8] and moved.tolist() == [3, 24]
    assert traceir.jvp(square, (3.0,), (1.0,)) == (9, 6)
    with raises_rule("custom_primitive.rule", NotImplementedError, "no transpose"):
        traceir.grad(square)(3.0)
    assert traceir.vmap(lambda t: traceir.jvp(square, (3.0,), (t,))[1])(x).tolist() == [
        27,
        54,
    ]


def test_examples_one_after_the_other() -> None:
    seen: list[Any] = []

    def shown(x: Any, y: Any) -> Any:
        traceir.debug.callback(lambda v: seen.append(float(v)), x)
        return x + y, x

    both = traceir.jit(traceir.vmap(sequential_vmap(shown), (0, None)))(X[0], 1.0)
    assert seen == [0, 1, 2]
    assert [v.tolist() for v in both] == [[1, 2, 3], [0, 1, 2]]


def test_a_linear_call_has_the_transpose_that_is_given() -> None:
    def forward(scale: Any, x: Any) -> Any:
        return {"y": scale * x["a"]}

    def backward(scale: Any, ct: Any) -> Any:
        return {"a": 7 * scale * ct["y"]}

    def call(a: Any) -> Any:
        return linear_call(forward, backward, 2.0, {"a": a})["y"].sum()

    assert call(X[0]) == 6 and traceir.jit(call)(X[0]) == 6
    assert traceir.grad(call)(X[0]).tolist() == [14, 14, 14]
    assert traceir.jvp(call, (X[0],), (X[0],))[1] == 6
    assert traceir.vmap(call)(X).tolist() == [6, 24]
    rows = traceir.vmap(traceir.grad(call))(X)
    assert np.array_equal(rows, np.full((2, 3), 14))
    with raises_rule("custom_primitive.rule", NotImplementedError, "residuals"):
        traceir.grad(lambda s: linear_call(forward, backward, s, {"a": 1.0})["y"])(2.0)
    with raises_rule("custom_vmap.structure", TypeError, "the transpose"):
        odd = lambda a: linear_call(forward, lambda *_: 1.0, 2.0, {"a": a})["y"]  # noqa: E731 # one line of two
        traceir.grad(odd)(1.0)


def test_refused() -> None:
    with raises_rule("custom_vmap.undefined", AttributeError, "function"):
        custom_vmap(lambda x: x)(1.0)
    odd = custom_vmap(lambda x: x)
    odd.def_vmap(lambda size, batched, x: x)
    with raises_rule("custom_vmap.structure", TypeError, "Array"):
        traceir.vmap(odd)(X)
