"""Programs that share functions, compiled, stored, dropped and cleared in any order.

Cites cache.event.die, cache.event.clear
"""

from __future__ import annotations

import ctypes
import functools
import gc
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soak import SOAK
from store.children import in_child

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.base import config
from traceir_numba.llvm import optimize
from traceir_numba.pipeline import kernel_cache
from traceir_numba.store import units

# Children of a process with threads, whose locks a fork holds.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
Body = Callable[[Any], Any]


def rounds(body: Body) -> Body:
    return lambda x: lax.fori_loop(0, 3, lambda _, y: body(y), x)


# Each with functions that others have, too: to fill, copy, fold and multiply.
BODIES: dict[str, Body] = {
    "cumsum": lambda x: lax.cumsum(x),
    "argmax": lambda x: jnp.argmax(x, 1),
    "dot": lambda x: x @ x.T,
    "sum": lambda x: x.sum(0),
    "highest": lambda x: x.max(),
    "both": lambda x: (lax.cumsum(x), jnp.argmax(x, 1), x @ x.T),
    "counted": lambda x: lax.cumsum(jnp.cumsum(x) * jnp.argmax(x)),
    "dots": rounds(lambda y: jnp.sin(y) @ y),
    "sums": rounds(lambda y: jnp.cumsum(y, 0) * np.float32(0.25)),
}
X = np.arange(16, dtype=np.float32).reshape(4, 4) / 7
FACTORS = (0.5, 1.5, 2.5)
STEPS = 600 if SOAK else 90


def function(name: str, factor: float, backend: str = "numba") -> Any:
    """A jitted function of its own, whose program is that of its name and factor."""
    return traceir.jit(lambda x: BODIES[name](x * np.float32(factor)), backend=backend)


@functools.cache
def expected(name: str, factor: float) -> Any:
    return traceir.jit(
        lambda x: BODIES[name](x * np.float32(factor)), backend="reference"
    )(X)


def check(held: tuple[str, float, Any]) -> None:
    name, factor, f = held
    want = traceir.tree.leaves(expected(name, factor))
    for one, other in zip(traceir.tree.leaves(f(X)), want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def interleave(seed: int, steps: int) -> None:
    """Do what a seed says with functions: make, call, drop, clear."""
    draw = random.Random(seed)
    held: list[tuple[str, float, Any]] = []
    for _ in range(steps):
        match draw.choice("mmmmmccdddafg"):
            case "m":
                name, factor = draw.choice([*BODIES]), draw.choice(FACTORS)
                held.append((name, factor, function(name, factor)))
                check(held[-1])
            case "c" if held:
                check(draw.choice(held))
            case "d" if held:
                held.pop(draw.randrange(len(held)))
            case "f" if held:
                draw.choice(held)[2].clear_cache()
            case "a":
                traceir.clear_caches()
            case "g":
                gc.collect()


def work(seed: int, threads: int) -> bool:
    kernel_cache._recent.size = units._recent.size = 3
    config.update("trace_cache_size", 6)
    for name in BODIES:
        for factor in FACTORS:
            expected(name, factor)
    with ThreadPoolExecutor(threads) as pool:
        seeds = range(seed * threads, (seed + 1) * threads)
        return not any(pool.map(interleave, seeds, [STEPS // threads] * threads))


@pytest.mark.parametrize("threads", [1, 4])
def test_any_order_of_compiling_and_clearing(threads: int, tmp_path: Path) -> None:
    """Children find in the store what others left, besides what they make anew."""
    for seed in range(3):
        assert in_child(str(tmp_path), functools.partial(work, seed, threads))


def test_a_stored_unit_takes_no_function_away_from_others(tmp_path: Path) -> None:
    """A function that is in two units stays where one of them goes."""

    def first() -> None:
        check(("cumsum", 0.5, function("cumsum", 0.5)))

    def then() -> None:
        check(("both", 0.5, function("both", 0.5)))  # fills, folds: in one unit
        first()  # the unit of what fills alone is in the store
        traceir.clear_caches()
        gc.collect()
        check(("cumsum", 1.5, function("cumsum", 1.5)))

    in_child(str(tmp_path), first)
    in_child(str(tmp_path), then)


LEAF = "define i64 @traceir_test_leaf() { ret i64 %d }"
CALLER = """
declare i64 @traceir_test_leaf()
define i64 @traceir_test_caller() {
  %a = call i64 @traceir_test_leaf()
  ret i64 %a
}
"""


def test_code_holds_what_it_calls_where_it_was_told() -> None:
    """The same name in other units, loaded and freed, changes nothing."""

    def leaf(number: int) -> optimize.MachineCode:
        text = LEAF.replace("%d", str(number))
        return optimize.link([text], ["traceir_test_leaf"])

    one = leaf(1)
    leaf(2)  # in the same engine, as a rule
    caller = optimize.link([CALLER], ["traceir_test_caller"], uses=[one])
    assert caller.unit.uses == (one.unit,)
    del one
    for number in range(40):
        leaf(number + 3)
    call = ctypes.CFUNCTYPE(ctypes.c_int64)(caller.addresses["traceir_test_caller"])
    assert call() == 1
    with pytest.raises(RuntimeError, match="no code for traceir_test_leaf"):
        optimize.link([CALLER + "; alone\n"], ["traceir_test_caller"])
