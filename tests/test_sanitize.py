"""`sanitize`: faults are errors at the user's line, in every way of running.

Cites: sanitize.index, sanitize.overflow, sanitize.division, sanitize.conversion,
sanitize.nan, sanitize.inf, cache.flag.sanitize, cache.key.sanitize
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from execution_modes import WAYS, runner
from plain import distances, finance, grids, images, signal, statistics
from plain.examples import EXAMPLES, Example
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir.experimental import io_callback

MODULES = (distances, finance, grids, images, signal, statistics)
X = np.arange(4, dtype=np.int32)
HALVES = np.array([0.5, 1.5, 2.5], np.float32)


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function run as it is, or by a backend."""
    return runner(request.param)


def small(*values: int, dtype: str = "int8") -> np.ndarray:
    """Integers of few bits."""
    return np.array(values, dtype)


def floats(*values: float) -> np.ndarray:
    """Numbers in float32."""
    return np.array(values, np.float32)


# What is a fault, the rule of its error and what the error shows.
FAULTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str, str]] = {
    "int": (lambda x: x[4], (X,), "index", "4 of 4"),
    "int before": (lambda x: x[-5], (X,), "index", "-5 of 4"),
    "scalar": (lambda x, k: x[k], (X, np.int32(9)), "index", "9"),
    "places": (lambda x, k: x[k], (X, np.array([0, 9])), "index", "9"),
    "rows": (lambda x, k: x[:, k], (X.reshape(2, 2), np.array([2])), "index", "2"),
    "take": (jnp.take, (X, np.array([3, 4])), "index", "place 4 .* extent 4"),
    "along": (
        lambda x, k: jnp.take_along_axis(x, k, 0),
        (X, np.array([4])),
        "index",
        "place 4",
    ),
    "set": (lambda x, k: x.at[k].set(1), (jnp.array(X), 4), "index", "`scatter`"),
    "add": (lambda x: x.at[4].add(1), (jnp.array(X),), "index", "`scatter-add`"),
    "box": (
        lambda x: lax.dynamic_slice(x, (3,), (2,)),
        (X,),
        "index",
        "places 3 to 4 in dimension 0 of extent 4",
    ),
    "written box": (
        lambda x: lax.dynamic_update_slice(x, x[:2], (3,)),
        (X,),
        "index",
        "places 3 to 4",
    ),
    "sum of two": (lambda x: x + x, (small(100),), "overflow", "100 and 100"),
    "below": (lambda x: x - 1, (small(3, 0, dtype="uint8"),), "overflow", "0 and 1"),
    "product": (lambda x: x * x, (np.int32(50000),), "overflow", "50000"),
    "power": (lambda x: x**7, (small(2),), "overflow", "integer_pow"),
    "minus": (lambda x: -x, (small(-128),), "overflow", "-128"),
    "magnitude": (jnp.abs, (small(-128),), "overflow", "-128"),
    "running": (lambda x: lax.cumsum(x), (small(100, 100, -100),), "overflow", ""),
    "dot": (lambda x: lax.dot(x, x), (small(100, 100),), "overflow", "dot_general"),
    "added": (
        lambda x: x.at[np.array([0, 0])].add(np.int8(100)),
        (jnp.zeros(1, "int8"),),
        "overflow",
        "scatter-add",
    ),
    "quotient": (lambda x: x // 0, (X,), "division", "and 0"),
    "remainder": (lambda x: x % (x - 1), (X,), "division", "1 and 0"),
    "least": (lambda x: lax.div(x, np.int8(-1)), (small(-128),), "overflow", "-128"),
    "nan to int": (
        lambda x: lax.convert_element_type(x, "int32"),
        (np.float32(np.nan),),
        "conversion",
        "nan of float32, made int32",
    ),
    "too great": (lambda x: (x * 1e20).astype("int32"), (HALVES,), "conversion", "e"),
    "narrower": (lambda x: x.astype("uint8"), (jnp.array(X) - 1,), "conversion", "-1"),
    "root": (lambda x: jnp.sqrt(x - 1.0), (HALVES,), "nan", "-0.5"),
    "no difference": (lambda x: x - x, (np.float32(np.inf),), "nan", "inf and inf"),
    "pole": (lambda x: 1.0 / (x - 1.5), (HALVES,), "inf", "1.0 and 0.0"),
    "exponential": (jnp.exp, (np.float32(100),), "inf", "`exp` of 100.0"),
    "sum of many": (jnp.sum, (np.full(9, 3e38, np.float32),), "inf", "reduce_sum"),
    "half": (lambda x: x.astype("float16"), (jnp.array(1e5),), "inf", "convert"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_an_error(name: str, run: Any) -> None:
    function, given, rule, pattern = FAULTS[name]
    args = list(map(jnp.asarray, given))
    kind = IndexError if rule == "index" else FloatingPointError
    run(function, *args)
    with traceir.sanitize(), raises_rule(f"sanitize.{rule}", kind, pattern):
        run(function, *args)


# Functions in which all that is made is as it should be, or does not count.
CLEAN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "from the end": (lambda x, k: x[k] + x[-4], (X, np.int32(-4))),
    "a mode": (lambda x, k: jnp.take(x, k, mode="clip"), (X, np.array([9]))),
    "filled": (lambda x, k: x.at[k].get(mode="fill"), (jnp.array(X), 9)),
    "left out": (lambda x, k: x.at[k].set(1, mode="drop"), (jnp.array(X), 9)),
    "found": (lambda x: jnp.nonzero(x, size=2), (X,)),
    "counted": (lambda x: jnp.bincount(x, length=2), (X,)),
    "unique": (lambda x: jnp.unique(x, size=6), (X,)),
    "known nan": (lambda x: x * 2.0 - 1.0, (np.array([np.nan, np.inf], "float32"),)),
    "fraction": (lambda x: x.astype("int8"), (jnp.array([127.9, -128.9]),)),
    "least": (lambda x: x * np.int8(2), (small(-64, 63),)),
    "sum": (lambda x: lax.reduce_sum(x, (0,)), (small(100, 100, -100),)),
    "factor of zero": (lambda x: jnp.prod(x), (np.array([2**30, 2**30, 0], "i4"),)),
    "bits": (lambda x: lax.shift_left(x, np.int8(7)), (small(3),)),
    "nothing": (lambda x: x + x, (np.zeros((0, 2), "int8"),)),
    "statistics": (lambda x: jnp.std(jnp.sort(x)) + jnp.median(x), (HALVES,)),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_no_fault_has_its_results(name: str, run: Any) -> None:
    function, args = CLEAN[name]
    want = run(function, *args)
    with traceir.sanitize():
        np.testing.assert_array_equal(run(function, *args), want)


def chosen(x: Any) -> Any:
    """No fault: where the logarithm is none, it is not chosen."""
    return lax.cond(x > 0, lambda x: jnp.log(x), lambda x: x, x)


def until(x: Any) -> Any:
    """No fault: examples that are done go along, and their next steps do not count."""
    return lax.while_loop(lambda c: c < 50, lambda c: c * 10, x)


# What does not count where there are many examples, or one program with a choice.
UNUSED: dict[str, tuple[Callable[..., Any], Any]] = {
    "where": (lambda x: jnp.where(x > 0, jnp.log(x), 0), floats(-1, 0, 1)),
    "where, moved": (
        lambda x: jnp.where(x > 0, jnp.log(x)[::-1].reshape(3, 1)[::-1, 0], 0),
        floats(-1, 0, 1),
    ),
    "cond": (traceir.vmap(chosen), floats(-1, 0, 1)),
    "while": (traceir.vmap(until), small(1, 7, 100, 127)),
    "scan": (
        lambda x: lax.scan(lambda c, x: (c, jnp.log(x)), 0, x)[1][1:],
        floats(0, 1, 2),
    ),
    "read": (
        lambda x: jnp.where(jnp.arange(5) < 3, x[jnp.arange(5)], 0),
        floats(1, 2, 3),
    ),
    "gradient": (
        traceir.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), x).sum()),
        floats(1, 4),
    ),
}


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("name", UNUSED)
def test_what_does_not_count_is_no_fault(name: str, backend: str) -> None:
    function, x = UNUSED[name]
    f = traceir.jit(function, backend=backend)
    want = f(x)
    with traceir.sanitize():
        np.testing.assert_allclose(f(x), want, rtol=1e-6)


# Marked elements that come to count: in a condition, at a place, in a fold, at the end.
COUNTS: dict[str, Callable[..., Any]] = {
    "result": lambda x: (x + 1.0, jnp.log(x)),
    "condition": lambda x: lax.cond(jnp.log(x[0]) > 0, lambda x: x, lambda x: x, x),
    "selector": lambda x: jnp.where(jnp.log(x) > 0, x, x),
    "fold": lambda x: jnp.max(jnp.log(x), initial=0.0),
    "place": lambda x: x[jnp.where(jnp.log(x) < 0, 1, 0)],
    "loop": lambda x: lax.fori_loop(0, 3, lambda _, c: jnp.log(c) + 9.0, x),
    "scan": lambda x: lax.scan(lambda c, x: (c, jnp.log(x)), 0, x)[1],
    "while": lambda x: lax.while_loop(lambda c: jnp.log(c[0]) > 0, lambda c: c, x),
    "jit": lambda x: traceir.jit(lambda x: jnp.log(x))(x) * 2.0,
    "vmap": lambda x: traceir.vmap(lambda x: jnp.log(x))(x),
    "checkpoint": lambda x: traceir.checkpoint(lambda x: jnp.log(x))(x),
    "callback": lambda x: io_callback(lambda x: x, x, jnp.log(x)),
}


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("name", COUNTS)
def test_what_counts_is_an_error_of_the_line_that_made_it(
    name: str, backend: str
) -> None:
    f = traceir.jit(COUNTS[name], backend=backend)
    with traceir.sanitize(), raises_rule("sanitize.inf", pattern=r"`log`[^§]*jnp\.log"):
        f(floats(0, 1))


@pytest.mark.parametrize("example", EXAMPLES[::5], ids=str)
def test_ordinary_functions_have_no_faults(example: Example) -> None:
    with traceir.sanitize():
        static = example.static
        traceir_numba.jit(example.function, static_argnames=static)(*example.copies())


def test_batches_of_places(run: Any) -> None:
    places = np.arange(5)
    for read in (
        lambda x, k: x[k],
        lambda x, k: lax.dynamic_slice(x, (k,), (1,)),
        lambda x, k: lax.dynamic_update_slice(x, x[:1], (k,)),
    ):
        f = traceir.vmap(read, (None, 0))
        with traceir.sanitize():
            run(f, jnp.array(X), places[:4])
            with raises_rule("sanitize.index", IndexError, "place 4"):
                run(f, jnp.array(X), places)


def test_the_option_is_as_the_flag() -> None:
    def twice(x: Any) -> Any:
        return x + x  # here

    f = traceir.jit(twice, sanitize=True)
    assert f(np.int8(3)) == 6
    for _ in range(2):
        with raises_rule("sanitize.overflow", pattern="# here"):
            f(np.int8(100))
    with raises_rule("sanitize.overflow"):
        f.lower(np.int8(100)).compile()(np.int8(100))
    assert traceir.jit(twice)(np.int8(100)) == -56


def test_the_flag_has_traces_of_its_own() -> None:
    f = traceir.jit(lambda x, k: x[k])
    for _ in range(2):
        assert f(X, 9) == 3
        with traceir.sanitize(), raises_rule("sanitize.index"):
            f(X, 9)
    assert f.cache_info().misses == 2


def test_callbacks_are_called_once(run: Any) -> None:
    told: list[float] = []

    def tell(x: Any) -> Any:
        told.append(float(x))
        return x

    def f(x: Any) -> Any:
        return io_callback(tell, x, x) + 1.0

    with traceir.sanitize():
        run(f, np.float32(2))
    assert told == [2.0]


def test_wide_integers_are_told_to_the_last_one(run: Any) -> None:
    with traceir.enable_x64(), traceir.sanitize():
        most = jnp.array([2**63 - 1, 2**62, -(2**62)])
        assert run(lambda x: x[0] - 1, most) == 2**63 - 2
        assert run(lambda x: x[1] - 1 + x[1], most) == 2**63 - 1
        assert run(lambda x: x[2] * 2, most) == -(2**63)
        for f in (lambda x: x[0] + 1, lambda x: x[1] * 2, lambda x: x[2] * 2 - 1):
            with raises_rule("sanitize.overflow"):
                run(f, most)
