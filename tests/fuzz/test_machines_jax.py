"""The state machines of the cache and the levels on JAX, where it is installed.

What is drawn avoids the recorded deviations of `cache.key.tree` (names of arguments),
`cache.key.static` (zeros and NaN, nested types) and `level.lift` (traces that lift).
Cites cache.key.*, cache.event.*, level.*
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from machine_steps import (
    ASKS,
    bodies,
    foreign,
    numbers,
    strong,
    transforms,
    trees_of,
    value,
)
from machines import SessionMachine
from soak import examples

from traceir.conform.systems.systems import System

pytest.importorskip("jax", reason="JAX is not installed; it is no requirement of ours")
# A call may compile in JAX, which takes a while.
FEW = examples(4)
STEPS = 12


def jax_system() -> System:
    """JAX, imported by name because it is no requirement."""
    made: Callable[[], System] = importlib.import_module(
        "traceir.conform.jax.system"
    ).JaxSystem
    return made()


# Weak arrays are numbers here, whose dtype follows the flag in force.
leaves = strong | numbers | foreign
trees = trees_of(leaves)
# Of arrays that are no scalars JAX says first that they are none; 64-bit ones it lacks.
scalars = st.builds(
    value,
    st.just(()),
    st.sampled_from(("bool", "int32", "float32")),
    st.just(False),
    st.integers(0, 3),
)
plain = st.sampled_from([1, 2, True, False, 1.0, 2.5, "a", b"a", None])
statics = plain | st.lists(st.sampled_from("ab"), max_size=2).map(tuple)


class JaxCacheMachine(SessionMachine):
    """Functions of several kinds under `jax.jit`."""

    system = jax_system
    texts = (
        "f = { lambda ; x. let y = operator.mul x x in (y,) }",
        "again = f",
        "one = equal(f, 1)",
        "other = equal(f, 1)",
        "two = equal(f, 2)",
        "part = partial(f)",
        "bound = method(f)",
        "tree = { lambda ; x y. let in (y, x) }",
        "chosen = { lambda ; x static n. let in (x,) }",
        "raising = { lambda ; x. let host_raise r in (x,) }",
        "reads = { lambda ; x. let y = operator.add x c in (y,) }",
        "outer = { lambda ; x. let y = f x ; z = chosen[n=1] y in (z,) }",
        "c = 2.0",
        "r = true",
    )
    unary = ("f", "again", "one", "other", "two", "part", "bound", "reads", "outer")

    @rule(name=st.sampled_from(unary), x=leaves, via=transforms)
    def call_unary(self, name: str, x: Any, via: str) -> None:
        self.call(name, x, via=via)

    @rule(x=trees, y=trees)
    def call_with_trees(self, x: Any, y: Any) -> None:
        self.call("tree", x, y)

    @rule(x=leaves, n=statics)
    def call_with_static(self, x: Any, n: Any) -> None:
        self.call("chosen", x, n)

    @rule(x=leaves)
    def call_what_may_raise(self, x: Any) -> None:
        self.call("raising", x)

    @rule(on=st.booleans())
    def set_raise(self, on: bool) -> None:
        self.set("set", "r", on)

    @rule(number=st.sampled_from([2.0, 3.0]))
    def set_global(self, number: float) -> None:
        self.set("set", "c", number)

    @rule(on=st.booleans())
    def set_x64(self, on: bool) -> None:
        self.set("config", "enable_x64", on)

    @rule(name=st.sampled_from(unary))
    def clear(self, name: str) -> None:
        self.set("clear_cache", name)


class JaxLevelMachine(SessionMachine):
    """Functions that call one another and ask what they may not."""

    system = jax_system
    texts = ("start = { lambda ; x. let in (x,) }",)

    @rule(data=st.data())
    def define_one(self, data: st.DataObject) -> None:
        names = [n for n in self.names if n != "start"]
        # Of a float JAX says first that it is no integer.
        asks = [ask for ask in ASKS if ask != "host_index"]
        body = data.draw(bodies(names, False, asks))
        self.define(f"f{len(names)} = {body}")

    @precondition(lambda self: len(self.names) > 1)
    @rule(data=st.data(), x=scalars, via=transforms)
    def call_one(self, data: st.DataObject, x: Any, via: str) -> None:
        names = [n for n in self.names if n != "start"]
        self.call(data.draw(st.sampled_from(names)), x, via=via)


few = settings(max_examples=FEW, stateful_step_count=STEPS)
TestJaxCache = JaxCacheMachine.TestCase
TestJaxCache.settings = few
TestJaxLevels = JaxLevelMachine.TestCase
TestJaxLevels.settings = few
