"""`traceir.export` as `jax.export` is spelt. Cites export.shapes, export.tree."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir as jax
import traceir.numpy as jnp
from traceir import export
from traceir.exports import trees
from traceir.tree_util import register_pytree_node

X = np.array([1.0, -2.0, 3.0], "float32")


def test_a_program_as_in_the_manual_of_jax() -> None:
    @jax.jit
    def f(x: Any, n: Any) -> Any:
        return jnp.sum(jax.nn.relu(x)) * n, jnp.argmax(x)

    types = jax.ShapeDtypeStruct((3,), jnp.float32), jax.ShapeDtypeStruct((), "int32")
    made: export.Exported = export.export(f, platforms=["cpu", "cuda"])(*types)
    assert (made.fun_name, *made.in_avals, *made.out_avals) == (
        "f",
        jax.typeof(X),
        jax.typeof(np.int32(2)),
        jax.typeof(X[0]),
        jax.typeof(np.int32(2)),
    )
    read = export.deserialize(bytearray(made.serialize(vjp_order=1)))
    assert [float(v) for v in read.call(X, np.int32(2))] == [8, 2]
    slope = jax.grad(lambda x: read.call(x, np.int32(2))[0])
    assert slope(X).tolist() == [2, 0, 2]
    assert jax.export(f, *types).serialize() == made.serialize()


def test_classes_by_name() -> None:
    before = dict(trees._by_type), dict(trees._by_name)
    pair = namedtuple("pair", "one other")

    class Tagged:
        def __init__(self, value: Any, tag: str) -> None:
            self.value, self.tag = value, tag

    register_pytree_node(
        Tagged, lambda t: ((t.value,), t.tag), lambda t, v: Tagged(*v, t)
    )
    try:
        assert pair is export.register_namedtuple_serialization(
            pair, serialized_name="tests.pair"
        )
        assert Tagged is export.register_pytree_node_serialization(
            Tagged,
            serialized_name="tests.tagged",
            serialize_auxdata=str.encode,
            deserialize_auxdata=bytes.decode,
        )
        data = export.export(lambda p: Tagged(p.one, "é"))(pair(X, X)).serialize()
        found = export.deserialize(data).call(pair(X, X))
    finally:
        for kept, now in zip(before, (trees._by_type, trees._by_name), strict=True):
            now.clear()
            now.update(kept)
    assert (found.value.tolist(), found.tag) == (X.tolist(), "é")


@pytest.mark.parametrize("shape", [("b", 3), (None, 3), (2.0,)])
def test_shapes_are_numbers(shape: Any) -> None:
    types = [jax.ShapeDtypeStruct(shape, "float32")]
    with raises_rule("export.shapes", TypeError, "an argument of shape"):
        jax.export(lambda x: x[0], types)


def test_there_are_no_symbolic_shapes() -> None:
    with raises_rule("export.shapes", TypeError, "symbolic shape 'b, 3'"):
        export.symbolic_shape("b, 3")
    with raises_rule("export.shapes", TypeError, "symbolic shapes 'b, ...'"):
        export.symbolic_args_specs((X,), "b, ...")
