"""The greatest error of float32 functions over all 2**32 arguments, or every so many.

python tests/ulp/scan.py [--step N] [name ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[k]) for k in (1, 2)]

from ulp.measure import truth_f32, values, worst

NAMES = ("exp", "log", "sin", "cos", "tanh", "log1p", "expm1")
CHUNK = 1 << 20


def scan(name: str, step: int = 1) -> tuple[float, float]:
    """The greatest error of a function, and the argument that has it."""
    truth = truth_f32(name)
    most, argument = -1.0, 0.0
    for start in range(0, 1 << 32, CHUNK * step):
        bits = np.arange(start, min(start + CHUNK * step, 1 << 32), step, np.uint64)
        x = bits.astype(np.uint32).view(np.float32)
        error, place = worst(values(f"{name}_f32", x), truth(x))
        if error > most:
            most, argument = error, float(x[place])
    return most, argument


def main() -> None:
    """Print a line for each function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args()
    for name in options.names:
        start = time.perf_counter()
        error, argument = scan(name, options.step)
        seconds = time.perf_counter() - start
        print(f"{name}_f32: {error:.4f} ulp at {argument!r} ({seconds:.0f} s)")


if __name__ == "__main__":
    main()
