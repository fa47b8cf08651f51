"""`pmap`, meshes and shardings: validated, and computed as the batch that they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax, pmap
from traceir.arrays.devices import CPU
from traceir.errors import TraceirError
from traceir.sharding import (
    AxisType,
    Mesh,
    NamedSharding,
    P,
    SingleDeviceSharding,
    make_mesh,
)

ROW = np.float32([[1, 2, 3]])
# Devices that only have a number: what is said of places does not run anything.
FOUR = [replace(CPU, id=k) for k in range(4)]
SQUARE = make_mesh((2, 2), ("x", "y"), devices=FOUR)
ONE = make_mesh((1,), ("x",))
AUTO = Mesh(traceir.devices(), "x")


def test_one_example_on_one_device() -> None:
    share = pmap(lambda x: x / lax.psum(x.sum(), "i"), axis_name="i")
    np.testing.assert_allclose(share(ROW), ROW / 6)
    got = pmap(lambda x, y: x * y, in_axes=(1, None), out_axes=1)(ROW.T, 2.0)
    np.testing.assert_array_equal(got, 2 * ROW.T)
    assert pmap(lambda x: x, out_axes=None)(ROW).shape == (3,)


def test_as_many_examples_as_devices() -> None:
    x = np.arange(12, dtype="float32").reshape(4, 3)
    total = pmap(lambda v: lax.psum(v, "i"), "i", devices=FOUR)
    np.testing.assert_array_equal(total(x), np.tile(x.sum(0), (4, 1)))
    np.testing.assert_array_equal(total(x[:2]), np.tile(x[:2].sum(0), (2, 1)))


def test_devices_are_counted_when_the_function_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    total = pmap(lambda v: lax.psum(v, "i"), "i")
    monkeypatch.setattr(f"{pmap.__module__}.all_devices", lambda backend: FOUR)
    assert total(np.ones(4, "float32")).tolist() == [4.0] * 4


def test_static_arguments_are_python_values() -> None:
    @pmap
    def plain(x: Any, n: Any) -> Any:
        return x * n

    def branching(x: Any, n: int) -> Any:
        return x * n if n > 1 else x

    static = pmap(branching, static_broadcasted_argnums=(1,))
    assert static(ROW, 3).tolist() == (3 * ROW).tolist()
    assert static(ROW, 1).tolist() == ROW.tolist()
    with pytest.raises(TraceirError) as caught:
        plain(ROW, 3)
    assert caught.value.rule == "vmap.rank"


def test_a_function_is_traced_once_per_type() -> None:
    traced = 0

    def f(x: Any) -> Any:
        nonlocal traced
        traced += 1
        return x + 1

    mapped = pmap(f)
    for _ in range(2):
        mapped(ROW)
    assert traced == 1
    mapped(ROW[:, :2])
    assert traced == 2


def test_shards() -> None:
    both = NamedSharding(SQUARE, P(("x", "y")))
    first = NamedSharding(SQUARE, P("x", "y"))
    assert both.shard_shape((8, 2)) == (2, 2) and first.shard_shape((8, 2)) == (4, 1)
    parts = first.devices_indices_map((8, 2))
    assert parts[FOUR[2]] == (slice(4, 8), slice(0, 1))
    assert both.devices_indices_map((8,))[FOUR[3]] == (slice(6, 8),)
    whole = NamedSharding(SQUARE, P(None, None))
    assert whole.is_fully_replicated and not both.is_fully_replicated
    assert whole.is_equivalent_to(NamedSharding(SQUARE, P()), 2)
    assert not whole.is_equivalent_to(first, 2)
    assert both.num_devices == 4


def test_meshes_and_specs_are_values() -> None:
    assert make_mesh((1,), "x") == ONE and ONE != AUTO
    assert hash(AUTO) == hash(Mesh(np.array(traceir.devices()), ("x",)))
    assert SQUARE.shape == {"x": 2, "y": 2} and SQUARE.size == 4
    assert SQUARE.device_ids.tolist() == [[0, 1], [2, 3]]
    assert str(SQUARE) == "Mesh('x': 2, 'y': 2, axis_types=(Explicit, Explicit))"
    assert P(("x",)) == P("x") != P("x", None)
    assert tuple(P("x", None)) == ("x", None) and len(P()) == 0
    assert {P("x"): 1}[P("x")] == 1


def test_arrays_lie_where_they_were_put() -> None:
    rows = NamedSharding(ONE, P("x"))
    tree = traceir.device_put({"a": ROW, "b": 1.0}, {"a": rows, "b": None})
    assert tree["a"].sharding == rows and tree["a"].devices() == {CPU}
    assert tree["b"].sharding == SingleDeviceSharding()
    assert (tree["a"] + 1).tolist() == (ROW + 1).tolist()
    assert traceir.device_put(ROW).sharding == SingleDeviceSharding()


def test_jit_with_shardings() -> None:
    rows, columns = NamedSharding(ONE, P("x")), NamedSharding(ONE, P(None, "x"))
    f = traceir.jit(
        lambda x, n: x * 2, in_shardings=(rows, None), out_shardings=columns
    )
    assert f(ROW, 1).sharding == columns
    assert traceir.make_jaxpr(f)(ROW, 1).eqns[-1].primitive == "jit"


def test_constraints_leave_the_values() -> None:
    rows = NamedSharding(AUTO, P("x"))

    def f(x: Any) -> Any:
        return lax.with_sharding_constraint(jnp.sin(x), rows)

    np.testing.assert_allclose(traceir.jit(f)(ROW), np.sin(ROW), rtol=1e-6)
    np.testing.assert_allclose(traceir.vmap(f)(ROW), np.sin(ROW), rtol=1e-6)
    grad = traceir.grad(lambda x: f(x).sum())(ROW)
    np.testing.assert_allclose(grad, np.cos(ROW), rtol=1e-6)
    assert f(ROW).sharding == rows


def _double(x: Any) -> Any:
    return x * 2


REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "two examples": ("pmap.size", lambda: pmap(_double)(np.ones((2, 3)))),
    "five of four": ("pmap.size", lambda: pmap(_double, devices=FOUR)(np.ones(5))),
    "no devices": ("pmap.devices", lambda: pmap(_double, devices=[])),
    "no platform": ("device.platform", lambda: pmap(_double, backend="gpu")),
    "no axis": ("vmap.none", lambda: pmap(_double, in_axes=None)(ROW)),
    "no example": ("vmap.rank", lambda: pmap(_double)(1.0)),
    "another size": ("vmap.sizes", lambda: pmap(_double, axis_size=2)(ROW)),
    "no function": ("jit.callable", lambda: pmap(3)),
    "axes": ("vmap.axes-type", lambda: pmap(_double, in_axes="a")),
    "static list": (
        "cache.static.hashable",
        lambda: pmap(lambda x, n: x, static_broadcasted_argnums=1)(ROW, [1]),
    ),
    "known to Python": (
        "level.concretize.bool",
        lambda: pmap(lambda x: x if x > 0 else -x)(ROW[:, 0]),
    ),
    "large mesh": ("mesh.size", lambda: make_mesh((5,), ("x",))),
    "empty mesh": ("mesh.size", lambda: make_mesh((0,), ("x",))),
    "names": ("mesh.names", lambda: make_mesh((1,), ("x", "y"))),
    "a name twice": ("mesh.names", lambda: Mesh([[CPU]], ("x", "x"))),
    "types": ("mesh.names", lambda: Mesh([CPU], ("x",), (AxisType.Auto,) * 2)),
    "unknown axis": ("sharding.axis", lambda: NamedSharding(ONE, P("z"))),
    "axis twice": ("sharding.repeated", lambda: NamedSharding(ONE, P("x", "x"))),
    "a word": ("sharding.type", lambda: NamedSharding(ONE, "x")),
    "a number": ("sharding.type", lambda: lax.with_sharding_constraint(ROW, 3)),
    "rank": (
        "sharding.rank",
        lambda: traceir.device_put(1.0, NamedSharding(ONE, P("x"))),
    ),
    "rank of an argument": (
        "sharding.rank",
        lambda: traceir.jit(_double, in_shardings=NamedSharding(ONE, P("x")))(1.0),
    ),
    "rank of a result": (
        "sharding.rank",
        lambda: traceir.jit(
            lambda x: x.sum(), out_shardings=NamedSharding(ONE, P("x"))
        )(ROW),
    ),
    "uneven": (
        "sharding.divides",
        lambda: NamedSharding(SQUARE, P("x")).shard_shape((3,)),
    ),
    "a spec alone": ("sharding.mesh", lambda: traceir.device_put(ROW, P("x"))),
    "other devices": (
        "device.known",
        lambda: traceir.device_put(ROW, NamedSharding(SQUARE, P())),
    ),
    "tree": (
        "sharding.tree",
        lambda: traceir.device_put({"a": 1.0}, {"b": SingleDeviceSharding()}),
    ),
    "by name": (
        "sharding.keyword",
        lambda: traceir.jit(_double, in_shardings=NamedSharding(ONE, P()))(x=ROW),
    ),
    "explicit": (
        "sharding.auto",
        lambda: lax.with_sharding_constraint(ROW, NamedSharding(ONE, P("x"))),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    rule, call = REFUSED[what]
    with pytest.raises(TraceirError) as caught:
        call()
    assert caught.value.rule == rule
