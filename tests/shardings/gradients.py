"""Derivatives taken within functions of parts, on a mesh of 4 by 2 devices, x and y.

Each has its module of JAX first, then the parameters `w`, which all devices share or
which are divided, and the rows `a` of this device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]
# The function, the specs of `w` and `a`, and those of the results: "" is replicated.
PROGRAMS: dict[str, tuple[Function, tuple[str, ...], Any]] = {}
RANDOM = np.random.default_rng(0)
ROWS = RANDOM.standard_normal((8, 4)).astype("float32")
PARAMETERS = RANDOM.standard_normal(4).astype("float32")


def program(*specs: str, out: Any = "") -> Callable[[Function], Function]:
    """Enter a function, with its specs."""

    def enter(function: Function) -> Function:
        PROGRAMS[function.__name__] = function, specs or ("", "x"), out
        return function

    return enter


def _spec(jax: Any, names: str) -> Any:
    return jax.sharding.PartitionSpec(*([tuple(names)] if names else []))


def results(jax: Any, name: str, jitted: bool = False) -> list[Any]:
    """The results of a program, as lists."""
    function, specs, out = PROGRAMS[name]
    axis_types = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=axis_types)
    outs = tuple(_spec(jax, names) for names in ((out,) if type(out) is str else out))
    mapped = jax.shard_map(
        lambda w, a: function(jax, w, a),
        mesh=mesh,
        in_specs=tuple(_spec(jax, names) for names in specs),
        out_specs=outs[0] if type(out) is str else outs,
    )
    if jitted:
        mapped = jax.jit(mapped)
    leaves = jax.tree_util.tree_leaves(mapped(PARAMETERS, ROWS))
    return [np.asarray(leaf).tolist() for leaf in leaves]


def loss(jax: Any, w: Any, a: Any) -> Any:
    """A loss of the rows of one device."""
    jnp = jax.numpy
    return jnp.sum(jnp.tanh(a @ w) ** 2)


@program()
def shared(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: loss(jax, w, a))(w)


@program()
def mean(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: jax.lax.pmean(loss(jax, w, a), "x"))(w)


@program()
def of_a_sum(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: jax.lax.psum(loss(jax, w, a), "x"))(w)


@program(out="x")
def for_each_device(jax: Any, w: Any, a: Any) -> Any:
    own = jax.lax.pcast(w, "x", to="varying")
    return jax.grad(lambda w: loss(jax, w, a))(own)


@program("y", "x", out="y")
def parts_of_a_product(jax: Any, w: Any, a: Any) -> Any:
    n = w.shape[0]
    own = jax.lax.dynamic_slice_in_dim(a, jax.lax.axis_index("y") * n, n, 1)
    jnp, psum = jax.numpy, jax.lax.psum
    return jax.grad(lambda w: jnp.sum(psum(own @ w, "y") ** 2))(w)


@program(out="x")
def by_rows(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda a: loss(jax, w, a))(a)


@program()
def jitted(jax: Any, w: Any, a: Any) -> Any:
    return jax.jit(jax.grad(jax.jit(lambda w: loss(jax, w, a))))(w)


@program()
def through_scan(jax: Any, w: Any, a: Any) -> Any:
    def steps(w: Any) -> Any:
        def body(c: Any, row: Any) -> Any:
            return c + jax.numpy.tanh(row @ w), c * row[0]

        zero = jax.lax.pcast(jax.numpy.float32(0), "x", to="varying")
        c, ys = jax.lax.scan(body, zero, a)
        return c**2 + ys.sum()

    return jax.grad(steps)(w)


@program()
def through_fori(jax: Any, w: Any, a: Any) -> Any:
    jnp = jax.numpy

    def steps(w: Any) -> Any:
        turn = jnp.outer(w, w)
        return jax.lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ turn) + a, a).sum()

    return jax.grad(steps)(w)


@program()
def sums_in_scan(jax: Any, w: Any, a: Any) -> Any:
    def steps(w: Any) -> Any:
        def body(c: Any, row: Any) -> Any:
            m = jax.lax.psum(row @ w, "x")
            return c * jax.numpy.cos(m) + m, m * c

        c, ys = jax.lax.scan(body, jax.numpy.float32(1), a)
        return c + ys.sum()

    return jax.grad(steps)(w)


@program()
def same_choice(jax: Any, w: Any, a: Any) -> Any:
    jnp = jax.numpy

    def chosen(w: Any) -> Any:
        ways = lambda: jnp.sum(a @ w), lambda: jnp.sum((a * 2) @ w**2)
        return jax.lax.cond(w[0] > 0, *ways)

    return jax.grad(chosen)(w)


@program()
def gathered(jax: Any, w: Any, a: Any) -> Any:
    gather = jax.lax.all_gather
    return jax.grad(lambda w: (gather(a @ w, "x", tiled=True) ** 2).sum())(w)


@program()
def scattered(jax: Any, w: Any, a: Any) -> Any:
    def dealt(w: Any) -> Any:
        whole = jax.numpy.outer(w, w) * a.sum()
        return (jax.lax.psum_scatter(whole, "x", tiled=True) ** 2).sum()

    return jax.grad(dealt)(w)


@program()
def round_a_ring(jax: Any, w: Any, a: Any) -> Any:
    turn = [(k, (k + 1) % 4) for k in range(4)]

    def passed(w: Any) -> Any:
        b = total = a @ w
        for _ in range(3):
            b = jax.lax.ppermute(b, "x", turn)
            total = total + b * w[0]
        return jax.numpy.sin(total).sum()

    return jax.grad(passed)(w)


@program()
def exchanged(jax: Any, w: Any, a: Any) -> Any:
    def sent(w: Any) -> Any:
        whole = jax.numpy.outer(w, a.sum() * w)
        return (jax.lax.all_to_all(whole, "x", 0, 0, tiled=True)[0] * w).sum()

    return jax.grad(sent)(w)


@program()
def hessian(jax: Any, w: Any, a: Any) -> Any:
    return jax.hessian(lambda w: jax.lax.psum(loss(jax, w, a), "x"))(w)


@program()
def twice(jax: Any, w: Any, a: Any) -> Any:
    slope = jax.grad(lambda w: loss(jax, w, a))
    return jax.grad(lambda w: (slope(w) ** 2).sum())(w)


@program()
def pulled_back(jax: Any, w: Any, a: Any) -> Any:
    y, back = jax.vjp(lambda w: a @ w, w)
    return back(jax.numpy.cos(y))[0]


@program()
def by_number(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: (w * jax.lax.axis_index("x")).sum())(w)


@program()
def own_cotangents(jax: Any, w: Any, a: Any) -> Any:
    @jax.custom_vjp
    def product(w: Any, a: Any) -> Any:
        return (a @ w).sum()

    def back(saved: Any, ct: Any) -> Any:
        w, a = saved
        return jax.lax.psum(ct * a.sum(0), "x"), ct * jax.numpy.ones_like(a) * w

    product.defvjp(lambda w, a: (product(w, a), (w, a)), back)
    return jax.grad(product)(w, a)


@program()
def own_tangents(jax: Any, w: Any, a: Any) -> Any:
    @jax.custom_jvp
    def product(w: Any, a: Any) -> Any:
        return (a @ w).sum()

    @product.defjvp
    def _push(at: Any, moves: Any) -> Any:
        (w, a), (dw, da) = at, moves
        return product(w, a), (a @ dw).sum() + (da @ w).sum()

    return jax.grad(product)(w, a)


@program(out="x")
def of_each_row(jax: Any, w: Any, a: Any) -> Any:
    slope = jax.grad(lambda row, w: jax.numpy.sin(row * w).sum())
    return jax.vmap(slope, (0, None))(a, w)


@program()
def of_each_parameter(jax: Any, w: Any, a: Any) -> Any:
    slope = jax.grad(lambda w, a: jax.numpy.sin(a * w).sum())
    return jax.vmap(slope, (0, None))(w, a)


@program(out="x")
def jacobian(jax: Any, w: Any, a: Any) -> Any:
    own = jax.lax.pcast(w, "x", to="varying")
    return jax.jacrev(lambda w: jax.numpy.tanh(a @ w))(own)


@program()
def transposed(jax: Any, w: Any, a: Any) -> Any:
    y, push = jax.linearize(lambda w: a @ w, w)
    return jax.linear_transpose(push, w)(y)[0]


@program(out=("", ""))
def steps_of_descent(jax: Any, w: Any, a: Any) -> Any:
    def step(w: Any, _: None) -> Any:
        value, slope = jax.value_and_grad(lambda w: loss(jax, w, a))(w)
        return w - 0.1 * slope, jax.lax.psum(value, "x")

    return jax.lax.scan(step, w, None, length=5)


@program("", "xy")
def over_both_axes(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: loss(jax, w, a))(w)


@program()
def in_part_the_same(jax: Any, w: Any, a: Any) -> Any:
    total = jax.lax.psum(a, "x").sum()
    return jax.grad(lambda w: (w * 3).sum() + total * w[0])(w)


@program()
def sum_of_what_is_the_same(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: jax.lax.psum((w**2).sum(), "x"))(w)


@program(out=("x", "x"))
def forwards(jax: Any, w: Any, a: Any) -> Any:
    return jax.jvp(lambda w: a @ w, (w,), (w,))


@program()
def steps_computed_again(jax: Any, w: Any, a: Any) -> Any:
    @jax.jit
    def total(w: Any, a: Any) -> Any:
        def body(c: Any, row: Any) -> Any:
            return c + jax.numpy.sin(row * w).sum(), None

        zero = jax.lax.pcast(0.0, "x", to="varying")
        return jax.lax.scan(jax.checkpoint(body), zero, a)[0]

    return jax.value_and_grad(total)(w, a)[1]


@program("x", "x", out="x")
def divided_parameters(jax: Any, w: Any, a: Any) -> Any:
    def value(w: Any) -> Any:
        return jax.numpy.tanh(a @ jax.lax.all_gather(w, "x", tiled=True)).sum()

    return jax.grad(value)(w)


@program()
def sorted_rows(jax: Any, w: Any, a: Any) -> Any:
    jnp = jax.numpy
    ranks = jnp.arange(2.0)[:, None]
    return jax.grad(lambda w: (jnp.sort(a * w, axis=0) * ranks).sum())(w)


@program()
def own_element(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: w[jax.lax.axis_index("x")] ** 2 * a.sum())(w)


@program()
def written_into(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: (a[0].at[1:3].set(w[:2]) ** 2).sum())(w)


@program()
def written_over(jax: Any, w: Any, a: Any) -> Any:
    update = jax.lax.dynamic_update_slice
    place = jax.lax.axis_index("x")
    return jax.grad(lambda w: (update(w, a[0, :2], (place,)) ** 2).sum())(w)


@program()
def solved(jax: Any, w: Any, a: Any) -> Any:
    jnp = jax.numpy
    matrix = jnp.eye(4) * 3 + jnp.outer(a[0], a[1])
    return jax.grad(lambda w: jnp.linalg.solve(matrix, w).sum())(w)


@program()
def products_of_steps(jax: Any, w: Any, a: Any) -> Any:
    def steps(w: Any) -> Any:
        def body(c: Any, k: Any) -> Any:
            return c * w[k] + a[0, 0], c

        one = jax.lax.pcast(jax.numpy.float32(1), "x", to="varying")
        c, ys = jax.lax.scan(body, one, jax.numpy.arange(4))
        return jax.lax.psum(c + ys.sum(), "x")

    return jax.grad(steps)(w)


@program()
def added(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: (w + a).sum())(w)


@program()
def added_in_batches(jax: Any, w: Any, a: Any) -> Any:
    def products(w: Any) -> Any:
        return jax.vmap(lambda x: jax.vmap(lambda y: x * y + a[0, 0])(w))(w).sum()

    return jax.grad(products)(w)


@program()
def jacobian_within(jax: Any, w: Any, a: Any) -> Any:
    def squares(w: Any) -> Any:
        return (jax.jacrev(lambda w: jax.numpy.sin(w * a[0]))(w) ** 2).sum()

    return jax.grad(squares)(w)


@program()
def pushed_within(jax: Any, w: Any, a: Any) -> Any:
    def change(w: Any) -> Any:
        return jax.jvp(lambda w: jax.numpy.sin(w + a).sum(), (w,), (w * 0 + 1,))[1]

    return jax.grad(change)(w)


@program()
def mapped(jax: Any, w: Any, a: Any) -> Any:
    def total(w: Any) -> Any:
        return jax.lax.map(lambda row: jax.numpy.sin(row * w).sum(), a).sum()

    return jax.grad(total)(w)


@program()
def decomposed(jax: Any, w: Any, a: Any) -> Any:
    def log(w: Any) -> Any:
        jnp = jax.numpy
        matrix = jnp.eye(4) * 9 + jnp.outer(w, w) * a[0, 0] ** 2
        factor = jnp.linalg.cholesky(matrix)
        return jnp.log(jnp.diagonal(factor)).sum() + jnp.linalg.slogdet(matrix)[1]

    return jax.grad(log)(w)
