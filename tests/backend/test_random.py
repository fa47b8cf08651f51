"""Random bits in the backend: the reference's bits, from one packed kernel."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from compiling import CALL, PACKED, executable, traced
from key_programs import KEYS, MOVES, PROGRAMS, REGIONS, is_key

import traceir
import traceir.numpy as jnp
from traceir import random
from traceir.base.config import scope
from traceir.text import parse
from traceir_numba.loops.program import Launch

MANY = 20_000


def both(f: Any, *args: Any) -> None:
    """Demand the same bits of the reference and of compiled code."""
    want = traceir.tree.leaves(traceir.jit(f, backend="reference")(*args))
    got = traceir.tree.leaves(traceir.jit(f, backend="numba")(*args))
    for a, b in zip(got, want, strict=True):
        a, b = (random.key_data(x) if is_key(x) else x for x in (a, b))
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("move", MOVES)
def test_keys_are_moved_and_used(move: str) -> None:
    def f(keys: Any, i: Any) -> Any:
        found = MOVES[move](keys, i)
        if not is_key(found):
            return found
        return found, random.bits(found.ravel()[0], (4,))

    both(f, KEYS, 1)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("partitionable", [True, False])
def test_keys_in_programs(program: Any, partitionable: bool) -> None:
    with scope("threefry_partitionable", partitionable):
        both(program, KEYS, 1)


@pytest.mark.parametrize("partitionable", [True, False])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits_of_every_shape(width: int, partitionable: bool) -> None:
    shapes = (), (0,), (1,), (7,), (3, 4), (2, 1, 3)

    def f(key: Any, keys: Any) -> Any:
        def one(key: Any) -> list[Any]:
            return [random.bits(key, shape, f"uint{width}") for shape in shapes]

        return one(key), traceir.vmap(one)(keys)

    with traceir.enable_x64(), scope("threefry_partitionable", partitionable):
        both(f, KEYS[0], KEYS[:2])


def test_keys_of_seeds() -> None:
    with traceir.enable_x64():
        for dtype in ("int8", "uint8", "int32", "uint32", "int64", "uint64"):
            least = np.iinfo(dtype).min
            seeds = np.array([3, 101, least], dtype)
            both(lambda s: traceir.vmap(random.key)(s), seeds)


USES = {
    "bits": lambda key: random.bits(key, (MANY,)),
    "uniform": lambda key: random.uniform(key, (MANY,)),
    "normal": lambda key: random.normal(key, (MANY,)),
    "below": lambda key: random.uniform(key, (MANY,)) < 0.3,
    "of two keys": lambda key: sum(
        random.uniform(k, (MANY,)) for k in random.split(key)
    ),
    "a mean": lambda key: jnp.mean(jnp.exp(random.normal(key, (MANY,)))),
    "rows": lambda key: random.normal(key, (40, 500)).sum(1),
}

SUMS = "a mean", "rows"


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("partitionable", [True, False])
def test_numbers_are_made_where_they_are_used(use: str, partitionable: bool) -> None:
    traceir.clear_caches()  # an object's text has all kernels made with it
    with scope("threefry_partitionable", partitionable):
        made = executable(traced(USES[use], KEYS[0]), "numbers")
    launches = [s for s in made.program.steps if isinstance(s, Launch)]
    large = [s for s in launches if max(s.extents, default=1) >= 40]
    assert len(large) == 1
    temporary = [b for b in made.program.buffers if b.role == "temporary"]
    assert all(np.prod(b.shape) <= 40 for b in temporary)
    assembly = made.as_text("asm")
    assert PACKED.search(assembly)
    if not use.startswith(SUMS):  # which set their accumulators by a function
        assert not CALL.search(assembly)


HASH = """{ lambda ; a:u32[] b:u32[] c:u32[N] d:u32[N]. let
    e:u32[N] f:u32[N] = threefry2x32 a b c d
    g:u32[N] = xor e f
  in (USED,) }"""


def rotations(used: str) -> int:
    """The number of rotations of vectors in the kernel of one hash or both."""
    text = HASH.replace("N", "5000").replace("USED", used)
    assembly = executable(parse(text)).as_text("asm")
    return len(re.findall(r"vprold|vpsrld|psrld|ushr", assembly))


def test_both_words_are_of_one_evaluation() -> None:
    one, both_words = rotations("e"), rotations("g")
    assert 0 < both_words < 1.5 * one


def test_more_counters_than_a_word_has() -> None:
    def last(key: Any) -> Any:
        return random.bits(key, (3, 2**31), "uint8")[2, -2:]

    got = traceir.jit(last, backend="numba")(KEYS[0])
    want = hashes_at([3 * 2**31 - 2, 3 * 2**31 - 1])
    assert got.tolist() == want


def hashes_at(numbers: list[int]) -> list[int]:
    """The lowest bits at these places, by the formula."""
    from traceir.exact.threefry import WORD, threefry

    first, second = map(int, np.asarray(random.key_data(KEYS[0])))
    words = (threefry(first, second, n // WORD, n % WORD) for n in numbers)
    return [(x ^ y) % 256 for x, y in words]


def test_orders_do_not_depend_on_wide_numbers() -> None:
    want = [4, 2, 3, 0, 1]  # as JAX 0.10.2 has it
    for wide in (False, True):
        with traceir.enable_x64(wide):
            for backend in ("reference", "numba"):
                f = traceir.jit(lambda k: random.permutation(k, 5), backend=backend)
                assert f(random.key(42)).tolist() == want


@pytest.mark.parametrize("first", REGIONS)
@pytest.mark.parametrize("then", REGIONS)
def test_a_key_goes_through_neighbouring_regions(first: str, then: str) -> None:
    def f(key: Any, n: Any, i: Any) -> Any:
        key, n = REGIONS[first](key, n, i)
        return REGIONS[then](key, n + 3, i)

    for i in range(3):
        both(f, KEYS[0], 5, i)
        both(traceir.vmap(f, (0, None, None)), KEYS, 5, i)
