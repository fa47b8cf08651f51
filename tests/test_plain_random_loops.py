"""Random numbers and printing in the loops of plain functions, and their neighbours.

Rules: face.random, python.print, staged.recursion, staged.loop
"""

from __future__ import annotations

import contextlib
import copy
import io
import math
import random
from typing import Any

import numba
import numpy as np
import pytest
from numba import njit, prange
from rule_errors import raises_rule

import traceir
import traceir_numba


def pi(n: Any, rng: Any) -> Any:
    """Darts thrown by a generator that is an argument."""
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y < 1:
            inside += 1
    return 4 * inside / n


def legacy(n: Any, rng: Any) -> Any:
    """The functions of `np.random`, and a seed."""
    np.random.seed(3)
    total = np.random.uniform(1, 2)
    for _ in range(n):
        if np.random.random() < 0.5:
            total += np.random.normal() * np.random.randint(3)
    return total


def seeded(n: Any, rng: Any) -> Any:
    """A generator that is made inside."""
    own = np.random.default_rng(5)
    count: Any = 0
    for _ in range(n):
        if own.random() < 0.5:
            count += own.integers(10)
    return count


def walk(n: Any, rng: Any) -> Any:
    """A walk until it is far enough."""
    place, steps = 0, 0
    while abs(place) < 5 and steps < n:
        place += 1 if rng.random() < 0.5 else -1
        steps += 1
    return place, steps


def ising(n: Any, rng: Any) -> Any:
    """Spins that turn over where a number that is drawn decides so."""
    spins = np.ones((6, 6))
    for _ in range(n):
        i, j = rng.integers(0, 6, 2)
        change = 2 * spins[i, j] * (spins[(i + 1) % 6, j] + spins[i - 1, j])
        if change <= 0 or rng.random() < math.exp(-change):
            spins[i, j] = -spins[i, j]
    return spins


def shuffled(n: Any, rng: Any) -> Any:
    """Arrays that are shuffled, and chosen from."""
    x = np.arange(9)
    for _ in range(n):
        rng.shuffle(x)
        x[0] = rng.choice(x)
    return x, rng.permutation(4)


@pytest.mark.parametrize("function", [pi, legacy, seeded, walk, ising, shuffled])
def test_loops_draw_as_numpy_does(function: Any) -> None:
    jitted = traceir_numba.jit(function)
    for seed in (1, 2):
        mine, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        found, wanted = jitted(40, mine), function(40, theirs)
        pairs = [(found, wanted)]
        if isinstance(wanted, tuple):
            pairs = list(zip(found, wanted, strict=True))
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)
        assert mine.random() == theirs.random()
    assert jitted._traced == 1


def both(first: Any, pair: Any, extra: Any = None) -> Any:
    """Several generators, some of them in containers."""
    return first.random() - pair[0].random(2), pair[1]["rng"].random() + extra.random()


def test_generators_are_arguments_of_any_kind() -> None:
    def arguments(seed: int) -> tuple[Any, Any]:
        other = np.random.Generator(np.random.MT19937(seed))
        named = {"rng": np.random.RandomState(seed)}
        return np.random.default_rng(seed), (other, named)

    jitted = traceir_numba.jit(both)
    for seed in (1, 2):
        found = jitted(*arguments(seed), extra=random.Random(seed))
        wanted = both(*arguments(seed), extra=random.Random(seed))
        np.testing.assert_array_equal(found[0], wanted[0])
        assert found[1] == wanted[1]
    assert jitted._traced == 1
    same = np.random.default_rng(3)
    again = copy.deepcopy(same)
    twice = traceir_numba.jit(lambda a, b: (a.random(), b.random()))
    assert twice(same, same) == (again.random(), again.random())


def printing(x: Any, n: Any) -> Any:
    """Values printed in loops and choices, in many forms."""
    print("start", n, x[:2], [x[0], n], {"a": n * 0.5}, (None, True))
    for i in range(len(x)):
        if x[i] > 0.5:
            print("big", i, x[i])
        if i == 5:
            text = f"{i:03d} {x[i]:.3f} {x[i]!r:>30} {'known'} {n:{5 + 1}d}"
            print(text + "|", "end", sep="-")
    print("done", x.sum(), end="!\n")
    return n


def printed(function: Any, *args: Any) -> str:
    """The text that a call prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        function(*args)
    return out.getvalue()


def test_values_are_printed_when_the_program_runs() -> None:
    x = np.random.default_rng(0).random(9)
    jitted = traceir_numba.jit(printing)
    for n in (4, 5):
        assert printed(jitted, x, n) == printed(printing, x, n)
    assert jitted._traced == 1


def squared(x: Any) -> Any:
    """A number that is printed, and its square."""
    print(f"x is {x}")
    return x * x


def test_printing_composes() -> None:
    assert printed(traceir.grad(traceir_numba.jit(squared)), 3.0) == "x is 3.0\n"
    each = traceir.vmap(traceir_numba.jit(squared))
    assert printed(each, np.arange(2.0)) == "x is 0.0\nx is 1.0\n"


def compared(x: Any) -> Any:
    """A text of a traced value, compared."""
    return 1 if f"{x}" == "3" else 2


def test_a_text_of_a_traced_value_is_only_printed() -> None:
    with raises_rule("level.concretize.format", pattern="test_plain_random_loops.py"):
        traceir_numba.jit(compared)(np.array(3))


@njit  # type: ignore[untyped-decorator]
def folded(x: Any) -> Any:
    """A function that Numba compiles."""
    return x * 2 if x > 0 else -x


def parallel(x: Any, n: Any) -> Any:
    """Numba's ranges, and a function of its."""
    total = 0.0
    for i in prange(n):
        total += folded(x[i])
    for i in numba.prange(1, n):
        total += x[i]
    return total


def test_ranges_of_numbas() -> None:
    x = np.random.default_rng(0).normal(size=50)
    assert traceir_numba.jit(parallel)(x, 50) == parallel(x, 50)


def factorial(n: Any) -> Any:
    """A function that calls itself."""
    return 1 if n <= 1 else n * factorial(n - 1)


def even(n: Any) -> Any:
    """Two functions that call each other."""
    if n == 0:
        return True
    return odd(n - 1)


def odd(n: Any) -> Any:
    """The other one."""
    if n == 0:
        return False
    return even(n - 1)


def test_a_function_that_calls_itself() -> None:
    assert traceir_numba.jit(lambda: factorial(6))() == 720
    assert traceir_numba.jit(factorial, static_argnums=0)(5) == 120
    with raises_rule("staged.recursion", RecursionError, "in factorial: return 1 if"):
        traceir_numba.jit(factorial)(5)
    with raises_rule("staged.recursion", RecursionError, r"return odd\(n - 1\)"):
        traceir_numba.jit(even)(5)
