"""Functions with a forward-mode rule of their own.

Rules: custom_jvp.*, custom.*, custom_jvp_call.*
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from tests.rule_errors import raises_rule
from traceir import lax
from traceir.dtypes import float0
from traceir.errors import UnexpectedTracerError


@traceir.custom_jvp
def f(x: Any, y: Any) -> Any:
    return jnp.sin(x) * y


@f.defjvp
def f_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (tx, ty) = primals, tangents
    return f(x, y), 10 * jnp.cos(x) * y * tx + jnp.sin(x) * ty


def close(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.asarray(found), wanted, rtol=1e-5))


SLOPE = 10 * np.cos(1.0) * 2


@pytest.mark.parametrize(
    "fun",
    [
        traceir.grad(f),
        traceir.jit(traceir.grad(f)),
        traceir.grad(traceir.jit(f)),
        lambda x, y: traceir.jvp(f, (x, y), (1.0, 0.0))[1],
        lambda x, y: traceir.jvp(traceir.jit(f), (x, y), (1.0, 0.0))[1],
        lambda x, y: traceir.linearize(f, x, y)[1](1.0, 0.0),
        lambda x, y: traceir.vjp(f, x, y)[1](1.0)[0],
        lambda x, y: traceir.vmap(traceir.grad(f))(*map(jnp.atleast_1d, (x, y)))[0],
        lambda x, y: traceir.grad(lambda x: traceir.vmap(f)(x, jnp.array([y])).sum())(
            jnp.array([x])
        )[0],
        lambda x, y: traceir.grad(traceir.checkpoint(f))(x, y),
        lambda x, y: traceir.jacfwd(f)(x, y),
        lambda x, y: traceir.jacrev(f)(x, y),
        lambda x, y: traceir.grad(
            lambda x: lax.scan(lambda c, _: (f(c, y), None), x, None, length=1)[0]
        )(x),
    ],
)
def test_the_rule_counts_in_every_composition(fun: Any) -> None:
    assert close(fun(1.0, 2.0), SLOPE)


def test_a_rule_is_differentiated_as_it_is_written() -> None:
    second = traceir.grad(traceir.grad(f))(1.0, 2.0)
    assert close(second, -10 * np.sin(1.0) * 2)
    assert close(traceir.jit(traceir.hessian(f))(1.0, 2.0), second)


def test_the_text_is_that_of_jax() -> None:
    text = """\
{ lambda ; a:f32[] b:f32[]. let
    _:f32[] = custom_jvp_call[
      name=f
      call_jaxpr={ lambda ; c:f32[] d:f32[]. let
          e:f32[] = sin c
          f:f32[] = mul e d
        in (f,) }
      jvp=f_jvp
      symbolic_zeros=False
    ] a b
    g:f32[] = cos a
    h:f32[] = mul 10.0:f32[] g
    i:f32[] = mul h b
    j:f32[] = sin a
    _:f32[] = mul j 0.0:f32[]
    k:f32[] = mul i 1.0:f32[]
  in (k,) }"""
    closed = traceir.make_jaxpr(traceir.grad(f))(1.0, 2.0)
    assert str(closed) == text
    traceir.check(closed)
    assert close(traceir.eval_jaxpr(closed, closed.consts, 1.0, 2.0)[0], SLOPE)


def test_a_program_from_text_runs_and_has_no_rule() -> None:
    closed = traceir.parse(str(traceir.make_jaxpr(f)(1.0, 2.0)))
    assert close(traceir.eval_jaxpr(closed, (), 1.0, 2.0)[0], np.sin(1.0) * 2)

    def run(x: Any) -> Any:
        return traceir.tracing.trace.bind_all("jit", [x, 2.0], params)[0]

    params = (("jaxpr", closed), ("keep_unused", False), ("name", "f"))
    with raises_rule("custom.named", TypeError, "`f_jvp` of `custom_jvp_call`"):
        traceir.grad(run)(1.0)


def test_results_are_trees_and_arguments_may_be_named() -> None:
    @traceir.custom_jvp
    def pair(a: Any, b: Any = 3.0) -> Any:
        return {"s": a["x"] * b, "t": (b,)}

    @pair.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (a, b), (ta, tb) = primals, tangents
        return pair(a, b), {"s": 7 * ta["x"] * b, "t": (tb,)}

    def first(call: Any, x: Any) -> Any:
        return call({"x": x})["s"]

    def second(call: Any, x: Any) -> Any:
        return call(b=x, a={"x": 1.0})["t"][0]

    for call in (pair, traceir.jit(pair)):
        assert float(traceir.grad(functools.partial(first, call))(1.0)) == 21.0
        assert float(traceir.grad(functools.partial(second, call))(1.0)) == 1.0
        _, push = traceir.linearize(call, {"x": 1.0}, 2.0)
        pushed = push({"x": 1.0}, 3.0)
        assert (float(pushed["s"]), float(pushed["t"][0])) == (14.0, 3.0)
    assert pair.__name__ == "pair"


def test_arguments_that_are_not_differentiated() -> None:
    @functools.partial(traceir.custom_jvp, nondiff_argnums=(0,), nondiff_argnames="n")
    def apply(fun: Any, x: Any, n: int) -> Any:
        return fun(x) * n

    @apply.defjvp
    def rule(fun: Any, n: Any, primals: Any, tangents: Any) -> Any:
        return apply(fun, *primals, n), 5 * n * tangents[0]

    assert float(traceir.grad(lambda x: apply(jnp.sin, x, n=3))(1.0)) == 15.0
    assert float(traceir.jit(traceir.grad(lambda x: apply(jnp.sin, x, 3)))(1.0)) == 15

    # A traced one is held fixed, as in JAX.
    assert float(traceir.grad(lambda n: apply(jnp.sin, 1.0, n))(2.0)) == 0.0


def test_a_rule_for_each_argument() -> None:
    g = traceir.custom_jvp(lambda x, y: x * y)
    g.defjvps(lambda t, out, x, y: 2 * t * y, None)
    assert [float(d) for d in traceir.grad(g, (0, 1))(2.0, 3.0)] == [6.0, 0.0]
    both = traceir.custom_jvp(lambda x, y: x * y)
    both.defjvps(lambda t, out, x, y: t * out, lambda t, out, x, y: t)
    assert float(traceir.jvp(both, (2.0, 3.0), (1.0, 1.0))[1]) == 7.0


def test_values_are_known_to_the_function_and_to_the_rule() -> None:
    @traceir.custom_jvp
    def absolute(x: Any) -> Any:
        return x if x > 0 else -x

    @absolute.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return absolute(*primals), tangents[0] * (5.0 if primals[0] > 0 else 7.0)

    assert float(absolute(-1.0)) == 1.0
    assert float(traceir.grad(absolute)(-1.0)) == 7.0
    assert float(traceir.grad(traceir.grad(absolute))(-1.0)) == 0.0
    with raises_rule("level.concretize.bool", pattern="custom_jvp.*argument x"):
        traceir.jit(absolute)(-1.0)


def test_integers_have_tangents_of_float0() -> None:
    seen: list[Any] = []

    @traceir.custom_jvp
    def times(x: Any, n: Any) -> Any:
        return x * n, n

    @times.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        seen.append(tangents[1])
        return times(*primals), (tangents[0] * primals[1], tangents[1])

    assert float(traceir.grad(lambda x: times(x, 3)[0])(2.0)) == 3.0
    assert float(traceir.jit(traceir.grad(lambda x: times(x, 3)[0]))(2.0)) == 3.0
    assert all(t.dtype == float0 and t.shape == () for t in seen) and len(seen) == 2


def scaled(a: Any, x: Any) -> Any:
    """A function that captures, with a rule that does, too."""

    @traceir.custom_jvp
    def inner(x: Any) -> Any:
        return a * x

    @inner.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return inner(*primals), tangents[0] * a * 10

    return inner(x)


def test_values_of_traces_around_can_be_captured() -> None:
    assert float(traceir.jit(scaled)(2.0, 3.0)) == 6.0
    assert float(traceir.grad(scaled, 1)(2.0, 3.0)) == 20.0
    assert float(traceir.jit(traceir.grad(scaled, 1))(2.0, 3.0)) == 20.0
    xs = jnp.arange(3.0)
    assert traceir.vmap(scaled)(xs, xs).tolist() == [0, 1, 4]
    assert traceir.vmap(traceir.grad(scaled, 1))(xs, xs).tolist() == [0, 10, 20]
    text = str(traceir.make_jaxpr(scaled)(2.0, 3.0))
    assert "num_consts=1" in text and "] a b" in text


def test_a_value_that_is_differentiated_cannot_be_captured() -> None:
    with pytest.raises(UnexpectedTracerError):
        traceir.grad(scaled, 0)(2.0, 3.0)
    with raises_rule("custom.capture", UnexpectedTracerError, "inner"):
        traceir.grad(traceir.jit(scaled), 0)(2.0, 3.0)


def with_rule(rule: Any) -> Any:
    made = traceir.custom_jvp(lambda x: (x * 2, {"a": x}))
    made.defjvp(rule)
    return made


OUT = (2.0, {"a": 1.0})


@pytest.mark.parametrize(
    ("rule", "returned", "pattern"),
    [
        ("custom_jvp.pair", 3, "3 from the rule <lambda> of <lambda>"),
        ("custom_jvp.tree", (OUT, 1.0), r"the tangent is \*, where"),
        ("custom_jvp.tree", (OUT, (1.0, None)), r"the tangent\[1\] is None, where"),
        ("custom_jvp.types", (OUT, (1.0, {"a": np.ones(3, "f4")})), r"\[1\]\['a'\]"),
        ("custom_jvp.types", (OUT, (1.0, {"a": 1})), r"i32\[\] of result\[1\]"),
    ],
)
def test_what_a_rule_returns_is_checked(rule: str, returned: Any, pattern: str) -> None:
    with raises_rule(rule, TypeError, pattern):
        traceir.jvp(with_rule(lambda p, t: returned), (1.0,), (1.0,))


def test_results_of_a_rule_are_those_of_the_function() -> None:
    short = traceir.custom_jvp(lambda x: x)
    short.defjvp(lambda p, t: ((p[0], p[0]), (t[0], t[0])))
    with raises_rule("custom_jvp.tree", TypeError, r"the result is \(\*, \*\)"):
        traceir.jvp(traceir.jit(short), (1.0,), (1.0,))
    other = traceir.custom_jvp(lambda x: x)
    other.defjvp(lambda p, t: (jnp.ones(3), jnp.ones(3)))
    with raises_rule("custom_jvp.types", TypeError, r"f32\[3\]"):
        traceir.jvp(traceir.jit(other), (1.0,), (1.0,))


def test_a_function_without_a_rule_is_not_called() -> None:
    lacking = traceir.custom_jvp(lambda x: x)
    with raises_rule("custom.undefined", AttributeError, "custom_jvp"):
        lacking(1.0)


def test_arguments_have_positions_and_are_arrays() -> None:
    named = traceir.custom_jvp(lambda x, *, n: x)
    named.defjvp(lambda p, t: (p[0], t[0]))
    with raises_rule("custom.keyword", TypeError, "n of <lambda>"):
        named(1.0, n=2)
    with raises_rule("jit.argument", TypeError, "argument x of f"):
        f("a", 1.0)
    with raises_rule("jit.signature", TypeError):
        f(1.0)


def test_unbatched_results_are_those_of_the_rule() -> None:
    g = traceir.custom_jvp(lambda x, y: (x * y, y))
    g.defjvp(lambda p, t: (g(*p), (t[0] * p[1], t[1] * 4)))

    def total(x: Any, y: Any) -> Any:
        first, second = traceir.vmap(g, (0, None))(x, y)
        return first.sum() + second.sum()

    by_x, by_y = traceir.grad(total, (0, 1))(jnp.arange(3.0), 2.0)
    assert by_x.tolist() == [2, 2, 2] and float(by_y) == 12.0
