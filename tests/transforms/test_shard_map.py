"""Functions of parts on meshes of devices. Cites: shard_map.value, shard_map.mesh,
shard_map.replicated,
mesh.context, mesh.set"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices
from hypothesis import given
from hypothesis import strategies as st

import traceir
import traceir.numpy as jnp
from traceir import lax, shard_map
from traceir.errors import TraceirError
from traceir.sharding import (
    AbstractMesh,
    Mesh,
    NamedSharding,
    P,
    get_abstract_mesh,
    get_mesh,
)

FACTORS = [
    (1,),
    (2,),
    (4,),
    (8,),
    (4, 2),
    (2, 4),
    (2, 2, 2),
    (1, 3),
    (5,),
    (2, 3),
    (7,),
]
RANKED = np.arange(16, dtype="float32").reshape(8, 2)


def _mesh(*sizes: int) -> Mesh:
    devices = traceir.devices()[: math.prod(sizes)]
    return Mesh(np.array(devices).reshape(sizes), ("x", "y", "z")[: len(sizes)])


# The collectives by NumPy, on the parts of all devices along an axis, which come first.
COLLECTIVES: dict[str, tuple[Any, Any]] = {
    "psum": (lax.psum, lambda v: np.broadcast_to(v.sum(0), v.shape)),
    "pmax": (lax.pmax, lambda v: np.broadcast_to(v.max(0), v.shape)),
    "pmin": (lax.pmin, lambda v: np.broadcast_to(v.min(0), v.shape)),
    "ring": (
        lambda v, a: lax.ppermute(
            v, a, [(k, (k + 1) % lax.axis_size(a)) for k in range(lax.axis_size(a))]
        ),
        lambda v: np.roll(v, 1, 0),
    ),
    "gather": (
        lambda v, a: lax.all_gather(v, a).sum(0),
        lambda v: np.broadcast_to(v.sum(0), v.shape),
    ),
    "index": (
        lambda v, a: v * lax.axis_index(a),
        lambda v: v * np.arange(len(v)).reshape(-1, *[1] * (v.ndim - 1)),
    ),
    "exchange": (
        lambda v, a: lax.all_to_all(jnp.stack([v] * lax.axis_size(a)), a, 0, 0).sum(0),
        lambda v: np.broadcast_to(v.sum(0), v.shape),
    ),
    "square": (lambda v, a: v * v, lambda v: v * v),
}


@st.composite
def programs(draw: Any) -> Any:
    """A mesh, a spec, a shape that it divides, collectives over axes of the mesh."""
    mesh = _mesh(*draw(st.sampled_from(FACTORS)))
    rank = draw(st.integers(1, 3))
    entries: list[list[str]] = [[] for _ in range(rank)]
    for name in draw(st.permutations(mesh.axis_names)):
        entries[draw(st.integers(0, rank - 1))].append(name)
    spec = P(*[tuple(e) or None for e in entries])
    parts = NamedSharding(mesh, spec)
    shape = tuple(draw(st.integers(1, 2)) * parts.parts(d) for d in range(rank))
    step = st.tuples(
        st.sampled_from(sorted(COLLECTIVES)), st.sampled_from(mesh.axis_names)
    )
    return mesh, spec, shape, draw(st.lists(step, min_size=1, max_size=3))


def _by_numpy(mesh: Mesh, spec: P, x: np.ndarray, steps: Any) -> np.ndarray:
    """The result by the definition: slices of each device, collectives among them."""
    indices = NamedSharding(mesh, spec).devices_indices_map(x.shape)
    parts = np.stack([x[indices[d]] for d in mesh.devices.flat])
    parts = parts.reshape(*mesh.axis_sizes, *parts.shape[1:])
    for name, axis in steps:
        at = mesh.axis_names.index(axis)
        parts = np.moveaxis(COLLECTIVES[name][1](np.moveaxis(parts, at, 0)), 0, at)
    flat = parts.reshape(mesh.size, *parts.shape[len(mesh.axis_sizes) :])
    out = np.empty_like(x)
    for device, part in zip(mesh.devices.flat, flat, strict=True):
        out[indices[device]] = part
    return out


def test_it_is_what_each_device_makes_of_its_part() -> None:
    @given(programs())
    def check(program: Any) -> None:
        mesh, spec, shape, steps = program
        # Small whole numbers: every order of a sum gives the same bits.
        x = np.arange(math.prod(shape), dtype="float32").reshape(shape) % 5 - 2

        def fun(part: Any) -> Any:
            for name, axis in steps:
                part = COLLECTIVES[name][0](part, axis)
            return part

        mapped = shard_map(fun, mesh=mesh, in_specs=spec, out_specs=spec)
        wanted = _by_numpy(mesh, spec, x, steps)
        found = mapped(x)
        assert np.array_equal(found, wanted)
        assert found.sharding == NamedSharding(mesh, spec)
        assert np.array_equal(traceir.jit(mapped, backend="reference")(x), wanted)
        both = traceir.vmap(mapped)(np.stack([x, x]))
        assert np.array_equal(both, np.stack([wanted, wanted]))

    check()


def test_results_are_the_first_devices_where_nothing_is_checked() -> None:
    mesh = _mesh(4, 2)
    unchecked = shard_map(
        lambda a: a, mesh=mesh, in_specs=P("x", "y"), out_specs=P("y"), check_vma=False
    )
    # Along x that of the first row of devices; along y both, below one another.
    assert unchecked(RANKED).tolist() == [[0], [2], [1], [3]]


def test_a_product_of_divided_matrices() -> None:
    mesh = _mesh(4, 2)
    a, b = RANKED, RANKED.T[:, :4].copy()
    product = shard_map(
        lambda a, b: lax.psum(a @ b, "y"),
        mesh=mesh,
        in_specs=(P("x", "y"), P("y")),
        out_specs=P("x"),
    )
    assert np.array_equal(traceir.jit(product)(a, b), a @ b)


def test_training_on_parts_of_the_examples() -> None:
    generator = np.random.default_rng(0)
    shapes = {"w": (3, 4), "v": (4, 1)}
    params = {k: generator.normal(size=s).astype("f4") for k, s in shapes.items()}
    x = generator.normal(size=(16, 3)).astype("f4")
    y = x.sum(1, keepdims=True)

    def loss(p: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ p["w"]) @ p["v"] - y) ** 2)

    for sizes in [(1,), (2,), (4,), (8,)]:
        parallel = shard_map(
            lambda p, x, y: lax.pmean(loss(p, x, y), "x"),
            mesh=_mesh(*sizes),
            in_specs=(P(), P("x"), P("x")),
            out_specs=P(),
        )
        one, many = dict(params), dict(params)
        step = traceir.jit(traceir.grad(loss))
        shared = traceir.jit(traceir.grad(parallel))
        for _ in range(5):
            one = {k: v - 0.1 * step(one, x, y)[k] for k, v in one.items()}
            many = {k: v - 0.1 * shared(many, x, y)[k] for k, v in many.items()}
        for name in params:
            np.testing.assert_allclose(one[name], many[name], rtol=1e-5, atol=1e-6)


def test_a_sum_round_a_ring_in_a_loop() -> None:
    size = 4
    ring = [(k, (k + 1) % size) for k in range(size)]

    def total(part: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            held, kept = carry
            held = lax.ppermute(held, "x", ring)
            return (held, kept + held), None

        return lax.scan(step, (part, part), None, length=size - 1)[0][1]

    mapped = shard_map(total, mesh=_mesh(size), in_specs=P("x"), out_specs=P("x"))
    wanted = np.tile(RANKED.reshape(4, 2, 2).sum(0), (4, 1))
    for call in (mapped, traceir.jit(mapped)):
        assert np.array_equal(call(RANKED), wanted)


def test_some_axes_alone_and_one_map_within_another() -> None:
    mesh = _mesh(4, 2)

    def columns(part: Any) -> Any:
        return lax.psum(part, "y") + lax.axis_index("x")

    def rows(part: Any) -> Any:
        # No `mesh` in a program says which parts are left: the axis does.
        inner = shard_map(
            columns, mesh=mesh, in_specs=P(None, "y"), out_specs=P(), axis_names={"y"}
        )
        return inner(part)

    outer = shard_map(
        rows, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    wanted = RANKED.sum(1, keepdims=True) + np.arange(8)[:, None] // 2
    assert np.array_equal(outer(RANKED), wanted)
    assert np.array_equal(traceir.jit(outer)(RANKED), wanted)


def test_trees_numbers_and_a_decorator() -> None:
    @shard_map(mesh=_mesh(2), in_specs=[{"a": P("x"), "b": None}, P()], out_specs=P())
    def both(tree: Any, n: Any) -> Any:
        return {"s": lax.psum(tree["a"], "x") * n, "one": 1.0, "b": tree["b"]}

    found = both({"a": RANKED, "b": 3}, 2)
    assert np.array_equal(found["s"], 2 * (RANKED[:4] + RANKED[4:]))
    assert float(found["one"]) == 1 and int(found["b"]) == 3
    assert both.__name__ == "both"


def _with_gradient(w: Any, a: Any) -> Any:
    return traceir.grad(lambda w: jnp.sum(w * a))(w)


def test_the_mesh_that_is_set() -> None:
    def size(part: Any) -> Any:
        return part * 0 + lax.axis_size("x")

    traced = 0

    @traceir.jit
    def sizes(x: Any) -> Any:
        nonlocal traced
        traced += 1
        return shard_map(size, in_specs=P("x"), out_specs=P("x"))(x)

    assert get_mesh().empty and get_mesh().size == 0 and str(get_mesh()) == "Mesh()"
    for count in (2, 8, 2):
        with traceir.set_mesh(_mesh(count)):
            assert get_mesh() == _mesh(count)
            assert get_abstract_mesh() == _mesh(count).abstract_mesh
            assert sizes(RANKED)[0].tolist() == [count, count]
            put = traceir.device_put(RANKED, P("x"))
            assert put.sharding == NamedSharding(_mesh(count), P("x"))
            held = lax.with_sharding_constraint(RANKED, P("x"))
            assert held.sharding == put.sharding
    assert traced == 2 and get_mesh().empty
    traceir.set_mesh(_mesh(4))
    try:
        assert sizes(RANKED)[0].tolist() == [4, 4]
    finally:
        traceir.set_mesh(None)
    assert get_mesh().empty
    for call in (lambda: traceir.set_mesh(3), lambda: traceir.jit(_sets)(RANKED)):
        with pytest.raises(TraceirError) as caught:
            call()
        assert caught.value.rule == "mesh.set"
    with pytest.raises(TraceirError) as caught:
        sizes(RANKED)
    assert caught.value.rule == "shard_map.mesh"


def _sets(x: Any) -> Any:
    traceir.set_mesh(None)
    return x


def test_axes_in_place_of_specs() -> None:
    def fun(a: Any, b: Any) -> Any:
        return a * lax.axis_index("x"), lax.psum(b, "x")

    mapped = traceir.smap(fun, in_axes=[1, 0], out_axes=(1, None), axis_name="x")
    with traceir.set_mesh(_mesh(2, 2)):
        first, total = traceir.jit(mapped)(RANKED, RANKED)
        assert np.array_equal(first, RANKED * [0, 1])
        assert np.array_equal(total, RANKED[:4] + RANKED[4:])
    with pytest.raises(TraceirError) as caught:
        traceir.smap(fun, in_axes=-1, out_axes=0, axis_name="x")
    assert caught.value.rule == "shard_map.specs"


def test_refused() -> None:
    mesh = _mesh(4, 2)
    rows = {"mesh": mesh, "in_specs": P("x"), "out_specs": P("x")}
    shared = {"mesh": mesh, "in_specs": (P(), P("x")), "out_specs": P()}
    w = np.float32(2)
    calls = {
        "jit.callable": lambda: shard_map(3, **rows),
        "shard_map.mesh": lambda: shard_map(
            jnp.sin, **{**rows, "mesh": AbstractMesh((4, 2), ("x", "y"))}
        ),
        "shard_map.axes": lambda: shard_map(jnp.sin, **rows, axis_names="z"),
        "shard_map.specs": lambda: shard_map(jnp.sin, **{**rows, "in_specs": "x"}),
        "shard_map.manual": lambda: shard_map(jnp.sin, **rows, axis_names={"y"}),
        "sharding.rank": lambda: shard_map(jnp.sum, **rows)(RANKED),
        "sharding.divides": lambda: shard_map(jnp.sin, **rows)(RANKED[:3]),
        "sharding.tree": lambda: shard_map(
            lambda x: (x, x), **{**rows, "out_specs": (P("x"), P("x"), P("x"))}
        )(RANKED),
        "axis.unbound": lambda: shard_map(lambda x: lax.psum(x, "z"), **rows)(RANKED),
        "shard_map.replicated": lambda: shard_map(
            jnp.sin, **{**rows, "out_specs": P()}
        )(RANKED),
    }
    for rule, call in calls.items():
        with pytest.raises(TraceirError) as caught:
            call()
        assert caught.value.rule == rule
    # What is kept of a function for an unchecked map is not for a checked one.
    kept = traceir.jit(_with_gradient)
    found = shard_map(kept, **shared, check_vma=False)(w, RANKED)
    assert float(found) == RANKED[:2].sum()
    assert float(shard_map(kept, **shared)(w, RANKED)) == RANKED.sum()


def test_the_axis_along_which_a_result_varies_is_named() -> None:
    mesh = _mesh(4, 2)
    with pytest.raises(TraceirError, match="along 'y'"):
        shard_map(jnp.sin, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x"))(RANKED)
