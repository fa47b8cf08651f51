"""Operations outside of `jit` lie on devices as those of a compiled function.

Cites sharding.value
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices

import traceir as jax
import traceir.numpy as jnp
from traceir import lax
from traceir.sharding import AxisType, NamedSharding, PartitionSpec

Function = Callable[[Any], Any]

EXPRESSIONS: dict[str, Function] = {
    "neg": lax.neg,
    "add": lambda x: lax.add(x, x),
    "sin": lax.sin,
    "convert": lambda x: lax.convert_element_type(x, "int32"),
    "reshape": lambda x: lax.reshape(x, (4, 4)),
    "transpose": lambda x: lax.transpose(x, (1, 0)),
    "reduce": lambda x: lax.reduce_max(x, (1,)),
    "select": lambda x: lax.select(x > 0, x, x),
    "product": lambda x: lax.dot(x, x.T),
    "gradient": jax.grad(lambda x: (x**2).sum()),
    "tangent": lambda x: jax.jvp(jnp.sin, (x,), (x,)),
    "each row": jax.vmap(lambda row: row.sum()),
    "set": lambda x: x.at[0, 0].set(1.0),
    "bits": lambda x: lax.bitcast_convert_type(x, "int32"),
    "same": lax.stop_gradient,
    "copy": jnp.copy,
    "another copy": lambda x: x.copy(),
    "array": jnp.array,
    "as an array": lambda x: jnp.asarray(x, copy=True),
    "loop": lambda x: lax.fori_loop(0, 2, lambda _, y: y + 1, x),
    "choice": lambda x: lax.cond(True, jnp.sin, jnp.cos, x),
    "two": lambda x: lax.top_k(x, 1),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_results_lie_as_under_jit(name: str) -> None:
    function = EXPRESSIONS[name]
    mesh = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
    rows = jax.device_put(
        np.arange(16, dtype="float32").reshape(8, 2),
        NamedSharding(mesh, PartitionSpec("x")),
    )
    eager, compiled = function(rows), jax.jit(function)(rows)
    pairs = zip(jax.tree.leaves(eager), jax.tree.leaves(compiled), strict=True)
    for one, other in pairs:
        assert one.sharding == other.sharding
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_an_array_that_is_like_another_lies_like_it() -> None:
    mesh = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
    place = NamedSharding(mesh, PartitionSpec("x"))
    rows = jax.device_put(np.ones((8, 2), "float32"), place)
    assert lax.full_like(rows, 2).sharding == place
    assert jnp.zeros_like(rows).sharding == place


def test_results_are_on_the_device_of_their_operand() -> None:
    second = jax.devices()[1]
    x = jax.device_put(np.ones(3, "float32"), second)
    for found in (lax.sin(x), lax.add(x, 1.0), x.copy(), lax.full_like(x, 2)):
        assert found.devices() == {second}
