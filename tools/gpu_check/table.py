"""The table that `make gpu-check` prints: its lines, and what failed in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

HEAD = ("", "result", "time", "rate", "of copy", "to JAX", "to CuPy")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; `bad` where something failed."""

    cells: tuple[str, ...]
    bad: bool = False

    def __str__(self) -> str:
        name, result, *rest = (*self.cells, *[""] * (len(HEAD) - len(self.cells)))
        if not any((result, *rest)):
            return name
        return f"{name:26}{result:>30}" + "".join(f"{c:>18}" for c in rest)


def counted(found: Counter[str]) -> str:
    """Counts in words, such as "12 pass, 1 late"."""
    return ", ".join(f"{n} {kind}" for kind, n in found.items() if n) or "none"


def problems(found: Iterable[tuple[str, str]]) -> Iterator[Row]:
    """A line for each of the first things that failed, then one for the rest."""
    listed = list(found)
    for name, why in listed[:20]:
        yield Row((f"  {name}: {' '.join(why.split())[:200]}",), True)
    if len(listed) > 20:
        yield Row((f"  and {len(listed) - 20} more",), True)
