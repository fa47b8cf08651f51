"""Public names of JAX's: those that few ask for, and the errors of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.as_jax import node_registry, threefry_words
from traceir.as_jax.modules import core, literals
from traceir.as_jax.modules.extend import core as extended
from traceir.as_jax.modules.extend import random
from traceir.as_jax.private import missing
from traceir.pytrees import flatten


def test_each_place_where_a_tree_is_no_prefix() -> None:
    found = flatten.prefix_errors(
        {"a": (1,), "b": [2], "c": 3}, {"a": 1, "b": (2,), "c": [4]}
    )
    assert [str(made("x")).split(" is ")[0] for made in found] == ["x['a']", "x['b']"]
    assert not flatten.prefix_errors((1, None), ([2, 3], None))


def test_generators_seeds_and_words() -> None:
    pair = np.array([1, 2], "uint32")
    found = random.threefry_2x32(pair, np.arange(4, dtype="uint32").reshape(2, 2))
    assert found.tolist() == [[4128513521, 3192206206], [2345921600, 3057534555]]
    assert int(random.threefry_2x32(tuple(pair), np.uint32(3))) == 2392469163
    assert not random.threefry_2x32(pair, np.zeros(0, "uint32")).size
    with raises_rule("threefry2x32.dtype", TypeError):
        random.threefry_2x32(pair, np.arange(2))
    made = random.seed_with_impl(random.unsafe_rbg_prng_impl, 7)
    assert made == traceir.random.key(7, impl=random.unsafe_rbg_prng_impl)
    with raises_rule("face.missing", AttributeError):
        _ = random.define_prng_impl


def test_keys_as_words() -> None:
    key, made = traceir.random.key(7), threefry_words.threefry_seed(7)
    data = traceir.random.key_data
    assert (made == data(key)).all()
    found = threefry_words.threefry_split(made, (3,))
    assert (found == data(traceir.random.split(key, 3))).all()
    bits = threefry_words.threefry_random_bits(made, 16, (5,))
    assert (bits == traceir.random.bits(key, (5,), "uint16")).all()


def test_the_error_of_a_public_name_that_is_left_out_says_why() -> None:
    assert missing("jax.memory").endswith("one kind of memory, the host's.")
    assert "Tell us" in missing("jax.no_such_name")


def test_names_of_core_are_those_of_extend() -> None:
    for name in ("Effects", "gensym", "jaxprs_in_params", "new_jaxpr_eqn", "subjaxprs"):
        assert getattr(core, name) is getattr(extended, name)


def test_numbers_with_a_dtype() -> None:
    made = literals.TypedFloat(1.5, np.dtype("float16")), literals.TypedComplex(2j, "F")
    assert made == (1.5, 2j) and [x.dtype for x in made] == ["float16", "complex64"]
    assert str(literals.TypedInt(5, "int8")) == "TypedInt(5, dtype=int8)"
    assert jnp.array(literals.TypedFloat(0.5, "float32")).tolist() == 0.5


def test_a_node_is_made_of_what_is_no_number_where_trees_are_compared() -> None:
    @traceir.tree_util.register_pytree_node_class
    class Checked:
        def __init__(self, x: Any) -> None:
            assert not isinstance(x, int | float) and np.shape(x) in ((), (2,), (3, 2))
            self.x = x

        def tree_flatten(self) -> Any:
            return (self.x,), None

        @classmethod
        def tree_unflatten(cls, _: None, children: Any) -> Any:
            return cls(*children)

    node = Checked(jnp.ones((3, 2)))
    found = traceir.vmap(lambda n, y: n.x * y, in_axes=(None, 0))(node, jnp.ones(4))
    assert found.shape == (4, 3, 2)


def test_types_of_nodes_come_apart_and_together() -> None:
    assert {tuple, list, dict, type(None)} <= {*node_registry.REGISTRY}
    assert len(node_registry.REGISTRY) == len([*node_registry.REGISTRY])
    for node in ((1, 2), [3], {"b": 1, "a": 2}, None):
        functions = node_registry.REGISTRY[type(node)]
        children, metadata = functions.to_iter(node)
        assert functions.from_iter(metadata, list(children)) == node


def test_axes_to_sum_over_are_none() -> None:
    def f(x: Any) -> Any:
        return 3 * x

    assert traceir.grad(f, reduce_axes=())(1.0) == 3
    assert traceir.value_and_grad(f, reduce_axes=())(1.0)[1] == 3
    assert traceir.vjp(f, 1.0, reduce_axes=())[1](1.0) == (3,)
    assert traceir.linear_transpose(f, 1.0, reduce_axes=())(1.0) == (3,)
    with raises_rule("face.choice", NotImplementedError, "reduce_axes"):
        traceir.vjp(f, 1.0, reduce_axes=("i",))


MATRIX = [[4.0, 1.0], [1.0, 3.0]]


@pytest.mark.parametrize(
    "fun, args",
    [
        (jnp.array_equal, (MATRIX, MATRIX)),
        (jnp.array_equiv, ([1, 2], (1, 2))),
        (jnp.fft.ihfft, ([1.0, 2.0],)),
        (traceir.nn.one_hot, ([0, 2], 3)),
        (traceir.scipy.special.expn, ([1, 2], 0.5)),
        (traceir.scipy.special.hyp1f1, ([1.0], [2.0], 0.5)),
        (traceir.scipy.special.spence, ([1.0, 2.0],)),
        (traceir.scipy.linalg.cho_factor, (MATRIX,)),
        (traceir.scipy.linalg.eigh, (MATRIX,)),
        (traceir.scipy.linalg.lu, (MATRIX,)),
        (traceir.scipy.linalg.lu_factor, (MATRIX,)),
        (traceir.scipy.linalg.polar, (MATRIX,)),
        (traceir.scipy.linalg.qr, (MATRIX,)),
        (traceir.scipy.linalg.qr_multiply, (MATRIX, MATRIX)),
        (traceir.scipy.linalg.solve_triangular, (MATRIX, MATRIX[0])),
        (traceir.scipy.linalg.svd, (MATRIX,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_lists_of_numbers_are_arrays_where_jax_takes_them(fun: Any, args: Any) -> None:
    arrays = [np.asarray(a) if isinstance(a, list | tuple) else a for a in args]
    found = traceir.tree.leaves(fun(*args))
    for one, other in zip(found, traceir.tree.leaves(fun(*arrays)), strict=True):
        np.testing.assert_array_equal(one, other)
