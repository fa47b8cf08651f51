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

from data_lines import data_lines

import traceir.numpy as jnp

FOLDER = Path(__file__).parent / "array_api"

KINDS = {
    "bool": ("bool",),
    "integer": (
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ),
    "real floating": ("float32", "float64"),
    "complex": ("complex64", "complex128"),
}
KINDS["floating"] = KINDS["real floating"] + KINDS["complex"]
KINDS["real"] = KINDS["integer"] + KINDS["real floating"]
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

    def result_of(self, dtype: str) -> str:
        """The dtype of its result, for operands of a dtype."""
        if self.result == "parts":
            return part_of(dtype)
        return "bool" if self.result == "bool" else dtype

    def find(self) -> Callable[..., Any] | None:
        """The namespace's own function; None where there is none."""
        found: Any = jnp
        for part in self.name.split("."):
            found = getattr(found, part, None)
        function: Callable[..., Any] | None = found
        return function

    @property
    def operands(self) -> int:
        """The number of arrays that it takes."""
        positional = self.signature.parameters.values()
        return sum(p.name in ("x", "x1", "x2") for p in positional)


def part_of(dtype: str) -> str:
    """The dtype of the parts of a number, which is a number's own unless it is complex.

    >>> part_of("complex64"), part_of("int8")
    ('float32', 'int8')
    """
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


@dataclass(frozen=True, slots=True)
class Special:
    """A statement about special operands of a function."""

    name: str
    operands: tuple[str, ...]
    result: str

    def points(self) -> Iterator[tuple[float, ...]]:
        """The operands that are meant."""
        for xs in product(*map(numbers, self.operands)):
            yield tuple(
                x if word not in ("x1", "-x1") else said(word, xs)
                for word, x in zip(self.operands, xs, strict=True)
            )

    def admits(self, got: float, xs: tuple[float, ...], error: float) -> bool:
        """True if it is a result of these operands, but for a relative error."""
        return any(is_said(got, word, xs, error) for word in self.result.split("|"))


def functions() -> list[Function]:
    """All functions of the standard."""
    return [_function(line) for line in data_lines(FOLDER / "functions.txt")]


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
    return [_special(line) for line in data_lines(FOLDER / "special.txt")]


def _special(line: str) -> Special:
    name, *operands, result = line.replace(",", " ").split()
    return Special(name, tuple(operands), result)


FRACTIONS = (0.5, 2.75)
WHOLE = (1.0, 2.0, 3.0, 1024.0)
POSITIVE = (*FRACTIONS, *WHOLE, 1e-30, 1e30)
ODD = (1.0, 3.0, 101.0)


def _negative(xs: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(-x for x in xs)


CLASSES: dict[str, tuple[float, ...]] = {
    "positive": POSITIVE,
    "negative": _negative(POSITIVE),
    "nonzero": POSITIVE + _negative(POSITIVE),
    "over": (*POSITIVE, math.inf),
    "under": (*_negative(POSITIVE), -math.inf),
    "finite": (0.0, -0.0, *POSITIVE, *_negative(POSITIVE)),
    "above": (1.5, 2.0, 1e30),
    "below": (-1.5, -2.0, -1e30),
    "large": (1.5, 2.0, 1e30, -1.5, -2.0, -1e30, math.inf, -math.inf),
    "small": (0.25, 0.9, 1e-30),
    "little": (0.25, 0.9, 1e-30, 0.0, -0.0, -0.25, -0.9, -1e-30),
    "whole": (*WHOLE, *_negative(WHOLE), 0.0, -0.0),
    "fraction": (*FRACTIONS, -0.25),
    "zero": (0.0, -0.0),
    "odd": ODD,
    "even": (0.5, 2.75, 2.0, 1024.0, math.inf),
}
CLASSES["number"] = (*CLASSES["finite"], math.inf, -math.inf)
CLASSES["any"] = (*CLASSES["number"], math.nan)
CLASSES["other"] = tuple(x for x in CLASSES["any"] if x != 1)
CLASSES["unzero"] = tuple(x for x in CLASSES["any"] if x != 0)


def numbers(word: str) -> tuple[float, ...]:
    """The numbers that a word for operands stands for; one for a former operand."""
    if word in ("x1", "-x1"):
        return (math.nan,)
    if word.startswith("-") and word[1:] in CLASSES:
        return _negative(CLASSES[word[1:]])
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


def said(word: str, xs: tuple[float, ...]) -> float:
    """The number that a word for a result means, for operands.

    >>> said("-x2", (1.0, 3.0)), said("abs", (-2.0,))
    (-3.0, 2.0)
    """
    match word.lstrip("-"):
        case "x1" | "abs":
            value = xs[0]
        case "x2" | "abs2":
            value = xs[1]
        case _:
            return number(word)
    value = abs(value) if "abs" in word else value
    return -value if word.startswith("-") else value


def is_said(got: float, word: str, xs: tuple[float, ...], error: float) -> bool:
    """True if a number is what a word for a result means, but for a relative error."""
    if word in ("plus", "minus"):
        return math.copysign(1, got) == (1 if word == "plus" else -1)
    want = said(word, xs)
    signed = math.copysign(1, got) == math.copysign(1, want)
    if math.isnan(want):
        return math.isnan(got) and (signed or word == "nan")
    if want == 0:
        return got == 0 and (signed or word == "0")
    return got == want or abs(got - want) <= error * abs(want) < math.inf


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
