"""Bits by a counter beside those of XLA on a CPU, which JAX gave.

Rules: random.bit-generator, random.impl, random.rbg
"""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.lax.bit_generators import RandomAlgorithm
from traceir.text import parse, to_text

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


# JAX's own, of the seed 3: keys that are split and folded into, bits, a uniform number.
KEYS: dict[str, Any] = {
    "rbg": (
        [[3716834203, 3481239269] * 2, [1946498123, 2217676430] * 2],
        [2647473427, 4234374204] * 2,
    ),
    "unsafe_rbg": (
        [
            [3146934739, 3391003311, 1891301882, 1478358120],
            [1089363569, 1607244725, 1190331783, 2650401737],
        ],
        [2104303640, 250182024, 1106406590, 1983638453],
    ),
}
BITS = {
    "uint8": [211, 175, 250],
    "uint16": [27091, 39599, 63994],
    "uint32": [3146934739, 3391003311, 1891301882],
    "uint64": [14564248324519651795, 6349499779067345402, 15465341218477359336],
}


@pytest.mark.parametrize("backend", ["eager", "reference", "numba"])
@pytest.mark.parametrize("name", KEYS)
def test_keys_of_four_words(name: str, backend: str) -> None:
    random = traceir.random
    key, (split, folded) = random.key(3, impl=name), KEYS[name]

    def run(call: Any) -> Any:
        found = call if backend == "eager" else traceir.jit(call, backend=backend)
        return random.key_data(found(key)).tolist()

    assert key.dtype.name in ("key<rbg>", "key<urbg>")
    assert random.key_impl(key) == name
    assert run(lambda k: k) == [0, 3, 0, 3]
    assert run(random.split) == split
    assert run(lambda k: random.fold_in(k, 7)) == folded
    # As one that is carried, chosen and stacked, and indexed outside.
    twice = run(lambda k: lax.fori_loop(0, 2, lambda _, c: random.split(c)[0], k))
    assert twice == run(lambda k: random.split(random.split(k)[0])[0])
    assert run(lambda k: jnp.where(False, k, jnp.stack([k, k])))[1] == [0, 3, 0, 3]
    outside = run(lambda k: jnp.stack([k, k]).at[jnp.array([5])].get(mode="fill"))
    assert outside == [[2**32 - 1] * 4]
    wide = 2**40 + 5
    with traceir.enable_x64(True):
        assert random.key_data(random.key(wide, impl=name)).tolist() == [256, 5, 256, 5]


@pytest.mark.parametrize("backend", ["eager", "reference", "numba"])
@pytest.mark.parametrize("dtype", BITS)
def test_bits_of_keys_of_four_words(dtype: str, backend: str) -> None:
    with traceir.enable_x64(True):
        for name in KEYS:
            draw = partial(traceir.random.bits, shape=(3,), dtype=dtype)
            if backend != "eager":
                draw = traceir.jit(draw, backend=backend)
            key = traceir.random.key(3, impl=name)
            assert draw(key).tolist() == BITS[dtype]
            assert draw(traceir.random.split(key)[1]).tolist() != BITS[dtype]


def test_words_are_of_the_generator_that_the_flag_says() -> None:
    random = traceir.random
    for name, (split, folded) in KEYS.items():
        with traceir.default_prng_impl(name):
            words = random.PRNGKey(3)
            assert words.tolist() == [0, 3, 0, 3]
            assert words.dtype == "uint32"
            assert random.split(words).tolist() == split
            assert random.fold_in(words, 7).tolist() == folded
            assert random.key(3).dtype == random.key(3, impl=name).dtype
            assert random.key_impl(words) == name
            with raises_rule("random_wrap.words", TypeError):
                random.normal(np.zeros(2, "uint32"))
    with traceir.enable_custom_prng(True):
        assert random.PRNGKey(7).dtype == random.key(7).dtype
    assert random.PRNGKey(7).dtype == "uint32"


def test_each_key_gives_its_own_where_they_are_mapped() -> None:
    for name in KEYS:
        keys = traceir.random.split(traceir.random.key(3, impl=name), 3)
        drawn = traceir.vmap(traceir.random.normal)(keys)
        np.testing.assert_array_equal(drawn, [traceir.random.normal(k) for k in keys])
        assert traceir.random.gamma(keys[0], 2.0, (4,)).shape == (4,)


def test_keys_are_used_up_by_what_is_drawn_of_them() -> None:
    random = traceir.random
    folded = partial(random.fold_in, data=1)
    draws = (random.split, random.normal, partial(random.gamma, a=2.0))
    with traceir.debug_key_reuse(True):
        for name in KEYS:
            for draw in draws:
                both = partial(lambda call, k: (call(k), random.bits(k)), draw)
                for run in (both, traceir.jit(both)):
                    with raises_rule("random.reuse"):
                        run(random.key(3, impl=name))
            traceir.jit(lambda k: (folded(k), folded(k), random.bits(k)))(
                random.key(3, impl=name)
            )


def test_keys_of_generators_do_not_mix_and_have_a_text() -> None:
    first, second = (traceir.random.key(3, impl=name) for name in KEYS)
    for call in (jnp.stack, lambda pair: jnp.where(True, *pair)):
        with raises_rule("promote.key", TypeError, "key<rbg> and key<urbg>"):
            call([first, second])
    assert repr(first) == "Array((), dtype=key<rbg>) overlaying:\n[0 3 0 3]"
    assert jnp.zeros(2, first.dtype).dtype == first.dtype
    text = "{ lambda ; . let  in (79228162551157825753847955460:key<rbg>[],) }"
    literal = parse(text).outvars[0]
    assert str(parse(text)) == text
    assert literal.array.reshape(1).view("uint32").tolist() == [1, 2, 3, 4]
    assert parse(to_text(parse(text), full=True)) == parse(text)
    assert pickle.loads(pickle.dumps(second.dtype)) is second.dtype
