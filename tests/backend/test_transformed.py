"""Derivatives and maps of programs with loops, beside the reference."""

from __future__ import annotations

import numpy as np
import pytest
from compiling import executable, traced
from transformed_programs import FUNCTIONS

from traceir.reference.interpreter import eval_jaxpr
from traceir.tree import leaves


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_backend_agrees_with_the_reference(name: str) -> None:
    fun, args = FUNCTIONS[name]
    closed = traced(fun, *args)
    arrays = [
        np.asarray(x, v.aval.dtype)
        for x, v in zip(leaves(args), closed.jaxpr.invars, strict=True)
    ]
    got = executable(closed).run(*arrays)
    for one, other in zip(got, eval_jaxpr(closed, closed.consts, *arrays), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
