"""Primitives of users take part in everything that a table's row does.

Rules: custom_primitive.rule, custom_primitive.types
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import rules
from traceir.as_jax.modules.core import (
    Jaxpr,
    ShapedArray,
    eval_jaxpr,
    jaxpr_as_fun,
)
from traceir.as_jax.modules.extend.core import Primitive
from traceir.as_jax.modules.interpreters import ad, batching, mlir, xla
from traceir.as_jax.program_parts import (
    gensym,
    new_jaxpr_eqn,
    no_effects,
)
from traceir.experimental import checkify, sparse
from traceir.exports.portable import portable
from traceir.ir.jaxpr import subjaxprs
from traceir.reference.interpreter import eval_jaxpr as reference
from traceir.text import parse, to_text


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
    assert closed.eqns[0].primitive is made
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


def test_equations_hold_the_users_object_and_params() -> None:
    made, x = scaled_by(lowered=True), jnp.ones(2)
    (eqn,) = traceir.make_jaxpr(lambda v: made.bind(v, by=3.0))(x).eqns
    assert eqn.primitive is made and made.name == "scale"
    assert {made: "own"}[eqn.primitive] == "own" and made != Primitive("scale")
    assert dict(eqn.params) == {"by": 3.0} == {**eqn.params}
    assert "by" in eqn.params and "call_jaxpr" not in eqn.params
    given = eqn.primitive.get_bind_params(eqn.params)
    assert eqn.primitive.bind(x, **given).tolist() == [3.0, 3.0]
    for way in (traceir.jit, traceir.vmap, traceir.remat):
        closed = traceir.make_jaxpr(way(lambda v: made.bind(v, by=3.0)))(x)
        while closed.eqns[0].primitive is not made:
            (closed,) = subjaxprs(closed.eqns[0])
        assert dict(closed.eqns[0].params) == {"by": 3.0}


def a_rule(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, ""),
        ({"name": "f", "num_consts": 0}, "[name=f num_consts=0]"),
        ({"to": (1, "a", None)}, "[to=(1, 'a', None)]"),
        ({"to": np.dtype("int8")}, "[to=int8]"),
        ({"rule": a_rule}, "[rule=<function a_rule at 0xXXXXXXXXXXXX>]"),
        (
            {"body": traceir.make_jaxpr(jnp.sin)(1.0)},
            "[body={ lambda ; c:f32[]. let d:f32[] = sin c in (d,) }]",
        ),
    ],
)
def test_text_has_the_name_and_the_params(given: dict[str, Any], text: str) -> None:
    made = Primitive("same")
    made.def_abstract_eval(lambda x, **given: x)
    mlir.register_lowering(made, mlir.lower_fun(lambda x, **given: x, False))
    closed = traceir.make_jaxpr(lambda x: made.bind(x, **given))(1.0)
    shown = " ".join(str(closed).split()).replace("[ ", "[").replace(" ]", "]")
    wanted = f"{{ lambda ; a:f32[]. let b:f32[] = same{text} a in (b,) }}"
    assert shown == wanted


def test_full_text_has_the_program_and_is_read_back() -> None:
    made = scaled_by(lowered=True)
    closed = traceir.make_jaxpr(lambda v: made.bind(v, by=3.0))(jnp.ones(2))
    text = to_text(portable(closed), full=True)
    assert "custom_primitive_call" in text
    assert to_text(parse(text), full=True) == text
    assert reference(parse(text), (), np.ones(2, "float32"))[0].tolist() == [3.0, 3.0]


def test_programs_are_equal_by_primitive_and_params() -> None:
    one, other = scaled_by(lowered=True), scaled_by(lowered=True)
    made = [
        traceir.make_jaxpr(lambda v, p=p, by=by: p.bind(v, by=by))(1.0)
        for p, by in ((one, 3.0), (one, 2.0), (other, 3.0))
    ]
    assert len(set(made)) == 3


def test_equations_are_made_and_changed_by_name() -> None:
    made, new_var = scaled_by(lowered=True), gensym()
    a, b = (new_var(ShapedArray((), "float32")) for _ in range(2))
    eqn = new_jaxpr_eqn([a], [b], made, {"by": 2.0}, no_effects)
    assert Jaxpr((), (a,), (eqn,), (b,)).eqns[0].primitive is made
    assert eval_jaxpr(Jaxpr((), (a,), (eqn,), (b,)), (), 3.0) == [6.0]
    changed = eqn.replace(params={**eqn.params, "by": 5.0})
    assert dict(changed.params) == {"by": 5.0}
    assert eval_jaxpr(Jaxpr((), (a,), (changed,), (b,)), (), 3.0) == [15.0]
    assert eqn.replace(outvars=[a]).params == eqn.params
    negative = eqn.replace(primitive=traceir.lax.neg_p, params={})
    assert eval_jaxpr(Jaxpr((), (a,), (negative,), (b,)), (), 3.0) == [-3.0]
    by_name = eqn.replace(primitive="neg", params={})
    assert type(by_name.primitive) is str
    assert eval_jaxpr(Jaxpr((), (a,), (by_name,), (b,)), (), 3.0) == [-3.0]


@pytest.mark.parametrize("flag", ["debug_nans", "debug_key_reuse", "disable_jit"])
def test_what_looks_at_programs_sees_the_call(flag: str) -> None:
    made, x = scaled_by(lowered=True), jnp.array([1.0, 2.0])
    with getattr(traceir, flag)(True):
        found = traceir.jit(lambda v: made.bind(v, by=3.0))(x)
    assert found.tolist() == [3.0, 6.0]


def test_checks_and_sparse_operands_go_through_it() -> None:
    made, x = scaled_by(lowered=True), jnp.array([[1.0, 0.0], [0.0, 2.0]])

    def program(v: Any) -> Any:
        return made.bind(v, by=3.0) / v

    error, _ = checkify.checkify(program, errors=checkify.float_checks)(x)
    assert error.get() is not None
    held = sparse.sparsify(lambda v: made.bind(v, by=3.0))(sparse.BCOO.fromdense(x))
    assert held.todense().tolist() == [[3.0, 0.0], [0.0, 6.0]]


def test_a_policy_of_saved_values_is_asked_about_it() -> None:
    made, asked = scaled_by(lowered=True), []

    def policy(prim: Any, *avals: Any, **params: Any) -> bool:
        asked.append((prim, params))
        return prim is made

    f = traceir.checkpoint(lambda v: jnp.sin(made.bind(v, by=3.0)), policy=policy)
    assert float(traceir.grad(f)(0.5)) == pytest.approx(3 * np.cos(1.5))
    assert (made, {"by": 3.0}) in asked


def test_a_copy_is_a_primitive() -> None:
    copy_p, x = traceir.lax.copy_p, jnp.array([1.0, 2.0])
    closed = traceir.make_jaxpr(copy_p.bind)(x)
    assert closed.eqns[0].primitive is copy_p and "= copy a" in str(closed)
    assert copy_p.bind(x).tolist() == traceir.vmap(copy_p.bind)(x).tolist() == [1, 2]
    slope = traceir.jit(traceir.grad(lambda v: (copy_p.bind(v) ** 2).sum()))(x)
    assert slope.tolist() == [2.0, 4.0]


def test_rules_may_be_methods_of_a_class() -> None:
    class Tripled(Primitive):
        def impl(self, x: Any) -> Any:
            return 3 * x

        def abstract_eval(self, x: Any) -> Any:
            return x, set()

    triple_p = Tripled("triple")
    assert triple_p.bind(2.0) == 6 and traceir.jit(triple_p.bind)(2.0) == 6

    class Ordered(Tripled):
        def abstract_eval(self, x: Any) -> Any:
            return x, {"written"}

    with raises_rule("custom_primitive.rule", NotImplementedError, "effects"):
        traceir.jit(Ordered("ordered").bind)(2.0)
