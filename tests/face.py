"""Programs over `traceir.numpy` with what JAX 0.10.2 makes of them, recorded.

`records/face.txt.xz` has a block for each program: the program and its arguments, the
text of its jaxpr, the types of its results, and their values.
`records/neighbours.txt.xz` has the same of the modules beside it.
`python tests/face.py [record]` records them anew where JAX is installed.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from recorded import Record

DATA = Record("face.txt.xz")
NEIGHBOURS = Record("neighbours.txt.xz")
Tree = Any


@dataclass(frozen=True)
class Program:
    """A program, as source, and what was recorded of it."""

    function: str
    arguments: str
    text: str
    types: str
    values: str

    def __str__(self) -> str:
        return f"{self.function} :: {self.arguments}"


def recorded(data: Record = DATA) -> Iterator[Program]:
    """The programs of a file."""
    for block in data.read_text().split("\n\n"):
        first, *text, types, values = block.strip("\n").split("\n")
        function, _, arguments = first.partition(" :: ")
        yield Program(function, arguments, "\n".join(text), types, values)


def environment(library: Any) -> dict[str, Any]:
    """The names that programs may use: the modules of a library, and arrays of many
    kinds.
    """
    jnp = importlib.import_module(f"{library.__name__}.numpy")
    beside = ("nn", "image", "scipy.special", "scipy.stats", "scipy.signal", "ops")
    modules = [importlib.import_module(f"{library.__name__}.{name}") for name in beside]
    rows = np.array([[0.5, -1.5, 2.0, 0.0], [3.0, 1.25, -0.75, 1.0], [-2, 4, 0.1, 1.5]])
    return {
        **{name.split(".")[-1]: m for name, m in zip(beside, modules, strict=True)},
        "ravel": importlib.import_module(f"{library.__name__}.flatten_util"),
        "jax": library,
        "jnp": jnp,
        "lax": library.lax,
        "np": np,
        "x": jnp.asarray(rows),
        "v": jnp.array([1.5, -2.0, 0.0, 3.0]),
        "i": jnp.array([3, -2, 0, 5]),
        "I": jnp.arange(12).reshape(3, 4) - 5,
        "b": jnp.array([True, False, True, True]),
        "u": jnp.array([3, 2, 0, 255], dtype="uint8"),
        "h": jnp.array([1.5, 2.5], dtype="float16"),
        "m": jnp.arange(16.0).reshape(4, 4) / 8 - 1,
        "q": jnp.arange(24.0).reshape(2, 3, 4) / 8 - 1,
        "s": jnp.float32(2),
        "c": np.array([0.5, -1, 2, 3], "float32"),
        "d": np.array([1.0, -2, 0, 4]),
        "e": np.arange(4),
        "f": jnp.arange(4.0),
    }


def run(program: Program, library: Any) -> Tree:
    """The results of a program, run eagerly; numbers become weak arrays."""
    function, arguments = bound(program, library)
    asarray = importlib.import_module(f"{library.__name__}.numpy").asarray
    return function(
        *[asarray(a) if isinstance(a, float | int) else a for a in arguments]
    )


def bound(program: Program, library: Any) -> tuple[Any, tuple[Any, ...]]:
    """A program's function and arguments, made with a library."""
    names = environment(library)
    function = eval(program.function, names)
    return function, eval(f"({program.arguments},)", names)


def flat(results: Tree) -> list[Any]:
    """The results of a program, one by one."""
    if isinstance(results, (list, tuple)):
        return [leaf for part in results for leaf in flat(part)]
    return [results]


def show_types(avals: list[Any]) -> str:
    """Types of results, weak ones with `~`."""
    return ", ".join(
        f"{'~' if a.weak_type else ''}{a.dtype.name}[{','.join(map(str, a.shape))}]"
        for a in avals
    )


def record(program: Program, library: Any) -> Program:
    """A program with what a library makes of it."""
    function, arguments = bound(program, library)
    closed = library.make_jaxpr(function)(*arguments)
    values = [np.asarray(r).tolist() for r in flat(run(program, library))]
    return Program(
        program.function,
        program.arguments,
        str(closed),
        show_types(closed.out_avals),
        repr(values),
    )


def main(lines: list[str], data: Record = DATA) -> None:
    """Record the programs of a file, and more: `function :: arguments` lines."""
    library = importlib.import_module("jax")
    programs = list(recorded(data))
    for line in lines:
        function, _, arguments = line.strip().partition(" :: ")
        programs.append(Program(function, arguments, "", "", ""))
    blocks = []
    for program in dict.fromkeys(programs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            new = record(program, library)
        blocks.append("\n".join((str(new), new.text, new.types, new.values)))
    data.write_text("\n\n".join(blocks) + "\n")


if __name__ == "__main__":
    added = [] if sys.stdin.isatty() else [line for line in sys.stdin if line.strip()]
    main(added, *(Record(name) for name in sys.argv[1:]))
