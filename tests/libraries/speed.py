"""`python -m libraries.speed JAX [NAME ...]`: programs' time, beside JAX.

JAX is a Python interpreter where JAX and the libraries are. Each program runs in
processes of its own, in turns here and there: once for the first time, nothing compiled
being kept from before, and once more in the same process. What is kept is the least
processor time of the turns, imports apart; a program of which the record tells more is
one that was not run this time.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from recorded import Record

from libraries.__main__ import PROGRAMS, names

TIMES = Record("library-speed.json")
TURNS = 3
HERE, JAX = "traceir", "jax"


def spent(name: str) -> list[float]:
    """Seconds that the processors take for a program, and for it once more."""
    import jax

    program = importlib.import_module(name).main
    seconds = []
    for _ in range(2):
        begun = time.process_time()
        jax.block_until_ready(program())
        seconds.append(time.process_time() - begun)
    return seconds


def child(engine: str, name: str) -> None:
    """Print the times of a program in this process."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(PROGRAMS))
    if engine == HERE:
        import traceir

        traceir.as_jax.install()
    print(json.dumps(spent(name)))


def asked(python: str, engine: str, name: str) -> list[float]:
    """The times of a program in a process of its own, with an empty store."""
    words = [python, "-m", "libraries.speed", "--child", engine, name]
    with TemporaryDirectory() as empty:
        path = os.pathsep.join(filter(None, ["tests", os.environ.get("PYTHONPATH")]))
        given = {**os.environ, "TRACEIR_CACHE_DIR": empty, "PYTHONPATH": path}
        done = subprocess.run(words, env=given, check=True, capture_output=True)
    seconds: list[float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def beside(jax: str, name: str) -> dict[str, list[float]]:
    """The least times of the turns: the first run's and the second's, of both."""
    turns: dict[str, list[list[float]]] = {HERE: [], JAX: []}
    for _ in range(TURNS):
        for engine, python in ((HERE, sys.executable), (JAX, jax)):
            turns[engine].append(asked(python, engine, name))
    return {
        engine: [round(min(run), 3) for run in zip(*runs, strict=True)]
        for engine, runs in turns.items()
    }


def ratios(times: dict[str, list[float]]) -> list[str]:
    """JAX's time over this library's, of both runs: above 1 is faster here.

    >>> ratios({"traceir": [1.0, 0.5], "jax": [2.0, 0.25]})
    ['2.0', '0.5']
    """
    pairs = zip(times[JAX], times[HERE], strict=True)
    return [f"{theirs / ours:.1f}" for theirs, ours in pairs]


def main(words: Sequence[str]) -> int:
    """Time the programs that are named, by default all, and keep the record."""
    parser = ArgumentParser("python -m libraries.speed", description=__doc__)
    parser.add_argument("--child", nargs=2, metavar=("ENGINE", "NAME"))
    parser.add_argument("jax", nargs="?", help="a Python with JAX and the libraries")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args(words)
    if given.child:
        child(*given.child)
        return 0
    if given.jax is None or not Path(given.jax).exists():
        parser.error("name a Python interpreter that has JAX and the libraries")
    kept = json.loads(TIMES.read_text()) if TIMES.path.exists() else {}
    for name in given.names or names():
        kept[name] = beside(given.jax, name)
        print(f"{name:22} {kept[name]} {' '.join(ratios(kept[name]))}", flush=True)
        rows = [f"{json.dumps(n)}: {json.dumps(kept[n])}" for n in sorted(kept)]
        TIMES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
