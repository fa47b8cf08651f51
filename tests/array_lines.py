"""Expressions over NumPy's functions, and operands for them, a line for each.

A file `array/lines/THEME.txt` has lines such as `np.tile(x, (2, 1))`. Each is run with
NumPy and with `traceir.numpy` in the place of `np`, for all dtypes and odd shapes, and
has to give the same; `array/test_lines.py` says how. Add a file, or a line, for
whatever shares its meaning with NumPy. A line may name these operands:

    x  of rank 0 to 3              y  broadcasts with x       s  of rank 0
    v  of rank 1                   w  like v                  e  of rank 1, extent 4
    m  of rank 2                   n  like m                  r  of shape (3, 3)
    q  of rank 3                   a  of rank 1 to 3          b  truths, shaped as x
    i  indices: four ints from 0 to 2

Marks follow behind `#`: kinds of dtypes (`biuf`, by default all four), `nan` if floats
are to have special values, `static` where values decide the shape of the result (so
that it is not traced), `alone` for what cannot be mapped by vmap, `wide` for a result
whose kind of dtype is not NumPy's, `loose` for fewer digits, `admits` where NumPy
refuses what is admitted here, `plain` where only a plain function is admitted what
NumPy admits, as JAX refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "array" / "lines"
KINDS = {
    "b": ["bool"],
    "i": ["int8", "int16", "int32", "int64"],
    "u": ["uint8", "uint16", "uint32", "uint64"],
    "f": ["float16", "float32", "float64"],
}
MARKS = {"nan", "static", "alone", "wide", "loose", "admits", "plain"}
OPERANDS = "xyvwmnqaesrbi"
EXTENTS = [0, 1, 2, 3, 5]
SPECIAL = [np.nan, np.inf, -np.inf, -0.0]


@dataclass(frozen=True)
class Line:
    """An expression with its marks."""

    text: str
    kinds: str
    marks: frozenset[str]

    @property
    def names(self) -> list[str]:
        """The functions that it calls, dotted ones with their dots."""
        return re.findall(r"\bnp\.([\w.]+)", self.text)

    @cached_property
    def code(self) -> Any:
        """The expression, compiled."""
        return compile(self.text, "line", "eval")

    @cached_property
    def operands(self) -> list[str]:
        """The operands that it names."""
        return [name for name in OPERANDS if name in _names(self.code)]

    @property
    def dtypes(self) -> list[str]:
        """The dtypes that its operands may have."""
        return [dtype for kind in self.kinds for dtype in KINDS[kind]]

    def run(self, library: Any, operands: Mapping[str, Any]) -> Any:
        """Its value with a library in the place of `np`."""
        with np.errstate(all="ignore"):
            return eval(self.code, {"np": library, **operands})


def _names(code: Any) -> set[str]:
    inner = (c for c in code.co_consts if hasattr(c, "co_names"))
    names = {*code.co_names, *code.co_freevars, *code.co_cellvars}
    return names.union(*map(_names, inner))


def lines() -> Iterator[Line]:
    """The lines of all files."""
    for path in sorted(FOLDER.glob("*.txt")):
        for row in path.read_text(encoding="utf-8").splitlines():
            text, _, behind = row.partition("  # ")
            if not text or text.startswith("#"):
                continue
            words = behind.split()
            marks = frozenset(word for word in words if word in MARKS)
            kinds = [word for word in words if word not in MARKS]
            assert len(kinds) <= 1, f"{path.name}: {row}"
            yield Line(text.strip(), kinds[0] if kinds else "biuf", marks)


def shapes(rng: np.random.Generator) -> dict[str, tuple[int, ...]]:
    """A shape for each operand."""

    def drawn(rank: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.choice(EXTENTS, rank))

    x, v, m = drawn(rng.integers(0, 4)), drawn(1), drawn(2)
    y = tuple(1 if rng.random() < 0.3 else n for n in x)[rng.integers(0, 2) :]
    ranked = {"a": drawn(rng.integers(1, 4)), "q": drawn(3), "s": (), "e": (4,)}
    pairs = {"x": x, "y": y, "v": v, "w": v, "m": m, "n": m}
    return {**pairs, **ranked, "r": (3, 3), "b": x, "i": (4,)}


def values(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, special: bool = False
) -> np.ndarray:
    """Small numbers: quarters if the dtype has them, some of them special."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind != "f":
        return rng.integers(0 if kind == "u" else -5, 9, shape).astype(dtype)
    drawn = rng.integers(-12, 13, shape) / 4
    if special:
        strange = rng.choice(SPECIAL, shape)
        drawn = np.where(rng.random(shape) < 0.3, strange, drawn)
    return np.asarray(drawn).astype(dtype)


def draw(line: Line, dtype: str, seed: int) -> dict[str, np.ndarray]:
    """The operands of a line, in one dtype."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, shape in shapes(rng).items():
        match name:
            case "i":
                value = rng.integers(0, 3, shape)
            case "b":
                value = values(rng, shape, "bool")
            case _:
                value = values(rng, shape, dtype, "nan" in line.marks)
        if name in line.operands:
            found[name] = value
    return found
