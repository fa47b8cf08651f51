"""Programs over meshes of GPUs, in the simulator.

Cites: device.simulated, device.known, mesh.platform, sharding.devices
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cuda.gpu_mesh import OnGpus, so_many
from processes.programs import PROGRAMS
from processes.run import elements
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.sharding import AxisType, Mesh, NamedSharding, P, SingleDeviceSharding
from traceir_numba.cuda.cost_model import DEVICE_POOL_BYTES as LEAST
from traceir_numba.cuda.runtime import device, launching, streams
from traceir_numba.cuda.simulator.order import shuffled

X = np.arange(16, dtype="float32").reshape(8, 2)


@pytest.fixture(autouse=True)
def eight() -> Iterator[None]:
    """Eight GPUs, and eight devices of the host."""
    with so_many(8):
        yield


def mesh(*sizes: int, platform: str = "cuda") -> Mesh:
    """The first devices of a platform, in a row or more."""
    row = np.array(traceir.devices(platform)[: math.prod(sizes)])
    return Mesh(row.reshape(sizes), ("x", "y")[: len(sizes)])


def put(x: Any, *spec: Any, over: Mesh | None = None) -> Any:
    """An array on a mesh, by default that of all GPUs."""
    return traceir.device_put(x, NamedSharding(over or mesh(8), P(*spec)))


# -- devices and arrays ----------------------------------------------------------------


def test_there_are_as_many_as_are_asked_for() -> None:
    found = traceir.devices("cuda")
    assert [d.id for d in found] == list(range(8)) == list(range(len(found)))
    assert {d.platform for d in found} == {"cuda"} and str(found[3]) == "cuda:3"
    assert traceir.device_count("cuda") == traceir.local_device_count("cuda") == 8
    assert found == traceir.local_devices(backend="cuda")
    assert {d.platform for d in traceir.devices()} == {"cpu"}
    traceir.config.update("num_cuda_devices", 2)
    assert traceir.devices("cuda") == found[:2]
    assert found[0].device_kind == "simulator" and found[0].process_index == 0


def test_each_device_has_its_part_in_memory_of_its_own() -> None:
    def used() -> list[int]:
        return [device.pool_of(k).info().used for k in range(8)]

    before = used()
    x = put(np.zeros((8, LEAST // 2), "uint8"), "x")
    assert [b - a for a, b in zip(before, used(), strict=True)] == [LEAST] * 8
    assert {shard.device for shard in x.addressable_shards} == set(
        traceir.devices("cuda")
    )
    del x
    assert used() == before


def test_shards_are_the_parts_of_the_array() -> None:
    x = put(X, "x", "y", over=mesh(4, 2))
    assert isinstance(x, traceir.Array) and x.shape == (8, 2)
    for shard in x.addressable_shards:
        assert np.array_equal(shard.data, X[shard.index])
        assert shard.data.sharding == SingleDeviceSharding(shard.device)
        doubled = shard.data * 2
        assert doubled.device == shard.device
        assert np.array_equal(doubled, 2 * X[shard.index])
    assert (
        np.array_equal(x, X)
        and x.tolist() == X.tolist()
        and repr(x) == repr(jnp.asarray(X))
    )
    rows = traceir.device_put(x, NamedSharding(mesh(4, 2), P("x")))
    assert [s.replica_id for s in rows.addressable_shards] == [0, 1] * 4
    assert np.array_equal(rows, X) and x.copy() is x
    assert rows.block_until_ready() is rows and rows.is_ready()
    back = traceir.device_put(rows, traceir.devices()[1])
    assert back.device == traceir.devices()[1] and np.array_equal(back, X)
    other = traceir.device_put(rows, NamedSharding(mesh(2), P(None, "x")))
    assert other.sharding.mesh == mesh(2) and np.array_equal(other, X)
    rows.delete()
    assert rows.is_deleted()
    with raises_rule("array.deleted"):
        rows + 1


def test_arrays_are_made_of_parts() -> None:
    sharding = NamedSharding(mesh(4), P("x"))
    parts = [s.data for s in traceir.device_put(X, sharding).addressable_shards]
    made = traceir.make_array_from_single_device_arrays((8, 2), sharding, parts[::-1])
    called = traceir.make_array_from_callback((8, 2), sharding, X.__getitem__)
    local = traceir.make_array_from_process_local_data(sharding, X)
    for found in (made, called, local):
        assert found.sharding == sharding and np.array_equal(found, X)
        assert len(found.addressable_shards) == 4


# -- programs --------------------------------------------------------------------------

# Long sums within a part, and products, are added up in a device's own order.
OTHER_BITS = {
    *("training_on_a_square", "reduction_in_two_rounds", "averages_on_a_square"),
    *("operations_on_rows", "compiled_ahead", "data_parallel_training"),
    *("training_by_shardings", "product_by_scattering", "product_on_a_square"),
    *("sums_on_a_square", "gathering_pipeline", "fully_divided_training"),
    "training_by_maps",
}
# Those whose arrays take the simulator long: it has one number of devices, or none.
FEW = {
    *("data_parallel_training", "training_by_shardings", "product_by_scattering"),
    *("pipeline_of_stages", "reduction_in_two_rounds", "sums_on_a_square"),
    *("fully_divided_training", "ring_reduction"),
}
SHORT = [name for name in PROGRAMS if name != "sums_of_every_type"]


def check_program(name: str, count: int) -> None:
    """A program gives on GPUs what it gives on devices of the host."""
    with so_many(count):
        host = traceir.tree.leaves(PROGRAMS[name](traceir))
        found = traceir.tree.leaves(PROGRAMS[name](OnGpus()))
    assert {x.sharding.platform for x in found} == {"cuda"}
    for a, b in zip(host, found, strict=True):
        if name in OTHER_BITS:
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)
        else:
            assert elements(a)[:3] == elements(b)[:3]


@pytest.mark.parametrize("name", SHORT)
def test_programs_give_what_they_give_on_the_host(name: str) -> None:
    for count in (2,) if name in FEW else (1, 2, 4, 8):
        check_program(name, count)


def test_collectives_have_the_bits_of_the_host() -> None:
    def parts(a: Any) -> Any:
        n = lax.axis_size("x")
        ring = [(k, (k + 1) % n) for k in range(n - 1)]
        return (
            *(lax.psum(a, "x"), lax.pmean(a, "x"), lax.pmax(a, "x"), lax.pmin(a, "x")),
            lax.all_gather(a, "x", axis=1, tiled=True),
            *(lax.all_gather(a, "x"), lax.ppermute(a, "x", ring)),
            lax.all_to_all(a, "x", 1, 2, tiled=True),
            lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True),
            a * lax.axis_index("x"),
        )

    for count in (2, 4, 8):
        for kind, tail in (
            ("float32", 3),
            ("float16", 3),
            ("complex64", 2),
            ("int8", 1),
        ):
            drawn = np.random.default_rng(count).normal(size=(count, 8, tail)) * 50
            a = np.asarray(jnp.asarray(drawn).astype(kind))
            found = []
            for platform in ("cpu", "cuda"):
                over = mesh(count, platform=platform)
                out = [P()] * 4 + [P("x")] * 6
                f = traceir.shard_map(
                    parts, mesh=over, in_specs=P("x"), out_specs=tuple(out)
                )
                found.append(traceir.jit(f)(a))
            for host, gpu in zip(*found, strict=True):
                assert elements(host) == elements(gpu), (count, kind)


def test_large_sums_are_folded_in_shares() -> None:
    a = np.random.default_rng(0).normal(size=(4, 4099)).astype("float32")
    found = []
    for platform in ("cpu", "cuda"):
        f = traceir.shard_map(
            lambda p: lax.psum(p, "x"),
            mesh=mesh(4, platform=platform),
            in_specs=P("x"),
            out_specs=P(),
        )
        found.append(traceir.jit(f)(a))
    assert elements(found[0]) == elements(found[1])


# -- streams and kernels ---------------------------------------------------------------


def exchanging(a: Any) -> Any:
    """Exchanges again and again, in a loop, and in one that devices leave apart."""

    def step(carry: Any, row: Any) -> Any:
        n = lax.axis_size("x")
        carry = lax.ppermute(carry, "x", [(k, (k + 1) % n) for k in range(n)])
        return jnp.sin(carry) + row, lax.psum(carry, "x")

    last, sums = lax.scan(step, a[0], a)
    turns = lax.axis_index("y").astype("float32") + 2
    left = lax.while_loop(
        lambda c: c[1] < turns, lambda c: (lax.pmean(c[0], "x") + c[0], c[1] + 1),
        (last, lax.pcast(jnp.float32(0), "y", to="varying")),
    )[0]  # fmt: skip
    return lax.cond(turns > 2, lambda v: v + 1, lambda v: v * 2, left), sums


def test_no_order_of_the_devices_changes_anything() -> None:
    a = np.random.default_rng(0).normal(size=(3, 8, 4)).astype("float32")
    specs = {
        "in_specs": P(None, "x", "y"),
        "out_specs": (P("x", "y"), P(None, None, "y")),
    }

    def run(platform: str) -> Any:
        over = mesh(4, 2, platform=platform)
        return traceir.jit(traceir.shard_map(exchanging, mesh=over, **specs))(a)

    host = run("cpu")
    for seed in range(6):
        with shuffled(seed):
            for x, y in zip(host, run("cuda"), strict=True):
                assert elements(x)[:3] == elements(y)[:3], seed


def test_a_device_waits_for_what_it_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    f = traceir.shard_map(
        lambda a: lax.psum(jnp.sin(a), "x"),
        mesh=mesh(4),
        in_specs=P("x"),
        out_specs=P(),
    )
    a, seeds = put(X, "x", over=mesh(4)), range(8)
    want = np.sin(X).reshape(4, 2, 2).sum(0)
    found = []
    monkeypatch.setattr(streams.StreamQueues, "wait", lambda self, event: None)
    for seed in seeds:
        with shuffled(seed):
            parts = [shard.data for shard in f(a).addressable_shards]
            found += [np.allclose(part, want) for part in parts]
    assert not all(found)


def test_streams_that_wait_for_one_another_are_an_error() -> None:
    error = pytest.raises(RuntimeError, match="wait for one another")
    with error, streams.queued() as queues:
        queues.wait(streams.SimulatedEvent())


def test_one_kernel_is_compiled_for_all_devices() -> None:
    f = traceir.jit(lambda a: jnp.cosh(a) * 1.25 - a)
    f(put(X, "x", over=mesh(1)))
    count = len(launching._kernels)
    for devices in (2, 4, 8):
        f(put(X, "x", over=mesh(devices)))
    assert len(launching._kernels) == count


def test_a_kernel_is_given_no_memory_of_another_device() -> None:
    with device.using(1):
        there = device.empty(4, "float32")
        assert device.number_of(there) == 1
    run = device._on_own_memory(lambda *args: None)
    with device.using(1):
        run(1, 1, there)
    with pytest.raises(RuntimeError, match="memory of cuda:1, on cuda:0"):
        run(1, 1, there)


# -- calls -----------------------------------------------------------------------------


def test_functions_follow_their_arguments() -> None:
    calls = []

    def f(x: Any, w: Any) -> Any:
        calls.append(x.shape)
        return {"product": jnp.tanh(x) + w, "first": x[0]}

    jitted = traceir.jit(f)
    x = put(X, "x")
    for _ in range(3):
        found = jitted(x, 2.0)
    assert len(calls) == 1
    assert found["product"].sharding == NamedSharding(mesh(8), P("x"))
    np.testing.assert_array_equal(found["product"], jitted(X, 2.0)["product"])
    assert found["first"].sharding.platform == "cuda"
    assert (x + 1).sharding.spec == P("x") and (x + 1)[0, 1] == 2
    assert jnp.sum(x).sharding == NamedSharding(mesh(8), P())
    assert traceir.grad(lambda a: (a**3).sum())(x).sharding.spec == P("x")
    assert x.at[0].set(5)[0, 0] == 5 and float(x[1, 1]) == 3
    with traceir.disable_jit():
        assert np.array_equal(jitted(x, 1)["first"], X[0])


def test_static_donated_and_placed_arguments() -> None:
    power = traceir.jit(lambda x, n: x**n, static_argnums=1)
    assert np.array_equal(power(put(X, "x"), 2), X**2)
    assert np.array_equal(power(put(X, "x"), 3), X**3)
    x = put(X, "x")
    gives = traceir.jit(lambda x: x + 1, donate_argnums=0)
    assert np.array_equal(gives(x), X + 1) and x.is_deleted()
    rows, whole = NamedSharding(mesh(8), P("x")), NamedSharding(mesh(8), P())
    f = traceir.jit(lambda x: x.T, in_shardings=rows, out_shardings=whole)
    assert f(X).sharding == whole and np.array_equal(f(X), X.T)
    compiled = f.lower(X).compile()
    assert compiled(X).sharding == whole and np.array_equal(compiled(X), X.T)
    assert compiled.input_shardings[0] == (rows,)
    assert "def " in compiled.as_text()
    auto = traceir.make_mesh(
        (8,), ("x",), axis_types=(AxisType.Auto,), devices=traceir.devices("cuda")
    )
    asked = NamedSharding(auto, P("x"))
    g = traceir.jit(lambda x: lax.with_sharding_constraint(x * 2, asked))
    assert g(X).sharding == asked and np.array_equal(g(X), X * 2)


def test_transforms_of_parts_are_of_parts() -> None:
    f = traceir.jit(
        traceir.shard_map(
            lambda a: a - lax.pmean(a, "x"),
            mesh=mesh(4),
            in_specs=P("x"),
            out_specs=P("x"),
        )
    )
    many = traceir.jit(traceir.vmap(f))(np.stack([X, X + 1]))
    assert many.sharding.spec == P(None, "x") and many.sharding.platform == "cuda"
    slopes = traceir.jit(traceir.grad(lambda a: (f(a) ** 2).sum()))(X)
    assert slopes.sharding.platform == "cuda"
    looped = traceir.jit(lambda a: lax.fori_loop(0, 3, lambda k, a: f(a) + k, a))(X)
    assert looped.sharding.platform == "cuda"
    text = str(traceir.make_jaxpr(f)(X))
    assert "shard_map[" in text and "cuda" not in text


def test_maps_are_over_gpus() -> None:
    gpus = traceir.devices("cuda")

    def f(x: Any, y: Any) -> Any:
        return x + y, lax.psum(x, "i")

    for axes in ((0, None), (1, None)):
        a = np.arange(16, dtype="float32").reshape(4, 4)
        host = traceir.pmap(f, "i", in_axes=axes, out_axes=(1, None))(a, 2.0)
        gpu = traceir.pmap(f, "i", in_axes=axes, out_axes=(1, None), devices=gpus)(
            a, 2.0
        )
        for x, y in zip(host, gpu, strict=True):
            assert np.array_equal(x, y) and y.sharding.platform == "cuda"
    first = traceir.pmap(lambda x: x, out_axes=None, backend="cuda")(np.arange(3.0))
    assert first == 0
    with raises_rule("pmap.size"):
        traceir.pmap(f, "i", in_axes=(0, None), devices=gpus[:2])(a, 1)


def test_refused() -> None:
    gpus, cpus = traceir.devices("cuda"), traceir.devices()
    with raises_rule("mesh.platform"):
        Mesh(np.array([cpus[0], gpus[0]]), ("x",))
    over = mesh(4)
    x = put(X, "x", over=over)
    f = traceir.shard_map(lambda a: a, mesh=mesh(2), in_specs=P("x"), out_specs=P("x"))
    others = Mesh(np.array(gpus[4:]), ("x",))
    for other in (
        put(X, "x", over=others),
        traceir.device_put(X, gpus[5]),
        put(X, "x", over=mesh(4, platform="cpu")),
    ):
        for call in (traceir.jit(jnp.add), jnp.add):
            with raises_rule("sharding.devices"):
                call(x, other)
    for call in (f, traceir.jit(f)):
        with raises_rule("sharding.devices"):
            call(x)
    traceir.config.update("num_cuda_devices", 2)
    with raises_rule("device.known"):
        put(X, "x", over=over)
    with raises_rule("device.known"):
        traceir.device_put(X, gpus[3])
