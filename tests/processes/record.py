"""Writes down the numbers that JAX gives for the programs of this folder.

Run with JAX: `PYTHONPATH=tests python -m processes.record`. They are those of eight
devices of the host; of one, two and four devices, what is not the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import ml_dtypes as ml_dtypes  # so that NumPy knows bfloat16 by its name
import numpy as np
from processes.entered import DEVICES
from processes.programs import PROGRAMS
from recorded import Record

NUMBERS = Record("devices.json.xz")
COUNTS = (1, 2, 4, DEVICES)
KEPT = 200  # about so many elements of a large array are written down
# How far apart results may be, as a part of the greatest number among them.
NEAR = {"float32": 2e-6, "complex64": 8e-6, "float16": 4e-3, "bfloat16": 2e-2}
# A result: its dtype, its shape, and elements at equal distances.
Numbers = tuple[str, list[int], list[float]]


def numbers(dtype: str, shape: Sequence[int], data: bytes) -> Numbers:
    """The numbers of a result that are written down."""
    flat = np.frombuffer(data, dtype)
    flat = flat[:: max(1, flat.size // KEPT)]
    if dtype == "complex64":
        flat = flat.copy().view("float32")
    wide = flat.astype("float64" if flat.dtype.kind not in "iub" else "int64")
    return dtype, list(shape), wide.tolist()


def far(found: Numbers, wanted: Numbers) -> float:
    """The distance of two results, as a part of what it may be; 1 is too far."""
    if list(found[:2]) != list(wanted[:2]):
        return np.inf
    a, b = np.array(found[2]), np.array(wanted[2])
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    a, b = a[finite], b[finite]
    apart = float(np.abs(a - b).max(initial=0))
    if apart == 0:
        return 0.0
    greatest = float(np.abs(b).max(initial=0))
    return apart / (NEAR.get(wanted[0], 0.0) * greatest or 1e-300)


def wanted(name: str, devices: int) -> list[Numbers]:
    """The numbers that JAX has given with so many devices."""
    rows = RECORDED[name]
    others = rows[str(devices)] if devices != DEVICES else {}
    return [others.get(str(k), row) for k, row in enumerate(rows[str(DEVICES)])]


def _parts(value: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
    return value.dtype.name, value.shape, value.tobytes()


def _recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(NUMBERS.read_text())
    return found


RECORDED: dict[str, Any] = _recorded() if NUMBERS.path.exists() else {}


def main() -> None:
    """Run all programs on JAX, with each number of devices."""
    jax = import_module("jax")
    clear_backends = import_module("jax.extend.backend").clear_backends
    found: dict[str, Any] = {name: {} for name in PROGRAMS}
    for count in reversed(COUNTS):
        clear_backends()
        jax.config.update("jax_num_cpu_devices", count)
        for name, function in PROGRAMS.items():
            leaves = jax.tree.leaves(function(jax))
            rows = [numbers(*_parts(np.asarray(leaf))) for leaf in leaves]
            if count == DEVICES:
                found[name][str(count)] = rows
                continue
            pairs = enumerate(zip(rows, found[name][str(DEVICES)], strict=True))
            found[name][str(count)] = {k: a for k, (a, b) in pairs if far(a, b) > 0.5}
    NUMBERS.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
