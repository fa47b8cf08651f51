"""Arrays of values that are none, and no lists of numbers.  Cites: face.argument"""

from __future__ import annotations

from array import array as memory
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir.dtypes import float0


class Told:
    """An object that says which array it is."""

    def __jax_array__(self) -> Any:
        return jnp.arange(2.0)


def test_ranges_are_arrays_of_their_numbers() -> None:
    for made in (jnp.array(range(3)), jnp.asarray(range(3))):
        assert made.dtype == "int32" and made.tolist() == [0, 1, 2]
    assert jnp.array(range(4, 0, -2), float).tolist() == [4.0, 2.0]
    assert jnp.array([range(2), range(2, 4)]).tolist() == [[0, 1], [2, 3]]
    assert traceir.jit(lambda x: x + jnp.array(range(2)))(1).tolist() == [1, 2]
    with pytest.raises(OverflowError):
        jnp.array(range(2**40, 2**40 + 1))


@pytest.mark.parametrize("make", [jnp.array, jnp.asarray])
def test_text_and_objects_are_numbers_where_a_dtype_is_asked_for(make: Any) -> None:
    assert make("1.5", jnp.float32).tolist() == 1.5
    assert make(["1.5", "2"], float).tolist() == [1.5, 2.0]
    assert make([["1"], ["2"]], int).tolist() == [[1], [2]]
    assert make([b"1.5"], float).tolist() == [1.5]
    assert make(np.array(["1", "2"]), "float32").tolist() == [1.0, 2.0]
    assert make(np.array([1, 2.5], object), float).tolist() == [1.0, 2.5]
    assert make([Decimal("0.5")], float).tolist() == [0.5]
    for wrong in (["a"], "a", np.array(["a"])):
        with pytest.raises(ValueError, match="could not convert"):
            make(wrong, float)
    for wrong in (["1.5"], "1.5", np.array(["1"]), np.array([1], object)):
        with pytest.raises(TypeError, match=r"face\.argument"):
            make(wrong)


def test_none_is_no_number() -> None:
    for wrong in ([None, 1.0], [[1.0], [None]]):
        for dtype in (None, float):
            with pytest.raises(ValueError, match=r"face\.argument"):
                jnp.array(wrong, dtype)


def test_memory_is_an_array() -> None:
    assert jnp.array(bytearray(b"ab")).tolist() == [97, 98]
    assert jnp.array(memoryview(b"ab")).dtype == "uint8"
    assert jnp.asarray(memory("d", [1.0, 2.0])).dtype == "float32"


def test_objects_that_say_which_array_they_are() -> None:
    told, ones = Told(), jnp.ones(2)
    assert jnp.asarray(told).tolist() == jnp.array(told, float).tolist() == [0.0, 1.0]
    assert jnp.array([told, told]).tolist() == [[0.0, 1.0]] * 2
    assert jnp.stack([told, ones]).tolist() == [[0.0, 1.0], [1.0, 1.0]]
    assert jnp.concatenate([ones, told]).tolist() == [1.0, 1.0, 0.0, 1.0]
    assert (ones - told).tolist() == [1.0, 0.0]
    assert (told - ones).tolist() == [-1.0, 0.0]
    assert float(ones @ told) == 1.0
    assert (ones > told).tolist() == [True, False]
    assert traceir.jit(lambda x: 2 * x + told)(ones).tolist() == [2.0, 3.0]
    assert jnp.negative(told).tolist() == [0.0, -1.0]


def test_functions_take_objects_that_say_which_array_they_are() -> None:
    told = Told()
    assert (jnp.shape(told), jnp.ndim(told), jnp.size(told)) == ((2,), 1, 2)
    assert jnp.dot(told, told) == jnp.einsum("i,i", told, told) == 1
    assert jnp.full_like(told, 3).tolist() == [3.0, 3.0]
    assert jnp.reshape(told, (2, 1)).tolist() == [[0.0], [1.0]]
    assert traceir.ops.segment_sum(told, jnp.array([0, 0])).tolist() == [1.0]
    assert traceir.jit(lambda x: jnp.where(x > 0, told, x))(jnp.ones(2)).tolist() == [
        0,
        1,
    ]


def test_numbers_wider_than_any_dtype_are_refused() -> None:
    for wide in (np.ones(2, np.longdouble), np.ones(2, np.clongdouble)):
        with pytest.raises(TypeError, match=r"jit\.dtype"):
            jnp.asarray(wide)
    assert jnp.asarray(np.ones(2, np.longdouble), "float32").dtype == "float32"


def test_arrays_of_float0_are_made_by_shape_and_by_another() -> None:
    none = np.zeros(3, float0)
    for made in (
        jnp.zeros(3, float0),
        jnp.ones((3,), float0),
        jnp.full(3, 0, float0),
        jnp.zeros_like(none),
        jnp.zeros_like(jnp.ones(3), float0),
        jnp.asarray(none),
        jnp.array(none),
    ):
        assert made.dtype == float0 and made.shape == (3,)
    assert jnp.zeros_like(none, shape=(2, 2)).shape == (2, 2)
    assert jnp.zeros_like(none, dtype=float).dtype == "float32"


def test_float0_of_zeros_is_the_tangent_of_an_integer() -> None:
    @traceir.custom_jvp
    def both(x: Any) -> Any:
        return x * 2.0, x > 0

    @both.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        out = both(*primals)
        return out, (tangents[0] * 2.0, jnp.zeros(out[1].shape, float0))

    assert float(traceir.jit(traceir.grad(lambda x: both(x)[0]))(3.0)) == 2.0
