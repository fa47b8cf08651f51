"""Functions of `lax` that take several primitives, beside NumPy.

Cites face.shape, face.integers
"""

from __future__ import annotations

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax

RNG = np.random.default_rng(5)
BOTH = (lambda f: f, traceir.jit)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
def test_the_upper_half_of_a_product(dtype: str) -> None:
    info = np.iinfo(dtype)
    ends = [info.min, info.max, 0, 1, info.max // 3]
    x = np.array([a for a in ends for _ in ends], dtype)
    y = np.array(ends * len(ends), dtype)
    wide = [(int(a) * int(b)) >> info.bits for a, b in zip(x, y)]
    for way in BOTH:
        np.testing.assert_array_equal(way(lax.mulhi)(x, y), np.array(wide, dtype))


def test_products_by_groups() -> None:
    x, y = RNG.normal(size=(6, 3)).astype("f4"), RNG.normal(size=(3, 3, 2)).astype("f4")
    y[2, 0, 0] = np.inf  # of a group of other rows: no NaN comes of it
    sizes = np.array([2, 3, 0], "int32")
    want = np.concatenate([x[:2] @ y[0], x[2:5] @ y[1], np.zeros((1, 2))])
    for way in BOTH:
        np.testing.assert_allclose(way(lax.ragged_dot)(x, y, sizes), want, 1e-5, 1e-6)
    with raises_rule("face.integers", TypeError, "float32"):
        lax.ragged_dot(x, y, np.ones(3, "f4"))


def test_tiles_and_what_places_take() -> None:
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(lax.tile(x, (2, 1)), np.tile(x, (2, 1)))
    assert lax.tile(x, (0, 2)).shape == (0, 6)
    with raises_rule("face.shape", TypeError, r"\(2,\) for 2"):
        lax.tile(x, (2,))
    taken = lax.index_take(x, (np.array([0, 5]), np.array([-1, 1])), (0, 1))
    np.testing.assert_array_equal(taken, [2, 4])
    far = np.array([2, 5, -3, 127], "i1"), np.array([200, 255], "u1")
    for places in far:
        np.testing.assert_array_equal(
            lax.index_take(x, (places,), (0,)), x[places.astype(int) % 2]
        )
    np.testing.assert_array_equal(
        lax.index_take(x, (np.array([2, 0]),), (1,)), x.T[[2, 0]]
    )


def test_the_greatest_and_the_least() -> None:
    x = RNG.normal(size=(4, 3)).astype("f4")
    found, places = lax.approx_max_k(x, 2, reduction_dimension=0)
    np.testing.assert_array_equal(found, -np.sort(-x, axis=0)[:2])
    np.testing.assert_array_equal(np.take_along_axis(x, np.asarray(places), 0), found)
    least, _ = lax.approx_min_k(x, 1)
    np.testing.assert_array_equal(least[:, 0], x.min(axis=1))


def test_windows_as_features() -> None:
    x = np.arange(32.0, dtype="f4").reshape(1, 2, 4, 4)
    for way in BOTH:
        find = way(
            lambda v: lax.conv_general_dilated_patches(v, (2, 2), (2, 2), "VALID")
        )
        found = np.asarray(find(x))
        assert found.shape == (1, 8, 2, 2)
        np.testing.assert_array_equal(found[0, 4:, 1, 0], x[0, 1, 2:, :2].ravel())


def test_a_barrier_holds_trees_and_lets_derivatives_through() -> None:
    slope = traceir.grad(lambda x: lax.optimization_barrier({"a": x * x})["a"])
    assert slope(3.0) == 6.0
    assert isinstance(lax.optimization_barrier(jnp.ones(2)), traceir.Array)


def test_products_of_two_dtypes_meet_in_one() -> None:
    x = jnp.ones((2, 3), "bfloat16")
    numbers = (((1,), (0,)), ((), ()))
    for way in BOTH:
        found = way(lambda a, b: lax.dot_general(a, b, numbers))(
            x, np.ones((3, 2), "i1")
        )
        assert found.dtype == jnp.bfloat16
        np.testing.assert_array_equal(np.asarray(found, "f4"), np.full((2, 2), 3))


def test_a_number_is_repeated_along_an_axis() -> None:
    np.testing.assert_array_equal(jnp.repeat(5, 2, axis=0), np.repeat(5, 2, axis=0))


def test_bfloat16_is_of_no_other_kind() -> None:
    assert jnp.issubdtype(jnp.bfloat16, jnp.inexact)
    for kind in (jnp.signedinteger, traceir.dtypes.prng_key, jnp.float32, "float16"):
        assert not jnp.issubdtype(jnp.bfloat16, kind)
