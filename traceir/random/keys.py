"""Keys of random numbers: made, split and folded into.

A typed key is an array of dtype `key<fry>`. The two words of one, an array of dtype
uint32, serve wherever a key does: then what is made of it are words, too. Serves:
random.seed, random.one, random.key, random.impl
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.dtypes import KEY, is_key, kind_of
from traceir.errors import shown
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
from traceir.tracing.trace import bind, bind_one, typeof

# A key, or the two words of one.
Key = Any
GENERATOR = "threefry2x32"
IMPL = "fry"
# The generators whose bits an implementation chooses: here they are Threefry's.
CHOSEN = ("rbg", "unsafe_rbg")
WORD = np.dtype("uint32")


def key(
    seed: Operand, *, impl: str | None = None, dtype: DTypeLike | None = None
) -> Array:
    """The key of a seed, an integer: of equal seeds the keys are equal.

    Of 64 bits all count while 64-bit types are on, else the lower half. `impl`, or
    `dtype`, is "threefry2x32", or the dtype of its keys; "rbg" and "unsafe_rbg" leave
    bits to the implementation, and are the same here. Raises TypeError (random.seed,
    random_seed.integer), OverflowError (jit.overflow) beyond 64 bits, ValueError
    (random.impl).

    >>> import traceir
    >>> traceir.random.key(123)
    Array((), dtype=key<fry>) overlaying:
    [  0 123]
    """
    if impl is not None and dtype is not None:
        raise rules.error("random.impl", got="both `impl` and `dtype` for key")
    return _seeded("key", seed, impl if dtype is None else dtype)


def PRNGKey(seed: Operand, *, impl: str | None = None) -> Array:
    """The two words of the key of a seed; otherwise as `key`.

    With `config.enable_custom_prng`, the key itself.

    >>> import traceir
    >>> traceir.random.PRNGKey(123)
    Array([  0, 123], dtype=uint32)
    """
    made = _seeded("PRNGKey", seed, impl)
    if config.local.context.enable_custom_prng:
        return made
    return bind_one("random_unwrap", made)


def _seeded(name: str, seed: Operand, impl: Any) -> Array:
    check_impl(impl)
    value = _whole(seed) if isinstance(seed, (int, np.integer)) else seed
    aval = typeof(checked(name, value))
    if aval.shape or is_key(aval.dtype):
        raise rules.error("random.seed", got=f"{aval.str_short()} for {name}")
    return bind_one("random_seed", as_array(checked(name, value)), impl=IMPL)


def _whole(seed: int | np.integer) -> Operand:
    """A number as a seed of the width that integers have, its upper bits cut off."""
    wide = seed.dtype if isinstance(seed, np.integer) else np.dtype("int64")
    exact = given("seed", int(seed), wide)
    return convert(exact, default_dtype(int)) if wide.itemsize == 8 else exact


def check_impl(impl: object) -> None:
    """Raise ValueError (random.impl) for a generator that there is not."""
    if impl is not KEY and impl not in (None, GENERATOR, IMPL, *CHOSEN):
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
    found = one_key("split", key)
    made: Array = bind(
        "random_split", found, shape=shape_tuple(num), partitionable=partitionable()
    )
    return _like(key, made)


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
    return _like(key, bind("random_fold_in", found, as_array(word)))


def key_data(keys: Key) -> Array:
    """The words of keys, along a last dimension of two.

    Raises TypeError (random.key).

    >>> import traceir
    >>> traceir.random.key_data(traceir.random.key(123))
    Array([  0, 123], dtype=uint32)
    """
    return bind_one("random_unwrap", typed_keys("key_data", keys))


def wrap_key_data(key_bits_array: Array, *, impl: str | None = None) -> Array:
    """The keys of words, two for each along the last dimension.

    Raises TypeError (random_wrap.words, random_wrap.dtype, random.key), ValueError
    (random.impl).

    >>> import numpy as np, traceir
    >>> traceir.random.wrap_key_data(np.array([0, 123], "uint32"))
    Array((), dtype=key<fry>) overlaying:
    [  0 123]
    """
    check_impl(impl)
    return _wrapped("wrap_key_data", key_bits_array)


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
    typed_keys("key_impl", keys)
    return GENERATOR


def key_dtype(impl_spec: str | None = None) -> Any:
    """The dtype of keys for a generator.

    Raises ValueError (random.impl) for another than there is.

    >>> import traceir
    >>> traceir.random.key_dtype()
    key<fry>
    """
    return key(0, impl=impl_spec).dtype


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
        return _wrapped(name, keys)
    found: Any = keys
    result: Array = found.now() if is_tracer(found) else found
    return result


def _is_typed(keys: Key) -> bool:
    return isinstance(keys, Array) and keys.aval.dtype is KEY


def _wrapped(name: str, words: Key) -> Array:
    if not isinstance(words, (Array, np.ndarray)):
        got = f"{shown(words)} of type {type(words).__name__} for {name}"
        raise rules.error("random.key", got=got)
    if is_key(typeof(words).dtype) or kind_of(typeof(words).dtype) not in "biufc":
        got = f"{typeof(words).str_short()} for {name}"
        raise rules.error("random.key", got=got)
    return bind_one("random_wrap", as_array(words), impl=IMPL)


def _like(key: Key, made: Array) -> Array:
    """The words as keys like another: keys of a typed one, words of words."""
    if _is_typed(key):
        return made
    return bind_one("random_unwrap", made)


def partitionable() -> bool:
    """True if the newer layout of counters is in force."""
    found: bool = config.local.context.threefry_partitionable
    return found
