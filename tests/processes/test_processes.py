"""Programs in several processes give the bits of one, and end where one of them fails.

Cites: process.start, process.number, process.mesh, process.programs, process.waited,
device.process, array.addressable, sharding.shards
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes.launched import MISSING, MPI, ended, left, start
from processes.programs import DEVICES, PROGRAMS
from processes.run import Leaf, elements
from soak import SOAK

import traceir

needs_mpi = pytest.mark.skipif(not MPI, reason=f"no {MISSING}")
# `make soak` runs all of them.
QUICK = (
    *("data_parallel_training", "product_by_gathering", "ring_reduction"),
    *("everybody_to_everybody", "maps_of_examples"),
)
NAMES = tuple(PROGRAMS) if SOAK else QUICK
# Sums of float32 that one process computes together with something else.
REGROUPED = {"training_by_shardings": {0}, "sums_on_a_square": {10}}
SECONDS = 120.0


def differing(found: list[Leaf], wanted: list[Leaf]) -> set[int]:
    """The places of arrays with other bits, which are no more than roundings."""
    pairs = list(zip(found, wanted, strict=True))
    other = {k for k, (a, b) in enumerate(pairs) if a[:3] != b[:3]}
    for k in other:
        assert pairs[k][0][:2] == pairs[k][1][:2] == ("float32", ())
        values = [np.frombuffer(row[2], "float32") for row in pairs[k]]
        np.testing.assert_allclose(*values, rtol=1e-5)
    return other


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    """The results of the programs in this process, which has all the devices."""
    before = traceir.config.num_cpu_devices
    traceir.config.update("num_cpu_devices", DEVICES)
    try:
        return {
            name: list(map(elements, traceir.tree.leaves(PROGRAMS[name](traceir))))
            for name in NAMES
        }
    finally:
        traceir.config.update("num_cpu_devices", before)


@needs_mpi
@pytest.mark.parametrize("processes", [2, 4])
def test_the_bits_are_those_of_one_process(
    processes: int, alone: dict[str, Any], tmp_path: Path
) -> None:
    file, devices = tmp_path / "found", str(DEVICES // processes)
    names = NAMES if SOAK or processes == 2 else NAMES[:2]
    command = "-m", "processes.run", str(file), devices, *names
    run = start(processes, *command, where=tmp_path)
    status, _, err = ended(run, SECONDS)
    assert status == 0, err
    found = pickle.loads(file.read_bytes())
    file.unlink()
    for name in names:
        assert differing(found[name], alone[name]) <= REGROUPED.get(name, set()), name
    assert left(tmp_path) == []


@needs_mpi
def test_what_is_refused(tmp_path: Path) -> None:
    run = start(2, "-m", "processes.refusals", where=tmp_path)
    status, out, err = ended(run, SECONDS)
    assert (status, out.split()) == (0, ["refused"] * 2), err


@needs_mpi
@pytest.mark.parametrize(
    "kind, how, bound, rule",
    [
        ("another", "-", "60", "process.programs"),
        ("slow", "60", "1", "process.waited"),
        ("raises", "-", "60", "a fault of the user's own"),
    ][: None if SOAK else 1],
)
def test_one_process_fails(
    kind: str, how: str, bound: str, rule: str, tmp_path: Path
) -> None:
    run = start(2, "-m", "processes.faulty", kind, how, bound, where=tmp_path)
    status, _, err = ended(run, SECONDS)
    assert status != 0 and err.count(rule) == 1, err
    assert left(tmp_path) == []


def test_there_is_one_process_without_mpi() -> None:
    distributed = traceir.distributed
    assert not distributed.is_initialized()
    distributed.shutdown()
    with pytest.raises(ValueError, match=r"process.number"):
        distributed.initialize(num_processes=2, process_id=2)
    assert not distributed.is_initialized() and traceir.process_count() == 1
