"""The greatest errors: float32 functions over all 2**32 arguments or every so many,
float64 functions over random arguments, against the 64-bit mantissas of x86.

python tests/ulp/scan.py [--step N] [--samples N] [name ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[k]) for k in (1, 2)]

from ulp.measure import long_errors, samples, truth, values, worst

UNARY = ("exp", "log", "sin", "cos", "tanh", "log1p", "expm1")
NAMES = tuple(f"{n}_{t}" for t in ("f32", "f64") for n in (*UNARY, "pow"))
CHUNK = 1 << 20


def scan(name: str, step: int = 1) -> tuple[float, float]:
    """The greatest error of a float32 function, and the argument that has it."""
    exact = truth(name, np.float64)
    most, argument = -1.0, 0.0
    for start in range(0, 1 << 32, CHUNK * step):
        stop = min(start + CHUNK * step, 1 << 32)
        x = np.arange(start, stop, step).astype(np.uint32).view(np.float32)
        error, place = worst(values(name, x), exact(x))
        if error > most:
            most, argument = error, float(x[place])
    return most, argument


def sample(name: str, count: int) -> tuple[float, tuple[float, ...]]:
    """The greatest error over so many random operands."""
    most = -1.0
    place: tuple[float, ...] = ()
    for operands in chunks(name, count):
        error = long_errors(name, operands)
        k = int(np.argmax(error))
        if error[k] > most:
            most, place = float(error[k]), tuple(float(x[k]) for x in operands)
    return most, place


def chunks(name: str, count: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Random operands from all strata, a million at a time."""
    for seed in range(-(-count // CHUNK)):
        yield samples(name, CHUNK, seed)


def main() -> None:
    """Print a line for each function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--samples", type=int, default=1 << 24)
    options = parser.parse_args()
    for name in options.names:
        start = time.perf_counter()
        whole = name.endswith("f32") and name != "pow_f32"
        found = scan(name, options.step) if whole else sample(name, options.samples)
        seconds = time.perf_counter() - start
        print(
            f"{name}: {found[0]:.4f} ulp at {found[1]!r} ({seconds:.0f} s)", flush=True
        )


if __name__ == "__main__":
    main()
