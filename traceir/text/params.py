"""Parameters of equations from text to values, by the rows.

Serves: text.hidden, text.opaque
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Sequence
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, HostFunction
from traceir.rules import Prim, Rules, Spelling
from traceir.rules.formulas.domains import PROGRAMS
from traceir.text import syntax
from traceir.text.lexer import SourceText
from traceir.text.objects import read_text, read_tree, read_type
from traceir.text.shown import read_application
from traceir.text.words import StoredDTypes, nan_digits, number_value

_CONSTANTS = {"None": None, "True": True, "False": False, "true": True, "false": False}


class Values:
    """Resolves written values; programs and their names through the two callbacks."""

    def __init__(
        self,
        source: SourceText,
        rules: Rules,
        closed: Callable[[syntax.ProgramNode], ClosedJaxpr],
        named: Callable[[str, int], ClosedJaxpr],
        shared: Container[str],
    ) -> None:
        self.source = source
        self.closed = closed
        self.named = named
        self.shared = shared
        self.dtypes = StoredDTypes({n: d.stored for n, d in rules.dtypes.items()})

    def params(
        self,
        written: Sequence[syntax.ParameterNode],
        row: Prim | None,
        spelling: Spelling | None,
    ) -> dict[str, Hashable]:
        """The written parameters by name; those of an older spelling by today's."""
        domains = {p.name: p.domain for p in row.params} if row else {}
        found: dict[str, Hashable] = {}
        applies = {p.name: p.applies for p in row.params} if row else {}
        for param in written:
            name = param.name
            if spelling and name in spelling.ignores:
                continue
            if spelling:
                name = spelling.params.get(name, name)
            domain = domains.get(name) or guess_domain(name)
            if applied := applies.get(name):
                found[name] = read_application(self.value(param.value, "any"), applied)
            else:
                found[name] = self.value(param.value, domain)
        return found

    def value(self, value: syntax.Value, domain: str) -> Hashable:
        """One value, read as the domain suggests; raises JaxprSyntaxError."""
        match value:
            case syntax.ProgramNode():
                return self.closed(value)
            case syntax.ListNode(items):
                return tuple(self.value(v, domain) for v in items)
            case syntax.NumberNode(text, at=at):
                return self.number(text, at)
            case syntax.WordNode(text, quoted, at):
                return text if quoted else self.word(text, domain, at)

    def number(self, text: str, at: int) -> int | float | complex:
        """A number that has no dtype: an integer where it is written as one."""
        digits, imaginary = nan_digits(text), text.removesuffix(")").endswith("j")
        if digits or imaginary:
            kind = float if digits and len(digits) <= 16 else complex
            found = number_value(text, np.dtype(kind))
            if found is None:
                raise self.source.error("text.literal", f"`{text[:40]}`", at)
            return kind(found)
        if text in _CONSTANTS:
            return bool(_CONSTANTS[text])
        if text.lstrip("-").isdecimal():
            if len(text) > 100:
                raise self.source.error("text.literal", f"`{text[:40]}…`", at)
            return int(text)
        return float.fromhex(text) if "x" in text.lower() else float(text)

    def word(self, text: str, domain: str, at: int) -> Hashable:
        """A bare word: a name, a named program, a constant, a dtype."""
        if domain in READERS:
            found = READERS[domain](self, text)
            if found is None:
                raise self.source.error("text.opaque", f"`{text[:40]}`", at)
            return found
        if domain == "name":
            return text
        if domain in PROGRAMS or (domain == "any" and text in self.shared):
            return self.named(text, at)
        if domain == "function" and " " not in text:
            return HostFunction(text)
        if text.startswith("<"):
            raise self.source.error("text.opaque", f"`{text[:40]}`", at)
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if text in ("nan", "inf"):
            return float(text)
        return self.dtypes.get(text, text)


# How a param of such a domain is read; None where no text can stand for it.
READERS: dict[str, Callable[[Values, str], Hashable]] = {
    "text": lambda values, text: read_text(text),
    "tree": lambda values, text: read_tree(text),
    "avals": lambda values, text: read_type(text, values.dtypes),
}


def guess_domain(name: str) -> str:
    """The domain of a parameter that no row has, told by its name alone."""
    if name == "name":
        return "name"
    return "jaxpr" if name.endswith("jaxpr") else "any"


def complete(
    row: Prim,
    params: dict[str, Hashable],
    inputs: Sequence[ShapedArray],
    out: ShapedArray | None,
) -> str | None:
    """Add the parameters that the text leaves out; the name of one it may not.

    A parameter without default or `parse` formula stays absent, for checking to
    report (program.params).
    """
    env: dict[str, Any] = dict(zip(row.inputs, inputs))
    for param in row.params:
        if param.name in params:
            continue
        if param.parse is not None:
            if out is None:
                return param.name
            if (
                len(inputs) >= row.arity
            ):  # else there are too few, for checking to report
                params[param.name] = param.parse({**env, "out": out})
        elif param.has_default:
            params[param.name] = param.default
    return None
