"""Functions with control flow under transforms, for any library with JAX's names.

Serves: derive.*, batch.*
"""

from __future__ import annotations

from typing import Any

import numpy as np
from control.programs import COUNTS, Array, Library, M, X, program


def _choice(jax: Library, p: Array, x: Array) -> Array:
    return jax.lax.cond(p > 0, jax.numpy.sin, lambda x: x * 2.0, x)


def _loop(jax: Library, n: Array, x: Array) -> Array:
    return jax.lax.while_loop(
        lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 2.0), (0.0, x)
    )[1]


def _scan(jax: Library, w: Array, xs: Array) -> Any:
    return jax.lax.scan(lambda c, x: (c * jax.numpy.sin(w) + x, c), 0.0, xs)


@program(X, X)
def batch_of_choices(jax: Library, p: Array, x: Array) -> Any:
    return jax.vmap(lambda p, x: _choice(jax, p, x))(p, x)


@program(1.0, X)
def choice_for_a_batch(jax: Library, p: Array, x: Array) -> Any:
    return jax.vmap(lambda p, x: _choice(jax, p, x), in_axes=(None, 0))(p, x)


@program(COUNTS, X)
def batch_of_choices_of_three(jax: Library, i: Array, x: Array) -> Any:
    branches = [jax.numpy.sin, jax.numpy.cos, lambda x: x]
    return jax.vmap(lambda i, x: jax.lax.switch(i, branches, x))(i, x)


@program(COUNTS, X)
def batch_of_choices_of_pairs(jax: Library, i: Array, x: Array) -> Any:
    def f(i: Array, x: Array) -> Any:
        return jax.lax.cond(
            i > 0, lambda n, x: (n + 1, x), lambda n, x: (n, x * x), i, x
        )

    return jax.vmap(f)(i, x)


@program(3.0, X)
def loop_for_a_batch(jax: Library, n: Array, x: Array) -> Any:
    return jax.vmap(lambda n, x: _loop(jax, n, x), in_axes=(None, 0))(n, x)


@program(X, X)
def batch_of_loops(jax: Library, n: Array, x: Array) -> Any:
    return jax.vmap(lambda n, x: _loop(jax, n, x))(n, x)


@program(M, M)
def batch_of_batches_of_loops(jax: Library, n: Array, x: Array) -> Any:
    return jax.vmap(jax.vmap(lambda n, x: _loop(jax, n, x)))(n, x)


@program(1.0, M)
def scans_over_a_batch(jax: Library, w: Array, xs: Array) -> Any:
    return jax.vmap(lambda w, xs: _scan(jax, w, xs), in_axes=(None, 0))(w, xs)


@program(X, X)
def batch_of_scans(jax: Library, w: Array, xs: Array) -> Any:
    return jax.vmap(lambda w, xs: _scan(jax, w, xs), in_axes=(0, None))(w, xs)


@program(1.0, 1.0, 1.0, 1.0)
def tangent_of_a_choice(jax: Library, a: Array, b: Array, t: Array, u: Array) -> Any:
    return jax.jvp(lambda p, x: _choice(jax, p, x), (a, b), (t, u))


@program(1.0, 1.0, 1.0, 1.0)
def tangent_of_a_loop(jax: Library, a: Array, b: Array, t: Array, u: Array) -> Any:
    return jax.jvp(lambda n, x: _loop(jax, n, x), (a, b), (t, u))


@program(1.0, X, 1.0, X)
def tangent_of_a_scan(jax: Library, a: Array, b: Array, t: Array, u: Array) -> Any:
    return jax.jvp(lambda w, xs: _scan(jax, w, xs), (a, b), (t, u))


@program(1.0, X, X)
def tangent_of_the_rows(jax: Library, a: Array, b: Array, u: Array) -> Any:
    return jax.jvp(lambda xs: _scan(jax, a, xs), (b,), (u,))


@program(2.0, 1.0)
def tangent_of_a_carry_that_begins_to_move(jax: Library, x: Array, t: Array) -> Any:
    def f(x: Array) -> Any:
        return jax.lax.scan(
            lambda c, _: ((c[1], c[1] * x), 1.0), (1.0, 2.0), None, length=3
        )

    return jax.jvp(f, (x,), (t,))


@program(1.0)
def linear_part_of_a_loop(jax: Library, x: Array) -> Any:
    return jax.linearize(lambda x: _loop(jax, 3.0, x), x)[1](x)


@program(X)
def linear_part_of_a_scan(jax: Library, x: Array) -> Any:
    return jax.linearize(lambda x: _scan(jax, 2.0, x), x)[1](x)


@program(1.0)
def gradient_of_a_counted_loop(jax: Library, x: Array) -> Any:
    def f(x: Array) -> Array:
        return jax.lax.fori_loop(0, 3, lambda i, c: jax.numpy.sin(c) * c, x)

    return jax.grad(f)(x)


@program(2.0)
def gradient_of_a_constant_used_twice(jax: Library, x: Array) -> Any:
    def f(x: Array) -> Array:
        return jax.lax.scan(lambda c, _: (c * x * x, None), 1.0, None, length=3)[0]

    return jax.grad(f)(x)


@program(2.0)
def gradient_of_a_carry_that_begins_to_move(jax: Library, x: Array) -> Any:
    def f(x: Array) -> Array:
        return jax.lax.scan(
            lambda c, _: ((c[1], c[1] * x), 1.0), (1.0, 2.0), None, length=3
        )[0][0]

    return jax.grad(f)(x)


@program(np.ones((4, 3), "float32"))
def gradient_of_a_network(jax: Library, xs: Array) -> Any:
    def f(w: Array, h: Array) -> Array:
        def step(h: Array, x: Array) -> Any:
            return jax.numpy.tanh(w @ h + x), h

        return jax.lax.scan(step, h, xs)[1].sum()

    return jax.grad(f, argnums=(0, 1))(jax.numpy.ones((3, 3)), jax.numpy.ones(3))


@program(1.0, X)
def gradient_of_a_constant_with_a_weak_carry(jax: Library, w: Array, xs: Array) -> Any:
    return jax.grad(lambda w: _scan(jax, w, xs)[0])(w)


@program(1.0, X)
def gradient_of_the_rows(jax: Library, w: Array, xs: Array) -> Any:
    return jax.grad(lambda xs: _scan(jax, w, xs)[1].sum())(xs)
