"""Keys of random numbers: made, split and folded into.

A typed key is an array of dtype `key<fry>`, or of another generator's. The words of
one, an array of dtype uint32, serve wherever a key does: then what is made of it are
words, too. Serves: random.seed, random.one, random.key, random.impl, random.rbg
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.dtypes import KEY, KEYS, KeyDType, is_key, key_of, kind_of
from traceir.errors import shown
from traceir.lax.bit_generators import fold_words, split_words
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    given,
    is_tracer,
)
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.shapes import ShapeLike, shape_tuple
from traceir.lax.structural.shapes import broadcast_in_dim
from traceir.tracing.trace import bind, bind_one, typeof

# A key, or the words of one.
Key = Any
WORD = np.dtype("uint32")


def key(
    seed: Operand, *, impl: str | None = None, dtype: DTypeLike | None = None
) -> Array:
    """The key of a seed, an integer: of equal seeds the keys are equal.

    Of 64 bits all count while 64-bit types are on, else the lower half. `impl` names
    the generator: "threefry2x32", "rbg" or "unsafe_rbg", by default what the flag
    `jax_default_prng_impl` says; `dtype` is the dtype of its keys. Raises TypeError
    (random.seed, random_seed.integer), OverflowError (jit.overflow) beyond 64 bits,
    ValueError (random.impl).

    >>> import traceir
    >>> traceir.random.key(123)
    Array((), dtype=key<fry>) overlaying:
    [  0 123]
    """
    if impl is not None and dtype is not None:
        raise rules.error("random.impl", got="both `impl` and `dtype` for key")
    return _one_seeded("key", seed, impl if dtype is None else dtype)


def PRNGKey(seed: Operand, *, impl: str | None = None) -> Array:
    """The words of the key of a seed; otherwise as `key`.

    With `config.enable_custom_prng`, the key itself.

    >>> import traceir
    >>> traceir.random.PRNGKey(123)
    Array([  0, 123], dtype=uint32)
    """
    made = _one_seeded("PRNGKey", seed, impl)
    if config.local.context.enable_custom_prng:
        return made
    return bind_one("random_unwrap", made)


def _one_seeded(name: str, seed: Operand, impl: Any) -> Array:
    if not isinstance(seed, (int, np.integer)):  # which may be of any size
        aval = typeof(checked(name, seed))
        if aval.shape or is_key(aval.dtype):
            raise rules.error("random.seed", got=f"{aval.str_short()} for {name}")
    return seeded(name, seed, impl)


def seeded(name: str, seeds: Operand, impl: Any) -> Array:
    """The keys of seeds for a generator. Raises TypeError (random_seed.integer),
    ValueError (random.impl).

    >>> seeded("f", np.array([1, 2]), "threefry2x32").shape
    (2,)
    """
    chosen = generator_of(impl)
    value = _whole(seeds) if isinstance(seeds, (int, np.integer)) else seeds
    return bind_one("random_seed", as_array(checked(name, value)), impl=chosen.tag)


def _whole(seed: int | np.integer) -> Operand:
    """A number as a seed of the width that integers have, its upper bits cut off."""
    wide = seed.dtype if isinstance(seed, np.integer) else np.dtype("int64")
    exact = given("seed", int(seed), wide)
    return convert(exact, default_dtype(int)) if wide.itemsize == 8 else exact


def generator_of(impl: object) -> KeyDType:
    """The dtype of a generator's keys, by its name, by what is short for it, or itself;
    None is the flag's. ValueError (random.impl) for one that there is not.

    >>> generator_of("unsafe_rbg"), generator_of(None)
    (key<urbg>, key<fry>)
    """
    name = config.local.context.default_prng_impl if impl is None else impl
    for key in KEYS.values():
        if name in (key.generator, key.tag) or name is key:
            return key
    raise rules.error("random.impl", got=shown(impl))


def split(key: Key, num: ShapeLike = 2) -> Array:
    """Keys made of a key, as many as `num`, which may be a shape.

    Raises ValueError (random.one, random_split.shape, random_split.size), TypeError
    (random.key, face.shape).

    >>> import traceir
    >>> traceir.random.split(traceir.random.key(123))
    Array((2,), dtype=key<fry>) overlaying:
    [[ 969380169 3408994049]
     [2095235069 2959038751]]
    """
    found, shape = one_key("split", key), shape_tuple(num)
    kind = key_of(found.dtype)
    if is_threefry(found):
        made = bind("random_split", found, shape=shape, partitionable=partitionable())
        return _like(key, made)
    made = split_words(used_words(found), shape=shape, mixed=kind.tag == "urbg")
    return _like(key, bind("random_wrap", made, impl=kind.tag))


def fold_in(key: Key, data: Operand) -> Array:
    """Another key, made of a key and of a number that fits uint32.

    Raises ValueError (random.one), TypeError (random.key, random.seed), OverflowError
    (jit.overflow).

    >>> import traceir
    >>> traceir.random.fold_in(traceir.random.key(123), 7)
    Array((), dtype=key<fry>) overlaying:
    [4195957486  134989543]
    """
    found = one_key("fold_in", key)
    word = given("fold_in", data, WORD, 1)
    if typeof(word).shape:
        got = f"{typeof(word).str_short()} for the number of fold_in"
        raise rules.error("random.seed", got=got)
    if is_threefry(found):
        return _like(key, bind("random_fold_in", found, as_array(word)))
    tag, words = key_of(found.dtype).tag, bind("random_unwrap", found)
    made = fold_words(words, as_array(word), mixed=tag == "urbg")
    return _like(key, bind("random_wrap", made, impl=tag))


def key_data(keys: Key) -> Array:
    """The words of keys, along a last dimension of two, or of four.

    Raises TypeError (random.key).

    >>> import traceir
    >>> traceir.random.key_data(traceir.random.key(123))
    Array([  0, 123], dtype=uint32)
    """
    return bind_one("random_unwrap", typed_keys("key_data", keys))


def wrap_key_data(key_bits_array: Array, *, impl: str | None = None) -> Array:
    """The keys of words, two or four for each along the last dimension.

    Raises TypeError (random_wrap.words, random_wrap.dtype, random.key), ValueError
    (random.impl).

    >>> import numpy as np, traceir
    >>> traceir.random.wrap_key_data(np.array([0, 123], "uint32"))
    Array((), dtype=key<fry>) overlaying:
    [  0 123]
    """
    return _wrapped("wrap_key_data", key_bits_array, generator_of(impl))


def clone(key: Key) -> Array:
    """The same keys, where it is meant that they are used once more.

    Raises TypeError (random.key).

    >>> import traceir
    >>> traceir.random.clone(traceir.random.key(123))
    Array((), dtype=key<fry>) overlaying:
    [  0 123]
    """
    return _like(key, bind("random_clone", typed_keys("clone", key)))


def key_impl(keys: Key) -> str:
    """The name of the generator that keys are for.

    Raises TypeError (random.key).

    >>> import traceir
    >>> traceir.random.key_impl(traceir.random.key(123))
    'threefry2x32'
    """
    return key_of(typed_keys("key_impl", keys).dtype).generator


def key_dtype(impl_spec: str | None = None) -> Any:
    """The dtype of keys for a generator.

    Raises ValueError (random.impl) for another than there is.

    >>> import traceir
    >>> traceir.random.key_dtype(), traceir.random.key_dtype("rbg")
    (key<fry>, key<rbg>)
    """
    return generator_of(impl_spec)


def one_key(name: str, key: Key) -> Array:
    """A key for a function that takes one, typed.

    Raises TypeError (random.key), ValueError (random.one) for an array of keys.

    >>> import traceir
    >>> one_key("normal", traceir.random.PRNGKey(123)).dtype
    key<fry>
    """
    found = typed_keys(name, key)
    if found.shape:
        raise rules.error("random.one", got=f"{found.aval.str_short()} for {name}")
    return found


def typed_keys(name: str, keys: Key) -> Array:
    """Keys, or the words of keys, as an array of keys; TypeError (random.key)."""
    if not _is_typed(keys):
        return _wrapped(name, keys, generator_of(None))
    found: Any = keys
    result: Array = found.now() if is_tracer(found) else found
    return result


def _is_typed(keys: Key) -> bool:
    return isinstance(keys, Array) and is_key(keys.aval.dtype)


def is_threefry(keys: Array) -> bool:
    """True if keys are of Threefry's, which has primitives of its own."""
    return keys.aval.dtype is KEY


def threefry_key(key: Array) -> Array:
    """A key of Threefry's: of another generator's, that of its first two words."""
    if is_threefry(key):
        return key
    return bind_one("random_wrap", used_words(key)[:2], impl="fry")


def used_words(key: Array) -> Array:
    """The words of a key that something is made of, by which it is used up: as one that
    is put into an array is."""
    row = bind_one("concatenate", broadcast_in_dim(key, (1,), ()), dimension=0)
    words: Array = bind("random_unwrap", row)[0]
    return words


def _wrapped(name: str, words: Key, kind: KeyDType) -> Array:
    if not isinstance(words, (Array, np.ndarray)):
        got = f"{shown(words)} of type {type(words).__name__} for {name}"
        raise rules.error("random.key", got=got)
    if is_key(typeof(words).dtype) or kind_of(typeof(words).dtype) not in "biufc":
        got = f"{typeof(words).str_short()} for {name}"
        raise rules.error("random.key", got=got)
    return bind_one("random_wrap", as_array(words), impl=kind.tag)


def _like(key: Key, made: Array) -> Array:
    """The words as keys like another: keys of a typed one, words of words."""
    if _is_typed(key):
        return made
    return bind_one("random_unwrap", made)


def partitionable() -> bool:
    """True if the newer layout of counters is in force."""
    found: bool = config.local.context.threefry_partitionable
    return found
