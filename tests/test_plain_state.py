"""Random numbers in plain functions are those of NumPy and Python, drawn in each run.

Rules: face.random, cache.strict.capture
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, Generator, default_rng, normal
from rule_errors import raises_rule

import traceir
import traceir_numba

V = np.array([1.0, 2.0, -3.0])
RNG = np.random.default_rng(0)
LEGACY = np.random.RandomState(3)
PYTHONS = random.Random(4)


class Walk:
    """An object with a generator, and methods that draw."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)
        self.scale = 2.0

    def step(self, x: Any) -> Any:
        """The array, moved."""
        return x + self.scale * self.rng.normal(size=x.shape)

    def noise(self, n: int) -> Any:
        """It draws from the generator of NumPy's, into an array of its own."""
        made = np.zeros(n)
        made[:] = np.random.normal(0, self.scale, n)
        return made

    def noisy(self, x: Any) -> Any:
        """It calls a method that draws."""
        return x + self.noise(len(x))

    def __call__(self, x: Any) -> Any:
        """It is called itself."""
        return self.step(x)

    def twice(self, x: Any) -> Any:
        """It calls another method."""
        return self.step(x) + self.rng.integers(0, 10, 3)


class Holder:
    """An object in an object."""

    def __init__(self) -> None:
        self.walk = Walk()

    def step(self, x: Any) -> Any:
        """As the inner object."""
        return self.walk.step(x)


WALK, HOLDER = Walk(), Holder()


def shuffled(x: Any) -> Any:
    """An array that the generator shuffles in place."""
    y = x * 2
    RNG.shuffle(y)
    return y


def into(x: Any) -> Any:
    """An array that the generator fills."""
    y = np.empty(3)
    RNG.random(out=y)
    return y + x


def seeded(x: Any) -> Any:
    """It seeds the generator first."""
    np.random.seed(3)
    return x + np.random.rand(3)


def around(draw: Callable[..., Any]) -> Callable[[Any], Any]:
    """A method in a variable around the function."""
    return lambda x: x + draw(3)


DRAWS: list[Callable[[Any], Any]] = [
    lambda x: x + RNG.random(3),
    lambda x: x + LEGACY.rand(3) + LEGACY.randint(0, 5, 3),
    lambda x: x + np.random.rand(3) + np.random.normal(x, 1.0),
    lambda x: x * normal() + np.random.randn(2, 3),
    lambda x: x.astype("f4") + random.random() + random.uniform(1, 2),
    lambda x: x + PYTHONS.gauss(0, 1) + PYTHONS.choice([1, 2, 3]),
    lambda x: x.astype("i1") + random.randint(0, 5),
    lambda x: x + np.array(random.sample(range(10), 3)),
    lambda x: x[RNG.permutation(3)] + RNG.choice(x, 3),
    lambda x: RNG.choice(x, 4, p=np.abs(x) / np.abs(x).sum()),
    lambda x: RNG.multivariate_normal(x, np.eye(3)) + RNG.poisson(np.abs(x)),
    lambda x: np.where(RNG.random(3) < 0.5, x, -x),
    lambda x: x + np.random.default_rng(7).random(3),
    lambda x: x + np.random.Generator(np.random.PCG64(7)).random(3),
    lambda x: x * (1 if isinstance(RNG, np.random.Generator) else 2),
    lambda x: WALK.twice(x),
    *(
        shuffled,
        into,
        seeded,
        WALK,
        WALK.twice,
        WALK.noisy,
        HOLDER.step,
        around(RNG.random),
    ),
]


@pytest.fixture
def generators() -> Iterator[Callable[[], None]]:
    """A function that gives all generators the states that they had."""
    numpys = [g.bit_generator for g in (RNG, WALK.rng, HOLDER.walk.rng)]
    kept = copy.deepcopy([g.state for g in numpys])
    others = LEGACY.get_state(), np.random.get_state()
    plain = random.getstate(), PYTHONS.getstate()

    def restore() -> None:
        for generator, state in zip(numpys, kept, strict=True):
            generator.state = state
        LEGACY.set_state(others[0])
        np.random.set_state(others[1])
        random.setstate(plain[0])
        PYTHONS.setstate(plain[1])

    yield restore
    restore()


def test_draws_are_those_of_numpy_in_each_call(generators: Any) -> None:
    wrong = []
    for k, function in enumerate(DRAWS):
        wanted = [function(V) for _ in range(3)]
        generators()
        jitted = traceir_numba.jit(function)
        found = [jitted(V) for _ in range(3)]
        generators()
        pairs = list(zip(found, wanted, strict=True))
        if any(a.tobytes() != b.tobytes() or a.dtype != b.dtype for a, b in pairs):
            wrong.append((k, pairs))
    assert wrong == []


@pytest.mark.parametrize("strict", [False, True])
def test_a_static_generator_draws_in_each_call(strict: bool) -> None:
    def noisy(x: Any, rng: Any) -> Any:
        return x + rng.random(3)

    jitted = traceir_numba.jit(noisy, static_argnames="rng", strict=strict)
    ours, plain = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(3):
        assert jitted(V, rng=ours).tolist() == noisy(V, plain).tolist()
    assert jitted.cache_info().misses == 1


def test_a_generator_without_a_seed_is_new_in_each_call() -> None:
    functions: list[Callable[[Any], Any]] = [
        lambda x: x + np.random.default_rng().random(3),
        lambda x: x + default_rng().random(3),
        lambda x: x + Generator(PCG64()).random(3),
        lambda x: x + np.random.RandomState().rand(3),
        lambda x: x + random.Random().random(),
        lambda x: x + random.SystemRandom().random(),
    ]
    for k, function in enumerate(functions):
        jitted = traceir_numba.jit(function)
        assert len({jitted(V).tobytes() for _ in range(3)}) == 3, k


def test_a_loop_draws_in_each_step(generators: Any) -> None:
    def total(x: Any) -> Any:
        return traceir.lax.fori_loop(0, 5, lambda k, carry: carry + RNG.random(), x)

    found = traceir_numba.jit(total)(0.0)
    generators()
    assert found == sum(RNG.random() for _ in range(5))


def test_strict_sees_generators_that_a_trace_draws_from() -> None:
    for function in (WALK.step, lambda x: x + RNG.random(), lambda x: x + normal()):
        with raises_rule("cache.strict.capture", RuntimeError, "another state"):
            traceir.jit(function, strict=True)(V)


def test_strict_sees_the_attributes_of_an_object_with_a_generator() -> None:
    walk = Walk()
    jitted = traceir_numba.jit(walk.step, strict=True)
    assert jitted(V).tolist() != jitted(V).tolist()
    walk.scale = 3.0
    with raises_rule("cache.strict.capture", RuntimeError, r"scale=2\.0"):
        jitted(V)
