"""Tracers, levels, lifting and leaks, as users meet them.

Cites: level.*, level.capture
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.rules import default
from traceir.text import parse
from traceir.tracing.staging import apply


def in_trace(body: Any, *args: Any) -> None:
    """Trace `body`."""
    traceir.jit(lambda *xs: body(*xs), backend="reference")(*args)


@pytest.mark.parametrize(
    ("rule", "kind", "body"),
    [
        ("level.concretize.bool", traceir.errors.TracerBoolConversionError, bool),
        ("level.concretize.bool", TypeError, lambda x: x if x > 0 else -x),
        ("level.concretize.bool", TypeError, lambda x: x in [1, 2]),
        ("level.concretize.number", traceir.errors.ConcretizationTypeError, int),
        ("level.concretize.number", TypeError, float),
        ("level.concretize.number", TypeError, complex),
        ("level.concretize.index", TypeError, lambda x: range(x)),
        ("level.concretize.index", TypeError, lambda x: [1, 2][x]),
        ("level.concretize.array", TypeError, np.sin),
        ("level.concretize.array", TypeError, np.asarray),
        ("level.concretize.item", TypeError, lambda x: x.item()),
        ("level.concretize.item", TypeError, lambda x: x.tolist()),
        ("level.attribute", AttributeError, lambda x: x.sharding),
        ("level.attribute", AttributeError, lambda x: x.block_until_ready()),
    ],
)
def test_a_traced_value_does_not_say_its_value(rule: str, kind: Any, body: Any) -> None:
    with raises_rule(rule, kind, "depends on the value of the argument xs"):
        in_trace(body, 3)


def test_what_a_traced_value_does_say() -> None:
    seen: list[Any] = []

    def body(x: Any) -> Any:
        seen.append((x.shape, x.dtype, x.ndim, x.size, len(x), f"{x}", repr(x)))
        seen.append((isinstance(x, traceir.Array), isinstance(x, np.ndarray)))
        assert copy.copy(x).aval is x.aval
        return x

    in_trace(body, jnp.ones((2, 3)))
    text = "Traced<ShapedArray(float32[2,3])>with<DynamicJaxprTrace(level=1/0)>"
    assert seen == [((2, 3), np.float32, 2, 6, 2, text, text), (True, False)]


def test_the_error_names_every_argument_and_the_fix() -> None:
    def f(a: Any, b: Any, d: Any) -> Any:
        return 1 if a * b > d["k"][0] else 2

    with raises_rule("level.concretize.bool", TypeError) as _:
        traceir.jit(f)(1.0, 2.0, {"k": [3.0]})
    with pytest.raises(
        TypeError, match=r"values of the arguments a, b and d\['k'\]\[0\]"
    ):
        traceir.jit(f)(1.0, 2.0, {"k": [3.0]})
    with pytest.raises(TypeError, match=r"jit\(g, static_argnames=\['n'\]\)"):
        traceir.jit(g)(1.0, 3)
    assert float(traceir.jit(g, static_argnames=["n"])(1.0, 3)) == 4


def g(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        i += 1
    return x + i


def test_constants_become_tracers_inside_a_trace() -> None:
    with raises_rule("level.concretize.bool", TypeError, "every operation inside jit"):
        in_trace(lambda x: x if jnp.sin(2.0) > 0 else -x, 1.0)


def test_a_hash_is_not_to_be_had() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        in_trace(lambda x: {x: 1}, 1.0)


def test_levels_count_nested_traces() -> None:
    seen: list[str] = []

    def inner(x: Any) -> Any:
        seen.append(repr(x)[-5:-2])
        return x

    def outer(x: Any) -> Any:
        seen.append(repr(x)[-5:-2])
        return traceir.jit(inner)(x)

    traceir.make_jaxpr(traceir.jit(outer))(1.0)
    assert seen == ["2/0", "3/0"]


def leak() -> Any:
    """A tracer whose trace has ended."""
    kept: list[Any] = []
    in_trace(lambda x: kept.append(jnp.sin(x)) or x, jnp.ones(3))
    return kept[0]


@pytest.mark.parametrize(
    "use",
    [
        lambda dead: dead + 1,
        lambda dead: jnp.sin(dead),
        lambda dead: traceir.jit(lambda x: x + dead)(1.0),
        lambda dead: traceir.jit(lambda x: x)(dead),
        lambda dead: traceir.make_jaxpr(lambda: dead)(),
    ],
)
def test_a_leak_names_the_line_that_made_it(use: Any) -> None:
    dead = leak()
    assert dead.shape == (3,) and "Traced" in repr(dead)
    with raises_rule(
        "level.lift", TypeError, r"f32\[3\] of the trace of .*jnp.sin\(x\)"
    ):
        use(dead)


def test_an_inner_tracer_used_outside_is_a_leak() -> None:
    kept: list[Any] = []

    def outer(x: Any) -> Any:
        traceir.jit(lambda y: kept.append(y) or y)(x)
        return kept[0] * x

    with raises_rule("level.lift", traceir.errors.UnexpectedTracerError):
        traceir.jit(outer)(1.0)
    assert traceir.tracing.trace.current_trace() is None


def test_lifting_keeps_each_constant_with_its_program() -> None:
    c = jnp.arange(3.0)
    closed = traceir.make_jaxpr(lambda y: y + c * c)(c)
    assert len(closed.consts) == 1 and str(closed).startswith("{ lambda a:f32[3]; b")
    outer = traceir.make_jaxpr(lambda y: traceir.jit(lambda z: z + c)(y))(c)
    assert not outer.consts
    assert len(outer.eqns[0].param("jaxpr").consts) == 1


def test_a_lifted_value_comes_first_among_the_operands() -> None:
    def outer(a: Any) -> Any:
        return traceir.jit(lambda b: a * b)(a + 1.0)

    text = str(traceir.make_jaxpr(outer)(1.0))
    assert "lambda ; a:f32[] b:f32[]. let c:f32[] = mul a b in (c,)" in text
    assert "] a b" in text


def test_an_ill_typed_operation_is_reported_at_the_users_line() -> None:
    with raises_rule("pointwise2.dtype", TypeError, "traceir.lax.add"):
        traceir.lax.add(jnp.ones(3), jnp.arange(3))


def test_a_tracer_shows_how_many_traces_are_in_force() -> None:
    row = default().levels.nesting["level.depth"]
    assert row.level is not None
    seen: list[str] = []

    def inner(x: Any) -> Any:
        seen.append(repr(x))
        return x

    def outer(x: Any) -> Any:
        seen.append(repr(x))
        return traceir.jit(inner)(x)

    traceir.make_jaxpr(outer)(1.0)
    levels = [f"level={row.level({'depth': depth})}/" for depth in (0, 1)]
    assert [level in text for level, text in zip(levels, seen)] == [True, True]


@pytest.mark.parametrize("dtype", ["f32", "i8"])
def test_a_weak_constant_of_a_program_stays_weak_where_it_is_applied(
    dtype: str,
) -> None:
    program = parse(f"{{ lambda a:~{dtype}[]={{2}}; . let  in (a,) }}")
    evaluated = traceir.numpy.asarray(apply(program, ())[0])
    traced = traceir.make_jaxpr(lambda: apply(program, ())[0])()
    assert [evaluated.aval, *traced.out_avals] == [*program.out_avals] * 2
