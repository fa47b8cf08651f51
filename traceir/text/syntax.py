"""Program text as a syntax tree. Serves: text.syntax"""

from __future__ import annotations

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray


@dataclass(frozen=True, slots=True)
class NumberNode:
    """A literal as written, with its type where one is written."""

    text: str
    aval: ShapedArray | None
    at: int


@dataclass(frozen=True, slots=True)
class NameNode:
    """A use of a variable."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class WordNode:
    """A bare or quoted word as a parameter's value."""

    text: str
    quoted: bool
    at: int


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list as a parameter's value, in parentheses or, if `bracketed`, brackets."""

    items: tuple[Value, ...]
    at: int
    bracketed: bool = False


@dataclass(frozen=True, slots=True)
class BinderNode:
    """A variable being defined; `value` is that of a constant written in full text.

    An untyped program marks its static parameters.
    """

    name: str
    aval: ShapedArray | None
    at: int
    value: tuple[NumberNode, ...] | None = None
    static: bool = False


@dataclass(frozen=True, slots=True)
class ParameterNode:
    """One `name=value` of an equation."""

    name: str
    value: Value
    at: int


@dataclass(frozen=True, slots=True)
class EquationNode:
    """One line of a program."""

    outputs: tuple[BinderNode, ...]
    primitive: str
    effects: tuple[str, ...]
    params: tuple[ParameterNode, ...]
    inputs: tuple[Operand, ...]
    at: int


@dataclass(frozen=True, slots=True)
class ProgramNode:
    """The text between one pair of braces."""

    constants: tuple[BinderNode, ...]
    inputs: tuple[BinderNode, ...]
    equations: tuple[EquationNode, ...]
    results: tuple[Operand, ...]
    at: int


@dataclass(frozen=True, slots=True)
class ModuleNode:
    """A program after the named programs that it and they refer to."""

    shared: tuple[tuple[str, ProgramNode], ...]
    main: ProgramNode


Operand = NameNode | NumberNode
Value = WordNode | NumberNode | ListNode | ProgramNode
