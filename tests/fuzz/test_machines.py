"""The cache and the levels as state machines, whose model is the tables.

Cites cache.key.*, cache.event.*, cache.state.*, level.*
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from machine_steps import (
    bodies,
    leaves,
    numbers,
    statics,
    strong,
    transforms,
    trees,
    weak,
)
from machines import SessionMachine
from soak import examples

from traceir.base import config

# A step may compile, and there are many in an example.
FEW = examples(5)


class CacheMachine(SessionMachine):
    """Functions of every kind under `jit`, and all that can happen to their traces."""

    texts = (
        "f = { lambda ; x. let y = operator.mul x x in (y,) }",
        "again = f",
        "one = equal(f, 1)",
        "other = equal(f, 1)",
        "two = equal(f, 2)",
        "part = partial(f)",
        "bound = method(f)",
        "limited = f with max_traces=2",
        "tree = { lambda ; x y. let in (y, x) }",
        "chosen = { lambda ; x static n. let in (x,) }",
        "raising = { lambda ; x static n. let host_raise n in (x,) }",
        "reads = { lambda ; x. let y = operator.add x c in (y,) }",
        "fills = { lambda ; x. let y = operator.add x d in (y,) }",
        "outer = { lambda ; x. let y = f x ; z = chosen[n=1] y"
        " ; v w = tree z x in (w, v) }",
        "lifts = { lambda ; x. let y = operator.add x x ; host_leak y"
        " ; z = lifted x ; w = lifted z in (w,) }",
        "lifted = { lambda ; x. let y = host_leaked ; z = operator.mul x y in (z,) }",
        "self = { lambda ; x. let y = self x in (y,) }",
        "clears = { lambda ; x. let y = f x ; host_clear[function=f]"
        " ; z = f y in (z,) }",
        "c = 2.0",
        "d = f32[2]{1 2}",
        "o = object(1)",
        "p = object(1)",
        "q = identity(1)",
    )
    # Those that take one array.
    unary = (
        *("f", "again", "one", "other", "two", "part", "bound", "limited", "reads"),
        *("fills", "outer", "lifts", "self", "clears"),
    )

    @rule(data=st.data(), x=leaves, via=transforms)
    def call_unary(self, data: st.DataObject, x: Any, via: str) -> None:
        alive = [n for n in self.unary if n in self.names]
        if config.current().disable_jit:  # it would call itself for ever
            alive.remove("self")
        self.call(data.draw(st.sampled_from(alive)), x, via=via)

    @rule(x=trees, y=trees, named=st.sampled_from(["", "y", "xy", "yx"]))
    def call_with_trees(self, x: Any, y: Any, named: str) -> None:
        given = {"x": x, "y": y}
        args = [v for k, v in given.items() if k not in named]
        self.call("tree", *args, **{k: given[k] for k in named})

    @rule(x=leaves, n=statics, named=st.booleans(), via=transforms)
    def call_with_static(self, x: Any, n: Any, named: bool, via: str) -> None:
        if named and via != "eager":
            self.call("chosen", x, n=n)
        else:
            self.call("chosen", x, n, via=via)

    @rule(x=leaves, n=st.booleans())
    def call_what_may_raise(self, x: Any, n: bool) -> None:
        self.call("raising", x, n)

    @rule(x=leaves)
    def call_lifted_outside(self, x: Any) -> None:
        if self.model.host.leaked:
            self.call("lifted", x)

    @rule(name=st.sampled_from(["enable_x64", "disable_jit"]), on=st.booleans())
    def set_flag(self, name: str, on: bool) -> None:
        self.set("config", name, on)

    @rule(face=st.sampled_from(["jax", "numpy"]))
    def set_face(self, face: str) -> None:
        self.set("face", face)

    @rule(number=st.sampled_from([2.0, 3.0, 4]))
    def set_global(self, number: Any) -> None:
        self.set("set", "c", number)

    @rule(number=st.integers(5, 7))
    def fill_global(self, number: int) -> None:
        self.set("fill", "d", number)

    @rule(name=st.sampled_from("opq"), number=st.integers(1, 2))
    def mutate(self, name: str, number: int) -> None:
        self.set("mutate", name, number)

    @rule(data=st.data())
    def clear(self, data: st.DataObject) -> None:
        self.set("clear_cache", data.draw(st.sampled_from(self.names)))

    @precondition(lambda self: "one" in self.names or "other" in self.names)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        alive = [n for n in ("one", "other") if n in self.names]
        self.set("drop", data.draw(st.sampled_from(alive)))

    @invariant()
    def as_many_are_kept(self) -> None:
        self.sizes()


TestCache = CacheMachine.TestCase
TestCache.settings = settings(max_examples=FEW, stateful_step_count=20)


class LevelMachine(SessionMachine):
    """Functions that call one another, ask what they may not, and leak."""

    texts = ("leak = { lambda ; x. let host_leak x in (x,) }",)

    @initialize(x=strong, via=st.sampled_from(["jit", "eager"]))
    def something_has_leaked(self, x: Any, via: str) -> None:
        self.call("leak", x, via=via)

    @rule(data=st.data())
    def define_one(self, data: st.DataObject) -> None:
        name = f"f{len(self.names)}"
        self.define(f"{name} = {data.draw(bodies(list(self.names)))}")

    @rule(data=st.data(), x=strong | weak | numbers, via=transforms)
    def call_one(self, data: st.DataObject, x: Any, via: str) -> None:
        self.call(data.draw(st.sampled_from(self.names)), x, via=via)

    @rule(on=st.booleans())
    def set_disable_jit(self, on: bool) -> None:
        self.set("config", "disable_jit", on)

    @invariant()
    def as_many_are_kept(self) -> None:
        self.sizes()


TestLevels = LevelMachine.TestCase
TestLevels.settings = settings(max_examples=FEW, stateful_step_count=20)
