"""Functions with reverse-mode rules. Rules: custom_vjp.*, custom.*, custom_lin.*"""

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


@traceir.custom_vjp
def g(x: Any, y: Any) -> Any:
    return jnp.sin(x) * y


def g_fwd(x: Any, y: Any) -> Any:
    return g(x, y), {"c": jnp.cos(x), "sy": (jnp.sin(x), y)}


def g_bwd(saved: Any, ct: Any) -> Any:
    s, y = saved["sy"]
    return 10 * saved["c"] * ct * y, s * ct


g.defvjp(g_fwd, g_bwd)
SLOPE = 10 * np.cos(1.0) * 2


def close(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.asarray(found), wanted, rtol=1e-5))


@pytest.mark.parametrize(
    "fun",
    [
        traceir.grad(g),
        traceir.jit(traceir.grad(g)),
        traceir.grad(traceir.jit(g)),
        lambda x, y: traceir.vjp(g, x, y)[1](1.0)[0],
        lambda x, y: traceir.jacrev(g)(x, y),
        lambda x, y: traceir.vmap(traceir.grad(g))(*map(jnp.atleast_1d, (x, y)))[0],
        lambda x, y: traceir.grad(lambda x: traceir.vmap(g)(x, jnp.array([y])).sum())(
            jnp.array([x])
        )[0],
        lambda x, y: traceir.jit(traceir.vmap(traceir.grad(traceir.jit(g)), (0, None)))(
            jnp.array([x]), y
        )[0],
        lambda x, y: traceir.grad(traceir.checkpoint(g))(x, y),
        lambda x, y: traceir.grad(
            lambda x: lax.scan(lambda c, _: (g(c, y), None), x, None, length=1)[0]
        )(x),
    ],
)
def test_the_rules_count_in_every_composition(fun: Any) -> None:
    assert close(fun(1.0, 2.0), SLOPE)


def test_rules_are_differentiated_as_they_are_written() -> None:
    second = traceir.grad(traceir.grad(g))(1.0, 2.0)
    assert close(second, -10 * np.sin(1.0) * 2)


def test_the_text_is_that_of_jax() -> None:
    text = """\
{ lambda ; a:f32[] b:f32[]. let
    _:f32[] = custom_vjp_call[
      name=g
      bwd=g_bwd
      call_jaxpr={ lambda ; c:f32[] d:f32[]. let
          e:f32[] = sin c
          f:f32[] = mul e d
        in (f,) }
      fwd=g_fwd
      symbolic_zeros=False
    ] a b
    g:f32[] = cos a
    h:f32[] = sin a
    i:f32[] = mul 10.0:f32[] g
    j:f32[] = mul i 1.0:f32[]
    k:f32[] = mul j b
    _:f32[] = mul h 1.0:f32[]
  in (k,) }"""
    closed = traceir.make_jaxpr(traceir.grad(g))(1.0, 2.0)
    assert str(closed) == text
    traceir.check(closed)


def test_what_all_examples_share_has_the_sum_of_their_cotangents() -> None:
    def total(x: Any, y: Any) -> Any:
        return traceir.vmap(g, (0, None))(x, y).sum()

    x = jnp.array([0.5, 1.0, 1.5])
    by_x, by_y = traceir.grad(total, (0, 1))(x, 2.0)
    assert close(by_x, 20 * np.cos(x)) and close(by_y, np.sin(x).sum())
    nested = traceir.vmap(traceir.vmap(g, (0, None)), (None, 0))
    found = traceir.grad(lambda x: nested(x, jnp.arange(2.0)).sum())(x)
    assert close(found, 10 * np.cos(x))


@pytest.mark.parametrize(
    "fun",
    [
        lambda: traceir.jvp(g, (1.0, 2.0), (1.0, 1.0)),
        lambda: traceir.jvp(traceir.jit(g), (1.0, 2.0), (1.0, 1.0)),
        lambda: traceir.linearize(g, 1.0, 2.0)[1](1.0, 1.0),
        lambda: traceir.hessian(g)(1.0, 2.0),
        lambda: traceir.jacfwd(g)(1.0, 2.0),
        lambda: traceir.jvp(
            lambda t: traceir.linearize(g, 1.0, 2.0)[1](t, t), (1.0,), (1.0,)
        ),
        lambda: traceir.vmap(lambda t: traceir.linearize(g, 1.0, 2.0)[1](t, t))(
            jnp.ones(2)
        ),
    ],
)
def test_there_is_no_forward_mode(fun: Any) -> None:
    with raises_rule("custom_vjp.forward", TypeError):
        fun()


def test_a_pullback_is_an_equation_until_cotangents_come() -> None:
    def push(x: Any) -> Any:
        return traceir.linearize(lambda x: g(x, x), x)[1](1.0)

    closed = traceir.make_jaxpr(push)(2.0)
    assert "custom_lin[" in str(closed) and "in_zeros=[False, False]" in str(closed)
    traceir.check(closed)
    with raises_rule("custom_vjp.forward", TypeError):
        traceir.eval_jaxpr(closed, closed.consts, 2.0)
    with raises_rule("custom_vjp.forward", TypeError):
        traceir.jit(push, backend="numba")(2.0)


def with_rules(bwd: Any, fwd: Any = None) -> Any:
    made = traceir.custom_vjp(lambda x, y: x * y["k"])
    made.defvjp(fwd or (lambda x, y: (made(x, y), (x, y))), bwd)
    return made


def both(made: Any) -> Any:
    by_x, by_y = traceir.grad(made, (0, 1))(1.0, {"k": 2.0})
    return float(by_x), float(by_y["k"])


@pytest.mark.parametrize(
    ("returned", "wanted"),
    [
        (lambda ct: (ct, {"k": ct * 3}), (1.0, 3.0)),
        (lambda ct: [ct, {"k": ct * 3}], (1.0, 3.0)),
        (lambda ct: (ct, None), (1.0, 0.0)),
        (lambda ct: (ct, {"k": None}), (1.0, 0.0)),
        (lambda ct: (ct, ct), (1.0, 1.0)),
        (lambda ct: (ct, {"k": 2}), (1.0, 2.0)),
    ],
)
def test_cotangents_are_given_or_none(returned: Any, wanted: Any) -> None:
    assert both(with_rules(lambda saved, ct: returned(ct))) == wanted


@pytest.mark.parametrize(
    ("rule", "kind", "returned", "pattern"),
    [
        ("custom_vjp.tree", TypeError, lambda ct: ct, "at output from"),
        ("custom_vjp.tree", TypeError, lambda ct: (ct,), r"PyTreeDef\(\(\*,\)\)"),
        ("custom_vjp.tree", TypeError, lambda ct: (ct, {"j": ct}), r"output\[1\]"),
        (
            "custom_vjp.types",
            ValueError,
            lambda ct: (ct, {"k": np.ones(3, "f4")}),
            r"output\[1\]\['k'\]",
        ),
    ],
)
def test_cotangents_are_checked(
    rule: str, kind: Any, returned: Any, pattern: str
) -> None:
    with raises_rule(rule, kind, pattern):
        both(with_rules(lambda saved, ct: returned(ct)))


def test_what_the_forward_rule_returns_is_checked() -> None:
    def bwd(saved: Any, ct: Any) -> Any:
        return ct, None

    with raises_rule("custom_vjp.pair", TypeError, "from the rule"):
        both(with_rules(bwd, lambda x, y: x))
    for fwd in (lambda x, y: ((x, x), None), lambda x, y: (jnp.ones(3), None)):
        with raises_rule("custom_vjp.results", TypeError):
            traceir.grad(traceir.jit(with_rules(bwd, fwd)))(1.0, {"k": 2.0})


def test_arguments_that_are_not_differentiated() -> None:
    @functools.partial(traceir.custom_vjp, nondiff_argnums=(0, 2))
    def apply(fun: Any, x: Any, n: Any) -> Any:
        return fun(x) * n

    seen: list[Any] = []

    def bwd(fun: Any, n: Any, saved: Any, ct: Any) -> Any:
        seen.append((fun, n, saved))
        return (ct * 10 * n,)

    apply.defvjp(lambda fun, x, n: (fun(x) * n, ()), bwd)
    assert float(traceir.grad(lambda x: apply(jnp.sin, x, 3))(1.0)) == 30.0
    assert seen == [(jnp.sin, 3, ())]
    with raises_rule("custom.nondiff", UnexpectedTracerError, "argument 2 of apply"):
        traceir.jit(lambda x, n: apply(jnp.sin, x, n))(1.0, 2.0)


def test_integers_have_cotangents_of_float0() -> None:
    seen: list[Any] = []
    times = traceir.custom_vjp(lambda x, n: (x * n, n))

    def bwd(saved: Any, ct: Any) -> Any:
        seen.append(ct)
        return ct[0] * saved, 1

    times.defvjp(lambda x, n: ((x * n, n), n), bwd)
    assert float(traceir.grad(lambda x: times(x, 3)[0])(2.0)) == 3.0
    assert seen[0][1].dtype == float0 and isinstance(seen[0][0], traceir.Array)


def test_results_that_nothing_uses_have_zero_cotangents() -> None:
    two = traceir.custom_vjp(lambda x: (x, x))
    two.defvjp(lambda x: ((x, x), None), lambda _, ct: (ct[0] + 5 * ct[1],))
    assert float(traceir.grad(lambda x: two(x)[0])(2.0)) == 1.0
    closed = traceir.make_jaxpr(traceir.grad(lambda x: two(x)[0]))(2.0)
    assert "mul 5.0:f32[] 0.0:f32[]" in str(closed)


def test_the_rule_knows_values_where_the_trace_does() -> None:
    sign = traceir.custom_vjp(lambda x: x)

    def bwd(saved: Any, ct: Any) -> Any:
        return (ct * (2.0 if saved > 0 else 3.0),)

    sign.defvjp(lambda x: (x, x), bwd)
    assert float(traceir.grad(sign)(-1.0)) == 3.0


def captured(a: Any, x: Any) -> Any:
    inner = traceir.custom_vjp(lambda x: a * x)
    inner.defvjp(lambda x: (inner(x), None), lambda _, ct: (ct * 10 * a,))
    return inner(x)


def test_values_of_traces_around_can_be_captured() -> None:
    assert float(traceir.jit(traceir.grad(captured, 1))(2.0, 3.0)) == 20.0
    xs = jnp.arange(3.0)
    assert traceir.vmap(traceir.grad(captured, 1))(xs, xs).tolist() == [0, 10, 20]
    with pytest.raises(UnexpectedTracerError):
        traceir.grad(captured, 0)(2.0, 3.0)
    with raises_rule("custom.capture", UnexpectedTracerError):
        traceir.grad(traceir.jit(captured), 0)(2.0, 3.0)


def test_functions_without_rules_are_not_called() -> None:
    lacking = traceir.custom_vjp(lambda x: x)
    with raises_rule("custom.undefined", AttributeError, "custom_vjp"):
        lacking(1.0)


@pytest.mark.parametrize(
    "within",
    [
        lambda f: f,
        traceir.jit,
        traceir.checkpoint,
        lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 1)[0],
        lambda f: lambda x: lax.cond(x > -1.0, f, f, x),
    ],
    ids=["alone", "jit", "checkpoint", "scan", "cond"],
)
def test_a_rule_may_use_the_axis_around(within: Any) -> None:
    shared = traceir.custom_vjp(lambda x: 2.0 * x)
    shared.defvjp(lambda x: (2.0 * x, x), lambda x, ct: (lax.psum(ct * x, "i"),))
    pushed = traceir.custom_jvp(lambda x: 2.0 * x)

    @pushed.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return 2.0 * primals[0], tangents[0] * lax.axis_size("i")

    xs = jnp.arange(3.0)
    for f, wanted in (shared, [3.0] * 3), (pushed, [3.0] * 3):
        slopes = traceir.vmap(traceir.grad(within(f)), axis_name="i")
        assert slopes(xs).tolist() == wanted


@pytest.mark.parametrize("batches", [1, 2])
def test_a_batch_of_calls_with_a_result_that_is_an_integer(batches: int) -> None:
    @traceir.custom_vjp
    def f(x: Any) -> Any:
        return x * x, x.astype("int32")

    def back(x: Any, cts: Any) -> Any:
        assert cts[1].dtype == traceir.dtypes.float0 and cts[1].shape == x.shape == ()
        return (3 * x * cts[0],)

    f.defvjp(lambda x: (f(x), x), back)
    call = f
    for _ in range(batches):
        call = traceir.vmap(call)
    x = np.arange(6.0, dtype="float32").reshape((6, 1)[:batches])
    found = traceir.grad(lambda v: jnp.sum(call(v)[0]))(x)
    assert found.tolist() == (3 * x).tolist()
