"""References in bodies of loops, in branches, and under transforms.

Cites: ref.body, ref.derivative, ref.differentiated, ref.batched, ref.condition
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rule_errors import raises_rule

import traceir as jax
import traceir.numpy as jnp
from traceir import lax


def made(count: int = 3) -> jax.Ref:
    """A reference to the first numbers."""
    return jax.new_ref(jnp.arange(float(count)))


def held(ref: jax.Ref) -> list[float]:
    """The elements of a reference."""
    found: list[float] = ref[...].tolist()
    return found


LOOPS: list[Callable[[Callable[[Any], Any]], Any]] = [
    lambda body: lax.fori_loop(0, 3, lambda i, c: body(c), 0.0),
    lambda body: lax.scan(lambda c, _: (body(c), None), 0.0, None, length=3)[0],
    lambda body: lax.while_loop(lambda c: c < 3, body, 0.0),
    lambda body: jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: body(c), 0.0))(3),
]


@pytest.mark.parametrize("loop", LOOPS)
def test_bodies_of_loops_write(loop: Any) -> None:
    ref, known = made(), jax.new_ref(10.0)

    def body(c: Any) -> Any:
        ref[0] += known[...]
        jax.ref.addupdate(ref, 1, ref[0])
        return c + 1

    assert loop(body) == 3 and held(ref) == [30, 61, 2]
    assert jax.jit(lambda: loop(body))() == 3 and held(ref) == [60, 211, 2]
    with jax.disable_jit():
        assert loop(body) == 3 and held(ref) == [90, 451, 2]


def test_conditions_read_and_do_not_write() -> None:
    ref = made()

    def body(i: Any) -> Any:
        ref[0] += 1
        return i + 1

    assert lax.while_loop(lambda i: ref[0] < ref[2], body, 0) == 2
    assert held(ref) == [2, 1, 2]
    with raises_rule("ref.condition", ValueError, "writes Ref{float32"):
        lax.while_loop(lambda i: jax.ref.swap(ref, 0, 1.0) < 4, lambda i: i + 1, 0)


def test_scans_go_over_references() -> None:
    ref, rows = made(), jax.new_ref(jnp.ones((3, 2)))

    def body(c: Any, x: Any) -> Any:
        first, row, number = x
        first[...] += 1.0
        row[0] = number
        return c + row[...].sum(), None

    found, _ = lax.scan(body, 0.0, (ref, rows, jnp.arange(3.0)))
    assert found == 6 and held(ref) == [1, 2, 3]
    assert held(rows) == [[0, 1], [1, 1], [2, 1]]


def test_branches_write() -> None:
    ref, other = made(), made()

    def first() -> Any:
        ref[0] = 5.0
        return other[1]

    def second() -> Any:
        other[1] = ref[0]
        return 2.0

    choose = jax.jit(lambda p: lax.cond(p, first, second))
    assert choose(True) == 1 and held(ref) == [5, 1, 2] and held(other) == [0, 1, 2]
    assert choose(False) == 2 and held(ref) == [5, 1, 2] and held(other) == [0, 5, 2]

    def put(r: Any, x: Any) -> None:
        r[0] = x

    lax.switch(1, [lambda r, x: None, put, put], ref, 7.0)
    assert held(ref) == [7, 1, 2]


def test_derivatives_go_through_local_references() -> None:
    def cube(x: Any) -> Any:
        ref = jax.new_ref(1.0)
        lax.fori_loop(0, 3, lambda i, c: ref.__setitem__(..., ref[...] * x), None)
        return ref[...]

    assert jax.grad(cube)(2.0) == 12 and jax.jit(jax.grad(cube))(2.0) == 12
    assert jax.jvp(cube, (2.0,), (1.0,)) == (8, 12)
    assert jax.grad(jax.checkpoint(cube))(2.0) == 12
    assert jax.vmap(jax.grad(cube))(jnp.array([1.0, 2.0])).tolist() == [3, 12]
    assert jax.grad(jax.grad(cube))(2.0) == 12


def test_outer_references_are_constants_of_derivatives() -> None:
    ref = made()

    def noted(x: Any) -> Any:
        ref[0] = lax.stop_gradient(x * 2)
        return x * ref[1] * ref[0]

    for f in (noted, jax.jit(noted), jax.checkpoint(noted)):
        ref[0] = 0.0
        assert jax.grad(f)(3.0) == 6 and held(ref) == [6, 1, 2]
    assert jax.grad(lambda x, r: r[1] * x)(3.0, ref) == 1
    for wrong in (lambda x: (ref.__setitem__(0, x * 2), x)[1],):
        for f in (wrong, jax.jit(wrong)):
            with raises_rule("ref.differentiated", TypeError, "Ref{float32"):
                jax.grad(f)(3.0)
    with raises_rule("jit.argument", TypeError, "read the array of the reference"):
        jax.grad(lambda r: r[0])(ref)


def test_a_backward_rule_writes() -> None:
    ref = made()

    @jax.custom_vjp
    def watched(x: Any) -> Any:
        return x

    def backward(_: Any, ct: Any) -> Any:
        ref[0] = ct
        return (ct,)

    watched.defvjp(lambda x: (x, None), backward)
    assert jax.grad(lambda x: watched(x) * 4)(1.0) == 4 and held(ref) == [4, 1, 2]
    assert jax.jit(jax.grad(lambda x: watched(x) * 5))(1.0) == 5 and ref[0] == 5


def test_checkpoint_writes_once() -> None:
    ref = made()
    f: Any = jax.checkpoint(lambda r, x: (r.__setitem__(0, r[0] + 1), jnp.sin(x))[1])
    jax.grad(lambda x: f(ref, x))(1.0)
    assert held(ref) == [1, 1, 2]


def test_examples_have_references_of_their_own() -> None:
    ref, rows = made(), jax.new_ref(jnp.zeros((2, 3)))

    def step(r: Any, row: Any, x: Any) -> Any:
        r[...] = r[...] + x
        lax.cond(x > 1, lambda: row.__setitem__(0, x), lambda: None)
        return r[...] * 2

    over: Any = jax.vmap(step, in_axes=(0, 1, 0))
    assert over(ref, rows, jnp.arange(3.0)).tolist() == [0, 4, 8]
    assert held(ref) == [0, 2, 4] and held(rows) == [[0, 0, 2], [0, 0, 0]]
    assert jax.jit(over)(ref, rows, jnp.ones(3)).tolist() == [2, 6, 10]
    assert held(ref) == [1, 3, 5]
    assert jax.vmap(lambda i: ref[i])(jnp.array([2, 0])).tolist() == [5, 1]


def test_examples_share_no_write() -> None:
    ref = made()
    for value in (7.0, None):
        with raises_rule("ref.batched", TypeError, "Ref{float32"):
            jax.vmap(lambda x, v=value: ref.__setitem__(0, x if v is None else v))(
                jnp.ones(3)
            )
    put: Any = jax.vmap(lambda r, x: r.__setitem__(0, x), in_axes=(None, 0))
    with raises_rule("ref.batched", TypeError, "argument r"):
        put(ref, jnp.ones(3))
