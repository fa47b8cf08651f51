"""Python functions that are written and compiled when the program runs.

Tracebacks and error messages pass over their frames, to the line that called them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def define(
    name: str, lines: Iterable[str], scope: dict[str, Any], what: str
) -> Callable[..., Any]:
    """The function of that name which some lines of Python define.

    `scope` has what the lines name; `what` says in tracebacks what the function is. It
    does not refer to itself, so it is freed with its last user.

    >>> define("twice", ["def twice(x):", "    return times * x"], {"times": 2}, "")(3)
    6
    """
    exec(compile("\n".join(lines), f"<traceir {what}>", "exec"), scope)
    function: Callable[..., Any] = scope.pop(name)
    return function


class FunctionWriter:
    """The lines of a function while they are written, and the objects that they name.

    >>> writer = FunctionWriter({})
    >>> writer.add(f"return x + {writer.constant(5)}")
    >>> writer.define("shifted", "def shifted(x):", "sum")(3)
    8
    """

    def __init__(self, scope: dict[str, Any]) -> None:
        self.scope = scope
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        """Add a line to the body."""
        self.lines.append(line)

    def constant(self, value: Any, letter: str = "c") -> str:
        """A name for an object."""
        name = f"{letter}{len(self.scope)}"
        self.scope[name] = value
        return name

    def define(self, name: str, head: str, what: str) -> Callable[..., Any]:
        """The function with that head and the body that has been written."""
        body = [f"    {line}" for line in self.lines]
        return define(name, [head, *body], self.scope, what)
