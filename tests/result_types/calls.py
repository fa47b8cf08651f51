"""Calls of public functions, and the kinds of operands that they are called with.

A file `calls/THEME.txt` has sections. `[jnp.linalg]` is followed by lines such as
`(m, n): solve lstsq`, which call functions of that module with those arguments;
`[jnp eager]` runs them on arrays, because they need elements; `[expression]` is
followed by whole expressions. Operands whose kinds vary:

    x y z  shape (3,)      s t  shape ()         m n  shape (3, 3)     d  a dtype

and those of `SHAPES`; the kinds of those of `FIXED` are always the same. `none.txt` has
the public names that are not called, and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from types import CodeType
from typing import Any

from data_lines import data_lines

FOLDER = Path(__file__).parent / "calls"
SHAPES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("x", "y", "z"), (3,)),
    **dict.fromkeys(("s", "t"), ()),
    **dict.fromkeys(("m", "n"), (3, 3)),
    **dict.fromkeys(("q3", "r3"), (2, 3, 3)),
    **dict.fromkeys(("h4", "p4", "o4"), (1, 3, 2, 4)),
    "f1": (1,),
    "e": (4,),
    "o1": (1, 3),
    "m2": (2, 3),
    "q": (2, 3, 4),
    "u": (1, 2, 6),
    "v": (3, 2, 2),
    "w4": (2, 3, 6),
}
FIXED: dict[str, tuple[tuple[int, ...], str]] = {
    "i": ((3,), "i32"),
    "j": ((), "i32"),
    "i2": ((3, 1), "i32"),
    "b": ((3,), "bool"),
    "B": ((3, 3), "bool"),
    "f": ((3,), "f32"),
    "g": ((3,), "f32"),
    "e1": ((1,), "f32"),
}
DTYPE = "d"
KEY = "k"
DTYPES = {
    "bool": "bool",
    **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    "bf16": "bfloat16",
    "c64": "complex64",
    "c128": "complex128",
}
WIDE = {"i64", "u64", "f64", "c128"}
WEAK = {"i*": "int", "f*": "float", "c*": "complex"}
NUMBERS: dict[str, Any] = {"True": True, "2": 2, "1.5": 1.5, "1j": 1j}
PYTHON: dict[str, Any] = {
    "int": int,
    "float": float,
    "complex": complex,
    "pybool": bool,
}
# Kinds that meet others; those that are left out behave as one of these.
PAIRED = ["bool", "i8", "i32", "i64", "u32", "f16", "bf16", "f32", "f64"]
PAIRED += ["c64", "c128", "i*", "f*", "c*", "2", "1.5"]
FLOATS = ["f16", "f32", "f64", "c64", "f*"]
Kinds = tuple[str, ...]
# Results with 64-bit types off and on, and derivatives with them on.
WAYS = ("x32", "x64", "grad")


@dataclass(frozen=True)
class Call:
    """An expression that calls a public function."""

    text: str
    eager: bool = False

    @cached_property
    def code(self) -> CodeType:
        """The expression, compiled."""
        return compile(self.text, self.text, "eval")

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it reads."""
        return frozenset(_names(self.code))

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """The operands whose kinds vary, in the order of the alphabet."""
        return tuple(sorted(self.names & {*SHAPES, DTYPE}))

    @cached_property
    def function(self) -> str:
        """The dotted name of what it calls; "" if it is no call of a name."""
        found = re.match(r"[a-z_]\w*(\.\w+)*", self.text)
        return found[0] if found else ""

    def kinds(self, way: str) -> list[Kinds]:
        """The kinds that its varied operands have, one after another."""
        if way == "grad":
            return self._floats()
        choices = [self._choices(name, way == "x64") for name in self.varied]
        if len(choices) < 2:
            return list(product(*choices))
        some = [[k for k in c if k in PAIRED or k in PYTHON] for c in choices]
        return list(dict.fromkeys(_swept(some)))

    def _choices(self, name: str, x64: bool) -> list[str]:
        kinds = [*DTYPES]
        if name == DTYPE:
            kinds += PYTHON
        elif not self.eager:
            kinds += [*WEAK, *NUMBERS]
        return [k for k in kinds if x64 or k not in WIDE]

    def _floats(self) -> list[Kinds]:
        """The kinds with which it is differentiated."""
        if self.eager or DTYPE in self.varied or not self.varied:
            return []
        if len(self.varied) <= 2:
            return list(product(FLOATS, repeat=len(self.varied)))
        return [(k,) * len(self.varied) for k in FLOATS]


def _swept(choices: list[list[str]]) -> Iterator[Kinds]:
    """All of one kind; then each operand in turn of every kind, the others of a few."""
    for kind in choices[0]:
        if all(kind in c for c in choices):
            yield (kind,) * len(choices)
    for k, kinds in enumerate(choices):
        for base, kind in product(("f32", "i32"), kinds):
            others = [base if base in c else c[0] for c in choices]
            yield (*others[:k], kind, *others[k + 1 :])


def _names(code: CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    own = {*code.co_names, *code.co_freevars} - set(code.co_varnames)
    return own.union(*map(_names, inner))


def calls() -> Iterator[Call]:
    """The calls of all files."""
    for path in sorted(FOLDER.glob("*.txt")):
        if path.name != "none.txt":
            yield from dict.fromkeys(_read(path))


def _read(path: Path) -> Iterator[Call]:
    section, eager = "", False
    for row in data_lines(path):
        if row.startswith("["):
            section, _, word = row.strip("[]").partition(" ")
            eager = word == "eager"
        elif section == "expression":
            yield Call(row)
        else:
            arguments, _, functions = row.rpartition(": ")
            for name in functions.split():
                yield Call(f"{section}.{name}{arguments}", eager)


def uncalled() -> dict[str, str]:
    """The public names that are not called, with the reasons."""
    return dict(row.split(": ", 1) for row in data_lines(FOLDER / "none.txt"))
