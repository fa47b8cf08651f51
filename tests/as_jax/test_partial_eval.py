"""Programs of functions of which some arguments are known, as flax asks for them."""

from __future__ import annotations

from typing import Any

import pytest

import traceir
import traceir.numpy as jnp
from traceir.as_jax.modules.core import eval_jaxpr
from traceir.as_jax.modules.interpreters.partial_eval import (
    PartialVal,
    trace_to_jaxpr_nounits,
)
from traceir.as_jax.wrapped_functions import wrap_init
from traceir.ir.avals import ShapedArray

AVAL = ShapedArray((2,), "float32")
X = jnp.array([1.0, 2.0])


def split(f: Any, *pvals: PartialVal, instantiate: Any = False) -> Any:
    """The program, the pairs of the results, and the constants."""
    jaxpr, outs, consts = trace_to_jaxpr_nounits(wrap_init(f), pvals, instantiate)
    return jaxpr, [tuple(pval) for pval in outs], consts


def test_what_is_known_is_computed_and_the_rest_is_a_program() -> None:
    def f(x: Any, y: Any) -> tuple[Any, ...]:
        return x + 1, jnp.sin(x) * y, y

    given = PartialVal.known(X), PartialVal.unknown(AVAL)
    jaxpr, outs, consts = split(f, *given)
    assert [aval for aval, _ in outs] == [None, AVAL, AVAL]
    assert outs[0][1].tolist() == [2, 3]
    product, same = eval_jaxpr(jaxpr, consts, 3 * X)
    assert jnp.allclose(product, jnp.sin(X) * 3 * X) and same.tolist() == [3, 6]
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["mul"]  # the sine is known


@pytest.mark.parametrize("instantiate", [True, [False, True]])
def test_results_may_be_asked_to_be_of_the_program(instantiate: Any) -> None:
    def f(x: Any) -> tuple[Any, ...]:
        return x + 1, x + 2

    jaxpr, outs, consts = split(f, PartialVal.known(X), instantiate=instantiate)
    late = [aval is not None for aval, _ in outs]
    assert late == ([True, True] if instantiate is True else [False, True])
    assert [v.tolist() for v in eval_jaxpr(jaxpr, consts)][-1] == [3, 4]


@pytest.mark.parametrize("wrap", [traceir.jit, traceir.grad, traceir.vmap])
def test_values_of_traces_around_it_are_known(wrap: Any) -> None:
    seen = []

    def f(z: Any) -> Any:
        given = PartialVal.known(2.0), PartialVal.unknown(AVAL)
        _, outs, _ = split(lambda x, y: (x * z, y * z), *given)
        seen.append([aval is None for aval, _ in outs])
        return outs[0][1]

    assert jnp.allclose(
        wrap(f)(X if wrap is traceir.vmap else 3.0),
        {traceir.jit: 6.0, traceir.grad: 2.0, traceir.vmap: 2 * X}[wrap],
    )
    assert seen == [[True, False]]
