"""The Array API standard as data: its functions, and its special cases."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import traceir.numpy as jnp

FOLDER = Path(__file__).parent / "array_api"

KINDS = {
    "bool": ("bool",),
    "integer": (
        *("int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
    ),
    "floating": ("float32", "float64"),
}
KINDS["numeric"] = KINDS["integer"] + KINDS["floating"]
KINDS["bits"] = KINDS["bool"] + KINDS["integer"]
KINDS["all"] = KINDS["bool"] + KINDS["numeric"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the standard; `dtypes` are those that it has to take."""

    chapter: str
    name: str
    signature: inspect.Signature
    dtypes: tuple[str, ...]
    result: str

    def find(self) -> Callable[..., Any] | None:
        """The namespace's own function; None where there is none."""
        found: Any = jnp
        for part in self.name.split("."):
            found = getattr(found, part, None)
        return found  # type: ignore[no-any-return]

    @property
    def operands(self) -> int:
        """How many arrays it takes."""
        positional = self.signature.parameters.values()
        return sum(p.name in ("x", "x1", "x2") for p in positional)


@dataclass(frozen=True, slots=True)
class Special:
    """What is said of special operands of a function."""

    name: str
    operands: tuple[str, ...]
    result: str

    def points(self) -> Iterator[tuple[tuple[float, ...], float]]:
        """The operands that are meant, with what the result has to be."""
        for xs in product(*map(numbers, self.operands)):
            yield xs, wanted(self.result, xs)


def lines(name: str) -> Iterator[str]:
    """The lines of a file of data that say something."""
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def functions() -> list[Function]:
    """All functions of the standard."""
    return [_function(line) for line in lines("functions.txt")]


def _function(line: str) -> Function:
    chapter, rest = line.split(maxsplit=1)
    head, _, dtypes = rest.partition(")")
    name, _, params = head.partition("(")
    node = ast.parse(f"def f({params}): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    space: dict[str, Any] = {}
    exec(compile(ast.Module([node], []), "signature", "exec"), space)
    given, _, result = dtypes.partition("->")
    kinds = KINDS.get(given.strip(), ())
    signature = inspect.signature(space["f"])
    return Function(chapter, name, signature, kinds, result.strip())


def specials() -> list[Special]:
    """All special cases."""
    return [_special(line) for line in lines("special.txt")]


def _special(line: str) -> Special:
    name, *operands, result = line.replace(",", " ").split()
    return Special(name, tuple(operands), result)


FRACTIONS = (0.5, 2.75)
WHOLE = (1.0, 2.0, 3.0, 1024.0)
POSITIVE = (*FRACTIONS, *WHOLE, 1e-30, 1e30)
CLASSES: dict[str, tuple[float, ...]] = {
    "positive": POSITIVE,
    "negative": tuple(-x for x in POSITIVE),
    "finite": (0.0, -0.0, *POSITIVE, *(-x for x in POSITIVE)),
    "above": (1.5, 2.0, 1e30),
    "below": (-1.5, -2.0, -1e30),
    "small": (0.25, 0.9, 1e-30),
    "whole": (*WHOLE, *(-x for x in WHOLE), 0.0, -0.0),
    "odd": (1.0, 3.0, 101.0),
    "fraction": (*FRACTIONS, -0.25),
}
CLASSES["number"] = (*CLASSES["finite"], math.inf, -math.inf)
CLASSES["any"] = (*CLASSES["number"], math.nan)


def numbers(word: str) -> tuple[float, ...]:
    """The numbers that a word for operands stands for."""
    return CLASSES.get(word) or (number(word),)


def number(word: str) -> float:
    """A number, of pi where it says so.

    >>> number("-3pi/4"), number("+inf")
    (-2.356194490192345, inf)
    """
    if "pi" not in word:
        return float(word)
    factor, _, divisor = word.partition("pi")
    times = float(f"{factor}1") if factor in ("+", "-") else float(factor)
    return times * math.pi / float(divisor[1:] or 1)


def wanted(word: str, xs: tuple[float, ...]) -> float:
    """The number that a word for a result means, for operands."""
    match word:
        case "x1" | "x2":
            return xs[int(word[1]) - 1]
        case "abs":
            return abs(xs[0])
        case "-abs":
            return -abs(xs[0])
    return number(word)


def call_of(function: Function) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by which the standard lets a function be called."""
    args, named = [], {}
    for p in function.signature.parameters.values():
        match p.kind:
            case p.POSITIONAL_ONLY | p.POSITIONAL_OR_KEYWORD:
                args.append(p.default)
            case p.VAR_POSITIONAL:
                args += [None, None]
            case p.KEYWORD_ONLY:
                named[p.name] = p.default
    return args, named
