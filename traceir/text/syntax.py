"""Program text as a syntax tree. Serves: text.syntax"""

from __future__ import annotations

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray


@dataclass(frozen=True, slots=True)
class Number:
    """A literal as written, with its type where one is written."""

    text: str
    aval: ShapedArray | None
    at: int


@dataclass(frozen=True, slots=True)
class Name:
    """A use of a variable."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Word:
    """A bare or quoted word as a parameter's value."""

    text: str
    quoted: bool
    at: int


@dataclass(frozen=True, slots=True)
class Many:
    """A list as a parameter's value, in parentheses or, if `bracketed`, brackets."""

    items: tuple[Value, ...]
    at: int
    bracketed: bool = False


@dataclass(frozen=True, slots=True)
class Binder:
    """A variable being defined; `value` is that of a constant written in full text.

    An untyped program marks its static parameters.
    """

    name: str
    aval: ShapedArray | None
    at: int
    value: tuple[Number, ...] | None = None
    static: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One `name=value` of an equation."""

    name: str
    value: Value
    at: int


@dataclass(frozen=True, slots=True)
class Equation:
    """One line of a program."""

    outputs: tuple[Binder, ...]
    primitive: str
    effects: tuple[str, ...]
    params: tuple[Parameter, ...]
    inputs: tuple[Operand, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Program:
    """The text between one pair of braces."""

    constants: tuple[Binder, ...]
    inputs: tuple[Binder, ...]
    equations: tuple[Equation, ...]
    results: tuple[Operand, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Module:
    """A program after the named programs that it and they refer to."""

    shared: tuple[tuple[str, Program], ...]
    main: Program


Operand = Name | Number
Value = Word | Number | Many | Program
