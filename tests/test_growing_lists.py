"""Lists that grow as values decide. Rules: staged.list, staged.effect, slice.length"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from growing_programs import program
from rule_errors import raises_rule

import traceir_numba

Function = Callable[..., Any]


def chosen(x: Any) -> Any:
    """A choice in a loop."""
    out = []
    for v in x:
        if v > 0.5:
            out.append(v)
    return np.array(out), out, len(out)


def parts(x: Any) -> Any:
    """Two lists, of which each turn appends to one."""
    low, high = [], []
    for v in x:
        if v < 0.5:
            low.append(v)
        else:
            high.append(v)
    return np.asarray(low), np.array(high, np.float32)


def close(x: Any) -> Any:
    """Pairs, by a loop in a loop whose bounds move."""
    found = []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if abs(x[i] - x[j]) < 0.1:
                found.append((i, j))
    return found, len(found)


def left(x: Any) -> Any:
    """A loop that is left, and turns that end early."""
    out = []
    for i in range(len(x)):
        if x[i] < 0.3:
            continue
        out.append(i)
        if x[i] > 0.95:
            break
    return out


def looked_at(x: Any) -> Any:
    """A list that the loop reads as it grows."""
    kept = []
    for i in range(len(x)):
        is_far = True
        for k in kept:
            if abs(x[i] - x[k]) < 0.1:
                is_far = False
                break
        if is_far:
            kept.append(i)
    return kept, kept[0], kept[-1], x[kept[len(kept) // 2]]


def asked(x: Any) -> Any:
    """Functions of numbers, of a list that begins with one."""
    out = [0.25]
    for v in x:
        if v > 0.5:
            out.append(v)
    out.append(2.0)
    total = 0.0
    for v in out:
        total += v
    return total, sum(out), max(out), min(out), np.mean(out), any(v > 1 for v in x)


def choices(x: Any) -> Any:
    """Choices alone, of which one asks whether there is an element."""
    out = []
    if x[0] > 0.1:
        out.append(x[0])
    if x[1] > 2:
        out.append(x[1])
    if out:
        out.append(3.0)
    return out


def inner(x: Any) -> Any:
    """A list for each turn of a loop around."""
    total = 0.0
    for i in range(20):
        row = []
        for v in x:
            if v * 20 > i:
                row.append(v)
        total += len(row) + sum(row)
    return total


def wider(x: Any) -> Any:
    """Integers at first, and floats later in the turn."""
    out = []
    for v in x:
        if v < 0.5:
            out.append(1)
        if v < 0.25:
            out.append(v)
    return np.array(out)


def sieve(n: int) -> Any:
    """A length that the bound of a loop decides."""
    is_prime = np.ones(n + 1, np.bool_)
    primes = []
    for i in range(2, n + 1):
        if is_prime[i]:
            primes.append(i)
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
    return np.array(primes)


def nothing(x: Any) -> Any:
    """A list that stays empty."""
    out = []
    for v in x:
        if v > 5:
            out.append(v)
    return out, np.array(out), len(out)


FUNCTIONS = [
    *(chosen, parts, close, left, looked_at, asked, choices, inner, wider, sieve),
    nothing,
]


@pytest.mark.parametrize("size", [40, 3])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_lists_are_pythons(function: Function, size: int) -> None:
    argument: Any = np.random.default_rng(1).random(size)
    if function is sieve:
        argument = size
    found, wanted = traceir_numba.jit(function)(argument), function(argument)
    one, other = (v if isinstance(v, tuple) else (v,) for v in (found, wanted))
    for a, b in zip(one, other, strict=True):
        assert type(a) is type(b) or np.ndim(b) == 0
        np.testing.assert_allclose(a, b, 1e-14)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def both_sides(x: Any) -> Any:
    """Sides of which both make room."""
    out = []
    if x[3] < 0.7:
        if x[1] > 0.2:
            out.append(x[2])
        else:
            if x[0] > 0.1:
                out.append(x[0])
                out.append(x[1])
            out.append(x[3])
        out.append(x[0] * 2)
    return out


@pytest.mark.parametrize("seed", range(8))
def test_each_side_keeps_what_it_appends(seed: int) -> None:
    x = np.random.default_rng(seed).random(4)
    assert traceir_numba.jit(both_sides)(x) == both_sides(x)


@pytest.mark.parametrize("seed", range(12))
def test_random_functions_are_pythons(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"random_{seed}.py"
    path.write_text(program(seed), encoding="utf-8")
    function = run_path(str(path))["f"]
    compiled = traceir_numba.jit(function)
    for part in range(3):
        x = np.random.default_rng([seed, part]).random(6)
        for found, wanted in zip(compiled(x), function(x), strict=True):
            np.testing.assert_allclose(found, wanted, 1e-12)


def test_a_length_is_no_size_of_a_program() -> None:
    def equations(n: int) -> int:
        traced = traceir_numba.jit(close).trace(np.zeros(n))
        return str(traced.jaxpr).count(" = ")

    assert equations(50) == equations(500)


def aliased(x: Any) -> Any:
    """A list with two names."""
    out: list[Any] = []
    other = out
    for v in x:
        if v > 0.5:
            out.append(v)
    return len(other)


def enormous(x: Any) -> Any:
    """More elements than there is room for."""
    out = []
    for _ in range(10**6):
        for v in x:
            for w in x:
                if v > w:
                    out.append(v)
    return len(out)


def test_lists_that_cannot_grow() -> None:
    with raises_rule("staged.effect", TypeError, r"out\.append"):
        traceir_numba.jit(aliased)(np.random.default_rng(0).random(40))


def test_more_elements_than_there_is_room_for() -> None:
    with raises_rule("staged.effect", TypeError, "1,600,000,000 elements"):
        traceir_numba.jit(enormous)(np.random.default_rng(0).random(40))


def in_order(x: Any) -> Any:
    """Another list of Python's, by a function of the user's."""
    out = []
    for v in x:
        if v > 0.5:
            out.append(v)
    return sorted(out, key=lambda v: -v)


def test_what_the_length_would_be_needed_for() -> None:
    with raises_rule("slice.length", TypeError, "a list whose length values decide"):
        traceir_numba.jit(in_order)(np.random.default_rng(0).random(40))


def one_or_another(x: Any) -> Any:
    """A list that grows, or one of Python's in a loop that a value ends."""
    out = []
    if x[0] > 0.1:
        out.append(x[0])
    while not out and x[1] < 0:
        return [1.0]
    return out


@pytest.mark.parametrize("x", [[0.5, 3.0], [-0.5, -1.0]])
def test_a_result_that_is_one_list_or_another_is_refused(x: list[float]) -> None:
    with raises_rule("staged.join", TypeError, "the result: GrowingList and list"):
        traceir_numba.jit(one_or_another)(np.array(x))
