"""The notation of the corpus: each program once, for any library with JAX's names.

Rules: text.roundtrip, accuracy.program
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from traceir.conform.casefiles.values import TypedValue, ValueReader
from traceir.dtypes import is_key
from traceir.text.lexer import SourceText

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
    "keys",
    "draws",
    "complexes",
    "layers",
    "specials",
)


@dataclass(frozen=True)
class Program:
    """A function of a library and of arguments, which are as cases write them.

    A weak scalar is passed as a number of Python. `x64` turns 64-bit types on, and
    `partitionable` is the layout of random bits.
    """

    name: str
    group: str
    function: Callable[..., Any]
    arguments: str
    x64: bool
    partitionable: bool
    says: str

    def __str__(self) -> str:
        return self.name

    @property
    def values(self) -> tuple[TypedValue, ...]:
        """The arguments."""
        return ValueReader(SourceText(self.arguments)).arrays()

    def bound(self, library: Any) -> Callable[..., Any]:
        """The function in terms of one library."""
        return lambda *args: self.function(library, *args)

    def python(self, library: Any) -> list[Any]:
        """The arguments as a user of the library passes them."""
        return [
            v.array.item() if v.aval.weak_type else _array(library, v.array)
            for v in self.values
        ]

    @contextmanager
    def context(self, library: Any) -> Iterator[None]:
        """The setting under which the program is traced and run."""
        layout = library.threefry_partitionable(self.partitionable)
        with library.enable_x64(self.x64), layout:
            yield


def _array(library: Any, array: np.ndarray) -> Any:
    if not is_key(array.dtype):
        return library.numpy.asarray(array)
    words = array.reshape(-1).view("uint32").reshape(*array.shape, 2)
    return library.random.wrap_key_data(library.numpy.asarray(words))


Decorator = Callable[[Callable[..., Any]], Program]


def program(
    arguments: str = "", x64: bool = False, partitionable: bool = True
) -> Decorator:
    """Makes a program of a function; its docstring says what it is."""

    def decorate(function: Callable[..., Any]) -> Program:
        group = function.__module__.rpartition(".")[2]
        name = function.__name__.replace("_", "-")
        says = (function.__doc__ or "").strip()
        return Program(name, group, function, arguments, x64, partitionable, says)

    return decorate


def corpus() -> Iterator[Program]:
    """All programs, in the order in which they are written."""
    for group in GROUPS:
        module = import_module(f"corpus.{group}")
        yield from (p for p in vars(module).values() if isinstance(p, Program))
