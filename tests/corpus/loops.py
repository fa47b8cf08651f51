"""Conditions and loops, alone and transformed."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

S = "f32[]{0.75}"
V = "f32[3]{0.5 -1.25 2.0}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
PV = f"bool[]{{true}} {V}"


@program(PV)
def condition(jax: Library, p: Array, x: Array) -> Array:
    """Two branches; the false one is written first."""
    return jax.lax.cond(p, lambda x: jax.numpy.sin(x), lambda x: x * 2.0, x)


@program(f"i32[]{{2}} {V}")
def branch_by_number(jax: Library, n: Array, x: Array) -> Array:
    """A branch by number, which is clamped."""
    branches = [lambda x: x, lambda x: x + 1.0, jax.numpy.cos]
    return jax.lax.switch(n, branches, x)


@program(PV)
def condition_with_closures(jax: Library, p: Array, x: Array) -> Array:
    """What branches use from outside are operands."""
    y = x * 3.0
    return jax.lax.cond(p, lambda: x + y, lambda: y)


@program(S)
def loop_while(jax: Library, x: Array) -> Array:
    """Doubling until a bound is passed."""
    return jax.lax.while_loop(lambda x: x < 10.0, lambda x: x * 2.0, x)


@program(f"{S} {S}")
def loop_while_with_closures(jax: Library, x: Array, y: Array) -> Array:
    """The condition and the body use values from outside."""
    return jax.lax.while_loop(lambda x: x < y + 9.0, lambda x: x + y, x)


@program(V)
def counted_loop(jax: Library, x: Array) -> Array:
    """A loop with bounds that are known is a scan."""
    return jax.lax.fori_loop(0, 3, lambda i, x: x * 2.0 + i, x)


@program(f"i32[]{{3}} {V}")
def counted_loop_to_a_traced_bound(jax: Library, n: Array, x: Array) -> Array:
    """A loop with a bound that is not known is a while."""
    return jax.lax.fori_loop(0, n, lambda i, x: x * 0.5, x)


@program(V)
def scan_of_a_sum(jax: Library, x: Array) -> Array:
    """Running sums."""

    def step(total: Array, x: Array) -> Array:
        total = total + x
        return total, total * 2.0

    return jax.lax.scan(step, jax.numpy.float32(0.0), x)


@program(V)
def scan_in_reverse(jax: Library, x: Array) -> Array:
    """From the last element to the first."""
    step = lambda c, x: (c * x, c)  # noqa: E731
    return jax.lax.scan(step, jax.numpy.float32(1.0), x, reverse=True)


@program(V)
def scan_without_values(jax: Library, x: Array) -> Array:
    """A fixed number of steps, whose results are not kept."""
    return jax.lax.scan(lambda c, _: (c * c, None), x, None, length=2)[0]


@program(f"{M} f32[3]{{1.0 0.5 -2.0}}")
def scan_with_closures(jax: Library, a: Array, w: Array) -> Array:
    """What the body uses from outside goes before the carry."""

    def step(h: Array, x: Array) -> Array:
        h = jax.numpy.tanh(w * h + x)
        return h, jax.numpy.sum(h)

    return jax.lax.scan(step, jax.numpy.zeros(3), a)


@program(M)
def nested_scans(jax: Library, a: Array) -> Array:
    """A loop in a loop."""

    def row(c: Array, x: Array) -> Array:
        c, ys = jax.lax.scan(lambda c, x: (c + x, c), c, x)
        return c, ys

    return jax.lax.scan(row, jax.numpy.float32(0.0), a)


@program(V)
def mapped_by_a_loop(jax: Library, x: Array) -> Array:
    """`lax.map`: one element at a time."""
    return jax.lax.map(lambda x: x * x + 1.0, x)


@program(V)
def condition_in_a_scan(jax: Library, x: Array) -> Array:
    """A branch in every step."""

    def step(c: Array, x: Array) -> Array:
        c = jax.lax.cond(x > 0, lambda: c + x, lambda: c - x)
        return c, c

    return jax.lax.scan(step, jax.numpy.float32(0.0), x)


@program(V)
def gradient_of_a_scan(jax: Library, x: Array) -> Array:
    """The backward pass is a scan in the other direction."""

    def f(x: Array) -> Array:
        step = lambda c, x: (jax.numpy.sin(c * x), c)  # noqa: E731
        c, ys = jax.lax.scan(step, jax.numpy.float32(1.0), x)
        return c + jax.numpy.sum(ys)

    return jax.grad(f)(x)


@program(PV)
def gradient_of_a_condition(jax: Library, p: Array, x: Array) -> Array:
    """The branch that was taken, backward."""
    lax = jax.lax
    f = lambda x: lax.cond(p, lambda x: -x, lambda x: x * 2.0, x)  # noqa: E731
    return jax.grad(lambda x: jax.numpy.sum(f(x)))(x)


@program(S)
def gradient_of_a_counted_loop(jax: Library, x: Array) -> Array:
    """A power by repeated products."""
    return jax.grad(lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y * x, x))(x)


@program(S)
def forward_of_a_while_loop(jax: Library, x: Array) -> Array:
    """The tangent is carried along."""
    f = lambda x: jax.lax.while_loop(lambda x: x < 10.0, lambda x: x * x + 1.0, x)  # noqa: E731
    return jax.jvp(f, (x,), (jax.numpy.float32(1.0),))


@program(V)
def forward_of_a_scan(jax: Library, x: Array) -> Array:
    """Tangents beside values, in the carry and in the rows."""
    step = lambda c, x: (c * x, c + x)  # noqa: E731
    f = lambda x: jax.lax.scan(step, jax.numpy.float32(1.0), x)  # noqa: E731
    return jax.jvp(f, (x,), (x,))


@program("bool[3]{true false true} " + V)
def mapped_condition(jax: Library, p: Array, x: Array) -> Array:
    """A predicate for each element: both branches, then a choice."""
    f = lambda p, x: jax.lax.cond(p, jax.numpy.sin, lambda x: x * 2.0, x)  # noqa: E731
    return jax.vmap(f)(p, x)


@program(PV)
def mapped_condition_on_one_value(jax: Library, p: Array, x: Array) -> Array:
    """One predicate for all elements: a condition of rows."""
    f = lambda x: jax.lax.cond(p, jax.numpy.sin, lambda x: x * 2.0, x)  # noqa: E731
    return jax.vmap(f)(x)


@program(V)
def mapped_while_loop(jax: Library, x: Array) -> Array:
    """Elements that are done stay as they are."""
    f = lambda x: jax.lax.while_loop(lambda x: x < 10.0, lambda x: x + 4.0, x)  # noqa: E731
    return jax.vmap(f)(x)


@program(M)
def mapped_scan(jax: Library, a: Array) -> Array:
    """One scan over all rows at once."""
    f = lambda x: jax.lax.scan(lambda c, x: (c + x, c), jax.numpy.float32(0.0), x)  # noqa: E731
    return jax.vmap(f)(a)


@program(S)
def loop_in_a_call(jax: Library, x: Array) -> Array:
    """A jitted function whose body is a loop."""
    f = jax.jit(lambda x: jax.lax.fori_loop(0, 2, lambda i, y: y + x, x))
    return f(f(x))


@program(V)
def custom_derivative(jax: Library, x: Array) -> Array:
    """A function with a rule of its own, in the other direction."""

    @jax.custom_vjp
    def clip(x: Array) -> Array:
        return x * 1.0

    clip.defvjp(lambda x: (x * 1.0, None), lambda _, g: (jax.numpy.clip(g, -1.0, 1.0),))
    return jax.grad(lambda x: jax.numpy.sum(3.0 * clip(x)))(x)


@program(V)
def custom_tangent(jax: Library, x: Array) -> Array:
    """A function with a rule for tangents."""

    @jax.custom_jvp
    def twice(x: Array) -> Array:
        return 2.0 * x

    @twice.defjvp
    def rule(primals: Array, tangents: Array) -> Array:
        return twice(*primals), 3.0 * tangents[0]

    return jax.grad(lambda x: jax.numpy.sum(twice(x)))(x)
