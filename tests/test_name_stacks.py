"""Names of scopes and transforms, as equations have them.

Cites program.names, program.names-again, program.names-text
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.ir.jaxpr import ClosedJaxpr, subjaxprs

X = np.ones(3, "float32")
ROWS = np.ones((2, 3), "float32")


def layer(x: Any) -> Any:
    """Two equations in scopes, and one outside."""
    with traceir.named_scope("a"):
        y = jnp.sin(x)
        with traceir.named_scope("b"):
            y = y * y
    return y + 1


def total(x: Any) -> Any:
    return layer(x).sum()


def stacks(fun: Callable[..., Any], *args: Any) -> str:
    """The primitives of a program with their names; a program's own in braces."""
    return " ".join(_stacks(traceir.make_jaxpr(fun)(*args)))


def _stacks(closed: ClosedJaxpr) -> Iterator[str]:
    for eqn in closed.eqns:
        yield f"{eqn.primitive}:{eqn.source_info.name_stack}"
        for inner in subjaxprs(eqn):
            yield f"{{{' '.join(_stacks(inner))}}}"


def scoped(name: str, fun: Callable[..., Any]) -> Callable[..., Any]:
    return traceir.named_call(fun, name=name)


INNER = "{sin:a mul:a/b add:}"
FORWARD = "sin:jvp(a) cos:jvp(a) mul:jvp(a)/b add:jvp() reduce_sum:jvp()"
WRITTEN: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "scopes": (layer, X, "sin:a mul:a/b add:"),
    "a call": (traceir.named_call(layer), X, "sin:layer/a mul:layer/a/b add:layer"),
    "jit begins anew": (scoped("o", traceir.jit(layer)), X, f"jit:o {INNER}"),
    "and so in a map": (traceir.vmap(traceir.jit(layer)), ROWS, f"jit:vmap() {INNER}"),
    "a map": (
        scoped("o", traceir.vmap(layer)),
        ROWS,
        "sin:o/vmap(a) mul:o/vmap(a)/b add:o/vmap()",
    ),
    "a loop": (
        scoped(
            "o", lambda x: lax.fori_loop(0, 2, lambda _, c: scoped("t", jnp.sin)(c), x)
        ),
        X,
        "scan:o {add: sin:t}",
    ),
    "a program as a function": (
        scoped(
            "o", lambda x: traceir.core.jaxpr_as_fun(traceir.make_jaxpr(layer)(x))(x)
        ),
        X,
        "sin:o/a mul:o/a/b add:o",
    ),
    "a choice": (
        scoped("o", lambda x: lax.cond(True, layer, layer, x)),
        X,
        f"cond:o {INNER} {INNER}",
    ),
    "a derivative of a call": (
        lambda x: traceir.jvp(traceir.jit(scoped("t", jnp.sin)), (x,), (x,)),
        X,
        "jit:jvp() {sin:t cos:t mul:t}",
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_names_of_equations(name: str) -> None:
    fun, x, wanted = WRITTEN[name]
    assert stacks(fun, x) == wanted


def test_a_gradient_is_forwards_and_then_backwards() -> None:
    found = stacks(scoped("o", traceir.grad(scoped("t", lambda x: jnp.sin(x)))), 1.0)
    assert found == "sin:o/jvp(t) cos:o/jvp(t) mul:o/transpose(jvp(t))"


def test_a_linear_function_is_where_it_is_called() -> None:
    def back(x: Any) -> Any:
        with traceir.named_scope("p"):
            y, pull = traceir.vjp(scoped("t", jnp.sin), x)
        with traceir.named_scope("q"):
            return pull(y)

    def push(x: Any) -> Any:
        with traceir.named_scope("p"):
            y, along = traceir.linearize(scoped("t", jnp.sin), x)
        with traceir.named_scope("q"):
            return along(y)

    here = "sin:p/jvp(t) cos:p/jvp(t)"
    assert stacks(back, X) == f"{here} mul:q/transpose(jvp(t))"
    assert stacks(push, X) == f"{here} mul:q/jvp(t)"


def test_what_is_computed_again_says_so() -> None:
    found = stacks(
        traceir.grad(lambda x: traceir.checkpoint(scoped("t", jnp.sin))(x)), 1.0
    )
    assert "{cos:rematted_computation/t mul:t}" in found


def test_names_stay_where_an_equation_is_replaced_and_a_scope_fails() -> None:
    def fails(x: Any) -> Any:
        with traceir.named_scope("o"):
            raise ValueError(x)

    with pytest.raises(ValueError):
        traceir.make_jaxpr(fails)(1.0)
    [eqn] = traceir.make_jaxpr(scoped("t", jnp.sin))(1.0).eqns
    assert str(eqn.source_info.name_stack) == "t"
    assert eqn.replace(primitive="cos").source_info == eqn.source_info


def test_names_are_no_part_of_a_program() -> None:
    def other(x: Any) -> Any:
        return scoped("o", jnp.sin)(x)

    named, bare = traceir.make_jaxpr(other)(1.0), traceir.make_jaxpr(jnp.sin)(1.0)
    assert named == bare
    assert hash(named) == hash(bare)
    assert str(named) == str(bare)


def test_comments_have_one_column_and_lines_of_their_own() -> None:
    def pair(x: Any) -> Any:
        return scoped("b", jnp.sin)(scoped("a", jnp.cos)(x))

    text = traceir.make_jaxpr(pair)(1.0).pretty_print(name_stack=True, source_info=True)
    notes = [line.split(" # ")[1] for line in text.splitlines()]
    assert len({line.index(" # ") for line in text.splitlines()}) == 1
    line = pair.__code__.co_firstlineno + 1
    assert notes[1::2] == ["[a]", "[b]"]
    assert all(note.startswith(f"{__file__}:{line}:") for note in notes[::2])
    assert notes[0].endswith(
        "(test_comments_have_one_column_and_lines_of_their_own.<locals>.pair)"
    )
