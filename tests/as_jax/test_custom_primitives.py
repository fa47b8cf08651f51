"""Primitives of users take part in everything that a table's row does.

Rules: custom_primitive.rule, custom_primitive.types
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import rules
from traceir.as_jax.modules.core import eval_jaxpr, jaxpr_as_fun
from traceir.as_jax.modules.extend.core import Primitive
from traceir.as_jax.modules.interpreters import ad, batching, mlir, xla


def scaled_by(lowered: bool) -> Primitive:
    """The product with a number that is a param."""
    made = Primitive("scale")
    made.def_impl(lambda x, *, by: x * by)
    made.def_abstract_eval(lambda x, *, by: x)
    ad.primitive_jvps[made] = lambda xs, ts, *, by: (
        made.bind(*xs, by=by),
        made.bind(ad.instantiate_zeros(ts[0]), by=by),
    )
    ad.primitive_transposes[made] = lambda ct, x, *, by: [made.bind(ct, by=by)]
    batching.primitive_batchers[made] = lambda xs, dims, *, by: (
        made.bind(*xs, by=by),
        dims[0],
    )
    if lowered:
        lowering = mlir.lower_fun(lambda x, *, by: by * x, multiple_results=False)
        mlir.register_lowering(made, lowering)
    return made


WAYS = {
    "eager": lambda f: f,
    "jit": traceir.jit,
    "grad": lambda f: traceir.vmap(traceir.grad(lambda x: f(x) ** 2)),
    "jit of grad": lambda f: traceir.jit(traceir.grad(lambda x: jnp.sum(f(x) ** 2))),
    "grad of jit": lambda f: traceir.grad(lambda x: jnp.sum(traceir.jit(f)(x) ** 2)),
    "vmap": traceir.vmap,
    "vmap of jit": lambda f: traceir.vmap(traceir.jit(f)),
    "jvp": lambda f: lambda x: traceir.jvp(f, (x,), (jnp.ones_like(x),)),
    "scan": lambda f: lambda x: traceir.lax.scan(lambda c, y: (f(c) + y, f(y)), 0.0, x),
    "checkpoint": lambda f: traceir.grad(lambda x: jnp.sum(traceir.remat(f)(x) ** 2)),
    "program": lambda f: lambda x: jaxpr_as_fun(traceir.make_jaxpr(f)(x))(x),
}


@pytest.mark.parametrize("lowered", [True, False], ids=["lowered", "on the host"])
@pytest.mark.parametrize("way", WAYS)
def test_a_primitive_means_what_its_rules_say(way: str, lowered: bool) -> None:
    made, x = scaled_by(lowered), jnp.array([1.0, 2.0, -3.0])
    found = WAYS[way](lambda v: made.bind(v, by=3.0))(x)
    wanted = WAYS[way](lambda v: v * 3.0)(x)
    for one, other in zip(
        traceir.tree.leaves(found), traceir.tree.leaves(wanted), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_several_results_are_a_list() -> None:
    made = Primitive("halves")
    made.multiple_results = True
    made.def_impl(lambda x: [x / 2, x / 2])
    made.def_abstract_eval(lambda x: [x, x])
    mlir.register_lowering(made, mlir.lower_fun(lambda x: [x / 2, x / 2]))
    assert traceir.jit(made.bind)(4.0) == [2.0, 2.0]
    closed = traceir.make_jaxpr(made.bind)(4.0)
    assert [eqn.primitive for eqn in closed.eqns] == ["custom_primitive_call"]
    assert eval_jaxpr(closed.jaxpr, closed.consts, 6.0) == [3.0, 3.0]


def test_one_linear_primitive() -> None:
    made = Primitive("same")
    made.def_impl(lambda x: x)
    made.def_abstract_eval(lambda x: x)
    mlir.register_lowering(made, mlir.lower_fun(lambda x: x, multiple_results=False))
    ad.deflinear2(made, lambda ct, x: [2 * ct])
    batching.defvectorized(made)
    assert traceir.grad(made.bind)(1.0) == 2.0
    assert traceir.vmap(traceir.grad(made.bind))(jnp.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        (lambda p: p.bind(1.0), "impl"),
        (lambda p: traceir.jit(p.bind)(1.0), "lowering"),
        (lambda p: traceir.grad(p.bind)(1.0), "derivative"),
        (lambda p: traceir.vmap(p.bind)(jnp.ones(2)), "batching"),
    ],
    ids=["impl", "lowering", "derivative", "batching"],
)
def test_a_missing_rule_is_named(asked: Any, rule: str) -> None:
    with pytest.raises(NotImplementedError, match=f"no {rule} of bare") as raised:
        asked(Primitive("bare"))
    assert isinstance(raised.value, rules.TraceirError)
    assert raised.value.rule == "custom_primitive.rule"


def test_types_that_are_told_are_those_that_come() -> None:
    made = Primitive("wrong")
    made.def_abstract_eval(lambda x: x.update(shape=(2,)))
    mlir.register_lowering(made, mlir.lower_fun(lambda x: x, multiple_results=False))
    with pytest.raises(TypeError, match="whose program gives") as raised:
        traceir.jit(made.bind)(1.0)
    assert isinstance(raised.value, rules.TraceirError)
    assert raised.value.rule == "custom_primitive.types"


def test_names_of_primitives_are_those_of_equations() -> None:
    closed = traceir.make_jaxpr(lambda x: x + 1)(1.0)
    assert {traceir.lax.add_p: "sum"}[closed.eqns[0].primitive] == "sum"
    assert traceir.lax.add_p.bind(1.0, 2.0) == 3.0
    with pytest.raises(AttributeError, match="no_such_p"):
        traceir.lax.no_such_p  # noqa: B018  # asking is what raises


def test_derivatives_are_registered_by_operand() -> None:
    scaled_p = Primitive("scaled")
    scaled_p.def_impl(functools.partial(xla.apply_primitive, scaled_p))
    scaled_p.def_abstract_eval(lambda x, y, *, by: x)
    fun = mlir.lower_fun(lambda x, y, by: by * x * jnp.sin(y), False)
    mlir.register_lowering(scaled_p, fun)
    slopes = (
        lambda t, x, y, by: by * t * jnp.sin(y),
        lambda t, x, y, by: by * t * x * jnp.cos(y),
    )
    for partial in (slopes, (slopes[0], None)):
        ad.defjvp(scaled_p, *partial)
        found = traceir.grad(lambda x, y: scaled_p.bind(x, y, by=3.0), (0, 1))(2.0, 0.5)
        expected = 3 * np.sin(0.5), 6 * np.cos(0.5) if partial[1] else 0.0
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    out = scaled_p.bind(2.0, 0.5, by=3.0)
    np.testing.assert_allclose(out, 6 * np.sin(0.5), rtol=1e-6)


def test_a_product_of_a_users_is_bilinear() -> None:
    paired_p = Primitive("paired")
    paired_p.def_abstract_eval(lambda x, y: x)
    mlir.register_lowering(paired_p, mlir.lower_fun(lambda x, y: x * y, False))
    paired_p.def_impl(functools.partial(xla.apply_primitive, paired_p))
    ad.defbilinear(
        paired_p,
        lambda ct, x, y: paired_p.bind(ct, y),
        lambda ct, x, y: paired_p.bind(x, ct),
    )
    x, y = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])

    def loss(x: Any, y: Any) -> Any:
        return paired_p.bind(x, paired_p.bind(x, y)).sum()

    slopes = traceir.jit(traceir.grad(loss, (0, 1)))(x, y)
    np.testing.assert_allclose(slopes, (2 * x * y, x * x))


def test_a_primitive_without_a_lowering_is_not_applied() -> None:
    bare_p = Primitive("bare")
    bare_p.def_impl(functools.partial(xla.apply_primitive, bare_p))
    with pytest.raises(NotImplementedError, match="no lowering of bare"):
        bare_p.bind(1.0)
