"""Numbers that plain functions draw, one or an array, which machine code draws.

Rules: staged.drawn, face.random
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from imperative_programs import jitted as compiled

import traceir
import traceir_numba
from traceir.face.generator_arguments import held
from traceir_numba.emitters.ziggurats import LAYOUTS, tables

DRAWS: tuple[Callable[[Any, float], Any], ...] = (
    lambda rng, a: rng.random() + rng.random(None) * rng.standard_normal(),
    lambda rng, a: (
        rng.uniform()
        + rng.uniform(-2.0)
        + rng.uniform(high=a + 1)
        # Bounds that are known, traced, and both.
        + rng.uniform(-a, a)
        + rng.uniform(low=-1, high=2)
    ),
    lambda rng, a: (
        rng.integers(10)
        + rng.integers(int(a) + 1)
        + rng.integers(1)
        + rng.integers(0, high=8)
        + rng.integers(-int(a), 5)
    ),
    lambda rng, a: (
        rng.integers(2**40)
        + rng.integers(0, 2**62)
        + rng.integers(2**32)
        + rng.integers(-(2**63), 2**63 - 1) // 4
    ),
    lambda rng, a: (
        rng.normal()
        + rng.normal(1)
        + rng.normal(loc=a, scale=a)
        + rng.normal(scale=np.float32(a))
        + rng.lognormal()
        + rng.lognormal(a, 0.5)
    ),
    lambda rng, a: (
        rng.laplace(a, a)
        + rng.laplace()
        + rng.gamma(a)
        + rng.gamma(0.5, a)
        + rng.standard_exponential()
        + rng.exponential(a)
        + rng.exponential()
    ),
)
LEGACY: tuple[Callable[[Any, float], Any], ...] = (
    lambda rng, a: (
        rng.random()
        + rng.random_sample()
        + rng.rand()
        + rng.uniform()
        + rng.uniform(2.0)
        + rng.uniform(a, -a)
    ),
    lambda rng, a: (
        rng.randint(10)
        + rng.randint(-3, int(a) + 1)
        + rng.randint(1)
        + rng.randint(2**40)
        + rng.randint(2**31, 2**32 + 5)
    ),
    lambda rng, a: rng.randn() + rng.normal(a, a) * rng.standard_normal() + rng.rand(),
)
# Arrays of two rows and three columns, or of three numbers.
ARRAYS: tuple[Callable[[Any, float], Any], ...] = (
    lambda rng, a: rng.random((2, 3)) + rng.uniform(-a, a, size=3),
    lambda rng, a: rng.integers(0, 7, (2, 3)) + rng.integers(int(a) + 2**33, size=[3]),
    lambda rng, a: rng.normal(size=(2, 3)) * rng.normal(a, 2.0, 3) + rng.random(),
    lambda rng, a: rng.exponential(a, (2, 3)) + rng.standard_exponential(np.int64(3)),
    lambda rng, a: rng.standard_normal((2, 3)) - rng.gamma(a, size=3),
    lambda rng, a: rng.laplace(0.0, a, size=(2, 1)) + rng.lognormal(size=(1, 3)),
)
LEGACY_ARRAYS: tuple[Callable[[Any, float], Any], ...] = (
    lambda rng, a: rng.rand(2, 3) + rng.randn(3) * rng.random_sample(3),
    lambda rng, a: rng.normal(a, 2.0, (2, 3)) + rng.standard_normal(3) + rng.randn(),
    lambda rng, a: rng.randint(0, 9, (2, 3)) + rng.uniform(0.0, a, size=(2, 1)),
)


def repeated(draw: Any) -> Any:
    """A loop that draws."""

    def function(rng: Any, n: Any) -> Any:
        total = np.zeros(2)
        for i in range(n):
            total[i % 2] += draw(rng, 1.0 + i % 3)
        return total

    return function


def added(draw: Any) -> Any:
    """A loop that draws arrays."""

    def function(rng: Any, n: Any) -> Any:
        total = np.zeros((2, 3))
        for i in range(n):
            total += draw(rng, 1.0 + i % 3)
        return total

    return function


def kinds() -> list[tuple[Any, Any]]:
    """Loops, and the class of their generator."""
    new, old = np.random.default_rng, np.random.RandomState
    found = [(repeated(d), new) for d in DRAWS] + [(added(d), new) for d in ARRAYS]
    found += [(repeated(d), old) for d in LEGACY]
    return found + [(added(d), old) for d in LEGACY_ARRAYS]


def is_machine_code(function: Any, *args: Any) -> bool:
    """True if nothing of a program is done by Python."""
    return "Driven from Python" not in function.source(*args)


def test_each_distribution_has_the_bits_of_single_calls() -> None:
    wrong = []
    for k, (function, make) in enumerate(kinds()):
        mine, own = make(k), make(k)
        jitted = traceir_numba.jit(function)
        jitted(mine, 3), function(own, 3)
        same = np.array_equal(jitted(mine, 30), function(own, 30))
        left = mine.random() == own.random() and mine.normal() == own.normal()
        if not (same and left and is_machine_code(jitted, make(0), 30)):
            wrong.append(k)
    assert wrong == []


@pytest.mark.parametrize("bits", ["MT19937", "PCG64DXSM", "Philox", "SFC64"])
def test_any_bit_generator(bits: str) -> None:
    kind: Any = getattr(np.random, bits)
    function = repeated(DRAWS[2])
    jitted = traceir_numba.jit(function)
    for seed in (1, 2):
        mine, own = (np.random.Generator(kind(seed)) for _ in range(2))
        mine.integers(9), own.integers(9)  # half of a word is left
        np.testing.assert_array_equal(jitted(mine, 7), function(own, 7))
        assert mine.integers(2**50) == own.integers(2**50)
    assert jitted._traced == 1


def test_a_ziggurat_has_what_numpy_makes_of_each_word() -> None:
    @traceir_numba.jit
    def filled(rng: Any, out: Any) -> None:
        for i in range(0, len(out), 4):
            out[i] = rng.standard_normal()
            out[i + 1] = rng.standard_exponential()
            out[i + 2] = rng.normal(2.0, 3.0)
            out[i + 3] = rng.exponential(0.5)

    mine, own = np.random.default_rng(5), np.random.default_rng(5)
    found = np.zeros(200_000)
    filled(mine, found)
    wanted = np.zeros(len(found))
    for i in range(0, len(found), 4):
        wanted[i : i + 4] = (
            own.standard_normal(),
            own.standard_exponential(),
            own.normal(2.0, 3.0),
            own.exponential(0.5),
        )
    np.testing.assert_array_equal(found, wanted)
    assert mine.bit_generator.state == own.bit_generator.state
    assert all(tables(name) is not None for name in LAYOUTS)


def trying(rng: Any, n: Any) -> Any:
    """Tests that draw, of loops that a `break` ends and that are nested."""
    count, total = 0, 0.0
    while rng.random() < 0.95 and count < n:
        while rng.random() < 0.4:
            total += 1
        count += 1
        if total > 20 and rng.random() < 0.5:
            break
    return count, total


def mixed(rng: Any, n: Any) -> Any:
    """Numbers, arrays, and what Python alone draws, on sides of choices."""
    total, x = 0.0, np.arange(6)
    for i in range(n):
        if rng.random() < 0.5:
            total += rng.random(3).sum()
        elif i > 4:
            rng.shuffle(x)
            total -= rng.integers(5) * x[0]
    return total + rng.random() + rng.random(2)[1], x


def straight(rng: Any, n: Any) -> Any:
    """No loop at all, and a draw whose number nobody needs."""
    rng.normal()
    return rng.random(), rng.normal(2.0, n), rng.integers(10)


def arrays(rng: Any, n: Any) -> Any:
    """Arrays on sides of choices, one that nobody needs, and one without elements."""
    total = np.zeros(4)
    for i in range(n):
        if rng.random() < 0.5:
            total += rng.random(4)
        elif i > 4:
            rng.normal(0.0, i, 5)
            total -= rng.integers(5, size=4)
    rng.random((3, 5))
    return total, rng.random(0), rng.normal(0.0, 2.0, (2, 3)).T


def unread(rng: Any, n: Any) -> Any:
    """A loop whose numbers nobody needs."""
    for _ in range(n):
        rng.random()
    return n


def returned(rng: Any, n: Any) -> Any:
    """A loop that returns."""
    for i in range(n):
        if rng.random() < 0.05:
            return i
    return -1


def walked(rng: Any, n: Any) -> Any:
    """Places that a walk comes to."""
    grid, i, j = np.zeros((7, 7)), 3, 3
    for _ in range(n):
        step = rng.integers(4)
        i, j = (i + (step == 0) - (step == 1)) % 7, (j + (step == 2) - (step == 3)) % 7
        grid[i, j] += rng.normal()
    return grid


def seeded(rng: Any, n: Any) -> Any:
    """Two generators that are made inside, in turns."""
    first, second = np.random.default_rng(n), np.random.RandomState(2)
    total = 0.0
    for _ in range(n):
        total = total / 2 + first.random() - second.rand() * first.normal()
    return total + second.randint(100)


@traceir_numba.jit
def jittered(rng: Any, x: Any) -> Any:
    """A helper that is decorated itself."""
    return x + rng.normal(0.0, x) * np.random.rand()


def helped(rng: Any, n: Any) -> Any:
    """A loop that calls it."""
    t = 1.0
    for _ in range(n):
        t = abs(jittered(rng, t)) + 0.1
    return t


PROGRAMS = [trying, mixed, straight, arrays, unread, returned, walked, seeded, helped]


@pytest.mark.parametrize("backend", ["numba", "reference"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_programs_draw_as_python_does(function: Any, backend: str) -> None:
    jitted: Any = compiled(function, backend)
    for seed in (1, 2):
        mine, own = np.random.default_rng(seed), np.random.default_rng(seed)
        np.random.seed(seed)
        found, left = jitted(mine, 40), np.random.random()
        np.random.seed(seed)
        wanted = function(own, 40)
        found, wanted = ([*v] if isinstance(v, tuple) else [v] for v in (found, wanted))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
        assert mine.bit_generator.state == own.bit_generator.state
        assert left == np.random.random()
    assert jitted._traced <= 1  # a function has one trace for all backends


def test_one_generator_under_two_names() -> None:
    def both(a: Any, b: Any, n: Any) -> Any:
        total = 0.0
        for _ in range(n):
            total = total / 2 + a.random() - 2 * b.random()
        return total + a.normal() - b.normal()

    mine, own = np.random.default_rng(3), np.random.default_rng(3)
    assert traceir_numba.jit(both)(mine, mine, 30) == both(own, own, 30)
    assert mine.random() == own.random()


def test_threads_take_turns_at_a_generator() -> None:
    @traceir_numba.jit
    def total(rng: Any, n: Any) -> Any:
        found = 0
        for _ in range(n):
            found += rng.integers(2**40)
        return found

    shared, alone = np.random.default_rng(0), np.random.default_rng(0)
    sums: list[int] = []

    def work(drawn: Callable[[], Any]) -> None:
        sums.extend(int(drawn()) for _ in range(10))

    ways = [lambda: total(shared, 5000)] * 2
    ways.append(lambda: shared.integers(2**40, size=5000).sum())
    threads = [threading.Thread(target=work, args=(way,)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(sums) == alone.integers(2**40, size=150_000).sum()


@pytest.mark.parametrize(
    ("draw", "kind", "text"),
    [
        (lambda rng, a: rng.normal(0, 4 - a), ValueError, "scale < 0"),
        (lambda rng, a: rng.gamma(4 - a), ValueError, "shape < 0"),
        (lambda rng, a: rng.integers(5, 9 - int(a)), ValueError, "low >= high"),
        (lambda rng, a: rng.uniform(a, 4.5), ValueError, "high - low < 0"),
        (lambda rng, a: rng.uniform(0, 10.0 ** (60 * a)), OverflowError, "exceeds"),
        (lambda rng, a: rng.normal(0, -1) if a > 3 else 0, ValueError, "scale < 0"),
    ],
)
def test_parameters_without_numbers(draw: Any, kind: Any, text: str) -> None:
    @traceir_numba.jit
    def function(rng: Any, n: Any) -> Any:
        total = 0.0
        for i in range(n):
            total += draw(rng, i * 1.0)
        return total

    rng = np.random.default_rng(0)
    function(rng, 3)
    with pytest.raises(kind, match=text) as caught:
        function(rng, 10)
    assert str(caught.traceback[-1].path).endswith("test_plain_draws.py")


def test_transforms_draw_by_calls_of_python() -> None:
    rng = np.random.default_rng(0)

    def noisy(x: Any) -> Any:
        total = x
        for _ in range(20):
            total = total / 2 + rng.random() * x
        return total

    found = traceir.vmap(traceir_numba.jit(noisy))(np.ones(3))
    rng = np.random.default_rng(0)
    assert found[0] == noisy(1.0)


def drawn(rng: Any, n: Any) -> Any:
    """Numbers of several kinds."""
    total = 0.0
    for i in range(n):
        total += rng.random() + rng.normal(0.0, i) + rng.integers(5) + rng.uniform(1, 2)
    return total


def test_generated_source_draws_by_numba() -> None:
    mine, own = np.random.default_rng(1), np.random.default_rng(1)
    module: dict[str, Any] = {}
    exec(compile(traceir_numba.jit(drawn).source(mine, 9), "draws.py", "exec"), module)
    generator = held(mine)
    found, *_ = module["drawn"](np.array(generator.number), np.array(9))
    assert found == drawn(own, 9)
