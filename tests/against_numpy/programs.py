"""Draws programs over NumPy arrays: views of views, and writes through any of them.

A program is text. Each statement is tried by NumPy as soon as it is drawn, and left out
if it raises, so that a program is one that NumPy runs.
"""

from __future__ import annotations

import random
import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DTYPES = ("float64", "float64", "int64", "int32", "complex128", "float32", "int16")
MOST = 400  # elements of an array
# Arguments that lie in memory in another way than C's.
LAYOUTS = ("np.asfortranarray({})", "{}[..., ::-1]", "np.repeat({}, 2, -1)[..., ::2]")

# What programs read from outside; nothing is written to it.
OUTER = """TABLE = np.arange(6) * 2.5
GRID = np.arange(12).reshape(3, 4)
"""


def outer() -> dict[str, Any]:
    """The globals of a program."""
    names: dict[str, Any] = {"np": np}
    exec(OUTER, names)
    return names


@dataclass(frozen=True)
class Program:
    """The statements of a function, its arguments as text, and what it returns."""

    arguments: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]
    results: tuple[str, ...]
    raises: bool = False

    @property
    def text(self) -> str:
        """The function as a user would write it."""
        names = ", ".join(name for name, _ in self.arguments)
        body = "\n".join(self.statements) or "pass"
        found = ", ".join(self.results)
        lines = f"{body}\nreturn [{found}]"
        return f"def program({names}):\n{textwrap.indent(lines, '    ')}\n"

    def __str__(self) -> str:
        given = "".join(f"\n# {name} = {made}" for name, made in self.arguments)
        return f"import numpy as np\n{OUTER}{self.text}{given}"

    def without(self, k: int) -> Program:
        """The program less one statement."""
        left = self.statements[:k] + self.statements[k + 1 :]
        return Program(self.arguments, left, self.results, self.raises)


class Draw:
    """One program being drawn: the names that there are, and their values."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: dict[str, Any] = {}
        self.globals = outer()
        self.statements: list[str] = []
        self.count = 0

    # Choosing ---------------------------------------------------------------------

    def one(self, *options: Any) -> Any:
        """One of some things."""
        return self.random.choice(options)

    def number(self, low: int = 0, high: int = 4) -> int:
        """An integer between bounds, which are possible, too."""
        return self.random.randint(low, high)

    def array(self, test: Callable[[Any], bool] = lambda a: True) -> str:
        """The name of an array; the newest ones are the likeliest."""
        fitting = [n for n, v in self.names.items() if test(v)]
        if not fitting:
            raise LookupError
        few = fitting[-3:] if self.random.random() < 0.6 else fitting
        return self.random.choice(few)

    def new(self) -> str:
        """A name that nothing has."""
        self.count += 1
        return f"v{self.count}"

    def constant(self, dtype: Any = float) -> str:
        """A number that a dtype can hold."""
        kind = np.dtype(dtype).kind
        whole = str(self.number(0, 5))
        if kind == "b":
            return str(bool(self.number(0, 1)))
        if kind in "fc" and self.random.random() < 0.3:
            return str(self.number(-3, 5) / 2)
        return whole

    def part(self, extent: int) -> str:
        """A slice, or a place, of one dimension."""
        if self.random.random() < 0.3 and extent:
            known = str(self.number(-extent, extent - 1))
            return str(self.one(known, "p", "q", "p - 1"))
        start = self.one("", "", "1", "-2", str(self.number(0, 3)))
        stop = self.one("", "", "-1", "2", str(self.number(1, 4)))
        step = self.one("", "", "", ":2", ":-1", ":-2")
        if step.startswith(":-"):
            start, stop = self.one(("", ""), ("-1", ""), ("2", ""), ("", "0"))
        return f"{start}:{stop}{step}"

    def index(self, value: np.ndarray) -> str:
        """A basic index."""
        parts = [self.part(n) for n in value.shape[: self.number(1, value.ndim or 1)]]
        if not value.ndim:
            return "..."
        if self.random.random() < 0.15:
            parts.insert(self.number(0, len(parts)), "None")
        if self.random.random() < 0.2:
            parts = ["...", *parts] if len(parts) < value.ndim else [*parts, "..."]
        return ", ".join(parts)

    def fancy(self, value: np.ndarray) -> str:
        """An index with a list."""
        axis = self.number(0, value.ndim - 1)
        n = value.shape[axis]
        places = ", ".join(
            str(self.number(-n, n - 1)) for _ in range(self.number(1, 3))
        )
        return ", ".join([":"] * axis + [f"[{places}]"])

    def shape(self, value: np.ndarray) -> str:
        """A shape for the elements that there are."""
        size, parts = value.size, []
        for n in (2, 3, 2, 4):
            if size % n == 0 and size and self.random.random() < 0.5:
                parts.append(n)
                size //= n
        parts.append(self.one(size, -1) if value.size else 0)
        self.random.shuffle(parts)
        if self.random.random() < 0.15:
            parts.insert(self.number(0, len(parts)), 1)
        return f"({', '.join(map(str, parts))},)"

    # Trying -----------------------------------------------------------------------

    def keep(self, statement: str) -> bool:
        """Add a statement that NumPy runs; False if it does not."""
        before = dict(self.names)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("error", DeprecationWarning)
                exec(statement, self.globals, self.names)
        except Exception:
            self.names = before
            return False
        self.names = {n: v for n, v in self.names.items() if _is_kept(v)}
        self.statements.append(statement)
        return True


def _is_kept(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size <= MOST and value.ndim < 6


def arguments(draw: Draw) -> tuple[tuple[str, str], ...]:
    """The arguments, as text that makes them."""
    found = []
    for name in ("x", "y", "z")[: draw.number(1, 3)]:
        shape = tuple(
            draw.one(1, 2, 3, 3, 4, 4) for _ in range(draw.one(1, 1, 2, 2, 2, 3))
        )
        if draw.random.random() < 0.1:
            shape = (draw.one(0, 1, 6), *shape[1:])
        elif draw.random.random() < 0.3 and len(shape) == 2:
            shape = (shape[0], shape[0])
        dtype = draw.one(*DTYPES)
        size = int(np.prod(shape))
        text = f"(np.arange({size}) * 3 % 7).reshape({shape}).astype({dtype!r})"
        if draw.random.random() < 0.06:
            text = draw.one(*LAYOUTS).format(text)
        found.append((name, text))
    # Places that are traced.
    found += [("p", f"np.int64({draw.number(0, 2)})"), ("q", "np.int64(-1)")]
    return tuple(found)


def drawn(seed: int, length: int = 9) -> Program:
    """The program of a seed."""
    from against_numpy.statements import statement

    draw = Draw(seed)
    given = arguments(draw)
    for name, text in given:
        value = eval(text, draw.globals)
        (draw.names if value.ndim else draw.globals)[name] = value
    wanted = draw.number(2, length)
    for _ in range(6 * wanted):
        if len(draw.statements) >= wanted:
            break
        try:
            text = statement(draw)
        except (LookupError, ValueError):
            continue
        kept = draw.keep(text)
        if not kept and draw.random.random() < 0.004:
            return Program(given, (*draw.statements, text), (), raises=True)
    return Program(given, tuple(draw.statements), tuple(draw.names))


def made(program: Program) -> list[np.ndarray]:
    """The arguments of a program, new ones."""
    return [eval(text, {"np": np}) for _, text in program.arguments]


def minimal(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A program with as few statements as still fail."""
    k = len(program.statements) - 1
    while k >= 0:
        less = program.without(k)
        if fails(less):
            program = less
        k -= 1
    for name in program.results:
        few = _returning(program, [r for r in program.results if r != name])
        program = few if fails(few) else program
    return program


def _returning(program: Program, results: Sequence[str]) -> Program:
    return Program(
        program.arguments, program.statements, tuple(results), program.raises
    )
