"""Programs of functions of parts print as JAX prints them.

Cites: shard_map.vma, shard_map.transforms
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices
from recorded import Record
from shardings.texts import FUNCTIONS, PROGRAMS

import traceir
import traceir.numpy as jnp
from traceir import lax, shard_map
from traceir.sharding import P
from traceir.text import to_text

RECORDED = dict(
    re.findall(
        r"^# (\w+)\n(.*?)\n$", Record("texts-of-parts.txt").read_text(), re.M | re.S
    )
)


def test_every_program_is_recorded() -> None:
    assert RECORDED.keys() == PROGRAMS.keys() and len(RECORDED) >= 25


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_that_of_jax(name: str) -> None:
    text = PROGRAMS[name](traceir)
    assert text == RECORDED[name]
    closed = traceir.parse(text)
    assert str(closed) == text
    traceir.check(closed)
    full = to_text(closed, full=True)
    assert to_text(traceir.parse(full), full=True) == full


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jit_computes_what_the_function_does(name: str) -> None:
    function, arguments = FUNCTIONS[name](traceir)
    given = [jnp.sin(a + jnp.arange(a.size).reshape(a.shape)) for a in arguments]
    wanted = traceir.tree.leaves(function(*given))
    for backend in ("reference", "numba"):
        found = traceir.tree.leaves(traceir.jit(function, backend=backend)(*given))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["reference", "numba", "oracle"])
def test_the_program_is_run_as_the_function_is(backend: str) -> None:
    def step(a: jnp.ndarray, w: jnp.ndarray) -> tuple[jnp.ndarray, jnp.ndarray]:
        total = lax.psum(jnp.sum(a) * w, "x")
        return a + total + lax.axis_index("y"), total

    mesh = traceir.make_mesh((4, 2), ("x", "y"))
    f = shard_map(
        step,
        mesh=mesh,
        in_specs=(P("x", None), P("y")),
        out_specs=(P("x", "y"), P("y")),
    )
    a, w = np.arange(16, dtype="int32").reshape(8, 2), np.arange(4, dtype="int32")
    closed = traceir.make_jaxpr(f)(a, w)
    [eqn] = closed.eqns
    assert eqn.primitive.name == "shard_map"
    wanted = f(a, w)
    for found in (
        traceir.jit(f, backend=backend)(a, w),
        traceir.eval_jaxpr(closed, closed.consts, a, w),
    ):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "int4"])
def test_parts_of_every_dtype_are_compiled(dtype: str) -> None:
    def parts(a: jnp.ndarray) -> tuple[jnp.ndarray, jnp.ndarray]:
        return lax.psum(a * a, "x"), lax.fori_loop(0, 2, lambda _, c: c + c, a)

    mesh = traceir.make_mesh((4,), ("x",))
    f = shard_map(parts, mesh=mesh, in_specs=P("x"), out_specs=(P(), P("x")))
    a = (jnp.arange(8) % 3).astype(dtype)
    for one, other in zip(traceir.jit(f)(a), f(a), strict=True):
        assert one.dtype == dtype and (one == other).all()
