"""`jit(strict=True)`: what a trace captured is as it was.

Serves: cache.strict.*, cache.strict.compared
"""

from __future__ import annotations

import functools
import gc
import re
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.errors import StaleCaptureError
from traceir.jit.cache.captured_state import chains, reads
from traceir.sharding import Mesh, NamedSharding, PartitionSpec

NUMBER = 3
SETTINGS = types.SimpleNamespace(scale=2.0, deep={"list": [1, 2]})
module = types.ModuleType("module")
module.level = 1


class Slotted:
    """State in slots and in a `__dict__`, an equality of its own."""

    __slots__ = ("__dict__", "k")

    def __init__(self, k: Any) -> None:
        self.k = k

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slotted)

    def __hash__(self) -> int:
        return 1


class Counts(dict[str, int]):
    """A container with a class of its own."""


BOX = Slotted(1)
COUNTS = Counts(n=1)
SHARDING = NamedSharding(Mesh(np.array(traceir.devices()), "x"), PartitionSpec())


def helper(x: Any) -> Any:
    """A function that is read, and itself reads a global."""
    return x * NUMBER


def reader(x: Any, *, last: Any = (1, {"k": 2})) -> Any:
    """A function that reads all of these."""
    total = helper(x) + SETTINGS.scale + module.level + BOX.k + COUNTS["n"]

    def inner(y: Any) -> Any:
        return y + len(SETTINGS.deep)

    return inner(total) + last[0]


@pytest.fixture
def jitted() -> Iterator[Any]:
    """The function, jitted and traced."""
    found = traceir.jit(reader, strict=True, backend="reference")
    found(1.0)
    found(2.0)
    yield found
    found.clear_cache()


def patched(name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    """A rebinding of a global of this module."""
    return lambda patch: patch.setitem(globals(), name, value)


def other(x: Any) -> Any:
    """Another function with the body of `helper`."""
    return x * NUMBER


CHANGES: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "a number read by a helper": (
        patched("NUMBER", 4),
        "global NUMBER, which helper reads was 3, now 4",
    ),
    "its type": (patched("NUMBER", 3.0), "was 3, now 3.0"),
    "the helper": (patched("helper", other), "the global helper was <function helper"),
    "an attribute": (
        lambda patch: patch.setattr(SETTINGS, "scale", 1.0),
        "the global SETTINGS was namespace(scale=2.0",
    ),
    "deep within": (
        lambda patch: patch.setitem(SETTINGS.deep, "list", [7, 2]),
        "now namespace(scale=2.0, deep={'list': [7, 2]})",
    ),
    "a module's attribute": (
        lambda patch: patch.setattr(module, "level", 2),
        "the global module.level was 1, now 2",
    ),
    "a slot": (
        lambda patch: patch.setattr(BOX, "k", 2),
        "the global BOX was Slotted(k=1), now Slotted(k=2)",
    ),
    "another attribute beside slots": (
        lambda patch: patch.setattr(BOX, "extra", 2, raising=False),
        "now Slotted(extra=2, k=1)",
    ),
    "an element of a dict's subclass": (
        lambda patch: patch.setitem(COUNTS, "n", 2),
        "the global COUNTS was {'n': 1}, now {'n': 2}",
    ),
    "a default": (
        lambda patch: patch.setitem(reader.__kwdefaults__["last"][1], "k", 3),
        "a default was (None, {'last': (1, {'k': 2})})",
    ),
    "a name that is gone": (
        lambda patch: patch.delitem(globals(), "NUMBER"),
        "was 3, now nothing",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed_and_named(
    jitted: Any, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, said = CHANGES[what]
    change(monkeypatch)
    for _ in range(2):
        with raises_rule("cache.strict.capture", RuntimeError, re.escape(said)):
            jitted(2.0)
    monkeypatch.undo()
    assert jitted.cache_info().misses == 1
    assert float(jitted(2.0)) == float(reader(2.0))


def test_explain_tells_what_is_stale(
    jitted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert jitted.explain(2.0) == "hit"
    monkeypatch.setitem(globals(), "NUMBER", 10)
    change = "the global NUMBER, which helper reads was 3, now 10"
    assert jitted.explain(2.0) == f"stale: cache.strict.capture: {change}"
    assert "cache.key.dtype" in jitted.explain(2)


def test_a_new_trace_sees_the_new_value(
    jitted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "NUMBER", 10)
    assert float(jitted(jnp.float32(2.0))) == float(reader(2.0))  # another key
    jitted.clear_cache()
    assert float(jitted(2.0)) == float(reader(2.0))


def test_without_strict_nothing_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    f = traceir.jit(reader, backend="reference")
    before = float(f(2.0))
    monkeypatch.setitem(globals(), "NUMBER", 10)
    assert float(f(2.0)) == before
    strict = traceir.jit(reader, strict=True, backend="reference")
    assert "cache.key.strict" in strict.explain(2.0)
    assert float(strict(2.0)) != before
    f.clear_cache()


def test_arrays_count_by_their_elements() -> None:
    small, large = np.arange(3, dtype="f4"), np.zeros((100, 100), "f4")
    f = traceir.jit(
        lambda x: x + small[1] + large[7, 7], strict=True, backend="reference"
    )
    f(1.0)
    f(1.0)
    for array in (small, large):
        was = array.flat[-1]
        array.flat[-1] = 5
        with raises_rule("cache.strict.capture", RuntimeError, "variable"):
            f(1.0)
        array.flat[-1] = was
        f(1.0)


def test_an_array_is_compared_by_content_and_type() -> None:
    held = jnp.arange(3.0)

    def g(x: Any) -> Any:
        return x + held

    f = traceir.jit(g, strict=True, backend="reference")
    f(1.0)
    held = jnp.arange(3.0)
    f(1.0)
    held = jnp.arange(3)
    with raises_rule("cache.strict.capture", RuntimeError, "dtype=float32"):
        f(1.0)


def test_what_a_static_object_says_when_it_has_changed() -> None:
    f = traceir.jit(
        lambda x, s: x * s.k, static_argnums=1, strict=True, backend="reference"
    )
    first = Slotted(2)
    assert float(f(3.0, first)) == 6
    # Equal by the class's own equality: the trace of the first is what was asked for.
    assert float(f(3.0, Slotted(5))) == 6
    first.k = 5
    for value in (first, Slotted(2)):
        said = r"argument s was Slotted\(k=2\), now Slotted\(k=5\)"
        with raises_rule("cache.strict.static", RuntimeError, said):
            f(3.0, value)


def test_without_strict_a_static_object_is_held_by_reference() -> None:
    f = traceir.jit(lambda x, s: x * s.k, static_argnums=1, backend="reference")
    held = Slotted(2)
    f(3.0, held)
    held.k = 5
    assert float(f(3.0, held)) == 6


def test_every_kind_of_callable() -> None:
    class Scale:
        def __init__(self) -> None:
            self.by = 2

        def __call__(self, x: Any) -> Any:
            return x * self.by

        def scaled(self, x: Any) -> Any:
            return x * self.by

    objects = [Scale() for _ in range(3)]
    box = [2]
    partial = functools.partial(lambda b, x: x * b[0], box)
    inner = traceir.jit(lambda x: x * box[0])
    method, own = objects[0].scaled, objects[1]
    for fun, change in (
        (method, lambda: setattr(objects[0], "by", 3)),
        (own, lambda: setattr(own, "by", 3)),
        (partial, lambda: box.append(1)),
        (lambda x: inner(x), lambda: box.append(1)),
    ):
        f = traceir.jit(fun, strict=True, backend="reference")
        assert float(f(2.0)) == float(f(2.0)) == 4
        change()
        with raises_rule("cache.strict.capture", RuntimeError):
            f(2.0)


def test_a_call_within_a_trace_is_looked_at_too() -> None:
    box = [1.0]
    inner = traceir.jit(lambda x: x + box[0], strict=True, backend="reference")
    inner(1.0)
    box[0] = 2.0
    with raises_rule("cache.strict.capture", StaleCaptureError):
        traceir.make_jaxpr(lambda x: inner(x))(1.0)


def test_a_strict_function_may_lift_and_recurse() -> None:
    def outer(a: Any) -> Any:
        inner = traceir.jit(lambda b: a * b, strict=True)
        return inner(a) + inner(a)

    assert float(traceir.jit(outer, backend="reference")(3.0)) == 18

    @functools.partial(traceir.jit, static_argnums=1, strict=True, backend="reference")
    def down(x: Any, n: int) -> Any:
        return x if n == 0 else down(x + 1, n - 1)

    assert float(down(0.0, 3)) == float(down(0.0, 3)) == 3


def test_what_a_function_sets_up_while_it_is_traced_is_no_change() -> None:
    memo: dict[str, float] = {}

    def g(x: Any) -> Any:
        return x * memo.setdefault("two", 2.0)

    f = traceir.jit(g, strict=True, backend="reference")
    assert [float(f(3.0)) for _ in range(3)] == [6.0] * 3


def test_a_seal_keeps_no_function_alive() -> None:
    def made() -> Any:
        box: dict[str, Any] = {"object": Slotted(1)}

        def g(x: Any) -> Any:
            return x + len(box)

        box["self"], box["object"].g = g, g
        return g

    fun = made()
    alive = weakref.ref(fun)
    traceir.jit(fun, strict=True, backend="reference")(1.0)
    del fun
    gc.collect()
    assert alive() is None


def test_what_is_read() -> None:
    assert chains(reader.__code__) == (
        ("helper",),
        ("SETTINGS", "scale"),
        ("module", "level"),
        ("BOX", "k"),
        ("COUNTS",),
        ("len",),
        ("SETTINGS", "deep"),
    )
    later: Any
    names = [name for name, _ in reads(lambda x: later if x else jnp.linalg_of_none)]
    assert names == ["the global jnp.linalg_of_none", "the variable later"]
    later = 1


class Wraps:
    """A callable that says what it wraps."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            return self if self.wrapped is None else self.wrapped
        raise AttributeError(name)

    def __call__(self, x: Any) -> Any:
        return x * 2


@pytest.mark.parametrize("wrapped", [None, 5, lambda x: x])
def test_what_a_callable_wraps_may_be_anything(wrapped: Any) -> None:
    outer = Wraps(wrapped)
    assert traceir.jit(outer, strict=True)(1.0) == 2
    f = traceir.jit(lambda x: outer(x), strict=True)
    assert f(1.0) == f(1.0) == 2
    outer = Wraps(len)
    with raises_rule("cache.strict.capture", RuntimeError, "the variable outer"):
        f(1.0)


def test_a_module_whose_attributes_raise() -> None:
    def lazy(name: str) -> Any:
        raise ImportError(name)

    odd = types.ModuleType("odd")
    odd.__getattr__ = lazy
    scope = {"odd": odd, "jnp": jnp}
    exec("def f(x, known=True): return x * 2 if known else odd.missing(x)", scope)
    f = traceir.jit(scope["f"], static_argnames="known", strict=True)
    assert f(1.0) == f(1.0) == 2
    odd.missing = len
    with raises_rule("cache.strict.capture", RuntimeError, "odd.missing was nothing"):
        f(1.0)


def test_the_drop_in_decorator_may_be_strict() -> None:
    scale = 2.0

    @traceir_numba.jit(strict=True)
    def scaled(x: Any) -> Any:
        return x * scale

    assert scaled(np.ones(2)).tolist() == scaled(np.ones(2)).tolist() == [2, 2]
    scale = 3.0
    with raises_rule("cache.strict.capture", RuntimeError, "scale was 2.0, now 3.0"):
        scaled(np.ones(2))


@pytest.mark.parametrize("kind", [{"out_shardings": SHARDING}, {"donate_argnums": 0}])
def test_other_kinds_of_functions_may_be_strict(kind: dict[str, Any]) -> None:
    scale = 2.0
    scaled = traceir.jit(lambda x: x * scale, strict=True, **kind)
    for _ in range(4):
        assert scaled(jnp.ones(2)).tolist() == [2, 2]
    scale = 3.0
    with raises_rule("cache.strict.capture", RuntimeError, "scale was 2.0, now 3.0"):
        scaled(jnp.ones(2))


def test_what_lies_below_a_decorator_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    fun = traceir.jit(traceir.enable_x64(True)(helper), strict=True)
    assert fun(1.0) == 3.0
    monkeypatch.setitem(globals(), "NUMBER", 4)
    with raises_rule(
        "cache.strict.capture", StaleCaptureError, "helper reads was 3, now 4"
    ):
        fun(1.0)
