"""Functions of the host that give results, formats of what is printed, and faults.

Cites: pure_callback.*, callback.*, debug.text, debug.format, debug.unused
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from execution_modes import WAYS, runner
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function run as it is, or by a backend."""
    return runner(request.param)


@pytest.fixture
def seen() -> list[Any]:
    """The values that callbacks note."""
    return []


# Functions that give results ----------------------------------------------------------


def test_a_function_gives_a_tree(run: Any) -> None:
    def f(x: Any) -> Any:
        shapes = {"sum": traceir.ShapeDtypeStruct((), "float32"), "twice": x}
        return traceir.pure_callback(
            lambda x, k: {"sum": x.sum(), "twice": x * k}, shapes, x, k=2
        )

    found = run(f, jnp.arange(3.0))
    assert float(found["sum"]) == 3
    assert found["twice"].tolist() == [0, 2, 4]


def test_a_function_may_keep_and_change_what_it_is_given(run: Any) -> None:
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        kept.append(x)
        return np.asarray(x) + 1

    def f(x: Any) -> Any:
        def body(_: Any, c: Any) -> Any:
            return traceir.pure_callback(keep, c, c)

        return lax.fori_loop(0, 3, body, x * 1.0)

    assert run(f, jnp.zeros(2)).tolist() == [3, 3]
    assert [x.tolist() for x in kept] == [[0, 0], [1, 1], [2, 2]]


METHODS = {
    "sequential": [((3,), (3,))] * 2,
    "sequential_unrolled": [((3,), (3,))] * 2,
    "expand_dims": [((2, 3), (1, 3))],
    "broadcast_all": [((2, 3), (2, 3))],
    "legacy_vectorized": [((2, 3), (3,))],
}


@pytest.mark.parametrize("method", METHODS)
def test_a_function_is_mapped_as_it_says(method: str, run: Any) -> None:
    shapes: list[Any] = []

    def add(x: Any, y: Any) -> Any:
        shapes.append((x.shape, y.shape))
        return np.asarray(x) + np.asarray(y)

    def f(x: Any, y: Any) -> Any:
        return traceir.pure_callback(add, x, x, y, vmap_method=method)

    xs, y = jnp.arange(6.0).reshape(2, 3), jnp.arange(3.0)
    found = run(traceir.vmap(f, in_axes=(0, None)), xs, y)
    assert found.tolist() == [[0, 2, 4], [3, 5, 7]]
    assert shapes == METHODS[method]


def test_sixty_four_bits_are_kept_only_where_they_are_on() -> None:
    def f(x: Any) -> Any:
        return traceir.pure_callback(np.cbrt, x, x)

    assert f(jnp.float32(8)).dtype == np.float32
    wide = traceir.ShapeDtypeStruct((), "float64")
    with traceir.enable_x64():
        assert traceir.pure_callback(np.cbrt, wide, 8.0).dtype == np.float64
    assert traceir.pure_callback(np.cbrt, wide, 8.0).dtype == np.float32


@pytest.mark.parametrize(
    ("given", "rule", "text"),
    [
        (np.zeros(2, "float32"), "callback.result", r"float32\[2\]"),
        (np.int32(1), "callback.result", r"int32\[\] as result 0 of <lambda>"),
        ((np.float32(1), np.float32(2)), "callback.tree", r"\(\*, \*\)"),
    ],
)
def test_a_result_of_another_kind_is_refused(
    given: Any, rule: str, text: str, run: Any
) -> None:
    def f(x: Any) -> Any:
        return traceir.pure_callback(lambda _: given, x, x)

    with raises_rule(rule, RuntimeError, text):
        run(f, jnp.float32(1))


def test_a_function_of_a_constant_has_a_derivative_through_the_rest() -> None:
    def f(x: Any) -> Any:
        return x * traceir.pure_callback(np.cos, x, lax.stop_gradient(x))

    assert float(traceir.grad(f)(jnp.float32(0))) == 1
    with raises_rule("callback.derivative", ValueError, "cos in `pure_callback`"):
        traceir.grad(lambda x: traceir.pure_callback(np.cos, x, x))(jnp.float32(0))


# Faults -------------------------------------------------------------------------------


def test_what_a_function_raises_reaches_the_caller_with_the_line(run: Any) -> None:
    def f(x: Any) -> Any:
        return traceir.pure_callback(lambda x: 1 // 0, x, x)  # here

    with pytest.raises(ZeroDivisionError) as caught:
        run(f, jnp.float32(1))
    notes = getattr(caught.value, "__notes__", [])
    assert [n for n in notes if "# here" in n] == notes


def test_the_line_is_that_of_the_call_in_a_program() -> None:
    def f(x: Any) -> Any:
        traceir.debug.callback(lambda x: 1 // 0, x)  # here
        return x

    with pytest.raises(ZeroDivisionError) as caught:
        traceir.jit(f)(1.0)
    (text,) = caught.value.__notes__
    assert "`debug_callback`" in text and "# here" in text


def test_a_call_that_raised_can_be_made_again(run: Any, seen: list[Any]) -> None:
    def once(x: Any) -> Any:
        seen.append(1)
        if len(seen) == 1:
            raise KeyError("first")
        return x

    def f(x: Any) -> Any:
        return traceir.pure_callback(once, x, x) * 2.0

    with pytest.raises(KeyError):
        run(f, jnp.float32(3))
    assert float(run(f, jnp.float32(3))) == 6


def test_a_function_sees_the_context_of_its_caller() -> None:
    color = contextvars.ContextVar("color", default="none")
    seen: list[str] = []

    @traceir.jit
    def f(x: Any) -> Any:
        traceir.debug.callback(lambda _: seen.append(color.get()), x)
        return x

    for name in ("red", "blue"):
        color.set(name)
        f(1.0)
    assert seen == ["red", "blue"]


@pytest.mark.parametrize(
    ("rule", "call"),
    [
        ("debug.text", lambda: traceir.debug.print(3)),
        ("debug.format", lambda: traceir.debug.print("{")),
        ("debug.format", lambda: traceir.debug.print("{y}", 1.0)),
        ("debug.format", lambda: traceir.debug.print("{} {}", 1.0)),
        ("debug.format", lambda: traceir.debug.print("{0:{width}}", 1.0)),
        ("debug.unused", lambda: traceir.debug.print("x", 1.0)),
        ("debug.unused", lambda: traceir.debug.print("{}", 1.0, x=2.0)),
        ("callback.callable", lambda: traceir.debug.callback(3)),
        ("callback.callable", lambda: traceir.pure_callback(3, 1.0)),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(rule: str, call: Any) -> None:
    with raises_rule(rule, Exception):
        call()
    with raises_rule(rule, Exception):
        traceir.jit(lambda: call())()


@pytest.mark.parametrize(
    ("fmt", "args", "kwargs", "out"),
    [
        ("{{a}} {:.2f}", (1.5,), {}, "{a} 1.50"),
        ("{x.shape} {x}", (), {"x": np.ones(2, "float32")}, "(2,) [1. 1.]"),
        ("{} {k}", ("a",), {"k": None}, "a None"),
        ("{0:{w}.1f}|", (1.0,), {"w": "5"}, "  1.0|"),
        (
            "{}",
            ({"a": np.ones(1, "float32")},),
            {},
            "{'a': Array([1.], dtype=float32)}",
        ),
        ("plain", (), {}, "plain"),
    ],
)
@pytest.mark.parametrize("jitted", [False, True])
def test_formats(
    fmt: str, args: Any, kwargs: Any, out: str, jitted: bool, capsys: Any
) -> None:
    def f() -> None:
        traceir.debug.print(fmt, *args, **kwargs)

    (traceir.jit(f) if jitted else f)()
    assert capsys.readouterr().out == f"{out}\n"


def test_digits_are_those_of_where_it_was_traced(capsys: Any) -> None:
    with np.printoptions(precision=2):
        jitted = traceir.jit(lambda x: traceir.debug.print("{}", x))
        jitted(jnp.float32([1 / 3]))
    jitted(jnp.float32([1 / 3]))
    assert capsys.readouterr().out == "[0.33]\n[0.33]\n"
