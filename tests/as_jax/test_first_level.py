"""Names of JAX's first level that few programs ask for. Cites: face.choice,
sharding.shards"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.as_jax.modules import core
from traceir.scipy.stats import poisson
from traceir.sharding import SingleDeviceSharding, make_single_device_sharding


def test_processes() -> None:
    assert (traceir.host_id(), traceir.host_count(), traceir.host_ids()) == (0, 1, [0])


def test_memory() -> None:
    tree = {"a": jnp.arange(2), "b": 3}
    assert traceir.copy_to_host_async(tree) is tree
    for name in ("", "_host_to_device", "_device_to_host", "_device_to_device"):
        with getattr(traceir, f"transfer_guard{name}")("disallow"):
            assert (jnp.arange(2) + np.arange(2)).tolist() == [0, 2]
    with raises_rule("face.choice", ValueError, "'never'"):
        traceir.transfer_guard("never")


def test_data_of_this_process_are_all_data() -> None:
    single = make_single_device_sharding(traceir.devices()[0])
    assert single == SingleDeviceSharding(traceir.devices()[0])
    make = traceir.make_array_from_process_local_data
    array = make(single, np.arange(3, dtype="float32"), (3,))
    assert array.sharding == single and array.tolist() == [0, 1, 2]
    assert isinstance(array.addressable_shards[0], traceir.Shard)
    with raises_rule("sharding.shards", ValueError, "all of it"):
        make(single, np.arange(3), (6,))


def test_the_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert traceir.print_environment_info() is None
    shown = capsys.readouterr().out
    assert shown == f"{traceir.print_environment_info(return_string=True)}\n"
    assert traceir.__version__ in shown and np.__version__ in shown


def test_types_and_dtypes() -> None:
    assert traceir.float0 is traceir.dtypes.float0
    assert traceir.random.key_dtype() == traceir.random.key(0).dtype
    assert traceir.random.key_dtype("threefry2x32") == traceir.random.key_dtype()
    with raises_rule("random.impl", ValueError):
        traceir.random.key_dtype("philox")
    assert jnp.complex_ is jnp.complex128 and jnp.float_ is jnp.float64
    assert (core.max_dim(2, 3), core.min_dim(2, 3)) == (3, 2)
    assert core.ensure_compile_time_eval is traceir.ensure_compile_time_eval


@pytest.mark.parametrize("rate", [0.0, 0.5, 3.0, 99.0, 101.0, 5000.0])
def test_the_entropy_of_counts(rate: float) -> None:
    wanted = scipy.stats.poisson.entropy(rate)
    assert np.allclose(poisson.entropy(np.float32(rate)), wanted, atol=1e-4)
    with traceir.enable_x64():
        assert np.allclose(poisson.entropy(rate), wanted, atol=1e-7)
    assert np.isnan(poisson.entropy(-1.0))
