"""Parameters that JAX's functions have, and what they mean here. Cites: face.choice,
device.process, sharding.type, sharding.divides, donate.deleted"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.scipy import signal
from traceir.sharding import NamedSharding, P, SingleDeviceSharding

X = np.random.default_rng(3).normal(size=(2, 5, 4)).astype("float32")
SYMMETRIC = X @ np.swapaxes(X, 1, 2)


def test_a_part_of_the_singular_values() -> None:
    whole = np.linalg.svd(X)
    for start, end in ((0, 2), (1, 4), (3, 4)):
        part = {"subset_by_index": (start, end)}
        values = jnp.linalg.svd(X, compute_uv=False, **part)
        assert np.allclose(values, whole.S[:, start:end], atol=1e-5)
        u, s, vh = jnp.linalg.svd(X, **part)
        wanted = (whole.U[..., start:end] * s[:, None]) @ whole.Vh[:, start:end]
        assert np.allclose((u * s[:, None]) @ vh, wanted, atol=1e-5)
        assert lax.linalg.svd(X, **part)[0].shape == (2, 5, end - start)
    for odd in ((2, 2), (-1, 2), (0, 5)):
        with raises_rule("face.choice", ValueError, "subset_by_index"):
            jnp.linalg.svd(X, subset_by_index=odd)


def test_a_part_of_the_eigenvalues() -> None:
    vectors, values = lax.linalg.eigh(SYMMETRIC, subset_by_index=(2, 5))
    wanted = np.linalg.eigh(SYMMETRIC)
    assert np.allclose(values, wanted.eigenvalues[:, 2:], atol=1e-4)
    assert vectors.shape == (2, 5, 3)
    assert np.allclose(SYMMETRIC @ vectors, vectors * values[:, None], atol=1e-4)
    with raises_rule("face.choice", ValueError, "subset_by_index"):
        lax.linalg.eigh(SYMMETRIC, subset_by_index=(0, 9))


@pytest.mark.parametrize(
    "call",
    [
        lambda at: signal.convolve(X[0], X[1], precision=at),
        lambda at: signal.correlate(X[0], X[1], precision=at),
        lambda at: signal.convolve2d(X[0], X[1], precision=at),
        lambda at: signal.correlate2d(X[0], X[1], "same", precision=at),
        lambda at: traceir.image.resize(X[0], (3, 3), "linear", precision=at),
        lambda at: traceir.image.scale_and_translate(
            X[0], (3, 3), (0,), np.ones(1), np.zeros(1), "linear", precision=at
        ),
    ],
)
def test_precision_stands_in_programs(call: Any) -> None:
    assert "HIGHEST" not in str(traceir.make_jaxpr(lambda: call(None))())
    assert "HIGHEST" in str(traceir.make_jaxpr(lambda: call("highest"))())
    assert np.array_equal(call("highest"), call(None))


def test_new_arrays_lie_where_they_are_asked_to() -> None:
    rows = NamedSharding(traceir.make_mesh((4,), ("x",)), P("x"))
    second = SingleDeviceSharding(traceir.devices()[1])
    for place in (rows, second):
        assert lax.full((8,), 1.0, sharding=place).sharding == place
        assert lax.full_like(jnp.ones(8), 1.0, sharding=place).sharding == place
    with raises_rule("sharding.type", TypeError, "the result of full"):
        lax.full((8,), 1.0, sharding=3)
    with raises_rule("sharding.divides", ValueError, "the result of full"):
        lax.full((7,), 1.0, sharding=rows)


def test_devices_of_the_only_process() -> None:
    devices = traceir.devices()
    assert traceir.local_devices(0) == traceir.local_devices(host_id=0) == devices
    assert traceir.local_devices(backend="cpu") == devices
    for asked in ({"process_index": 1}, {"host_id": 2}):
        with raises_rule("device.process", ValueError):
            traceir.local_devices(**asked)


def test_a_map_takes_its_argument() -> None:
    given = jnp.arange(2.0)
    doubled = traceir.pmap(lambda x: 2 * x, donate_argnums=0)(given)
    assert doubled.tolist() == [0, 2] and given.is_deleted()
    kept = jnp.arange(2.0)
    traceir.pmap(lambda x: 2 * x)(kept)
    assert not kept.is_deleted()


def test_scopes_take_their_value_by_name() -> None:
    with (
        traceir.enable_x64(new_val=True),
        traceir.default_matmul_precision(new_val="high"),
    ):
        assert jnp.arange(2.0).dtype == "float64"
