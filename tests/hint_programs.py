"""A program for each hint, and the program with the hint applied: `tests/hints`.

A block of a file is the rule that fails, after it the row that the hint is of where
that is another one, the program, an arrow, and the program with the hint applied; after
the arrow stands the rule that fails then, if one does.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "hints"
HEAD = """\
import math
import numpy as np
import scipy.special
import traceir as jax
import traceir.numpy as jnp
import traceir_numba
from traceir import lax, random
from traceir_numba import compat, jit

V, M, KEY = jnp.array([1.0, 2.0, 3.0]), jnp.ones((2, 3)), random.key(0)
v = np.array([1.0, 2.0, 3.0])
"""
_BLOCK = re.compile(
    r"^# (\S+)(?: (\S+))?\n(.*?)^-->(?: (\S+))?\n(.*?)(?=\n^# |\Z)", re.M | re.S
)


@dataclass(frozen=True)
class HintProgram:
    """A block of a file: the rule, the row that has the hint, and both programs."""

    place: str
    rule: str
    row: str
    program: str
    applied: str
    then: str

    def told(self, folder: Path) -> Exception | None:
        """The exception that ends the program."""
        return ended(self.program, folder / f"{self.place}.py")

    def given(self, folder: Path) -> Exception | None:
        """The exception that ends it with the hint applied."""
        return ended(self.applied, folder / f"{self.place}_applied.py")


def hint_programs() -> list[HintProgram]:
    """The blocks of all files."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            rule, row, program, then, applied = match.groups()
            line = text.count("\n", 0, match.start()) + 1
            place = f"{path.stem}_{line}"
            parts = (program, applied, then or "")
            found.append(HintProgram(place, rule, row or rule, *parts))
    return found


def ended(program: str, path: Path) -> Exception | None:
    """The exception that ends a program; None if it runs to its end."""
    path.write_text(program, encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    exec(_HEAD, scope)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(program, str(path), "exec"), scope)
    except Exception as error:
        return error
    return None


_HEAD = compile(HEAD, "head", "exec")
