"""State outside of plain functions: drawn from in each run, or refused by a name and a
line; never frozen. Rules: face.random, face.external, update.external"""

from __future__ import annotations

import copy
import datetime
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.random import normal
from rule_errors import raises_rule
from scipy import stats

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
        self.pos = np.zeros(3)

    def step(self, x: Any) -> Any:
        """The array, moved."""
        return x + self.scale * self.rng.normal(size=x.shape)

    def move(self, x: Any) -> Any:
        """It keeps what it makes."""
        self.pos = self.pos + x
        return self.pos

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
    *(shuffled, into, seeded, WALK.twice, HOLDER.step, around(RNG.random)),
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
    jitted = traceir_numba.jit(lambda x: x + np.random.default_rng().random(3))
    assert len({jitted(V).tobytes() for _ in range(3)}) == 3


def test_a_loop_draws_in_each_step(generators: Any) -> None:
    def total(x: Any) -> Any:
        return traceir.lax.fori_loop(0, 5, lambda k, carry: carry + RNG.random(), x)

    found = traceir_numba.jit(total)(0.0)
    generators()
    assert found == sum(RNG.random() for _ in range(5))


N, LOG, COUNTS, TABLE, LAST = 0, [0], {"n": 0}, np.zeros(3), None
PLACES, NUMBERS, SQUARES = (
    iter(range(100)),
    itertools.count(),
    (k * k for k in range(9)),
)
BOX = {"rng": np.random.default_rng(1)}


class Counter:
    """An object that counts; with a generator, it is seen as a copy."""

    def __init__(self, **held: Any) -> None:
        self.n = 0
        self.__dict__.update(held)

    def step(self, x: Any) -> Any:
        """It counts its calls."""
        self.n += 1
        return x + self.n


def a_global(x: Any) -> Any:
    """It counts."""
    global N
    N += 1
    return x + N


def a_global_that_it_only_sets(x: Any) -> Any:
    """It keeps what it was given."""
    global LAST
    LAST = x
    return x + 1


def a_list(x: Any) -> Any:
    """It logs."""
    y = x + 1
    LOG.append(1)
    return y + len(LOG)


def a_helper(x: Any) -> Any:
    """It calls one that logs."""
    return a_list(x) * 2


def a_dict(x: Any) -> Any:
    """It counts."""
    COUNTS["n"] += 1
    return x + COUNTS["n"]


def an_array(x: Any) -> Any:
    """It counts."""
    TABLE[0] += 1
    return x + TABLE


def a_default(x: Any, seen: Any = []) -> Any:  # noqa: B006  # that is what is tested
    """It counts."""
    seen.append(1)
    return x + len(seen)


def an_attribute_of_itself(x: Any) -> Any:
    """It counts in an attribute of the function."""
    an_attribute_of_itself.n = getattr(an_attribute_of_itself, "n", 0) + 1  # type: ignore[attr-defined]
    return x + an_attribute_of_itself.n  # type: ignore[attr-defined]


class Shared:
    """A class that has a number."""

    n = 0


def an_attribute_of_a_class(x: Any) -> Any:
    """It counts in a class."""
    Shared.n += 1
    return x + Shared.n


def a_variable() -> Callable[[Any], Any]:
    """It counts in a variable of the function around."""
    n = 0

    def counting(x: Any) -> Any:
        nonlocal n
        n += 1
        return x + n

    return counting


class Deep:
    """Methods of its own that count and draw."""

    def __init__(self) -> None:
        self.noise = np.random.default_rng(8)

    def count(self) -> None:
        """It logs."""
        LOG.append(1)

    @property
    def scale(self) -> int:
        """It reads a global."""
        return N + 2

    def logged(self, x: Any) -> Any:
        """It calls one that logs."""
        self.count()
        return x + len(LOG)

    def scaled(self, x: Any) -> Any:
        """It reads a property."""
        return x * self.scale


CHANGES: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("the global N was", r"N \+= 1", a_global),
    ("the global LAST", "LAST = x", a_global_that_it_only_sets),
    (r"the global LOG was \[0, 1\]", "LOG.append", a_list),
    ("which a_list reads was", "LOG.append", a_helper),
    ("the global COUNTS", "COUNTS\\[", a_dict),
    ("the global TABLE", "TABLE\\[0\\]", an_array),
    ("a default", "seen.append", a_default),
    ("the variable n", "n \\+= 1", a_variable()),
    (r"Counter\(n=1\), then", "self.n \\+= 1", Counter().step),
    ("pos=array", "self.pos", Walk().move),
    ("the global an_attribute", "an_attribute_of_itself, ", an_attribute_of_itself),
    ("the global LOG", r"LOG\.append", Deep().logged),
    ("the global Shared", r"Shared\.n \+= 1", an_attribute_of_a_class),
    ("n=1", "self.n \\+= 1", Counter(rng=np.random.default_rng()).step),
    ("PLACES", "lambda", lambda x: x + next(PLACES)),
    ("NUMBERS", "lambda", lambda x: x + next(NUMBERS)),
    ("SQUARES", "k \\* k", lambda x: x + next(SQUARES)),
    ("BOX", "lambda", lambda x: x + BOX["rng"].random(3)),
    ("generator of numpy.random", "rvs", lambda x: x + stats.norm.rvs(size=3)),
]


def test_a_change_outside_is_refused_and_undone() -> None:
    for got, line, function in CHANGES:
        with raises_rule("update.external", TypeError, rf"(?s){got}.*\n.*{line}"):
            traceir_numba.jit(function)(V)
    assert Shared.n == 0 and not vars(an_attribute_of_itself)
    assert (N, LAST, LOG, COUNTS["n"], TABLE.sum()) == (0, None, [0], 0, 0)
    assert a_default.__defaults__ == ([],)
    assert Counter().step(0) == 1


MEMO: dict[int, Any] = {}


def test_what_is_set_up_once_is_no_change() -> None:
    def kept(x: Any) -> Any:
        if len(x) not in MEMO:
            MEMO[len(x)] = len(x) ** 2
        return x * MEMO[len(x)]

    assert traceir_numba.jit(kept)(V).tolist() == (V * 9).tolist()
    assert MEMO == {3: 9}


def opened() -> str:
    """What a file has."""
    with open(os.devnull) as file:
        return file.read()


ASKING: list[tuple[str, Callable[[Any], Any]]] = [
    ("time", lambda x: x + time.time()),
    ("perf_counter_ns", lambda x: x + time.perf_counter_ns()),
    ("datetime.now", lambda x: x + datetime.datetime.now().year),
    ("urandom", lambda x: x + len(os.urandom(3))),
    ("open", lambda x: x + len(opened())),
    ("input", lambda x: x + float(input())),
    ("loadtxt", lambda x: x + np.loadtxt(os.devnull)),
]


def test_what_another_call_would_hear_otherwise_is_not_asked() -> None:
    for name, function in ASKING:
        with raises_rule("face.external", TypeError, rf"{name}\(\)"):
            traceir_numba.jit(function)(V)
    for function in (lambda x: x + np.random.bytes(2), lambda x: random.shuffle([x])):
        with raises_rule("face.random", TypeError, "bytes|list"):
            traceir_numba.jit(function)(V)


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


def test_strict_sees_the_attributes_of_a_class() -> None:
    jitted = traceir_numba.jit(lambda x: x + Shared.n, strict=True)
    assert jitted(V).tolist() == V.tolist()
    Shared.n = 4
    try:
        with raises_rule("cache.strict.capture", RuntimeError, "global Shared"):
            jitted(V)
    finally:
        Shared.n = 0


def test_an_array_outside_is_not_written_to() -> None:
    def outer(x: Any) -> Any:
        TABLE[0] = x[0]
        return x

    with raises_rule("level.concretize.number", TypeError, r"TABLE\[0\]"):
        traceir_numba.jit(outer)(V)


@pytest.mark.parametrize("static", [False, True])
def test_strict_sees_what_methods_read(static: bool, monkeypatch: Any) -> None:
    method = Deep.scaled if static else Deep().scaled
    own = (Deep(),) if static else ()
    options: Any = {"static_argnums": 0} if static else {}
    jitted = traceir_numba.jit(method, strict=True, **options)
    assert jitted(*own, V).tolist() == (V * 2).tolist()
    monkeypatch.setitem(globals(), "N", 5)
    with raises_rule("cache.strict.capture", RuntimeError, "N, which scale reads"):
        jitted(*own, V)
