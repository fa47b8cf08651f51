"""Functions of parts whose programs JAX prints, with its module first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Of each its text, and the function with its arguments.
PROGRAMS: dict[str, Callable[[Any], str]] = {}
FUNCTIONS: dict[str, Callable[[Any], tuple[Any, list[Any]]]] = {}


def program(
    ins: Any,
    outs: Any,
    *shapes: tuple[int, ...],
    sizes: Any = None,
    under: Callable[[Any, Any], Any] = lambda jax, mapped: mapped,
    **options: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function of parts: its specs, as tuples, and the shapes of arguments.

    What is printed is the program of what `under` makes of it.
    """

    sizes = sizes or {"x": 4}

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        def made(jax: Any) -> tuple[Any, list[Any]]:
            kinds = (jax.sharding.AxisType.Auto,) * len(sizes)
            mesh = jax.make_mesh((*sizes.values(),), (*sizes,), axis_types=kinds)
            spec = jax.sharding.PartitionSpec
            given, wanted = (tuple(spec(*s) for s in specs) for specs in (ins, outs))
            mapped = jax.shard_map(
                lambda *parts: function(jax, *parts),
                mesh=mesh,
                in_specs=given,
                out_specs=wanted if len(wanted) > 1 else wanted[0],
                **options,
            )
            whole = under(jax, mapped)
            whole.__name__ = function.__name__
            return whole, [jax.numpy.ones(shape) for shape in shapes]

        def text(jax: Any) -> str:
            whole, arguments = made(jax)
            return str(jax.make_jaxpr(jax.jit(whole))(*arguments))

        FUNCTIONS[function.__name__] = made
        PROGRAMS[function.__name__] = text
        return function

    return enter


ROWS, WHOLE = ("x",), ()
TWO = {"x": 4, "y": 2}


@program([ROWS], [WHOLE], (8,))
def summed(jax: Any, a: Any) -> Any:
    return jax.lax.psum(a, "x")


@program([ROWS], [ROWS], (8,))
def doubled_sine(jax: Any, a: Any) -> Any:
    return jax.numpy.sin(a) * 2


@program([ROWS], [WHOLE], (8,))
def mean_of_squares(jax: Any, a: Any) -> Any:
    return jax.lax.pmean(jax.numpy.mean(a**2), "x")


@program([ROWS], [WHOLE], (8,))
def largest(jax: Any, a: Any) -> Any:
    return jax.lax.pmax(a, "x")


@program([ROWS], [ROWS], (8,))
def gathered(jax: Any, a: Any) -> Any:
    return jax.lax.all_gather(a, "x", tiled=True)


@program([ROWS], [ROWS], (8,))
def round_a_ring(jax: Any, a: Any) -> Any:
    return jax.lax.ppermute(a, "x", [(k, (k + 1) % 4) for k in range(4)])


@program([WHOLE], [ROWS], (8,))
def share_of_a_sum(jax: Any, a: Any) -> Any:
    return jax.lax.psum_scatter(a, "x", tiled=True)


@program([ROWS], [ROWS], (8, 4))
def exchanged(jax: Any, a: Any) -> Any:
    return jax.lax.all_to_all(a, "x", 1, 0, tiled=True)


@program([ROWS, WHOLE], [WHOLE], (8,), (2,))
def product_with_what_is_shared(jax: Any, a: Any, b: Any) -> Any:
    return jax.lax.psum(jax.numpy.sum(a * b), "x")


@program([("x", "y")], [ROWS], (8, 4), sizes=TWO)
def summed_along_one_of_two(jax: Any, a: Any) -> Any:
    return jax.lax.psum(a, "y")


@program([(("x", "y"),)], [WHOLE], (8,), sizes=TWO)
def summed_along_both(jax: Any, a: Any) -> Any:
    return jax.lax.psum(a, ("x", "y"))


@program([ROWS, ("y",)], [("x", "y")], (8,), (4,), sizes=TWO)
def outer_product(jax: Any, a: Any, b: Any) -> Any:
    return a[:, None] * b


@program([ROWS], [WHOLE, ROWS], (8,))
def running_sum(jax: Any, a: Any) -> Any:
    def step(total: Any, v: Any) -> Any:
        return total + jax.lax.psum(v, "x"), total * v

    return jax.lax.scan(step, jax.numpy.zeros(()), a)


@program([ROWS], [ROWS], (8,))
def repeated(jax: Any, a: Any) -> Any:
    return jax.lax.fori_loop(0, 3, lambda _, c: c * 2, a)


@program([ROWS], [ROWS], (8,))
def chosen_by_all(jax: Any, a: Any) -> Any:
    enough = jax.lax.psum(a[0], "x") > 2
    return jax.lax.cond(enough, lambda a: a * 2, lambda a: -a, a)


@program([ROWS], [ROWS], (8,))
def selected(jax: Any, a: Any) -> Any:
    return jax.numpy.where(a > 0, a, 1.0)


@program([WHOLE, ROWS], [WHOLE], (2,), (8,))
def gradient(jax: Any, w: Any, a: Any) -> Any:
    return jax.grad(lambda w: jax.numpy.sum(jax.numpy.sin(w * a)))(w)


@program([WHOLE, ROWS], [WHOLE, WHOLE], (3,), (8, 3))
def training_step(jax: Any, w: Any, a: Any) -> Any:
    def loss(w: Any) -> Any:
        return jax.lax.pmean(jax.numpy.mean(jax.numpy.tanh(a @ w) ** 2), "x")

    value, slope = jax.value_and_grad(loss)(w)
    return w - 0.1 * slope, value


@program([WHOLE], [ROWS], (2,))
def cast(jax: Any, a: Any) -> Any:
    return jax.lax.pcast(a, "x", to="varying")


@program([ROWS], [ROWS], (8,))
def with_a_constant(jax: Any, a: Any) -> Any:
    return a + jax.numpy.ones(2)


@program([ROWS], [ROWS], (8,))
def a_call(jax: Any, a: Any) -> Any:
    return jax.jit(lambda v: jax.numpy.sin(v))(a)


@program([ROWS], [ROWS], (8,))
def computed_again(jax: Any, a: Any) -> Any:
    return jax.checkpoint(lambda v: jax.numpy.sin(v))(a)


@program([ROWS], [ROWS], (8,))
def with_a_rule(jax: Any, a: Any) -> Any:
    twice = jax.custom_vjp(lambda v: v * 2)
    twice.defvjp(lambda v: (v * 2, None), lambda _, ct: (ct * 2,))
    return twice(a)


@program([ROWS, WHOLE], [ROWS], (8,), ())
def one_that_is_not_used(jax: Any, a: Any, b: Any) -> Any:
    return a


@program([ROWS, WHOLE], [WHOLE], (8,), (), check_vma=False)
def nothing_is_checked(jax: Any, a: Any, b: Any) -> Any:
    return jax.lax.psum(a * b, "x")


@program([(None, "x"), ("x", None)], [(None, None)], (8, 4), (4, 3))
def product_of_matrices(jax: Any, a: Any, b: Any) -> Any:
    return jax.lax.psum(a @ b, "x")


@program([ROWS], [WHOLE], (8, 4), sizes=TWO, axis_names={"x"})
def along_some_axes(jax: Any, a: Any) -> Any:
    return jax.lax.psum(a, "x")


@program([ROWS], [ROWS], (8,), sizes=TWO, axis_names={"x"})
def one_map_within_another(jax: Any, a: Any) -> Any:
    spec = jax.sharding.PartitionSpec
    inner = jax.shard_map(
        lambda b: jax.lax.psum(b, "y"),
        in_specs=spec("y"),
        out_specs=spec(),
        axis_names={"y"},
    )
    return inner(a)


# Transforms of such functions ---------------------------------------------------------


def batched(axes: Any) -> Callable[[Any, Any], Any]:
    """A function of batches, along these axes of the arguments."""
    return lambda jax, mapped: jax.vmap(mapped, in_axes=axes)


def pushed(jax: Any, mapped: Any) -> Any:
    """A function of primals, which are tangents, too."""
    return lambda *args: jax.jvp(mapped, args, args)


def linearized(jax: Any, mapped: Any) -> Any:
    """A function of primals, by its linearization there."""
    return lambda *args: jax.linearize(mapped, *args)[1](*args)


def differentiated(jax: Any, mapped: Any) -> Any:
    """The gradient of the sum of the result, and the value."""
    return jax.value_and_grad(lambda *args: jax.numpy.sum(mapped(*args)))


def twice(jax: Any, mapped: Any) -> Any:
    """The gradient of a sum of the gradient."""
    slopes = jax.grad(lambda *args: jax.numpy.sum(mapped(*args)))
    return jax.grad(lambda *args: jax.numpy.sum(slopes(*args)))


@program([ROWS], [WHOLE], (3, 8), under=batched(0))
def sums_of_a_batch(jax: Any, a: Any) -> Any:
    return jax.lax.psum(a, "x")


@program([ROWS, WHOLE], [ROWS], (8, 3), (3, 2), under=batched((1, 0)))
def a_batch_along_the_second_axis(jax: Any, a: Any, b: Any) -> Any:
    return jax.numpy.sin(a) * b


def divided(jax: Any, mapped: Any) -> Any:
    """A function of batches that devices along an axis divide."""
    return jax.vmap(mapped, spmd_axis_name="y")


def slopes_of_divided(jax: Any, mapped: Any) -> Any:
    """The gradient of the sum of all results of batches that devices divide."""
    return jax.grad(lambda *args: jax.numpy.sum(divided(jax, mapped)(*args)))


@program([ROWS], [ROWS], (4, 8), sizes=TWO, under=divided)
def a_divided_batch(jax: Any, a: Any) -> Any:
    return jax.numpy.sin(a)


@program([ROWS], [WHOLE], (4, 8), sizes=TWO, under=slopes_of_divided)
def slopes_of_a_divided_batch(jax: Any, a: Any) -> Any:
    return jax.lax.psum(jax.numpy.sin(a), "x")


@program([ROWS], [WHOLE], (8,), under=pushed)
def tangents_of_a_sum(jax: Any, a: Any) -> Any:
    return jax.lax.psum(jax.numpy.sin(a), "x")


@program([WHOLE], [ROWS], (2,), under=pushed)
def tangents_of_what_is_shared(jax: Any, a: Any) -> Any:
    return jax.numpy.sin(a)


@program([("x", "y")], [("x", "y")], (8, 4), sizes=TWO, under=linearized)
def linearized_over_two(jax: Any, a: Any) -> Any:
    return jax.numpy.cos(a) * jax.lax.psum(a, "y")


@program([ROWS], [WHOLE], (8,), under=differentiated)
def slopes_of_a_sum(jax: Any, a: Any) -> Any:
    return jax.lax.psum(jax.numpy.sum(jax.numpy.sin(a)), "x")


@program([WHOLE, (*ROWS, None)], [ROWS], (4,), (8, 4), under=differentiated)
def slopes_of_a_layer(jax: Any, w: Any, a: Any) -> Any:
    return jax.numpy.tanh(a @ w)


@program([("x", "y"), ("y",)], [ROWS], (8, 4), (4,), sizes=TWO, under=differentiated)
def slopes_of_a_divided_product(jax: Any, a: Any, w: Any) -> Any:
    return jax.lax.psum(jax.numpy.tanh(a @ w), "y")


@program([ROWS], [ROWS], (8,), under=differentiated)
def slopes_by_a_number(jax: Any, a: Any) -> Any:
    return a * jax.numpy.sin(jax.lax.psum(jax.numpy.sum(a), "x"))


@program([ROWS, WHOLE], [WHOLE], (8,), (2,), check_vma=False, under=differentiated)
def slopes_that_are_shared(jax: Any, a: Any, b: Any) -> Any:
    return jax.lax.psum(jax.numpy.sin(a) * b, "x")


@program([ROWS], [ROWS], (8,), under=twice)
def slopes_of_slopes(jax: Any, a: Any) -> Any:
    return jax.numpy.sin(a) * 2


@program([ROWS], [ROWS], (8,), sizes=TWO, axis_names={"x"}, under=differentiated)
def slopes_along_some_axes(jax: Any, a: Any) -> Any:
    return jax.numpy.exp(a) * jax.lax.psum(a, "x")


@program([ROWS], [ROWS], (8,), under=differentiated)
def slopes_computed_again(jax: Any, a: Any) -> Any:
    return jax.checkpoint(lambda v: jax.numpy.sin(jax.numpy.sin(v)))(a)
