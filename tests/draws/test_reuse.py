"""`debug_key_reuse`: a key that is used twice is told, at its line.

Cites: random.reuse, cache.flag.debug_key_reuse
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from execution_modes import WAYS, runner
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax, random
from traceir.errors import KeyReuseError
from traceir.sanitize import key_reuse

bits = random.bits
many = traceir.vmap(random.bits)
Body = Callable[..., Any]


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function run as it is, or by a backend."""
    return runner(request.param)


def keys() -> Any:
    """Four keys, none of them used."""
    return random.split(random.key(7), 4)


def carried(c: Any, _: Any) -> Any:
    """A body of a loop that splits what it carries."""
    k, s = random.split(c)
    return k, bits(s)


ruled = traceir.custom_jvp(lambda k: many(k))
ruled.defjvp(lambda primals, tangents: (ruled(*primals), 0))


# What uses each key once, of four keys that are given.
GOOD: dict[str, Body] = {
    "parts": lambda k: (bits(k[0]), many(k[1:3]), bits(k[3])),
    "unpacked": lambda k: [bits(one) for one in k],
    "folded": lambda k: (random.fold_in(k[0], 1), [random.fold_in(k[1], 1)] * 2),
    "folded many times": lambda k: lax.map(
        traceir.tree_util.Partial(lambda k, n: bits(random.fold_in(k, n)), k[0]),
        jnp.arange(3),
    ),
    "cloned": lambda k: (many(k), many(random.clone(k)), many(random.clone(k))),
    "words": lambda k: (many(k), random.key_data(k), k == k),
    "wrapped": lambda k: (many(k), many(random.wrap_key_data(random.key_data(k)))),
    "raw keys": lambda k: [bits(w) for w in [random.key_data(k)[0]] * 2],
    "turned": lambda k: many(k[::-1].reshape(2, 2).T.reshape(4)),
    "chosen": lambda k: bits(jnp.where(True, random.clone(k)[0], k[0])),
    "put where one was used": lambda k: bits(k.at[0].set(random.key(1))[0]),
    "one branch each": lambda k: lax.cond(True, many, lambda k: many(k) + 1, k),
    "a new key or the old": lambda k: bits(
        lax.cond(True, lambda k: random.split(k)[0], lambda k: k, k[0])
    ),
    "carried": lambda k: bits(lax.scan(carried, k[0], length=3)[0]),
    "a row each": lambda k: lax.scan(lambda c, k: (c, bits(k)), 0, k),
    "a loop that runs once": lambda k: lax.scan(
        lambda c, _: (c, many(k)), 0, None, length=1
    ),
    "while": lambda k: lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, random.split(c[1])[0]), (0, k[0])
    )[0],
    "drawn in each example": lambda k: traceir.vmap(lambda x: x + random.normal(k[0]))(
        jnp.arange(3.0)
    ),
    "differentiated": lambda k: traceir.grad(
        lambda x: jnp.sin(x * random.normal(k[0]))
    )(1.0),
    "drawn once more": lambda k: traceir.grad(
        traceir.checkpoint(lambda x: jnp.sin(x * random.normal(k[0])))
    )(1.0),
    "empty": lambda k: (many(k[:0]), many(k[:0]), many(k)),
}
# What uses one twice: at the line of the function, unless another is marked.
BAD: dict[str, Body] = {
    "drawn": lambda k: (many(k), many(k)),
    "split": lambda k: (random.split(k[0]), bits(random.clone(k)[0]), k[0]),
    "two distributions": lambda k: [
        draw(one) for one in [k[0]] for draw in (random.normal, random.uniform)
    ],
    "the same part": lambda k: (k[0], k[0]),
    "overlapping parts": lambda k: (k[:2], k[1:]),
    "parts and the whole": lambda k: (k[0], many(k)),
    "folded, drawn and drawn": lambda k: [
        bits(one) for one in [random.fold_in(k[0], 1)] * 2
    ],
    "turned": lambda k: (many(k[::-1]), many(k)),
    "stacked": lambda k: (jnp.stack([k, k]),),
    "joined": lambda k: (jnp.concatenate([k, random.clone(k)]), many(k)),
    "put": lambda k: (k.at[0].set(k[1]), k[1]),
    "chosen": lambda k: (jnp.where(True, k, random.clone(k)), many(k)),
    "looked up": lambda k: (many(k[jnp.array([0, 1])]), many(k[jnp.array([1, 2])])),
    "in a function": lambda k: traceir.jit(lambda k: (many(k), many(k)))(k),
    "by two functions": lambda k: [f(k) for f in [traceir.jit(many)] * 2],
    "two arguments": lambda k: traceir.jit(lambda a, b: (many(a), many(b)))(k, k),
    "given back": lambda k: many(traceir.jit(lambda k: (many(k), k))(k)[1]),
    "in a branch": lambda k: lax.cond(True, lambda k: many(k) + many(k), many, k),
    "in a branch, and after": lambda k: (
        lax.cond(True, many, lambda k: many(random.clone(k)), k),
        many(k),
    ),
    "by a branch that closes over it": lambda k: (
        lax.cond(True, lambda: many(k), lambda: many(random.clone(k))),
        many(k),
    ),
    "a constant of a loop": lambda k: lax.fori_loop(
        0, 3, lambda _, c: c + many(k), jnp.zeros(4, "uint32")
    ),
    "carried as it was": lambda k: lax.scan(lambda k, _: (k, many(k)), k, length=3),
    "carried around": lambda k: lax.scan(
        lambda c, _: ((c[1], c[2], c[0]), bits(c[0])), (k[0], k[1], k[2]), length=9
    ),
    "rows, and again": lambda k: (lax.map(bits, k), many(k)),
    "a constant of a condition": lambda k: lax.while_loop(
        lambda c: c < bits(k[0]) // 2**30, lambda c: c + 1, jnp.uint32(0)
    ),
    "a condition and a body": lambda k: lax.while_loop(
        lambda c: bits(c) < 0, lambda c: random.split(c)[0], k[0]
    ),
    "a batch": lambda k: [traceir.vmap(bits)(k) for _ in range(2)],
    "a rule of one's own": lambda k: (ruled(k), many(k)),
}


@pytest.mark.parametrize("name", GOOD)
def test_keys_that_are_used_once_are_let_be(name: str, run: Any) -> None:
    with traceir.debug_key_reuse():
        run(lambda k: numbers(GOOD[name](k)), keys())


@pytest.mark.parametrize("name", BAD)
def test_a_key_that_is_used_twice_is_told(name: str, run: Any) -> None:
    with traceir.debug_key_reuse(), raises_rule("random.reuse", KeyReuseError):
        run(lambda k: numbers(BAD[name](k)), keys())


def numbers(tree: Any) -> Any:
    """Results of which nobody can say that they are keys."""
    return [
        random.key_data(v) if v.dtype == random.key(0).dtype else v
        for v in traceir.tree.leaves(tree)
    ]


def test_without_the_flag_nothing_is_told(run: Any) -> None:
    some = keys()
    for _ in range(2):
        run(lambda k: (many(k), many(k), many(k[::-1])), some)


def test_both_lines_are_named(run: Any) -> None:
    def f(key: Any) -> Any:
        x = random.normal(key)  # the first
        return x + random.uniform(key)  # the second

    with traceir.debug_key_reuse(), raises_rule("random.reuse", pattern="at .*second"):
        run(f, random.key(1))
    with (
        traceir.debug_key_reuse(),
        raises_rule("random.reuse", pattern="used at .*firs"),
    ):
        run(f, random.key(1))


def test_a_loop_says_that_the_line_ran_before() -> None:
    key = random.key(1)
    with (
        traceir.debug_key_reuse(),
        raises_rule("random.reuse", TypeError, "in an earlier run of this line"),
    ):
        lax.fori_loop(0, 3, lambda _, c: c + bits(key), jnp.uint32(0))  # here


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_calls_of_a_function_use_up_what_it_uses(backend: str) -> None:
    f = traceir.jit(lambda a, b: (bits(a), random.fold_in(b, 1)), backend=backend)
    one, two = random.key(1), random.key(2)
    with traceir.debug_key_reuse():
        f(one, two)
        f(random.key(3), two)
        with raises_rule("random.reuse"):
            f(one, random.key(3))
        bits(two)
    f(one, two)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_a_key_that_a_function_closes_over_is_used_up(backend: str) -> None:
    key = random.key(1)
    f = traceir.jit(lambda: traceir.jit(lambda: bits(key))() + 1, backend=backend)
    with traceir.debug_key_reuse():
        f()
        with raises_rule("random.reuse"):
            f()
        with raises_rule("random.reuse"):
            bits(key)


def test_a_program_that_is_wrong_is_refused_wherever_it_is_traced() -> None:
    def f(key: Any) -> Any:
        return bits(key) + bits(key)

    with traceir.debug_key_reuse():
        for ask in (traceir.make_jaxpr(f), traceir.jit(f).lower, traceir.jit(f).trace):
            with raises_rule("random.reuse"):
                ask(random.key(1))


def test_the_flag_takes_no_trace_and_counts_while_it_is_set() -> None:
    traced: list[Any] = []

    @traceir.jit
    def f(key: Any) -> Any:
        traced.append(key)
        return bits(key)

    key = random.key(1)
    f(key)
    with traceir.debug_key_reuse():
        f(key)
    f(key)
    with traceir.debug_key_reuse(), raises_rule("random.reuse"):
        f(key)
    assert len(traced) == 1


def test_what_was_not_done_has_used_nothing() -> None:
    one, two = random.key(1), random.key(2)
    with traceir.debug_key_reuse():
        bits(two)
        with raises_rule("random.reuse"):
            jnp.stack([one, two])
        with pytest.raises(ZeroDivisionError):
            traceir.pure_callback(lambda k: 1 // 0, jnp.int32(0), random.key_data(one))
        bits(one)


def test_what_is_known_of_keys_goes_with_them() -> None:
    gc.collect()
    before = len(key_reuse._held)
    with traceir.debug_key_reuse():
        some = keys()
        many(some.reshape(4))
        assert len(key_reuse._held) > before
    del some
    gc.collect()
    assert len(key_reuse._held) == before


def test_numbers_are_the_same_with_the_flag(run: Any) -> None:
    def f(key: Any) -> Any:
        a, b = random.split(key)
        return random.normal(a, (3,)), random.randint(b, (3,), 0, 9)

    want = run(f, random.key(1))
    with traceir.debug_key_reuse():
        found = run(f, random.key(1))
    for one, other in zip(want, found, strict=True):
        np.testing.assert_array_equal(one, other)
