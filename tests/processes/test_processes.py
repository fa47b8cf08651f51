"""Programs on several devices give JAX's numbers, in several processes the bits of one.

And they end where one of the processes fails.

Cites: process.start, process.number, process.mesh, process.programs, process.waited,
device.process, array.addressable, sharding.shards
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import told_hints
from processes.launched import MISSING, MPI, ended, left, start
from processes.programs import DEVICES, PROGRAMS
from processes.record import COUNTS, far, numbers, wanted
from processes.run import Leaf, elements
from soak import SOAK

import traceir

needs_mpi = pytest.mark.skipif(not MPI, reason=f"no {MISSING}")
# `make soak` runs all of them.
QUICK = (
    *("data_parallel_training", "product_by_gathering", "ring_reduction"),
    *("product_on_a_square", "everybody_to_everybody", "gathering_pipeline"),
    *("fully_divided_training", "training_by_maps", "maps_of_examples"),
)
NAMES = tuple(PROGRAMS) if SOAK else QUICK
# Where JAX's `pmin` over devices of a host passes over a NaN, which is here the result.
PASSED_OVER = {"places_and_gathers": {3, 8, 13, 18}}
# Sums of float32 that one process computes together with something else.
REGROUPED = {
    "training_by_shardings": {0},
    "sums_on_a_square": {10},
    "fully_divided_training": {3, 4},
}
SECONDS = 120.0


def differing(found: list[Leaf], wanted: list[Leaf]) -> set[int]:
    """The places of arrays with other bits, which are no more than roundings."""
    pairs = list(zip(found, wanted, strict=True))
    other = {k for k, (a, b) in enumerate(pairs) if a[:3] != b[:3]}
    for k in other:
        assert pairs[k][0][:2] == pairs[k][1][:2] and pairs[k][0][0] == "float32"
        values = [np.frombuffer(row[2], "float32") for row in pairs[k]]
        np.testing.assert_allclose(*values, rtol=1e-5)
    return other


def assert_numbers_of_jax(name: str, devices: int, leaves: list[Leaf]) -> None:
    """Compare the results of a program with those of JAX on as many devices."""
    rows = zip(leaves, wanted(name, devices), strict=True)
    apart = {k: far(numbers(*leaf[:3]), row) for k, (leaf, row) in enumerate(rows)}
    assert {k for k, x in apart.items() if x > 1} == (
        PASSED_OVER.get(name, set()) if devices > 2 else set()
    ), (name, devices, apart)


def results(devices: int, names: tuple[str, ...]) -> dict[str, list[Leaf]]:
    """The results of programs in this process, which has so many devices."""
    before = traceir.config.num_cpu_devices
    traceir.config.update("num_cpu_devices", devices)
    try:
        return {
            name: list(map(elements, traceir.tree.leaves(PROGRAMS[name](traceir))))
            for name in names
        }
    finally:
        traceir.config.update("num_cpu_devices", before)


@pytest.fixture(scope="module")
def alone() -> dict[str, list[Leaf]]:
    """The results of the programs in this process, which has all the devices."""
    return results(DEVICES, tuple(PROGRAMS))


@pytest.mark.parametrize("devices", COUNTS)
def test_the_numbers_are_those_of_jax(
    devices: int, alone: dict[str, list[Leaf]]
) -> None:
    found = alone if devices == DEVICES else results(devices, NAMES)
    for name, leaves in found.items():
        assert_numbers_of_jax(name, devices, leaves)


@needs_mpi
@pytest.mark.parametrize("processes", [2, 4])
def test_the_bits_are_those_of_one_process(
    processes: int, alone: dict[str, list[Leaf]], tmp_path: Path
) -> None:
    file, devices = tmp_path / "found", str(DEVICES // processes)
    command = "-m", "processes.run", str(file), devices, *NAMES
    run = start(processes, *command, where=tmp_path)
    status, _, err = ended(run, SECONDS)
    assert status == 0, err
    found = pickle.loads(file.read_bytes())
    file.unlink()
    for name in NAMES:
        assert_numbers_of_jax(name, DEVICES, found[name])
        assert differing(found[name], alone[name]) <= REGROUPED.get(name, set()), name
    assert left(tmp_path) == []


@needs_mpi
def test_what_is_refused(tmp_path: Path) -> None:
    run = start(2, "-m", "processes.refusals", where=tmp_path)
    status, out, err = ended(run, SECONDS)
    assert (status, out.count("all refused")) == (0, 2), err
    told_hints.read(out)


@needs_mpi
@pytest.mark.parametrize(
    "kind, how, bound, rule",
    [
        ("another", "-", "60", "process.programs"),
        ("raises", "-", "60", "ValueError: a fault of the user's own"),
    ][: None if SOAK else 1],
)
def test_one_process_fails(
    kind: str, how: str, bound: str, rule: str, tmp_path: Path
) -> None:
    run = start(2, "-m", "processes.faulty", kind, how, bound, where=tmp_path)
    status, _, err = ended(run, SECONDS)
    assert status != 0 and err.count(rule) == 1, err
    told_hints.read(err)
    assert left(tmp_path) == []


@needs_mpi
def test_a_slow_process_is_waited_for(tmp_path: Path) -> None:
    test_one_process_fails("slow", "60", "1", "process.waited", tmp_path)


def test_there_is_one_process_without_mpi() -> None:
    distributed = traceir.distributed
    assert not distributed.is_initialized()
    distributed.shutdown()
    with pytest.raises(ValueError, match=r"process.number"):
        distributed.initialize(num_processes=2, process_id=2)
    assert not distributed.is_initialized() and traceir.process_count() == 1
