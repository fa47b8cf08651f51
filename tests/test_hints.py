"""Hints of errors where a value is not known, and errors about results.

Rules: level.concretize.*, grad.scalar, derive.aux, derive.nonlinear,
control.reverse-mode
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax, rules

X = jnp.arange(3.0)


def sign(x: Any) -> Any:
    """Branches on its argument."""
    return x if x > 0 else -x


ADVICE: list[tuple[str, Callable[[], Any]]] = [
    ("jit(sign, static_argnames=['x'])", lambda: traceir.jit(sign)(1.0)),
    ("with None in `in_axes`", lambda: traceir.vmap(sign)(X)),
    ("with None in `in_axes`", lambda: traceir.vmap(traceir.grad(sign))(X)),
    ("`static_argnums` of `checkpoint`", lambda: traceir.checkpoint(sign)(1.0)),
    ("close over a Python value", lambda: lax.map(sign, X)),
    ("close over a Python value", lambda: lax.cond(True, sign, sign, 1.0)),
    (
        "close over a Python value",
        lambda: lax.fori_loop(0, 3, lambda i, x: sign(x), 1.0),
    ),
    (
        "keep the value out of the arguments that are differentiated",
        lambda: traceir.grad(np.sin)(1.0),
    ),
]


@pytest.mark.parametrize(("hint", "call"), ADVICE)
def test_a_hint_is_about_the_transform(hint: str, call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    (line,) = [n for n in str(caught.value).splitlines() if n.startswith("  hint")]
    assert hint in line
    assert ("jit(" in line) == hint.startswith("jit(")


def test_no_hint_tells_an_array_to_be_static() -> None:
    """An array has no hash."""
    for call in (lambda x: x if x.sum() > 0 else -x, lambda x: float(x[0])):
        with pytest.raises(TypeError, match="hint: ") as caught:
            traceir.jit(call)(X)
        assert "make the argument static" not in str(caught.value)


@dataclass
class Point:
    """A dataclass that nobody registered, with a long text."""

    x: Any = tuple(range(10_000))


def test_a_hint_about_an_argument_is_about_the_transform() -> None:
    for function, word in (
        (traceir.jit(lambda x: 1.0), "static_argnames"),
        (traceir.vmap(lambda x: x), "close over it"),
        (traceir.grad(lambda x: 1.0), "close over it"),
    ):
        with pytest.raises(TypeError, match=rf"got: 'text' of(.|\n)*hint: .*{word}"):
            function("text")
        with pytest.raises(TypeError, match="hint: register its class") as caught:
            function(Point())
        assert len(str(caught.value)) < 600 and str(caught.value).count("\n") < 6


def doubled(x: Any) -> Any:
    """Runs a loop whose end is not known."""
    return lax.while_loop(lambda v: v < 9.0, lambda v: v * 2.0, x)


def inside(x: Any) -> Any:
    """The loop stands in another one."""
    return lax.scan(lambda c, _: (doubled(c), None), x, None, length=2)[0]


@pytest.mark.parametrize("function", [doubled, traceir.jit(doubled), inside])
def test_the_loop_that_cannot_be_reversed_is_shown(function: Any) -> None:
    with pytest.raises(ValueError) as caught:
        traceir.grad(lambda x: 2.0 * function(x))(1.0)
    assert "test_hints.py" in caught.value.got
    assert "return lax.while_loop(" in caught.value.got


def test_what_is_not_linear_is_shown() -> None:
    def squared(x: Any) -> Any:
        return x * x

    with pytest.raises(NotImplementedError, match=r"of mul, at .*: return x \* x"):
        traceir.linear_transpose(squared, 1.0)(1.0)


def test_results_are_shown_by_their_types() -> None:
    with pytest.raises(TypeError, match=r"structure None(.|\n)*add a `return`"):
        traceir.grad(lambda x: None)(1.0)
    with pytest.raises(TypeError, match=r"structure \(\*, \*\)\n"):
        traceir.grad(lambda x: (x, x))(1.0)
    with pytest.raises(TypeError, match=r"got: f32\[3\] from the function of grad"):
        traceir.grad(lambda x: x, has_aux=True)(X)


def hints() -> list[tuple[str, str]]:
    """Every hint in the tables, with its row."""
    rows = rules.default().clauses.values()
    return [
        (row.id, hint) for row in rows for hint in (row.hint, *map(text, row.hints))
    ]


def text(hint: Any) -> str:
    """The text of a hint for some lines, whose patterns are regular expressions."""
    re.compile(hint.line), re.compile(hint.code)
    return str(hint.hint)


ROOTS = {"jnp": jnp, "np": np, "lax": lax, "random": traceir.random}
NAME = re.compile(r"\b(jnp|np|lax|random|traceir)\.([a-zA-Z_]\w*(?:\.[a-zA-Z_]\w*)*)")


def test_what_hints_name_exists() -> None:
    found, missing = 0, []
    for row, hint in hints():
        for root, name in NAME.findall(hint):
            found += 1
            try:
                functools.reduce(getattr, name.split("."), ROOTS.get(root, traceir))
            except AttributeError:
                missing.append((row, f"{root}.{name}"))
    assert missing == [] and found > 40
