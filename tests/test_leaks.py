"""`checking_leaks`: values that outlive their trace, and who holds them.

Cites: leak.held, cache.flag.check_tracer_leaks, level.lift
"""

from __future__ import annotations

import gc
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.base import config
from traceir.errors import UnexpectedTracerError


class Store:
    """Something to hold a value."""

    value: Any = None


@pytest.fixture(scope="module")
def holding() -> Any:
    """A module that was made after the collection of tests.

    What was made before is set aside, where nobody looks for holders.
    """
    path = Path(__file__).with_name("holding.py")
    spec = spec_from_file_location("holding_anew", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def empty(holding: Any) -> Any:
    """Nothing is held after a test."""
    yield
    holding.HELD.clear()
    gc.collect()


WAYS = {
    "jit": lambda keep: traceir.jit(keep)(1.0),
    "make_jaxpr": lambda keep: traceir.make_jaxpr(keep)(1.0),
    "vmap": lambda keep: traceir.vmap(keep)(jnp.ones(2)),
    "grad": lambda keep: traceir.grad(keep)(1.0),
    "jvp": lambda keep: traceir.jvp(keep, (1.0,), (1.0,)),
    "jit grad": lambda keep: traceir.jit(traceir.grad(keep))(1.0),
    "scan": lambda keep: lax.scan(lambda c, _: (keep(c), None), 1.0, None, length=2),
    "checkpoint": lambda keep: traceir.checkpoint(keep)(1.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_is_held_is_told_with_its_line_and_holder(
    way: str, holding: Any
) -> None:
    expected = raises_rule("leak.held", UnexpectedTracerError, "global `HELD` of")
    with expected, traceir.checking_leaks():
        WAYS[way](holding.keep)


def test_the_error_comes_with_the_call_that_traced(holding: Any) -> None:
    after: list[str] = []
    with traceir.checking_leaks():
        with raises_rule("leak.held", pattern=r"keep for jit, made at .*HELD.append"):
            traceir.jit(holding.keep)(1.0)
        after.append("went on")
        holding.HELD.clear()
    assert after


def refused(function: Any, *args: Any) -> None:
    """A call that raises while it traces."""
    with pytest.raises(TypeError):
        function(*args)


CLEAN = {
    "jit": lambda: traceir.jit(jnp.sin)(1.0),
    "nested": lambda: traceir.jit(lambda x: traceir.jit(jnp.sin)(x) * x)(1.0),
    "captured": lambda: traceir.jit(lambda x: traceir.jit(lambda y: y * x)(2.0))(1.0),
    "grad": lambda: traceir.grad(lambda x: jnp.sin(x) * x)(1.0),
    "hessian": lambda: traceir.hessian(lambda x: jnp.sin(x) * x)(1.0),
    "vmap": lambda: traceir.vmap(traceir.grad(jnp.sin))(jnp.ones(3)),
    "jit grad": lambda: traceir.jit(traceir.grad(jnp.sin))(1.0),
    "loops": lambda: traceir.grad(
        lambda x: lax.fori_loop(0, 3, lambda _, c: c * x, 1.0)
    )(2.0),
    "cond": lambda: traceir.jit(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x))(1.0),
    "raised": lambda: refused(traceir.jit(lambda x: bool(x)), jnp.ones(())),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_returns_its_results_leaks_nothing(name: str) -> None:
    with traceir.checking_leaks():
        CLEAN[name]()


def test_a_linear_function_that_is_kept_is_no_leak() -> None:
    with traceir.checking_leaks():
        _, linear = traceir.linearize(jnp.sin, 1.0)
        _, back = traceir.vjp(jnp.sin, 1.0)
    assert float(linear(1.0)) == pytest.approx(float(back(1.0)[0]))


def test_holders_of_every_kind_are_named() -> None:
    store = Store()
    table: dict[str, Any] = {}

    def by_attribute(x: Any) -> Any:
        store.value = x * 2.0
        return x

    def by_key(x: Any) -> Any:
        table["key"] = (x * 2.0,)
        return x

    def by_default(x: Any, found: list[Any] = []) -> Any:  # noqa: B006 - the mistake
        found.append(x * 2.0)
        return x

    for function, text in (
        (by_attribute, "`value` of an instance of Store"),
        (by_key, "element 0 of a tuple, in key 'key' of a dict"),
        (by_default, "in the defaults of .*by_default"),
    ):
        with raises_rule("leak.held", pattern=text), traceir.checking_leaks():
            traceir.jit(function)(1.0)
        store.value = None
        table.clear()


def test_a_value_of_a_closure_is_named_by_its_variable() -> None:
    found = None

    def f(x: Any) -> Any:
        nonlocal found
        found = x * 2.0
        return x

    with raises_rule("leak.held", pattern="variable `found`"), traceir.checking_leaks():
        traceir.jit(f)(1.0)
    assert found is not None


def test_what_leaked_before_is_not_told(holding: Any) -> None:
    traceir.jit(holding.keep)(1.0)
    assert holding.HELD
    with traceir.checking_leaks():
        traceir.jit(jnp.sin)(1.0)
        traceir.jit(holding.keep)(2.0)  # traced before


def test_the_flag_alone_looks_at_programs(holding: Any) -> None:
    with config.scope("check_tracer_leaks", True), raises_rule("leak.held"):
        traceir.jit(lambda x: holding.keep(x))(1.0)
    holding.HELD.clear()
    traceir.jit(lambda x: holding.keep(x))(1.0)
    assert len(holding.HELD) == 1


def test_an_error_of_the_body_is_the_users_own(holding: Any) -> None:
    def f(x: Any) -> Any:
        holding.HELD.append(x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), traceir.checking_leaks():
        traceir.jit(f)(1.0)
