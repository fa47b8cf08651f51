"""The command `make gpu-check`: cases, tests and times in one table.

Work that could hang is in processes of its own, which are ended when their time is
over. Serves: every table
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from tools.gpu_check.table import HEAD, Row
from traceir.errors import TraceirError

# The seconds that all of it may take.
SECONDS = 440.0
SIMULATOR = "NUMBA_ENABLE_CUDASIM"

DESCRIPTION = """\
Judge the kernels of traceir_numba on a CUDA device: the cases of the specification,
those of each primitive first; the tests of tests/cuda, in a checkout; and the times of
some functions beside those of a copy. Prints one table; the exit status is 0 where
nothing failed, 1 where something did, 2 where there is no device."""
PACKAGES = """\
Python packages: traceir with numpy, scipy, ml_dtypes, mpmath, llvmlite and numba;
numba-cuda with its extra cu12 or cu13, which brings what compiles (all these by pip
install 'traceir[numba,cuda]' mpmath); pytest and hypothesis for the tests. JAX and CuPy
are compared with where they are installed. Of the system nothing but the driver is
needed, and for --compile and --simulator not even that."""


def parser() -> argparse.ArgumentParser:
    """The parser of the command's arguments."""
    found = argparse.ArgumentParser(
        prog="python -m tools.gpu_check",
        description=DESCRIPTION,
        epilog=PACKAGES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = found.add_argument
    add("--cases", default="*", metavar="PATTERN", help="cases of such names; '' none")
    add("--tests", default="*", metavar="PATTERN", help="files of tests; '' for none")
    add("--times", default="*", metavar="PATTERN", help="such functions; '' for none")
    text = "how long all of it may take (%(default)g); what is left then is late"
    add("--seconds", type=float, default=SECONDS, metavar="S", help=text)
    text = "processes that judge side by side (%(default)d)"
    jobs = min(8, os.cpu_count() or 1)
    add("--jobs", type=int, default=jobs, metavar="N", help=text)
    text = "run in Numba's simulator: sizes are small, and times mean nothing"
    add("--simulator", action="store_true", help=text)
    text = "run nothing: make PTX of the kernels of cases, and machine code"
    add("--compile", action="store_true", help=text)
    text = "the compute capability that --compile is for (%(default)s)"
    add("--capability", default="9.0", metavar="C", help=text)
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 where something failed, 2 where nothing can be run."""
    asked = parser().parse_args(arguments)
    if asked.simulator:
        _simulate()
    try:
        return _print(asked)
    except TraceirError as error:
        print(error, file=sys.stderr)
        return 2


def _print(asked: argparse.Namespace) -> int:
    # What is imported below reads the environment.
    from tools.gpu_check import compiling, judging

    start = time.monotonic()
    end = start + asked.seconds
    if asked.compile:
        rows = compiling.rows(asked.cases, asked.capability, asked.jobs, end)
    else:
        print(_about(), flush=True)
        rows = judging.rows(asked, start, end)
    bad = False
    print(Row(HEAD))
    for row in rows:
        print(row, flush=True)
        bad |= row.bad
    print(f"{time.monotonic() - start:.0f} s in all")
    return int(bad)


def _simulate() -> None:
    os.environ[SIMULATOR] = "1"
    if "numba" in sys.modules:  # which has read the environment by now
        sys.modules["numba"].config.ENABLE_CUDASIM = 1


def _about() -> str:
    """The device, and the versions of what compiles and of who is compared with."""
    from traceir_numba.cuda import devices
    from traceir_numba.cuda.runtime import device

    first = devices()[0]
    names = ("traceir", "numba", "numba-cuda", "numba-cuda-mlir", "jax", "cupy")
    found = [f"{n} {v}" for n in names if (v := _version(n))]
    python = f"Python {platform.python_version()}"
    simulated = "simulator, no device" if device.is_simulated() else first.name
    return f"{first}: {simulated}; {', '.join([*found, python])}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
