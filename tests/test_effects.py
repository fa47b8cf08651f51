"""Programs' requests to the host: how often, in which order, and their text.

Cites: debug_print.*, debug_callback.*, io_callback.*, program.effects
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from execution_modes import WAYS, note, runner
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.experimental import io_callback
from traceir.ir.effects import calls_host, effects
from traceir.ir.jaxpr import Jaxpr
from traceir_numba.lowering.host_partition import HostDrivenExecutable


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function run as it is, or by a backend."""
    return runner(request.param)


@pytest.fixture
def seen() -> list[Any]:
    """The values that callbacks note."""
    return []


# Order and number ---------------------------------------------------------------------


def test_each_turn_of_a_scan_in_order(run: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        def body(c: Any, k: Any) -> Any:
            traceir.debug.callback(note(seen), c)
            return c * 2.0 + k, c

        return lax.scan(body, x, jnp.arange(4.0))

    last, stacked = run(f, 1.0)
    assert seen == stacked.tolist() == [1.0, 2.0, 5.0, 12.0]
    assert float(last) == 27


def test_each_turn_of_a_scan_from_the_end(run: Any, seen: list[Any]) -> None:
    def f(xs: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            traceir.debug.callback(note(seen), x)
            return c + x, None

        return lax.scan(body, 0.0, xs, reverse=True)[0]

    assert float(run(f, jnp.arange(3.0))) == 3
    assert seen == [2.0, 1.0, 0.0]


def test_each_turn_of_a_while_loop_and_its_condition(run: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        def cond(c: Any) -> Any:
            traceir.debug.callback(lambda c: seen.append(("test", float(c))), c)
            return c < 4.0

        def body(c: Any) -> Any:
            traceir.debug.callback(lambda c: seen.append(("body", float(c))), c)
            return c * 2.0

        return lax.while_loop(cond, body, x)

    assert float(run(f, 1.0)) == 4
    assert [kind for kind, _ in seen] == ["test", "body"] * 2 + ["test"]
    assert [value for _, value in seen] == [1, 1, 2, 2, 4]


def test_the_branch_that_is_taken(run: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        def up(x: Any) -> Any:
            traceir.debug.callback(lambda _: seen.append("up"), x)
            return x + 1.0

        def down(x: Any) -> Any:
            traceir.debug.callback(lambda _: seen.append("down"), x)
            return x - 1.0

        return lax.cond(x > 0, up, down, x)

    assert [float(run(f, x)) for x in (1.0, -1.0, 2.0)] == [2, -2, 3]
    assert seen == ["up", "down", "up"]


def test_a_loop_in_a_branch_in_a_loop(run: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        def inner(k: Any, c: Any) -> Any:
            traceir.debug.callback(note(seen), c)
            return c + k

        def body(n: Any, c: Any) -> Any:
            even = n % 2 == 0
            return lax.cond(
                even, lambda c: lax.fori_loop(0, 2, inner, c), lambda c: c * 2, c
            )

        return lax.fori_loop(0, 3, body, x)

    assert int(run(f, 1)) == 5
    assert seen == [1, 1, 4, 4]


def test_results_that_nobody_uses_are_no_reason_to_leave_out(
    run: Any, seen: list[Any]
) -> None:
    def f(x: Any) -> Any:
        def tell(x: Any) -> Any:
            seen.append(float(x))
            return x

        io_callback(tell, x, jnp.sin(x))
        io_callback(tell, x, jnp.sin(x))
        return x

    run(f, jnp.float32(0))
    assert seen == [0.0, 0.0]


def test_each_call_tells_again(run: Any, capsys: Any) -> None:
    def f(x: Any) -> Any:
        traceir.debug.print("x={x} y={}", x + 1, x=x)
        return x * 2

    jitted = traceir.jit(f)
    assert [float(jitted(x)) for x in (1.0, 2.0)] == [2, 4]
    assert capsys.readouterr().out == "x=1.0 y=2.0\nx=2.0 y=3.0\n"


# Transforms ---------------------------------------------------------------------------


@pytest.mark.parametrize("jitted", [False, True])
def test_each_example_in_order(jitted: bool, seen: list[Any]) -> None:
    def f(x: Any, y: Any) -> Any:
        traceir.debug.callback(lambda x, y: seen.append((x.tolist(), y.tolist())), x, y)
        return x * y

    mapped = traceir.vmap(f, in_axes=(1, None))
    found = (traceir.jit(mapped) if jitted else mapped)(jnp.ones((2, 3)), 2.0)
    assert found.shape == (3, 2)
    assert seen == [([1.0, 1.0], 2.0)] * 3


def test_what_does_not_differ_is_told_once(seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        traceir.debug.callback(lambda: seen.append(1))
        return x

    traceir.vmap(f)(jnp.arange(3.0))
    assert seen == [1]


def test_examples_take_turns_in_a_scan(run: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        def body(c: Any, k: Any) -> Any:
            traceir.debug.callback(note(seen), c)
            return c + 1.0, None

        return lax.scan(body, x, None, length=2)[0]

    run(traceir.vmap(f), jnp.array([0.0, 10.0]))
    assert seen == [0.0, 10.0, 1.0, 11.0]


def test_an_example_whose_loop_is_over_is_still_told(run: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        def body(c: Any) -> Any:
            traceir.debug.callback(note(seen), c)
            return c + 1.0

        return lax.while_loop(lambda c: c < 2.0, body, x)

    assert run(traceir.vmap(f), jnp.array([0.0, 1.0])).tolist() == [2.0, 2.0]
    assert seen == [0.0, 1.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: traceir.grad(f),
        lambda f: traceir.jit(traceir.grad(f)),
        lambda f: traceir.grad(traceir.jit(f)),
        lambda f: lambda x: traceir.jvp(f, (x,), (1.0,))[1],
        lambda f: lambda x: traceir.linearize(f, x)[1](1.0),
        lambda f: traceir.jit(lambda x: traceir.vjp(f, x)[1](1.0)[0]),
    ],
)
def test_a_derivative_tells_the_primal_once(transform: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        y = x * x
        traceir.debug.callback(note(seen), y)
        return y * x

    assert float(transform(f)(2.0)) == 12
    assert seen == [4.0]


def test_a_derivative_of_a_scan_tells_going_forward(seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        def body(c: Any, _: Any) -> Any:
            traceir.debug.callback(note(seen), c)
            return c * c, None

        return lax.scan(body, x, None, length=3)[0]

    assert float(traceir.jit(traceir.grad(f))(1.0)) == 8
    assert seen == [1.0, 1.0, 1.0]


def test_what_is_computed_twice_is_told_twice(seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        traceir.debug.callback(note(seen), x)
        return jnp.sin(x)

    traceir.grad(traceir.checkpoint(f))(1.0)
    assert seen == [1.0, 1.0]


def test_without_jit_it_is_told_as_well(capsys: Any) -> None:
    def f(x: Any) -> Any:
        def body(k: Any, c: Any) -> Any:
            traceir.debug.print("{} {}", k, c)
            return c * 2

        return lax.fori_loop(0, 2, body, x)

    with traceir.disable_jit():
        assert int(traceir.jit(f)(3)) == 12
    assert capsys.readouterr().out == "0 3\n1 6\n"


# Programs -----------------------------------------------------------------------------

# As JAX 0.10.2 prints it, less the line of NumPy's options, which its version decides.
PROGRAM = """\
{ lambda ; a:f32[]. let
    b:f32[] = add a 1.0:f32[]
    debug_print[
      fmt=x={x} y={}
      has_placeholders=True
      in_tree=PyTreeDef(((*,), {'x': *}))
      logging_record=None
      ordered=False
      partitioned=False
      static_args=()
    ] b a
    c:f32[] = mul a 2.0:f32[]
  in (c,) }"""
PURE = """\
{ lambda ; a:f32[2,3] b:f32[3]. let
    c:f32[1,3] = broadcast_in_dim[broadcast_dimensions=(1,)] b
    d:f32[2,3] = pure_callback[
      callback=<lambda>
      result_avals=(ShapedArray(float32[2,3]),)
      sharding=None
      vmap_method=expand_dims
    ] a c
  in (d,) }"""


def told(x: Any) -> Any:
    """Prints two values of three."""
    traceir.debug.print("x={x} y={}", x + 1, x=x)
    return x * 2


def test_the_text_is_that_of_jax_and_can_be_read() -> None:
    closed = traceir.make_jaxpr(told)(1.0)
    lines = str(closed).split("\n")
    assert "\n".join(n for n in lines if "np_printoptions" not in n) == PROGRAM
    assert str(traceir.parse(str(closed))) == str(closed)
    full = traceir.text.to_text(closed, full=True)
    assert traceir.parse(full) == closed


def test_the_text_of_a_call_has_the_name_of_the_function() -> None:
    def f(x: Any, y: Any) -> Any:
        return traceir.pure_callback(
            lambda x, y: np.add(x, y), x, x, y, vmap_method="expand_dims"
        )

    mapped = traceir.vmap(f, in_axes=(0, None))
    closed = traceir.make_jaxpr(mapped)(jnp.ones((2, 3)), jnp.ones(3))
    assert str(closed) == PURE
    again = traceir.parse(str(closed))
    assert str(again) == PURE
    with pytest.raises(TypeError, match="only the name is known"):
        traceir.eval_jaxpr(again, (), np.ones((2, 3)), np.ones(3))
    with raises_rule("text.opaque", ValueError, "callback"):
        traceir.text.to_text(closed, full=True)


def test_a_program_says_what_it_does() -> None:
    plain = traceir.make_jaxpr(lambda x: x * 2)(1.0)
    telling = traceir.make_jaxpr(told)(1.0)
    nested = traceir.make_jaxpr(lambda x: lax.fori_loop(0, 2, lambda _, c: told(c), x))
    asking = traceir.make_jaxpr(lambda x: traceir.pure_callback(np.sin, x, x))
    doing = traceir.make_jaxpr(lambda x: io_callback(np.sin, x, x))
    closed = [plain, telling, *(f(jnp.float32(1)) for f in (nested, asking, doing))]
    found = [sorted(effects(c.jaxpr)) for c in closed]
    assert found == [[], ["debug"], ["debug"], [], ["io"]]
    assert [calls_host(c.jaxpr) for c in closed] == [False, True, True, True, True]


def test_an_equation_must_name_its_effects() -> None:
    jaxpr = traceir.make_jaxpr(traceir.jit(told))(1.0).jaxpr
    traceir.check(jaxpr)
    silent = tuple(replace(eqn, effects=frozenset()) for eqn in jaxpr.eqns)
    wrong = Jaxpr(jaxpr.constvars, jaxpr.invars, silent, jaxpr.outvars)
    with raises_rule("program.effects", TypeError, "debug"):
        traceir.check(wrong)


def test_there_is_nothing_to_wait_for(capsys: Any) -> None:
    traceir.jit(told)(1.0)
    assert capsys.readouterr().out
    traceir.effects_barrier()
    assert not capsys.readouterr().out


# The backend --------------------------------------------------------------------------


def test_machine_code_runs_between_the_calls(capsys: Any) -> None:

    def f(x: Any) -> Any:
        y = jnp.sin(x) + jnp.cos(x)
        traceir.debug.print("{y.shape}", y=y)
        return y * y - 1.0

    lowered = traceir.jit(f, backend="numba").lower(jnp.ones(3))
    text = lowered.as_text()
    assert text.count("@kernel") == 2
    assert "debug_print" in text and "f_part_0" in text
    lowered.compile()(jnp.ones(3))
    assert capsys.readouterr().out == "(3,)\n"


def test_a_value_that_crosses_a_call_is_kept(run: Any, seen: list[Any]) -> None:
    def f(x: Any) -> Any:
        a, b = x + 1.0, x * 3.0
        traceir.debug.callback(note(seen), a)
        c = a * b
        traceir.debug.callback(note(seen), c)
        return a + b + c, b

    found = run(f, jnp.arange(2.0))
    assert [v.tolist() for v in found] == [[1.0, 11.0], [0.0, 3.0]]
    assert seen == [[1.0, 2.0], [0.0, 6.0]]


def test_many_calls_are_cut_in_linear_time() -> None:

    def f(x: Any) -> Any:
        for _ in range(300):
            x = x + 1.0
            traceir.debug.callback(lambda _: None, x)
        return x

    closed = traceir.make_jaxpr(f)(1.0)
    read: list[int] = []

    class Part:
        def __init__(self, closed: Any, name: str) -> None:
            read.append(len(closed.eqns))

    assert len(HostDrivenExecutable(closed, "f", Part).parts) == 300
    assert sum(read) == 300


def test_a_rule_of_tangents_tells_of_each(capsys: Any) -> None:
    f = traceir.custom_jvp(lambda x: x * 1.0)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        traceir.debug.print("along {}", tangents[0])
        return f(*primals), tangents[0]

    for within in (f, traceir.jit(f)):
        _, pushed = traceir.linearize(within, 1.0)
        assert capsys.readouterr().out == ""
        pushed(2.0)
        pushed(3.0)
        assert capsys.readouterr().out == "along 2.0\nalong 3.0\n"
