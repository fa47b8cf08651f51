"""The greatest errors: float32 functions over all 2**32 arguments or every so many,
float64 functions over random arguments. What is found is written into the table of
`traceir_numba.vecmath.accuracy`.

The truth for float32 is our float64 function, for float64 a pair of two numbers. Of
functions that cross zero where no operand is the units are of `accuracy.conditioned`.

python tests/ulp/scan.py [--step N] [--samples N] [--dry] [name ...]
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[k]) for k in (1, 2)]

from ulp.exact import exact
from ulp.measure import eased, values, worst, worst_pair
from ulp.samples import samples

from traceir_numba import vecmath
from traceir_numba.vecmath import ULP, Worst

NAMES = tuple(ULP)
CHUNK = 1 << 20
TABLE = Path(str(vecmath.__file__)).with_name("accuracy.py")


def scan(name: str, step: int = 1) -> Worst:
    """The greatest error of a function of one float32, by the float64 function."""
    found, tried = Worst(-1.0, (), 0), 0
    for start in range(0, 1 << 32, CHUNK * step):
        stop = min(start + CHUNK * step, 1 << 32)
        x = np.arange(start, stop, step).astype(np.uint32).view(np.float32)
        with np.errstate(invalid="ignore"):  # a NaN that signals
            error, place = errors(name, (x,))
        tried += len(x)
        if error > found.ulp:
            found = Worst(error, (float(x[place]),), 0)
    return found._replace(tried=tried)


def sample(name: str, count: int) -> Worst:
    """The greatest error over so many random operands."""
    found, tried = Worst(-1.0, (), 0), 0
    for operands in chunks(name, count):
        error, place = errors(name, operands)
        tried += len(operands[0])
        if error > found.ulp:
            found = Worst(error, tuple(float(x[place]) for x in operands), 0)
    return found._replace(tried=tried)


def errors(name: str, operands: tuple[np.ndarray, ...]) -> tuple[float, int]:
    """The greatest error at some operands, and where it is."""
    got, base = values(name, *operands), name[:-4]
    if name.endswith("f64"):
        return worst_pair(got, *exact(base, *operands))
    longer = [x.astype(np.float64) for x in operands]
    found = values(f"{base}_f64", *longer)
    return worst(got, eased(base, got, found, *longer))


def chunks(name: str, count: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Random operands from all strata, a million at a time."""
    for seed in range(-(-count // CHUNK)):
        yield samples(name, min(CHUNK, count - seed * CHUNK), seed)


def row(name: str, found: Worst) -> str:
    """A line of the table; the error is rounded upwards.

    >>> row("exp_f32", Worst(1.02421, (0.5,), 4))
    '    "exp_f32": Worst(1.0243, (0.5,), 4),\\n'
    """
    ulp = math.ceil(min(found.ulp, 2.0**53) * 1e4) / 1e4
    numbers = [repr(v).replace("e+", "e") for v in found.at]
    place = ", ".join(numbers) + ("," if len(numbers) == 1 else "")
    tried = "2**32" if found.tried == 1 << 32 else f"{found.tried:_}"
    line = f'    "{name}": Worst({ulp:.4f}, ({place}), {tried}),\n'
    if len(line) <= 89:
        return line
    parts = "".join(f"        {p},\n" for p in (f"{ulp:.4f}", f"({place})", tried))
    return f'    "{name}": Worst(\n{parts}    ),\n'


def write(name: str, found: Worst) -> None:
    """Put what was found into the table, in its place or at the end."""
    text = TABLE.read_text(encoding="utf-8")
    old = re.compile(rf'    "{name}": Worst\((?:.*|\n(?: {{8}}.*\n)+ {{4}})\),\n')
    if old.search(text):
        text = old.sub(lambda _: row(name, found), text, count=1)
    else:
        text = text.replace("\n}\n", "\n" + row(name, found) + "}\n", 1)
    TABLE.write_text(text, encoding="utf-8")


def main() -> None:
    """Print a line for each function, and write the table if all was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--samples", type=int, default=100_000_000)
    parser.add_argument("--dry", action="store_true", help="leave the table alone")
    options = parser.parse_args()
    for name in options.names:
        start = time.perf_counter()
        whole = name.endswith("f32") and len(vecmath.FUNCTIONS[name].args) == 1
        found = scan(name, options.step) if whole else sample(name, options.samples)
        seconds = time.perf_counter() - start
        print(f"{row(name, found).rstrip()} # {seconds:.0f} s", flush=True)
        if not options.dry and (options.step == 1 or not whole):
            write(name, found)


if __name__ == "__main__":
    main()
