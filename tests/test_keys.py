"""Keys of random numbers: seeds, arrays of keys, what is refused.

What is wanted was measured with JAX 0.10.2. Cites: random.seed, random.key, random.one,
random.impl, random.unsigned, promote.key, array.key
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax, random
from traceir.exact.threefry import threefry
from traceir.rules import default
from traceir.rules.formulas.scope import Scope
from traceir.text import to_text

KEY = random.key(123)
KEYS = random.split(KEY, 3)
WORDS = [[969380169, 3408994049], [2095235069, 2959038751], [1896456402, 4081828428]]


def data(keys: Any) -> Any:
    return random.key_data(keys).tolist()


# --- seeds ----------------------------------------------------------------------------

SEEDS: list[tuple[Any, list[int], list[int]]] = [
    (0, [0, 0], [0, 0]),
    (True, [0, 1], [0, 1]),
    (-5, [0, 4294967291], [4294967295, 4294967291]),
    (2**40 + 3, [0, 3], [256, 3]),
    (-(2**63), [0, 0], [2147483648, 0]),
    (np.int64(2**40 + 3), [0, 3], [256, 3]),
    (np.uint64(2**40 + 7), [0, 7], [256, 7]),
    (np.int8(-7), [0, 4294967289], [0, 4294967289]),
    (np.array(5), [0, 5], [0, 5]),
]


@pytest.mark.parametrize("seed, narrow, wide", SEEDS, ids=lambda v: str(v))
def test_a_seed_is_a_key(seed: Any, narrow: list[int], wide: list[int]) -> None:
    assert data(random.key(seed)) == narrow
    assert random.PRNGKey(seed).tolist() == narrow
    with traceir.enable_x64():
        assert data(random.key(seed)) == wide


def test_traced_and_mapped_seeds() -> None:
    assert data(traceir.jit(random.key)(-7)) == [0, 4294967289]
    assert data(traceir.vmap(random.key)(jnp.arange(2))) == [[0, 0], [0, 1]]


# --- arrays of keys -------------------------------------------------------------------


def test_a_key_is_shown_with_its_words() -> None:
    shown = "Array((), dtype=key<fry>) overlaying:\n[  0 123]"
    assert (repr(KEY), str(KEY), f"{KEY}") == (shown,) * 3
    assert repr(random.split(KEY, 0)) == "Array((0,), dtype=key<fry>) overlaying:\n[]"
    assert (str(KEY.dtype), KEY.shape, KEYS.nbytes) == ("key<fry>", (), 24)
    assert str(traceir.typeof(KEYS)) == "key<fry>[3]"


def test_the_kind_of_the_dtype() -> None:
    prng_key, extended = traceir.dtypes.prng_key, traceir.dtypes.extended
    assert jnp.issubdtype(KEY.dtype, prng_key) and jnp.issubdtype(KEY.dtype, extended)
    assert not jnp.issubdtype(KEY.dtype, np.number)
    assert not jnp.issubdtype(np.dtype("uint32"), prng_key)


MOVED: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "element": (lambda k: k[1], WORDS[1]),
    "elements": (lambda k: k[jnp.array([2, 0])], [WORDS[2], WORDS[0]]),
    "slice": (lambda k: k[1:], WORDS[1:]),
    "reshape": (lambda k: k.reshape(3, 1).T, [WORDS]),
    "stack": (lambda k: jnp.stack([k[2], k[0]]), [WORDS[2], WORDS[0]]),
    "concatenate": (lambda k: jnp.concatenate([k[2:], k[:1]]), [WORDS[2], WORDS[0]]),
    "array": (lambda k: jnp.array([k[2], k[0]]), [WORDS[2], WORDS[0]]),
    "where": (lambda k: jnp.where(jnp.array([True, False, True]), k, k[1]), WORDS),
    "broadcast": (lambda k: jnp.broadcast_to(k[0], (2,)), [WORDS[0]] * 2),
    "unpacked": (lambda k: jnp.stack([*k][::-1]), WORDS[::-1]),
    "written": (lambda k: k.at[1].set(k[0]), [WORDS[0], WORDS[0], WORDS[2]]),
    "loop": (lambda k: lax.scan(lambda c, x: (x, c), k[0], k)[0], WORDS[2]),
    "choice": (lambda k: lax.cond(True, lambda a: a[0], lambda a: a[1], k), WORDS[0]),
}


@pytest.mark.parametrize("name", MOVED)
def test_keys_are_moved_like_elements(name: str) -> None:
    function, wanted = MOVED[name]
    assert data(function(KEYS)) == wanted
    assert data(traceir.jit(function)(KEYS)) == wanted


def test_keys_are_compared_copied_and_pickled() -> None:
    assert (KEYS[1] == KEYS).tolist() == [False, True, False]
    assert (KEYS[1] != KEYS).tolist() == [True, False, True]
    for again in (copy.copy(KEYS), pickle.loads(pickle.dumps(KEYS))):
        assert again.dtype == KEYS.dtype and data(again) == WORDS
    assert pickle.loads(pickle.dumps(KEY.dtype)) is KEY.dtype


def test_words_serve_as_a_key() -> None:
    raw = random.PRNGKey(123)
    assert random.split(raw, 3).tolist() == WORDS
    assert random.fold_in(raw, 7).tolist() == data(random.fold_in(KEY, 7))
    assert random.uniform(raw).item() == random.uniform(KEY).item()
    assert data(random.wrap_key_data(random.key_data(KEYS))) == WORDS
    assert random.key_impl(raw) == random.key_impl(KEY) == "threefry2x32"


@pytest.mark.parametrize("layout", [True, False])
def test_many_keys_draw_what_each_draws(layout: bool) -> None:
    def drawn(key: Any) -> Any:
        first, second = random.split(random.fold_in(key, 1))
        return random.bits(first, (2,)), random.normal(second, (3,))

    with traceir.threefry_partitionable(layout):
        each = [drawn(key) for key in KEYS]
        for mapped in (traceir.vmap(drawn), traceir.jit(traceir.vmap(drawn))):
            bits, normal = mapped(KEYS)
            assert bits.tolist() == [one.tolist() for one, _ in each]
            np.testing.assert_allclose(normal, [n for _, n in each], rtol=1e-6)


def test_keys_have_no_tangents() -> None:
    def drawn(key: Any, x: Any) -> Any:
        return random.uniform(key) * x

    none = np.zeros((), traceir.dtypes.float0)
    _, tangent = traceir.jvp(drawn, (KEY, 2.0), (none, 1.0))
    assert tangent == traceir.grad(drawn, 1)(KEY, 2.0) == random.uniform(KEY)


def test_arrays_full_of_keys_and_keys_of_none() -> None:
    full, like, none = traceir.lax.full, traceir.lax.full_like, KEYS[:0]
    assert data(full((2,), 7, KEY.dtype)) == [[7, 7], [7, 7]]
    assert data(full((2,), KEY)) == data(full((2,), KEY, KEY.dtype)) == [data(KEY)] * 2
    assert data(like(KEYS, 0)) == [[0, 0]] * 3 and data(like(KEY, KEY)) == data(KEY)
    places = jnp.zeros((0, 2), int)
    assert jnp.take(none, places).shape == (0, 2)
    assert jnp.take(none, places, axis=0).dtype == KEY.dtype
    assert jnp.take_along_axis(none, places[:, 0], 0).shape == (0,)
    with raises_rule("index.empty", IndexError):
        jnp.take(none, jnp.array([0]))


# --- what is refused ------------------------------------------------------------------

REFUSED: dict[str, tuple[str, type[Exception], Callable[[], Any]]] = {
    "sum of a key and a number": ("promote.key", TypeError, lambda: KEY + 1),
    "number and key": ("promote.key", TypeError, lambda: 1 + KEY),
    "keys beside numbers": (
        "promote.key",
        TypeError,
        lambda: jnp.concatenate([KEYS, jnp.zeros(1)]),
    ),
    "function of a key": ("promote.key", TypeError, lambda: jnp.sin(KEY)),
    "greatest key": ("promote.key", TypeError, lambda: jnp.max(KEYS)),
    "greater key": ("extreme.ordered", TypeError, lambda: jnp.maximum(KEY, KEY)),
    "greatest update": (
        "scatter_extremum.ordered",
        TypeError,
        lambda: KEYS.at[0].max(KEY),
    ),
    "product of keys": ("promote.key", TypeError, lambda: jnp.dot(KEYS, KEYS)),
    "matrix of keys": ("promote.key", TypeError, lambda: KEYS @ KEYS),
    "rounded key": ("promote.key", TypeError, lambda: jnp.round(KEY)),
    "whole key": ("promote.key", TypeError, lambda: jnp.trunc(KEY)),
    "sign of a key": ("promote.key", TypeError, lambda: jnp.signbit(KEY)),
    "sum of keys": ("add.numeric", TypeError, lambda: KEYS + KEYS),
    "order of keys": ("lt.ordered", TypeError, lambda: KEY < KEY),
    "keys in NumPy": ("array.key", TypeError, lambda: np.asarray(KEY)),
    "key as a number": ("array.key", TypeError, lambda: float(KEY)),
    "truth of a key": ("array.key", TypeError, lambda: bool(KEY)),
    "items of keys": ("array.key", TypeError, lambda: KEYS.tolist()),
    "conversion": ("convert_element_type.key", TypeError, lambda: KEY.astype("uint32")),
    "gradient": (
        "grad.input-dtype",
        TypeError,
        lambda: traceir.grad(random.uniform)(KEY),
    ),
    "seed 1.5": ("random_seed.integer", TypeError, lambda: random.key(1.5)),
    "two seeds": ("random.seed", TypeError, lambda: random.key(jnp.arange(2))),
    "a key as seed": ("random.seed", TypeError, lambda: random.key(KEY)),
    "seed of 71 bits": ("jit.overflow", OverflowError, lambda: random.key(2**70)),
    "another generator": (
        "random.impl",
        ValueError,
        lambda: random.key(0, impl="philox"),
    ),
    "number as a key": ("random.key", TypeError, lambda: random.split(1)),
    "nothing as a key": ("random.key", TypeError, lambda: random.uniform(None)),
    "list as a key": ("random.key", TypeError, lambda: random.uniform([0, 1])),
    "key as words": ("random.key", TypeError, lambda: random.wrap_key_data(KEY)),
    "three words": (
        "random_wrap.words",
        TypeError,
        lambda: random.split(jnp.zeros(3, "uint32")),
    ),
    "signed words": (
        "random_wrap.dtype",
        TypeError,
        lambda: random.split(jnp.zeros(2, "int32")),
    ),
    "many keys": ("random.one", ValueError, lambda: random.bits(KEYS)),
    "many keys split": ("random.one", ValueError, lambda: random.split(KEYS)),
    "minus one keys": ("counted.shape", ValueError, lambda: random.split(KEY, -1)),
    "half a key": ("face.shape", TypeError, lambda: random.split(KEY, 0.5)),
    "signed bits": (
        "random.unsigned",
        ValueError,
        lambda: random.bits(KEY, (2,), "int32"),
    ),
    "negative number": ("jit.overflow", OverflowError, lambda: random.fold_in(KEY, -1)),
    "two numbers": (
        "random.seed",
        TypeError,
        lambda: random.fold_in(KEY, jnp.arange(2)),
    ),
    "integers uniformly": (
        "random.floating",
        ValueError,
        lambda: random.uniform(KEY, (2,), "int32"),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what: str) -> None:
    rule, kind, function = REFUSED[what]
    with raises_rule(rule, kind, r"test_keys\.py"):
        function()


# --- text -----------------------------------------------------------------------------


def test_the_full_text_of_a_program_has_keys_and_the_layout() -> None:
    with traceir.threefry_partitionable(False):
        closed = traceir.make_jaxpr(lambda: random.bits(KEYS[1], (2,)))()
    text = to_text(closed, full=True)
    assert "partitionable=False" in text and "4163456126654947073" in text
    again = traceir.parse(text)
    assert to_text(again, full=True) == text
    (bits,) = traceir.eval_jaxpr(again, again.consts)
    with traceir.threefry_partitionable(False):
        assert bits.tolist() == random.bits(KEYS[1], (2,)).tolist()


DTYPE = KEY.dtype
# What makes keys of a dtype, and their words.
FILLED: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "zeros": (lambda: jnp.zeros((2,), DTYPE), [[0, 0]] * 2),
    "ones": (lambda: jnp.ones((1, 2), DTYPE), [[[1, 1]] * 2]),
    "empty": (lambda: jnp.empty((), DTYPE), [0, 0]),
    "full": (lambda: jnp.full((2,), 3, DTYPE), [[3, 3]] * 2),
    "full of a key": (lambda: jnp.full((2,), random.key(5), DTYPE), [[0, 5]] * 2),
    "zeros_like": (lambda: jnp.zeros_like(KEYS), [[0, 0]] * 3),
    "ones_like": (lambda: jnp.ones_like(KEYS, shape=()), [1, 1]),
    "full_like": (lambda: jnp.full_like(KEYS, random.key(5)), [[0, 5]] * 3),
    "empty_like a number": (lambda: jnp.empty_like(jnp.ones(1), DTYPE), [[0, 0]]),
    "of a dtype": (lambda: random.key(5, dtype=DTYPE), [0, 5]),
    "of a name": (lambda: random.key(5, dtype="threefry2x32"), [0, 5]),
    "of words": (
        lambda: random.wrap_key_data(jnp.array([1, 2], "uint32"), impl=DTYPE),
        [1, 2],
    ),
}


@pytest.mark.parametrize("name", FILLED)
def test_keys_are_made_of_their_dtype(name: str) -> None:
    make, words = FILLED[name]
    for made in (make(), traceir.jit(make)()):
        assert made.dtype == DTYPE
        assert data(made) == words


def test_one_generator_is_asked_for_once() -> None:
    with raises_rule("random.impl", ValueError, "both"):
        random.key(0, impl="threefry2x32", dtype=DTYPE)
    with raises_rule("random.impl", ValueError, "int32"):
        random.key(0, dtype=jnp.int32)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_words_that_were_computed_are_keys(backend: str) -> None:
    def make(words: Any) -> Any:
        made = random.wrap_key_data(words + words)
        return made, random.wrap_key_data(words.astype("uint32")), random.bits(made)

    words = jnp.array([1, 2], "uint32")
    made, same, bits = traceir.jit(make, backend=backend)(words)
    assert (data(made), data(same)) == ([2, 4], [1, 2])
    assert int(bits) == int(random.bits(made))


@pytest.mark.parametrize("number", [2**32, 2**33 - 1])
def test_counters_of_many_numbers_have_a_first_word(number: int) -> None:
    known = {"k": (7, 9), "n": number, "m": 0, "size": 2**33, "partitionable": True}
    wanted = threefry(7, 9, 1, number % 2**32)
    split, bits = (default().prims[name] for name in ("random_split", "random_bits"))
    assert split.value is not None and split.value(Scope(known)) == wanted
    assert bits.each["pair"](Scope(known)) == wanted


def test_keys_are_close_if_they_are_equal() -> None:
    keys = traceir.random.split(traceir.random.key(0))
    assert jnp.isclose(keys, keys[0]).tolist() == [True, False]
    assert jnp.allclose(keys, keys)
    with raises_rule("promote.key", TypeError):
        jnp.isclose(keys, 1.0)
