"""Equations as programs that walk jaxprs read them: by JAX's names."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import traceir as jax
import traceir.numpy as jnp
from traceir import lax, rules
from traceir.as_jax.modules.core import Literal, eval_jaxpr, jaxpr_as_fun
from traceir.as_jax.modules.extend.core.primitives import jit_p
from traceir.as_jax.program_parts import check_jaxpr
from traceir.ir.jaxpr import subjaxprs
from traceir.ir.params import EqnParams
from traceir.text import parse, to_text
from traceir.tracing.named_primitives import WITHOUT_EQUATIONS


def walked(closed: Any, *args: Any) -> list[Any]:
    """The results, by an interpreter that knows JAX's names alone."""
    env: dict[Any, Any] = {}

    def read(var: Any) -> Any:
        return var.val if isinstance(var, Literal) else env[var]

    jaxpr = closed.jaxpr
    env.update(zip(jaxpr.invars, args, strict=True))
    env.update(zip(jaxpr.constvars, closed.literals, strict=True))
    for eqn in jaxpr.eqns:
        invals = [read(var) for var in eqn.invars]
        if eqn.primitive is jit_p:
            out = walked(eqn.params["jaxpr"], *invals)
        else:
            params = eqn.primitive.get_bind_params(eqn.params)
            out = eqn.primitive.bind(*invals, **params)
        results = out if isinstance(out, list | tuple) else [out]
        env.update(zip(eqn.outvars, results, strict=True))
    return [read(var) for var in jaxpr.outvars]


def test_a_closed_program_has_the_variables_of_the_program() -> None:
    closed = jax.make_jaxpr(lambda x: x + np.ones(3))(jnp.ones(3))
    assert closed.invars is closed.jaxpr.invars
    assert closed.outvars is closed.jaxpr.outvars
    assert closed.constvars is closed.jaxpr.constvars


def selu(x: Any) -> Any:
    return jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67).sum()


def looped(x: Any) -> Any:
    return lax.scan(lambda c, v: (jnp.sin(c) + v, c), x[0], x)


def chosen(x: Any) -> Any:
    return lax.cond(x[0] > 0, lambda v: v * 2, jnp.negative, x)


def relu_like(x: Any) -> Any:
    return jax.nn.relu(x) + jax.nn.logsumexp(x)


@pytest.mark.parametrize("fun", [selu, looped, chosen, relu_like, jax.grad(selu)])
def test_an_interpreter_by_jaxs_names_gives_the_numbers(fun: Any) -> None:
    x = jnp.array([0.3, -1.2, 2.0])
    for one in (fun, jax.jit(fun)):
        got = walked(jax.make_jaxpr(one)(x), x)
        for a, b in zip(got, jax.tree.leaves(fun(x)), strict=True):
            np.testing.assert_allclose(a, b, 1e-6)


def test_primitives_are_one_object_by_name() -> None:
    closed = jax.make_jaxpr(lambda x: -x + x)(1.0)
    neg, add = (eqn.primitive for eqn in closed.eqns)
    assert neg is lax.neg_p and add is lax.add_p
    assert f"{neg.name} {neg}" == "neg neg" and not neg.call_primitive
    assert pickle.loads(pickle.dumps(neg)) is neg


def test_primitives_without_equations_are_named_and_not_applied() -> None:
    assert not WITHOUT_EQUATIONS.keys() & rules.default().prims.keys()
    assert lax.tile_p.name == "tile" and not lax.tile_p.multiple_results
    assert lax.reduce_p.multiple_results and lax.linalg.tridiagonal_p.multiple_results
    with pytest.raises(TypeError, match=r"program\.primitive"):
        lax.tile_p.bind(1.0)


def test_names_of_choices_in_params_are_taken_by_functions() -> None:
    mode, precise = lax.GatherScatterMode.CLIP, lax.Precision.HIGH
    read = jax.make_jaxpr(lambda x: x.at[jnp.arange(2)].get(mode="clip"))(jnp.ones(3))
    name = read.eqns[-1].params["mode"]
    assert name == mode and lax.GatherScatterMode.from_any(name) is mode
    dot = jax.make_jaxpr(lambda x: lax.dot(x, x, precision="high"))(jnp.ones(3))
    assert dot.eqns[-1].params["precision"] == (precise,) * 2
    assert (repr(precise), str(precise)) == ("Precision.HIGH", "HIGH")


def test_params_are_read_as_a_dict_is() -> None:
    closed = jax.make_jaxpr(lambda x: x.sum(axis=1))(jnp.ones((2, 3)))
    (eqn,) = closed.eqns
    params = eqn.params
    assert params["axes"] == (1,) and "axes" in params and "axis" not in params
    assert params.get("axis", 5) == 5 and list(params.keys()) == list(dict(params))
    own = params.copy()
    assert own.pop("axes") == (1,) and params["axes"] == (1,)
    assert {**params} == dict(params.items()) == params | {}
    with pytest.raises(KeyError, match="axis"):
        params["axis"]
    assert params[0] == ("axes", (1,)) and ("axes", (1,)) in params


def test_params_of_programs_that_were_read_or_made_leaner_are_so_too() -> None:
    closed = parse(
        "{ lambda ; a:f32[2]. let b:f32[] = reduce_sum[axes=(0,)] a in (b,) }"
    )
    assert closed.eqns[0].params["axes"] == (0,)
    inner = jax.make_jaxpr(jax.grad(lambda x: looped(x)[0]))(jnp.ones(3))
    for eqn in inner.eqns:
        assert isinstance(eqn.params, EqnParams)
        for value in eqn.params.values():
            if isinstance(value, type(inner)):
                assert all(isinstance(e.params, EqnParams) for e in value.eqns)


def test_an_effect_of_an_equation_is_one_of_its_program() -> None:
    closed = jax.make_jaxpr(lambda x: jax.debug.print("{}", x))(1.0)
    assert closed.effects == closed.jaxpr.effects == closed.eqns[0].effects != set()
    assert jaxpr_as_fun(jax.make_jaxpr(jnp.sin)(1.0))(0.0) == [0.0]


SCATTERS = {
    "add": (lambda r: r.add(2.0), 5.0),
    "multiply": (lambda r: r.multiply(2.0), 6.0),
    "min": (lambda r: r.min(2.0), 2.0),
    "max": (lambda r: r.max(2.0), 3.0),
}


@pytest.mark.parametrize("name", SCATTERS)
def test_a_scatter_tells_how_it_combines(name: str) -> None:
    write, combined = SCATTERS[name]
    x = jnp.array([3.0, 4.0])
    closed = jax.make_jaxpr(lambda x: write(x.at[jnp.array([0])]))(x)
    eqn = closed.eqns[-1]
    assert eval_jaxpr(eqn.params["update_jaxpr"], (), 3.0, 2.0) == [combined]
    assert eqn.params.get("update_jaxpr") is dict(eqn.params)["update_jaxpr"]
    again = eqn.primitive.bind(x, jnp.array([[0]]), jnp.array([2.0]), **eqn.params)
    assert again.tolist() == [combined, 4.0]
    # It is no part of the program, whose text and equality are by the primitive.
    assert parse(to_text(closed, full=True)) == closed
    check_jaxpr(jax.make_jaxpr(lambda x: walked(closed, x))(x).jaxpr)
    copied = pickle.loads(pickle.dumps(eqn.params))
    assert copied == eqn.params and copied["update_jaxpr"] is None


def test_a_scatter_that_sets_combines_nothing() -> None:
    closed = jax.make_jaxpr(lambda x: x.at[jnp.array([0])].set(2.0))(jnp.ones(3))
    assert closed.eqns[-1].params["update_jaxpr"] is None


@pytest.mark.parametrize(
    ("primitive", "fun"),
    [
        (lax.linalg.cholesky_p, jnp.linalg.cholesky),
        (lax.linalg.qr_p, jnp.linalg.qr),
        (lax.linalg.svd_p, jnp.linalg.svd),
        (lax.linalg.eigh_p, jnp.linalg.eigh),
        (lax.linalg.lu_p, lambda x: lax.linalg.lu(x)[0]),
        (jax.random.random_gamma_p, lambda x: jax.random.gamma(jax.random.key(0), x)),
    ],
)
def test_factorizations_have_their_primitives(primitive: Any, fun: Any) -> None:
    def primitives(closed: Any) -> set[Any]:
        inner = (p for eqn in closed.eqns for p in subjaxprs(eqn))
        return {eqn.primitive for eqn in closed.eqns}.union(*map(primitives, inner))

    found = primitives(jax.make_jaxpr(fun)(jnp.eye(2)))
    assert any(one is primitive for one in found)
