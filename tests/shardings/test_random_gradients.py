"""Derivatives within functions of parts are those of the whole, for drawn functions.

Cites: shard_map.vma, shard_map.value
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from eight_devices import eight_devices as eight_devices
from hypothesis import given
from hypothesis import strategies as st

import traceir
import traceir.numpy as jnp
from traceir import lax, shard_map
from traceir.sharding import P

Values = list[Any]
# Each takes the values so far, of 4 elements, two numbers of them, and an axis.
Step = Callable[[Any, Any, str], Any]


def _ring(size: int) -> list[tuple[int, int]]:
    return [(k, (k + 1) % size) for k in range(size)]


def _chosen(x: Any, y: Any, axis: str) -> Any:
    return lax.cond(y[0] > 0, lambda: x * 2, lambda: jnp.sin(y))


def _scanned(x: Any, y: Any, axis: str) -> Any:
    last, rows = lax.scan(lambda c, r: (c * 0.5 + r * x[0], c * r), y[1], x)
    return rows + last


def _summed_in_scan(x: Any, y: Any, axis: str) -> Any:
    return lax.scan(lambda c, r: (jnp.cos(c) + lax.pmean(r, axis), c), x[0], y)[1]


def _own_rule(x: Any, y: Any, axis: str) -> Any:
    @traceir.custom_jvp
    def product(x: Any, y: Any) -> Any:
        return x * y

    @product.defjvp
    def _push(at: Any, moves: Any) -> Any:
        return product(*at), moves[0] * at[1] + at[0] * moves[1]

    return product(x, y)


def _own_cotangents(x: Any, y: Any, axis: str) -> Any:
    @traceir.custom_vjp
    def product(x: Any, y: Any) -> Any:
        return x * y

    product.defvjp(
        lambda x, y: (x * y, (x, y)), lambda kept, ct: (ct * kept[1], ct * kept[0])
    )
    return product(x, y)


def _solved(x: Any, y: Any, axis: str) -> Any:
    def solve(product: Any, b: Any) -> Any:
        return b / product(jnp.ones(4))

    scale = 2 + y**2
    return lax.custom_linear_solve(lambda v: v * scale, x, solve, symmetric=True)


def _told(x: Any, y: Any, axis: str) -> Any:
    known = axis in traceir.typeof(x).vma
    return (x if known else lax.pcast(x, axis, to="varying")) * y


STEPS: dict[str, Step] = {
    "add": lambda x, y, axis: x + y,
    "multiply": lambda x, y, axis: x * y,
    "sine": lambda x, y, axis: jnp.sin(x),
    "where": lambda x, y, axis: jnp.where(y > 0, x, y * 3),
    "reverse": lambda x, y, axis: x[::-1] - y,
    "outer": lambda x, y, axis: jnp.outer(x, y).sum(0),
    "sum": lambda x, y, axis: lax.psum(x, axis),
    "mean": lambda x, y, axis: lax.pmean(x * y, axis),
    "number": lambda x, y, axis: x * lax.axis_index(axis),
    "ring": lambda x, y, axis: lax.ppermute(x, axis, _ring(lax.axis_size(axis))),
    "gather": lambda x, y, axis: lax.all_gather(x, axis).sum(0) * y,
    "scatter": lambda x, y, axis: jnp.tile(
        lax.psum_scatter(jnp.tile(x, 2), axis, tiled=True), 4
    )[:4],
    "exchange": lambda x, y, axis: lax.all_to_all(
        jnp.tile(x, (lax.axis_size(axis), 1)), axis, 0, 0
    ).sum(0),
    "cond": _chosen,
    "scan": _scanned,
    "scan with sums": _summed_in_scan,
    "jit": lambda x, y, axis: traceir.jit(lambda x, y: jnp.tanh(x) + y)(x, y),
    "again": lambda x, y, axis: traceir.checkpoint(lambda x: jnp.sin(x * y))(x),
    "vmap": lambda x, y, axis: traceir.vmap(lambda r: (r * y).sum())(x),
    "own rule": _own_rule,
    "own cotangents": _own_cotangents,
    "solve": _solved,
    "told": _told,
    "gradient": lambda x, y, axis: traceir.grad(lambda x: (x**3 * y).sum())(x),
    "jit of sums": lambda x, y, axis: traceir.jit(lambda x: lax.psum(x, axis) * x)(y),
    "slope": lambda x, y, axis: traceir.jvp(jnp.sin, (x,), (y,))[1],
}


def function(steps: list[tuple[str, int, int, str]]) -> Callable[[Any, Any], Any]:
    """The loss of one device by what is shared, `w`, and the device's rows `a`."""

    def loss(w: Any, a: Any) -> Any:
        values = [w, a[0]]
        for name, one, other, axis in steps:
            x, y = values[one % len(values)], values[other % len(values)]
            values.append(STEPS[name](x, y, axis) / 4)
        return sum(values[2:]).sum()

    return loss


axes = st.sampled_from("xy")
places = st.integers(0, 5)
drawn = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), places, places, axes),
    min_size=1,
    max_size=4,
)


@given(drawn, st.sampled_from([P("x"), P(("x", "y")), P()]), st.booleans())
def test_a_slope_within_is_that_of_the_whole(steps: Any, spec: P, jit: bool) -> None:
    loss = function(steps)
    mesh = traceir.make_mesh((2, 4), ("x", "y"))
    w = np.linspace(-0.7, 0.9, 4, dtype="float32")
    rows = {P(): 1, P("x"): 2}.get(spec, 8)
    a = np.sin(np.arange(rows * 4, dtype="float32")).reshape(rows, 4)
    seen: list[tuple[Any, ...]] = []

    def within(w: Any, a: Any) -> Any:
        value, slope = traceir.value_and_grad(loss)(w, a)
        seen.append(traceir.typeof(value).vma)
        return slope

    specs = {"mesh": mesh, "in_specs": (P(), spec)}
    mapped = shard_map(within, **specs, out_specs=P())
    found = (traceir.jit(mapped) if jit else mapped)(w, a)

    def whole(w: Any) -> Any:
        # A loss that devices share counts once, one that may vary once for each.
        parts = shard_map(lambda w, a: loss(w, a)[None], **specs, out_specs=P(vma))
        return parts(w, a).sum()

    vma = seen[-1]
    np.testing.assert_allclose(found, traceir.grad(whole)(w), 2e-3, 2e-4)
