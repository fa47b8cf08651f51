"""Bits by a counter beside those of XLA on a CPU, which JAX gave.

Rules: random.bit-generator, random.impl
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.lax.bit_generators import RandomAlgorithm

PHILOX, THREEFRY = RandomAlgorithm.RNG_PHILOX, RandomAlgorithm.RNG_THREE_FRY
KEY = np.array([1, 2, 3, 4], "u4")
MOST = 2**32 - 1


def words(key: Any, shape: Any, algorithm: Any, dtype: str = "uint32") -> Any:
    after, bits = lax.rng_bit_generator(key, shape, dtype, algorithm=algorithm)
    assert bits.dtype == dtype and after.dtype == key.dtype
    return np.asarray(after).tolist(), np.asarray(bits).tolist()


@pytest.mark.parametrize(
    ("key", "shape", "algorithm", "dtype", "after", "bits"),
    [
        (
            *(KEY, (3, 2), PHILOX, "uint32", [1, 2, 5, 4]),
            [
                [512747620, 1298009047],
                [1267190206, 761827841],
                [1383286907, 1639995030],
            ],
        ),
        (KEY, (3,), PHILOX, "uint8", [1, 2, 4, 4], [100, 215, 190]),
        (
            *(KEY, (2, 3), PHILOX, "uint16", [1, 2, 5, 4]),
            [[59492, 3031, 51646], [37377, 18555, 22166]],
        ),
        (
            *(KEY, (2, 3), THREEFRY, "uint16", [1, 2, 6, 4]),
            [[13292, 43176, 26179], [6542, 64094, 6425]],
        ),
        (KEY, (), THREEFRY, "uint32", [1, 2, 4, 4], 1576285164),
        (KEY, (0,), PHILOX, "uint32", [1, 2, 3, 4], []),
        # Counters carry from word to word, of Philox into the key's.
        (
            *(np.array([1, 2, MOST, MOST], "u4"), (9,), PHILOX, "uint32", [1, 2, 2, 0]),
            [
                *(875035680, 2457449792, 952865925, 536199321, 67759320),
                *(265751716, 222428074, 2049345928, 2818318232),
            ],
        ),
        (
            *(np.array([5, 6, MOST - 1, MOST], "u4"), (3,), THREEFRY, "uint32"),
            *([5, 6, 0, 0], [4248992499, 1153752509, 2281824596]),
        ),
    ],
)
def test_bits_are_those_of_xla(
    key: Any, shape: Any, algorithm: Any, dtype: str, after: Any, bits: Any
) -> None:
    assert words(key, shape, algorithm, dtype) == (after, bits)


def test_words_of_64_bits() -> None:
    key = KEY.view("u8")
    with traceir.enable_x64(True):
        found = words(key, (3,), PHILOX, "uint64")
        assert found[0] == np.array([1, 2, 5, 4], "u4").view("u8").tolist()
        assert found[1] == [
            *(5574906407289874532, 3272025663544478142, 7043725020835825787),
        ]
        assert words(KEY, (2,), THREEFRY, "uint64") == (
            [1, 2, 5, 4],
            [9662219624799024108, 10418227120389269672],
        )


@pytest.mark.parametrize(
    ("shape", "second"),
    [
        # The place of the second word of the first block: along the first dimension
        # that is even, or along the first of the largest.
        ((4, 6), (1, 0)),
        ((3, 4, 2), (0, 1, 0)),
        ((5, 3), (1, 0)),
        ((3, 1, 5), (0, 0, 1)),
        ((7,), (1,)),
    ],
)
def test_halves_of_blocks_lie_along_one_dimension(shape: Any, second: Any) -> None:
    bits = lax.rng_bit_generator(KEY, shape, algorithm=THREEFRY)[1]
    assert int(bits[(0,) * len(shape)]) == 1576285164
    assert int(bits[second]) == 2249660814


def test_bits_in_transforms() -> None:
    def make(key: Any) -> Any:
        return lax.rng_bit_generator(key, (5,))

    assert RandomAlgorithm.RNG_DEFAULT != PHILOX
    alone = make(KEY)
    np.testing.assert_array_equal(alone[1], words(KEY, (5,), PHILOX)[1])
    np.testing.assert_array_equal(traceir.jit(make)(KEY)[1], alone[1])
    keys = np.stack([KEY, KEY + 1])
    after, bits = traceir.vmap(make)(keys)
    np.testing.assert_array_equal(bits[0], alone[1])
    np.testing.assert_array_equal(after[1], make(KEY + 1)[0])


def test_a_key_is_four_words_and_bits_are_unsigned() -> None:
    for key, dtype in ((KEY[:2], "uint32"), (KEY, "int32"), (KEY * 1.0, "uint32")):
        with raises_rule("random.bit-generator", TypeError):
            lax.rng_bit_generator(key, (3,), dtype)


def test_generators_whose_bits_are_left_open() -> None:
    for name in ("rbg", "unsafe_rbg"):
        key = traceir.random.key(7, impl=name)
        assert jnp.array_equal(
            traceir.random.bits(key), traceir.random.bits(traceir.random.key(7))
        )
        with traceir.default_prng_impl(name):
            traceir.random.split(traceir.random.key(7))
    with traceir.enable_custom_prng(True):
        assert traceir.random.PRNGKey(7).dtype == traceir.random.key(7).dtype
    assert traceir.random.PRNGKey(7).dtype == "uint32"
