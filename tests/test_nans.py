"""`debug_nans` and `debug_infs`: who gave a value that is no number.

Cites: debug.nan, debug.inf, cache.flag.debug_nans, cache.flag.debug_infs
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from execution_modes import WAYS, runner
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.experimental import io_callback
from traceir.scipy.linalg import expm


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function run as it is, or by a backend."""
    return runner(request.param)


def test_the_first_operation_is_named_at_its_line(run: Any) -> None:
    def f(x: Any) -> Any:
        y = jnp.sin(x)
        z = jnp.log(y - 2.0)  # here
        return z * 2.0

    with traceir.debug_nans(), raises_rule("debug.nan", FloatingPointError, "# here"):
        run(f, jnp.ones(3))
    with (
        traceir.debug_nans(),
        raises_rule("debug.nan", pattern="`log`, of operands wi"),
    ):
        run(f, 1.0)
    assert np.isnan(float(run(f, 1.0)))


LOOPS = {
    "scan": lambda x: lax.fori_loop(0, 3, lambda _, c: jnp.log(c) - 1.0, x),
    "while": lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + jnp.log(-c), x),
    "cond": lambda x: lax.cond(x > 0, lambda x: jnp.log(-x), lambda x: x, x),
    "jit": lambda x: traceir.jit(lambda x: jnp.log(-x))(x),
    "vmap": lambda x: traceir.vmap(lambda x: jnp.log(-x))(x[None]),
    "custom": lambda x: traceir.checkpoint(lambda x: jnp.log(-x))(x),
}


@pytest.mark.parametrize("name", LOOPS)
def test_an_operation_inside_is_found(name: str, run: Any) -> None:
    with warnings.catch_warnings(), traceir.debug_nans():
        warnings.simplefilter("error")
        with raises_rule("debug.nan", FloatingPointError, "`log`"):
            run(LOOPS[name], jnp.float32(1))


def test_a_value_that_nothing_keeps_is_no_fault_of_a_program() -> None:
    def f(x: Any) -> Any:
        return jnp.where(x > 0, jnp.log(x), 0.0)

    with traceir.debug_nans():
        assert float(traceir.jit(f)(-1.0)) == 0
        with raises_rule("debug.nan", pattern="`log`"):
            f(-1.0)


def test_a_value_within_a_function_of_the_library_is_no_fault() -> None:
    x = jnp.array([1.0, 2.0])
    with traceir.debug_nans(True):
        np.testing.assert_array_equal(jnp.where(x > 0, x, jnp.nan), x)
        np.testing.assert_allclose(expm(jnp.eye(2)), np.eye(2) * np.e, rtol=1e-6)
        assert jnp.percentile(x, 50) == 1.5
        with pytest.raises(FloatingPointError, match=r"jnp\.where\(x < 0, x, jnp\.nan"):
            jnp.where(x < 0, x, jnp.nan)


def test_a_bad_argument_is_told_from_a_bad_operation(run: Any) -> None:
    with traceir.debug_nans(), raises_rule("debug.nan", pattern="an operand with nan"):
        run(lambda x: x + 1.0, jnp.float32(np.nan))
    with traceir.debug_nans(), raises_rule("debug.nan"):
        traceir.jit(lambda x: x)(float("nan"))


def test_infinities_have_a_flag_of_their_own(run: Any) -> None:
    def f(x: Any) -> Any:
        return 1.0 / x

    with traceir.debug_infs(), raises_rule("debug.inf", FloatingPointError, "`div`"):
        run(f, jnp.float32(0))
    with traceir.debug_nans():
        assert np.isinf(float(run(f, jnp.float32(0))))
    with traceir.debug_infs():
        assert np.isnan(float(run(jnp.log, jnp.float32(-1))))


def test_a_derivative_is_looked_at() -> None:
    def f(x: Any) -> Any:
        return jnp.sqrt(x) * x

    with traceir.debug_nans(), raises_rule("debug.nan"):
        traceir.grad(f)(0.0)


def test_the_flag_takes_no_trace_and_keeps_what_was_compiled() -> None:
    traced: list[Any] = []

    @traceir.jit
    def f(x: Any) -> Any:
        traced.append(x)
        return jnp.log(x)

    f(1.0)
    with traceir.debug_nans():
        f(1.0)
        for _ in range(2):
            with raises_rule("debug.nan"):
                f(-1.0)
    assert np.isnan(float(f(-1.0)))
    assert len(traced) == 1


def test_what_is_called_is_not_called_again_to_find_the_fault() -> None:
    told: list[float] = []

    def tell(x: Any) -> Any:
        told.append(float(x))
        return x

    @traceir.jit
    def f(x: Any) -> Any:
        return jnp.log(io_callback(tell, x, x))

    with traceir.debug_nans(), raises_rule("debug.nan", pattern="`log`"):
        f(jnp.float32(-1))
    assert told == [-1.0]


def test_integers_are_never_bad(run: Any) -> None:
    with traceir.debug_nans(), traceir.debug_infs():
        assert int(run(lambda x: lax.div(x, jnp.int32(0)), jnp.int32(7))) == -1
