"""How a program of the corpus is written down: once, for any library with JAX's names.

Rules: text.roundtrip, accuracy.program
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from traceir.conform.values import Value, ValueReader
from traceir.text.lexer import Source

GROUPS = (
    "elements",
    "structure",
    "reductions",
    "models",
    "nested",
    "wide",
    "functions",
    "derivatives",
    "batches",
    "loops",
    "exponentials",
    "angles",
    "matrices",
    "ordering",
    "windows",
    "indexing",
    "arrays",
    "formats",
)


@dataclass(frozen=True)
class Program:
    """A function of a library and of arguments, which are as cases write them.

    A weak scalar is passed as a number of Python. `x64` turns 64-bit types on.
    """

    name: str
    group: str
    function: Callable[..., Any]
    arguments: str
    x64: bool
    says: str

    def __str__(self) -> str:
        return self.name

    @property
    def values(self) -> tuple[Value, ...]:
        """The arguments."""
        return ValueReader(Source(self.arguments)).arrays()

    def bound(self, library: Any) -> Callable[..., Any]:
        """The function in terms of one library."""
        return lambda *args: self.function(library, *args)

    def python(self, library: Any) -> list[Any]:
        """The arguments as a user of the library passes them."""
        array = library.numpy.asarray
        return [
            v.array.item() if v.aval.weak_type else array(v.array) for v in self.values
        ]

    def context(self, library: Any) -> AbstractContextManager[object]:
        """The setting under which the program is traced and run."""
        context: AbstractContextManager[object] = library.enable_x64(self.x64)
        return context


Decorator = Callable[[Callable[..., Any]], Program]


def program(arguments: str = "", x64: bool = False) -> Decorator:
    """Makes a program of a function; its docstring says what it is."""

    def decorate(function: Callable[..., Any]) -> Program:
        group = function.__module__.rpartition(".")[2]
        name = function.__name__.replace("_", "-")
        says = (function.__doc__ or "").strip()
        return Program(name, group, function, arguments, x64, says)

    return decorate


def corpus() -> Iterator[Program]:
    """All programs, in the order in which they are written."""
    for group in GROUPS:
        module = import_module(f"corpus.{group}")
        yield from (p for p in vars(module).values() if isinstance(p, Program))
