"""Programs about keys and bits."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

KEY = "key<fry>[]{7}"
WORDS = "u32[2]{1 2}"


@program("i32[]{7}")
def keys_of_a_seed(jax: Library, seed: Array) -> Array:
    """A key with a dtype of its own, and its words."""
    return jax.random.key(seed), jax.random.PRNGKey(seed)


@program("i64[]{-1099511627779}", x64=True)
def key_of_a_wide_seed(jax: Library, seed: Array) -> Array:
    """All bits of a seed are in its key."""
    return jax.random.key(seed)


@program(KEY)
def keys_of_a_key(jax: Library, key: Array) -> Array:
    """Several keys are an array, whose elements are keys."""
    keys = jax.random.split(key, 3)
    return keys[1], keys[0:2], jax.random.key_data(keys)


@program(WORDS)
def keys_of_words(jax: Library, words: Array) -> Array:
    """Words become a key, and are what is made of words."""
    wrapped = jax.random.wrap_key_data(words)
    return jax.random.split(wrapped), jax.random.split(words)


@program(f"{WORDS} i32[]{{3}}")
def a_number_in_words(jax: Library, words: Array, number: Array) -> Array:
    """A number is folded into a key that is given as words."""
    return jax.random.fold_in(words, number)


@program(f"{KEY} i32[]{{-3}}")
def a_number_in_a_key(jax: Library, key: Array, number: Array) -> Array:
    """A negative number is folded in with its bits."""
    return jax.random.key_data(jax.random.fold_in(key, number))


@program(KEY)
def a_copy_of_a_key(jax: Library, key: Array) -> Array:
    """A clone and the key that it is of."""
    return jax.random.clone(key), key


@program(KEY)
def bits_of_three_widths(jax: Library, key: Array) -> Array:
    """Words and parts of words."""
    bits = jax.random.bits
    return bits(key, (5,), "uint8"), bits(key, (5,), "uint16"), bits(key, (5,))


@program(KEY, partitionable=False)
def bits_in_halves(jax: Library, key: Array) -> Array:
    """In the older layout, numbers from both halves are hashed together."""
    bits = jax.random.bits
    return bits(key, (5,), "uint8"), bits(key, (5,), "uint16"), bits(key, (5,))


@program(KEY, x64=True)
def bits_of_64(jax: Library, key: Array) -> Array:
    """Two words in each number."""
    return jax.random.bits(key, (3,), "uint64")


@program(KEY, x64=True, partitionable=False)
def bits_of_64_in_halves(jax: Library, key: Array) -> Array:
    """The older layout of two words in each number."""
    return jax.random.bits(key, (3,), "uint64")


@program(WORDS, partitionable=False)
def words_in_halves(jax: Library, words: Array) -> Array:
    """Keys that are words, and the older layout of them."""
    return jax.random.split(words, 3)


@program(f"bool[]{{True}} {KEY}")
def one_of_two_keys(jax: Library, chosen: Array, key: Array) -> Array:
    """Keys are carried through branches."""
    random = jax.random
    return jax.lax.cond(chosen, lambda k: random.fold_in(k, 1), random.clone, key)


@program(KEY)
def mapped_over_keys(jax: Library, key: Array) -> Array:
    """Each of several keys is split."""
    return jax.vmap(jax.random.split)(jax.random.split(key, 3))
