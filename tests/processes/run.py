"""Runs programs, alone or under MPI, and writes what they give.

`mpirun -n 2 python -m processes.run FILE DEVICES [NAME ...]`: so many devices in each
process. The first process writes the leaves of each program's results. Programs are
those of this folder, or by the name `layouts` those of the folder `shardings`.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from processes.programs import PROGRAMS

import traceir
from traceir.experimental import multihost_utils

# An array's dtype, shape and elements, and how it lies.
Leaf = tuple[str, tuple[int, ...], bytes, str]


def elements(leaf: Any) -> Leaf:
    """The parts of an array that are compared."""
    here = leaf.is_fully_replicated or leaf.is_fully_addressable
    value = np.asarray(leaf if here else multihost_utils.process_allgather(leaf))
    spec = getattr(leaf.sharding, "spec", None)
    return value.dtype.name, value.shape, value.tobytes(), str(spec)


def laid_out() -> Iterator[tuple[str, Any]]:
    """Functions of arrays that lie in all ways, over eight devices."""
    from shardings import programs

    for name, (function, arguments) in programs.PROGRAMS.items():
        if not name.startswith("captured"):  # an array that others have parts of
            given = [programs.argument(traceir, text) for text in arguments]
            call = traceir.jit(lambda *a, function=function: function(traceir, *a))
            yield name, call(*given)


def results(names: list[str]) -> Iterator[tuple[str, Any]]:
    """The trees that programs give, by their names."""
    if names == ["layouts"]:
        yield from laid_out()
    else:
        for name in names or PROGRAMS:
            yield name, PROGRAMS[name](traceir)


def main() -> None:
    """Run them all."""
    path, devices, *names = sys.argv[1:]
    traceir.config.update("num_cpu_devices", int(devices))
    if "OMPI_COMM_WORLD_SIZE" in os.environ:
        traceir.distributed.initialize(collective_timeout_seconds=60)
    found = {
        name: list(map(elements, traceir.tree.leaves(tree)))
        for name, tree in results(names)
    }
    if traceir.process_index() == 0:
        Path(path).write_bytes(pickle.dumps(found))
    traceir.distributed.shutdown()


if __name__ == "__main__":
    main()
