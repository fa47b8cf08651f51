"""Sentences of the chapters that bind: effects, regions, transforms, the cache.

Cites effect.often, effect.order, effect.again, effect.taken, effect.derivative,
region.closed, region.order, region.tangents, region.residuals, region.backwards,
region.batched-choice, region.batched-while, cache.apart.elements, cache.apart.reads,
cache.apart.names, cache.apart.dict, cache.apart.jit, cache.apart.stage, cache.default,
cache.owner, derive.compose, derive.zero, derive.grad, derive.checkpoint, vmap.stack,
sharding.value, accuracy.every-variable, program.order, program.equal
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from execution_modes import WAYS, runner

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Var, subjaxprs

X = np.array([1.0, 2.0, 4.0], "float32")


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function run as it is, or by a backend."""
    return runner(request.param)


class Notes(list[float]):
    """The numbers that a program has noted, in order."""

    def of(self, value: Any) -> None:
        """Have the program note a value."""
        traceir.debug.callback(lambda v: self.append(float(v)), value)

    def taken(self) -> list[float]:
        """The numbers noted since this was asked last."""
        traceir.effects_barrier()
        found, self[:] = list(self), []
        return found


def eqns(program: ClosedJaxpr, primitive: str) -> list[Eqn]:
    """The equations of a primitive, of the program and of those within."""
    found: list[Eqn] = []
    for eqn in program.eqns:
        found += [eqn] * (eqn.primitive == primitive)
        for inner in subjaxprs(eqn):
            found += eqns(inner, primitive)
    return found


# Effects ------------------------------------------------------------------------------


def test_effects_are_done_as_often_as_the_program_says(
    run: Callable[..., Any],
) -> None:
    notes = Notes()

    def f(x: Any) -> Any:
        notes.of(x * 2)
        notes.of(x * 2)  # alike, and nobody uses either
        return x

    for _ in range(2):  # the second call traces nothing
        run(f, np.float32(3))
        assert notes.taken() == [6, 6]


def test_effects_are_in_the_order_of_the_program(run: Callable[..., Any]) -> None:
    notes = Notes()

    def body(carry: Any, x: Any) -> Any:
        notes.of(carry)
        notes.of(x)
        return carry + x, x

    def f(x: Any) -> Any:
        notes.of(x.sum())
        total = lax.scan(body, jnp.float32(0), x)[0]
        notes.of(-total)
        return total

    def both(x: Any) -> Any:
        notes.of(x)
        notes.of(-x)
        return x

    run(f, X)
    assert notes.taken() == [7, 0, 1, 1, 2, 3, 4, -7]
    run(traceir.vmap(both), X)
    assert notes.taken() == [1, 2, 4, -1, -2, -4]


def test_effects_are_those_of_the_branch_that_is_taken(
    run: Callable[..., Any],
) -> None:
    notes = Notes()

    def f(p: Any, x: Any) -> Any:
        return lax.cond(p, notes.of, lambda x: notes.of(-x), x)

    for p, expected in ((True, 5), (False, -5)):
        run(f, p, np.float32(5))
        assert notes.taken() == [expected]
    run(traceir.vmap(f), np.array([True, False]), X[:2])
    assert sorted(notes.taken()) == [-2, -1, 1, 2]


def test_a_derivative_does_effects_with_the_primals(run: Callable[..., Any]) -> None:
    notes = Notes()

    def f(x: Any) -> Any:
        notes.of(x)
        return jnp.sin(x) * x

    run(traceir.grad(f), np.float32(2))
    assert notes.taken() == [2]
    run(lambda x: traceir.jvp(f, (x,), (x,)), np.float32(2))
    assert notes.taken() == [2]
    run(traceir.grad(traceir.checkpoint(f)), np.float32(2))
    assert notes.taken() == [2, 2]


# Regions ------------------------------------------------------------------------------


def outer(w: Any, z: Any) -> Any:
    def body(c: Any, x: Any) -> Any:
        return c * w + x * z, c

    return lax.scan(body, 1.0, jnp.asarray(X))


def test_a_region_reads_nothing_around_it() -> None:
    (scan,) = eqns(traceir.make_jaxpr(outer)(2.0, 3.0), "scan")
    (body,) = subjaxprs(scan)
    defined = {*body.jaxpr.invars, *(v for e in body.eqns for v in e.outputs)}
    read = {v for e in body.eqns for v in e.inputs if isinstance(v, Var)}
    assert read <= defined and not body.consts


def test_captures_stand_in_the_order_of_their_first_use() -> None:
    program = traceir.make_jaxpr(lambda z, w: outer(w, z))(3.0, 2.0)
    (scan,) = eqns(program, "scan")
    z, w = program.jaxpr.invars
    assert scan.inputs[:2] == (w, z)


def test_a_loop_carries_the_tangents_that_it_needs() -> None:
    def f(x: Any) -> Any:
        start = jnp.float32(1), jnp.float32(1), jnp.float32(2)
        # The first tangent comes in the first step, the second in the second step.
        return lax.fori_loop(0, 3, lambda _, c: (c[0] * x, c[0] + c[1], c[2]), start)

    program = traceir.make_jaxpr(lambda x: traceir.jvp(f, (x,), (x,)))(2.0)
    (scan,) = eqns(program, "scan")
    carried = dict(scan.params)["num_carry"]
    assert carried == 1 + 2 + 2  # the counter, what changes, its tangents
    values = traceir.jvp(f, (2.0,), (1.0,))
    assert [float(v) for v in values[1]] == [12, 1 + 4, 0]


def test_residuals_of_a_choice_and_of_a_scan() -> None:
    def choice(p: Any, x: Any) -> Any:
        return lax.cond(p, jnp.sin, lambda x: x * x, x)

    program = traceir.make_jaxpr(traceir.grad(choice, argnums=1))(True, 2.0)
    first, second = eqns(program, "cond")
    assert first.inputs[0] == second.inputs[0]  # one index for both
    assert set(first.outputs[1:]) <= set(second.inputs)

    def product(x: Any) -> Any:
        return lax.scan(lambda c, r: (c * r, None), jnp.float32(1), x)[0]

    program = traceir.make_jaxpr(traceir.grad(product))(X)
    forth, back = eqns(program, "scan")
    assert not dict(forth.params)["reverse"] and dict(back.params)["reverse"]
    assert traceir.grad(product)(X).tolist() == [8, 4, 2]


def test_a_batched_choice_and_a_batched_loop() -> None:
    def choice(p: Any, x: Any) -> Any:
        return lax.cond(p, jnp.log, lambda x: x * x, x)

    ps, xs = np.array([True, False]), np.array([1.0, -3.0], "float32")
    program = traceir.make_jaxpr(traceir.vmap(choice))(ps, xs)
    assert not eqns(program, "cond") and eqns(program, "select_n")
    assert traceir.vmap(choice)(ps, xs).tolist() == [0, 9]

    def power(x: Any) -> Any:
        return lax.while_loop(lambda c: c < 10, lambda c: c * 3, x)

    assert traceir.vmap(power)(np.array([2, 1, 11])).tolist() == [18, 27, 11]


# The cache ----------------------------------------------------------------------------

GLOBAL = 2.0


def test_what_is_apart_from_the_key() -> None:
    def f(x: Any, y: Any = 3.0) -> Any:
        return x["a"] * GLOBAL + y

    g, h = traceir.jit(f), traceir.jit(f, max_traces=5)
    one = {"a": X, "b": X}
    g(one, X)
    for call in (
        lambda: g({"a": -X, "b": X}, X + 1),
        lambda: g({"b": X, "a": X}, X),
        lambda: g(y=X, x=one),
        lambda: h(one, X),
        lambda: g.trace(one, X),
        lambda: g.lower(one, X),
        lambda: traceir.eval_shape(g, one, X),
    ):
        call()
        assert g.cache_info().misses == 1
    g.trace(one)  # a default is no argument
    assert g.cache_info().misses == 2


def test_what_a_function_reads_is_a_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    g = traceir.jit(lambda x: x * GLOBAL)
    assert g(3.0) == 6
    monkeypatch.setitem(globals(), "GLOBAL", 5.0)
    assert g(3.0) == 6


class Equal:
    """Callable objects that are equal."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)

    def __hash__(self) -> int:
        return 1

    def __call__(self, x: Any) -> Any:
        return x * self.factor


def test_the_first_of_equal_functions_owns_the_traces() -> None:
    first, second = Equal(2.0), Equal(3.0)
    g, h = traceir.jit(first), traceir.jit(second)
    assert g(1.0) == 2
    del first, g
    assert h(1.0) == 2


# Transforms ---------------------------------------------------------------------------


def cube(x: Any) -> Any:
    return x * jnp.square(x)


def derivatives() -> Iterator[Callable[[Any], Any]]:
    """The gradient of each example, composed in every order that can be."""
    by_example: dict[str, Any] = {"jit": traceir.jit, "checkpoint": traceir.checkpoint}
    for order in permutations(["jit", "checkpoint", "grad"]):
        f: Any = cube
        for name in order:
            f = traceir.grad(f) if name == "grad" else by_example[name](f)
        yield traceir.vmap(f)
        yield traceir.jit(traceir.vmap(f))
    mapped = traceir.vmap(cube)
    yield traceir.grad(lambda x: mapped(x).sum())


def test_transforms_compose_in_any_order() -> None:
    for f in derivatives():
        assert f(X).tolist() == [3, 12, 48]


def test_a_transform_acts_on_its_own_values() -> None:
    def f(x: Any) -> Any:
        return x * traceir.grad(lambda y: x + y)(1.0)

    assert traceir.grad(f)(3.0) == 1


def test_a_symbolic_zero_is_nowhere() -> None:
    def f(x: Any) -> Any:
        return jnp.floor(x) * 2 + lax.stop_gradient(x) * x

    program = traceir.make_jaxpr(lambda x, t: traceir.jvp(f, (x,), (t,)))(1.5, 1.0)
    _, tangent = program.jaxpr.invars
    assert [e.primitive for e in program.eqns if tangent in e.inputs] == ["mul"]


def test_grad_is_vjp_at_one_and_hessian_forward_over_reverse() -> None:
    x = np.float32(1.5)
    value, back = traceir.vjp(cube, x)
    assert back(jnp.ones_like(value))[0] == traceir.grad(cube)(x)
    both = traceir.jacfwd(traceir.jacrev(cube))(x)
    assert traceir.hessian(cube)(x) == both == 9


def test_checkpoint_changes_nothing_but_what_is_kept() -> None:
    f = traceir.checkpoint(cube)
    g: Any
    h: Any
    for g, h in ((f, cube), (traceir.grad(f), traceir.grad(cube))):
        assert g(1.5) == h(1.5)
        assert traceir.grad(g)(1.5) == traceir.grad(h)(1.5)


def test_examples_do_not_show_in_one_another() -> None:
    def f(x: Any) -> Any:
        return jnp.log(x), jnp.stack([x, x * x])

    xs = np.array([np.nan, 2, -1, np.inf], "float32")
    with np.errstate(invalid="ignore"):
        logs, rows = traceir.vmap(f, out_axes=(0, 1))(xs)
        each = [f(jnp.float32(x)) for x in xs]
    np.testing.assert_array_equal(logs, [np.asarray(one) for one, _ in each])
    np.testing.assert_array_equal(rows, np.stack([r for _, r in each], axis=1))


def test_devices_change_no_value() -> None:
    def share(x: Any) -> Any:
        return x / lax.psum(x, "i")

    one = X[:1]
    mapped = traceir.vmap(share, axis_name="i")(one)
    np.testing.assert_array_equal(traceir.pmap(share, axis_name="i")(one), mapped)


# Programs -----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_a_program_that_returns_its_variables_has_the_same_bits(backend: str) -> None:
    def inner(x: Any) -> Any:
        return jnp.exp(x) / 3 + x

    def f(x: Any) -> Any:
        return traceir.jit(inner)(x).sum() * jnp.sin(x)

    def every(x: Any) -> Any:
        a = jnp.exp(x)
        b = a / 3
        c = b + x
        d = c.sum()
        e = jnp.sin(x)
        return d * e, a, b, c, d, e

    x = np.linspace(0, 1, 37, dtype="float32")
    whole = traceir.jit(f, backend=backend)(x)
    assert np.asarray(whole).tobytes() == (
        np.asarray(traceir.jit(every, backend=backend)(x)[0]).tobytes()
    )


FIRST = "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul b a in (c, b) }"


def test_programs_are_equal_but_for_the_choice_of_variables() -> None:
    renamed = "{ lambda ; x:f32[]. let y:f32[] = sin x; z:f32[] = mul y x in (z, y) }"
    assert traceir.parse(FIRST) == traceir.parse(renamed)
    for other in (
        FIRST.replace("sin", "cos"),
        FIRST.replace("mul b a", "mul a b"),
        FIRST.replace("(c, b)", "(b, c)"),
        FIRST.replace("f32", "f64"),
    ):
        assert traceir.parse(FIRST) != traceir.parse(other)


def test_equations_are_evaluated_in_their_order() -> None:
    program = traceir.parse(FIRST)
    c, b = traceir.eval_jaxpr(program.jaxpr, program.consts, np.float32(2))
    assert b == np.sin(np.float32(2)) and c == b * 2
    assert [e.primitive for e in program.eqns] == ["sin", "mul"]
