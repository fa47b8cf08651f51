"""Cases that are functions of Python's, each with calls of it. Serves: staged.*

A file `cases/*.py` is a module. Each function whose docstring begins with `Cites` is a
case; the form is in `spec/cases.rst`.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceir.text.lexer import SourceText

# The parameter by which a function gets the counterpart of Numba's decorators.
DECORATORS = "numba"
# The question which loops and choices the program of a call has.
RECORDED = "recorded"
_HEAD = "Cites "


@dataclass(frozen=True)
class PlainCall:
    """A call as text, and what it does: what it gives, as text, or what it raises.

    `raises` is the id of a rule, or the name of one of Python's own exceptions; `at` is
    the text of the line at which it stands.
    """

    text: str
    gives: str = ""
    raises: str = ""
    at: str = ""

    @property
    def rule(self) -> str:
        """The id of the rule that the call violates, or nothing."""
        return self.raises if "." in self.raises else ""

    @property
    def asks(self) -> bool:
        """True for the question what is recorded, which is no call."""
        return self.text.startswith(f"{RECORDED}(")


@dataclass(frozen=True)
class PlainFunction:
    """A function of a file, by its name, and the calls of it in order."""

    name: str
    path: str
    text: str
    calls: tuple[PlainCall, ...]
    decorates: bool

    def scope(self) -> dict[str, Any]:
        """The names of the file, made anew: nobody has seen these functions before."""
        found: dict[str, Any] = {}
        linecache.checkcache(self.path)
        exec(compile(self.text, self.path, "exec"), found)
        return found


@dataclass(frozen=True)
class Part:
    """One case of a file: its line, the rules, and the text of the function."""

    line: int
    cites: SourceText
    source: SourceText
    function: PlainFunction


def read_functions(text: str, path: Path) -> Iterator[Part]:
    """The cases of a file; raises JaxprSyntaxError (text.case) for one that expects
    nothing.
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.parse(text, str(path)).body:
        about = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        if not isinstance(node, ast.FunctionDef) or not (about or "").startswith(_HEAD):
            continue
        start, stop = starts[node.lineno - 1], starts[node.end_lineno or node.lineno]
        at = text.index(_HEAD, start) + len(_HEAD)
        cites = SourceText(text, at, text.index("\n\n", at))
        calls = tuple(_calls(about or ""))
        if not calls:
            raise cites.error("text.case", f"{node.name}: nothing is expected", start)
        decorates = DECORATORS in [a.arg for a in node.args.args]
        function = PlainFunction(node.name, str(path), text, calls, decorates)
        yield Part(node.lineno, cites, SourceText(text, start, stop), function)


def _calls(about: str) -> Iterator[PlainCall]:
    from doctest import DocTestParser  # it is long to import, and cases are read late

    for example in DocTestParser().get_examples(about):
        text, message = example.source.strip(), example.exc_msg
        if message is None:
            yield PlainCall(text, example.want.strip())
        else:
            raises, _, at = message.strip().partition(": ")
            yield PlainCall(text, "", raises, at)
