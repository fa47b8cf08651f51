"""Calls that split a trace or share it, beyond the cases. Serves: cache.*"""

from __future__ import annotations

import gc
import threading
import weakref
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
from counted import Counted
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.jit import function

Point = namedtuple("Point", "x y")


class Value:
    """A static value by its own equality."""

    def __init__(self, number: float) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)


class Derived(Value):
    """Equal to a `Value`, of another type."""


def test_static_objects_are_keyed_by_exact_type_and_their_own_equality() -> None:
    c = Counted(lambda x, v: x * v.number)
    f = traceir.jit(c.fun, static_argnums=1)
    assert float(f(1.0, Value(2.0))) == 2 and c.new() == 1
    f(1.0, Value(2.0))
    assert c.new() == 0
    assert Derived(2.0) == Value(2.0)
    f(1.0, Derived(2.0))
    assert c.new() == 1


def test_each_kind_of_tree_has_its_own_trace() -> None:
    c = Counted(lambda tree: 1.0)
    f = traceir.jit(c.fun)
    trees: list[Any] = [
        (1.0, 2.0),
        Point(1.0, 2.0),
        [1.0, 2.0],
        {"x": 1.0, "y": 2.0},
        OrderedDict(x=1.0, y=2.0),
        OrderedDict(y=2.0, x=1.0),
        (1.0,),
        (1.0, None),
    ]
    for tree in trees:
        f(tree)
        assert c.new() == 1, tree
    for tree in trees:
        f(tree)
        assert c.new() == 0, tree


def test_a_default_that_is_left_out_is_a_python_value() -> None:
    c = Counted(lambda x, flag=True: x if flag else -x)
    f = traceir.jit(c.fun)
    assert float(f(1.0)) == 1 and c.new() == 1
    assert "cache.key.tree" in f.explain(1.0, True)
    assert c.new() == 0


def test_the_order_of_keywords_does_not_matter() -> None:
    c = Counted(lambda x, **named: x + named["a"] - named["b"])
    f = traceir.jit(c.fun)
    assert float(f(1.0, a=5.0, b=2.0)) == float(f(1.0, b=2.0, a=5.0)) == 4
    assert c.new() == 1


def test_an_empty_choice_of_static_arguments_is_none() -> None:
    c = Counted(lambda x: x + 1)
    traceir.jit(c.fun)(1.0)
    traceir.jit(c.fun, static_argnums=())(1.0)
    assert c.new() == 1


def test_clearing_one_jit_clears_the_function() -> None:
    c = Counted(lambda x: x + 1)
    f, g = traceir.jit(c.fun), traceir.jit(c.fun)
    f(1.0)
    g(1.0)
    assert c.new() == 1
    g.clear_cache()
    f(1.0)
    g(1.0)
    assert c.new() == 1
    assert f.cache_info().currsize == 1


@pytest.mark.parametrize("strict", [False, True])
def test_clearing_while_a_call_compiles(
    monkeypatch: pytest.MonkeyPatch, strict: bool
) -> None:
    f = traceir.jit(lambda x: x + 1, strict=strict)
    compile_it = function.executable_of_calls

    def slow(*args: Any) -> Any:
        found = compile_it(*args)
        f.clear_cache()  # as another thread may at any time
        return found

    with monkeypatch.context() as patch:
        patch.setattr(function, "executable_of_calls", slow)
        assert f(1.0) == 2
    assert f(1.0) == 2
    assert f.cache_info()[:2] == (0, 1)


def test_clearing_all_while_a_comparison_asks_for_a_cache() -> None:
    began, cleared = threading.Event(), threading.Event()

    class Slow:
        """A static object whose equality uses `jit`."""

        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            began.set()
            cleared.wait(0.2)
            traceir.jit(lambda x: x)
            return True

    def first(x: Any, n: Slow) -> Any:
        return x

    traceir.jit(first, static_argnums=1)(1.0, Slow())
    again = traceir.jit(first, static_argnums=1, keep_unused=True)
    threads = [
        threading.Thread(target=again, args=(1.0, Slow()), daemon=True),
        threading.Thread(target=_clear_all, args=(began, cleared), daemon=True),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def _clear_all(began: threading.Event, cleared: threading.Event) -> None:
    began.wait(60)
    traceir.clear_caches()
    cleared.set()


def test_a_jitted_function_dies_with_its_last_reference() -> None:
    def g(x: Any) -> Any:
        return x + 1

    f = traceir.jit(g)
    f(1.0)
    seen = weakref.ref(g)
    del g
    gc.collect()
    assert seen() is not None and float(f(2.0)) == 3
    del f
    gc.collect()
    assert seen() is None


def test_a_function_may_call_itself_with_another_type() -> None:
    def g(x: Any) -> Any:
        return x if x.ndim else x + jnp.sum(f(jnp.ones(2)))

    c = Counted(g)
    f: Any = traceir.jit(c.fun)
    assert float(f(1.0)) == 3 and c.new() == 2
    f(2.0)
    assert c.new() == 0


def test_another_thread_finds_the_trace() -> None:
    c = Counted(lambda x: x + 1)
    f = traceir.jit(c.fun)
    f(1.0)
    thread = threading.Thread(target=f, args=(2.0,))
    thread.start()
    thread.join()
    assert c.new() == 1


def test_what_a_function_captures_in_the_program() -> None:
    array = np.arange(3, dtype="float32")
    scalar = np.float32(5)
    made = traceir.make_jaxpr(lambda x: x + array + scalar)(jnp.ones(3))
    assert str(made) == (
        "{ lambda a:f32[3]; b:f32[3]. let\n"
        "    c:f32[3] = add b a\n"
        "    d:f32[3] = add c 5.0:f32[]\n"
        "  in (d,) }"
    )
    assert [const.tolist() for const in made.consts] == [[0, 1, 2]]
    array[:] = 9
    assert made.consts[0].tolist() == [0, 1, 2]
    inner = traceir.jit(lambda x: x + array)
    outer = traceir.make_jaxpr(inner)(jnp.ones(3))
    assert outer.consts == ()
    assert outer.eqns[0].param("jaxpr").consts[0].tolist() == [9, 9, 9]


def test_an_inner_function_that_reads_a_global_tracer_is_traced_anew() -> None:
    held: list[Any] = [None]
    inner = traceir.jit(lambda b: held[0] * b)

    def outer(a: Any) -> Any:
        held[0] = a
        return inner(a)

    for value in (3.0, jnp.ones(2)):
        again = traceir.jit(lambda a: outer(a))
        wanted = np.square(np.asarray(value))
        assert np.array_equal(np.asarray(again(value)), wanted)
        assert np.array_equal(np.asarray(traceir.jit(outer)(value)), wanted)


def test_who_waits_for_an_interrupted_trace_traces() -> None:
    began, tries = threading.Event(), []

    def body(x: Any) -> Any:
        tries.append(1)
        if len(tries) == 1:
            began.set()
            waits.wait(60)
            raise KeyboardInterrupt
        return x + 1

    f = traceir.jit(body, backend="reference")
    found: list[Any] = []

    def call() -> None:
        try:
            found.append(float(f(1.0)))
        except KeyboardInterrupt:
            found.append("interrupted")

    waits = threading.Event()
    first, second = threading.Thread(target=call), threading.Thread(target=call)
    first.start()
    assert began.wait(60)
    second.start()
    second.join(0.05)  # it waits
    assert second.is_alive() and tries == [1]
    waits.set()
    first.join(60)
    second.join(60)
    assert found == ["interrupted", 2.0]


def test_an_interrupt_at_any_time_leaves_nothing_pending() -> None:
    f = traceir.jit(lambda x: x + 1, backend="reference")
    cache = f._cache

    class Makers(list[Any]):
        """Traces of a key that are under way; the signal comes as one is entered."""

        def append(self, maker: Any) -> None:
            super().append(maker)
            raise KeyboardInterrupt

    class Interrupted(dict[Any, Any]):
        """A mapping of such lists."""

        def setdefault(self, key: Any, default: Any = None) -> Any:
            return super().setdefault(key, Makers())

    cache._makers = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        f(1.0)
    assert not any(cache._makers.values())
    cache._makers = {}
    assert float(f(1.0)) == 2


def test_every_trace_is_kept() -> None:
    c = Counted(lambda x, n: x * n)
    f = traceir.jit(c.fun, static_argnums=1, backend="reference")
    for _ in range(2):
        for n in range(300):
            f(1.0, n)
    assert c.new() == f.cache_info().currsize == 300


def test_putting_arrays_on_the_device_traces_nothing_anew() -> None:
    c = Counted(lambda x: x + 1)
    f = traceir.jit(c.fun, backend="reference")
    x = np.ones(3, "float32")
    devices = traceir.devices()
    for value in (x, jnp.asarray(x), *(traceir.device_put(x, d) for d in devices)):
        assert f(value).tolist() == [2, 2, 2]
    assert f(traceir.device_put(x, jnp.asarray(x).sharding)).tolist() == [2, 2, 2]
    assert c.new() == 1
    with raises_rule("device.platform", RuntimeError, "gpu"):
        traceir.device_put(x, "gpu")
