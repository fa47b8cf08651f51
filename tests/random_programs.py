"""Random programs about keys, as Hypothesis strategies: steps that are followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

import traceir
import traceir.numpy as jnp
from traceir import lax, random

SHAPES = st.lists(st.sampled_from([0, 1, 2, 3, 5]), max_size=2).map(tuple)
WIDTHS = st.sampled_from(["uint8", "uint16", "uint32"])
NUMBERS = st.integers(0, 2**32 - 1)
# A choice among the keys that there are, whatever their number.
WHICH = st.integers(0, 30)

# A step takes the keys so far, all without dimensions; it gives more keys, and numbers.
Given = tuple[list[Any], list[Any]]
Step = tuple[str, tuple[Any, ...]]


def _split(keys: list[Any], which: int, count: int) -> Given:
    found = random.split(_one(keys, which), count)
    return [found[k] for k in range(count)], []


def _grid(keys: list[Any], which: int, shape: tuple[int, ...], turn: bool) -> Given:
    found = random.split(_one(keys, which), shape)
    moved = (found.T if turn else found[::-1]).ravel()
    return [moved[0], moved[-1]], [random.key_data(found)]


def _fold(keys: list[Any], which: int, number: int) -> Given:
    return [random.fold_in(_one(keys, which), jnp.uint32(number))], []


def _bits(keys: list[Any], which: int, shape: Any, width: str) -> Given:
    return [], [random.bits(_one(keys, which), shape, width)]


def _uniform(keys: list[Any], which: int, shape: Any, low: int) -> Given:
    numbers = random.uniform(_one(keys, which), shape, minval=low, maxval=low + 3)
    return [], [numbers, numbers < low + 1]


def _integers(keys: list[Any], which: int, shape: Any, low: int) -> Given:
    return [], [random.randint(_one(keys, which), shape, low - 2, 3 * low + 7)]


def _each(keys: list[Any], which: int, shape: Any, width: str) -> Given:
    every = random.split(_one(keys, which), 3)

    def one(key: Any) -> Any:
        own, rest = random.split(key)
        return random.bits(own, shape, width), random.fold_in(rest, 7)

    numbers, left = traceir.vmap(one)(every)
    return [left[1]], [numbers]


def _turns(keys: list[Any], which: int, shape: Any, count: int) -> Given:
    def turn(key: Any, own: Any) -> Any:
        key, other = random.split(key)
        return key, (random.uniform(other, shape), random.bits(own, ()))

    last, rows = lax.scan(turn, keys[0], random.split(_one(keys, which), count))
    return [last], list(rows)


def _choice(keys: list[Any], which: int, number: int) -> Given:
    key, other = _one(keys, which), keys[-1]
    even = random.bits(key, ()) % 2 == 0
    found = lax.cond(even, lambda: random.fold_in(key, number % 9), lambda: other)
    return [found], [random.bits(found, (2,))]


def _inside(keys: list[Any], which: int, shape: Any) -> Given:
    def f(key: Any) -> Any:
        first, second = random.split(key)
        return first, random.bits(second, shape)

    key, numbers = traceir.jit(f)(_one(keys, which))
    return [key], [numbers]


def _one(keys: list[Any], which: int) -> Any:
    return keys[which % len(keys)]


FEW = st.integers(1, 3)
LOWS = st.integers(-5, 5)
STEPS: dict[str, tuple[Callable[..., Given], tuple[st.SearchStrategy[Any], ...]]] = {
    "split": (_split, (WHICH, FEW)),
    "grid": (_grid, (WHICH, st.tuples(FEW, FEW), st.booleans())),
    "fold": (_fold, (WHICH, NUMBERS)),
    "bits": (_bits, (WHICH, SHAPES, WIDTHS)),
    "uniform": (_uniform, (WHICH, SHAPES, LOWS)),
    "integers": (_integers, (WHICH, SHAPES, st.integers(0, 1000))),
    "each": (_each, (WHICH, SHAPES, WIDTHS)),
    "turns": (_turns, (WHICH, SHAPES, FEW)),
    "choice": (_choice, (WHICH, NUMBERS)),
    "inside": (_inside, (WHICH, SHAPES)),
}


@st.composite
def plans(draw: st.DrawFn) -> tuple[Step, ...]:
    """A few steps, one after the other."""
    names = draw(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5))
    return tuple((n, tuple(draw(s) for s in STEPS[n][1])) for n in names)


def program(plan: tuple[Step, ...]) -> Callable[[Any], list[Any]]:
    """The function of a key that follows a plan: all numbers, and all keys as words."""

    def f(key: Any) -> list[Any]:
        keys, found = [key], []
        for name, given in plan:
            more, numbers = STEPS[name][0](keys, *given)
            keys += more
            found += numbers
        return [*found, *(random.key_data(k) for k in keys)]

    return f
