"""`python -m libraries [NAME ...]`: run programs, and compare with JAX's numbers.

A line for each: right, other numbers, or the error that ended it. The exit status is 1
where one of the programs that have been right is not. `--record` runs them on JAX
itself, and keeps its numbers; `python -m libraries.speed` times both.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from recorded import Record

FOLDER = Path(__file__).parent
PROGRAMS = FOLDER / "programs"
NUMBERS = Record("libraries.json.xz")
# How far numbers may be from JAX's: programs of many steps in float32.
RELATIVE, ABSOLUTE = 1e-3, 1e-4
# Programs that do not run yet, with what ends them.
ENDED: dict[str, str] = {}


def names() -> list[str]:
    """The programs, from A to Z."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def leaves(name: str) -> list[Any]:
    """The leaves of a program's result, as lists of numbers."""
    import jax

    result = importlib.import_module(name).main()
    return [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(result)]


def agree(got: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """True if all numbers are JAX's, as near as the formats let them be.

    >>> agree([[1.0, 2.00001]], [[1.0, 2.0]]), agree([[1.0]], [[1.0, 2.0]])
    (True, False)
    """
    return len(got) == len(wanted) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, RELATIVE, ABSOLUTE)
        for a, b in zip(got, wanted, strict=True)
    )


def verdict(name: str, wanted: Sequence[Any]) -> str:
    """The end of a program, as a line says it."""
    try:
        got = leaves(name)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
    return "right" if agree(got, wanted) else f"other numbers: {got}"[:120]


def main(words: Sequence[str]) -> int:
    """Run the programs that are named, by default all."""
    parser = ArgumentParser(
        "python -m libraries", description="Run libraries' programs."
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true", help="keep JAX's own numbers")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(PROGRAMS))
    if given.record:
        kept = json.loads(NUMBERS.read_text())
        kept.update({name: leaves(name) for name in given.names or names()})
        rows = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in names()]
        NUMBERS.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        return 0
    import traceir

    traceir.as_jax.install()
    numbers = json.loads(NUMBERS.read_text())
    wrong = 0
    for name in given.names or names():
        told = verdict(name, numbers[name])
        print(f"{name:22} {told}", flush=True)
        wrong += told != "right" and name not in ENDED
        if told == "right" and name in ENDED:
            print(f"{'':22} runs now: it is no longer one of ENDED")
            wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
