"""Descriptions of arrays, which are no arrays. Rules: jit.argument, jit.dtype"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
from traceir import lax
from traceir import numpy as jnp
from traceir.ir.avals import ShapedArray

STRUCTS = [
    traceir.ShapeDtypeStruct((3,), "float32"),
    ShapedArray((3,), np.dtype("float32")),
]


@pytest.mark.parametrize("struct", STRUCTS)
def test_what_traces_alone_takes_both(struct: Any) -> None:
    assert traceir.eval_shape(jnp.sin, struct) == STRUCTS[0]
    wanted = "{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }"
    assert str(traceir.make_jaxpr(jnp.sin)(struct)) == wanted
    assert traceir.jit(jnp.sin).lower(struct).compile()(np.zeros(3)).shape == (3,)


CALLS: dict[str, Callable[[Any], Any]] = {
    "jit": lambda s: traceir.jit(jnp.sin)(s),
    "jit_numba": lambda s: traceir.jit(jnp.sin, backend="numba")(s),
    "compiled": lambda s: traceir.jit(jnp.sin).lower(s).compile()(s),
    "grad": lambda s: traceir.grad(jnp.sum)(s),
    "traced": lambda s: traceir.jit(lambda x: traceir.grad(jnp.sum)(s))(1.0),
    "jvp": lambda s: traceir.jvp(jnp.sin, (s,), (s,)),
    "vjp": lambda s: traceir.vjp(jnp.sin, s),
    "pullback": lambda s: traceir.vjp(jnp.sin, jnp.ones(3))[1](s),
    "linearize": lambda s: traceir.linearize(jnp.sin, s),
    "transpose": lambda s: traceir.linear_transpose(lambda x: x * 2, s)(s),
    "vmap": lambda s: traceir.vmap(jnp.sin)(s),
    "hessian": lambda s: traceir.hessian(jnp.sum)(s),
    "checkpoint": lambda s: traceir.checkpoint(jnp.sin)(s),
    "stop_gradient": lambda s: lax.stop_gradient(s),
}


@pytest.mark.parametrize("struct", STRUCTS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_elements_that_there_are_not(call: Callable[[Any], Any], struct: Any) -> None:
    with raises_rule("jit.argument", TypeError, "of type Shape"):
        call(struct)
