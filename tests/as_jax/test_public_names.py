"""Public names of JAX's: those that few ask for, and the errors of others."""

from __future__ import annotations

import numpy as np
from rule_errors import raises_rule

import traceir
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


def test_the_error_of_a_public_name_that_is_left_out_says_why() -> None:
    for name in ("jax.new_ref", "jax.ref", "jax.ref.get"):
        assert missing(name).endswith("a loop's state is its carry.")
    assert "Tell us" in missing("jax.no_such_name")
