"""Loops over vectors: what is known of one while its text is written."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import field

from traceir.base.fast_dataclass import dataclass

# What names end with in the part of a loop without a mask that runs most.
MOST = ".m"


@dataclass(slots=True)
class VectorLoop:
    """A loop over vectors: its counter, and the mask of its lanes if it has one.

    What is left of the loop, under a mask, has the names of the loop of numbers; other
    parts have names that end with a `suffix`.
    """

    counter: str
    mask: str | None
    suffix: str = ""
    # Arrays of the kernel, which are longer than any vector: a mask keeps their other
    # elements, and all may be read.
    own: Container[str] = ()
    # What is computed before it, and what of that is numbers and no vectors.
    before: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    # By how much indices grow from lane to lane; the elements that pointers are of.
    steps: dict[str, int] = field(default_factory=dict)
    places: dict[str, tuple[str, str, str, int]] = field(default_factory=dict)
    # The registers that differ from round to round.
    inside: set[str] = field(default_factory=set)
    # Calls in whose place the functions' instructions stand.
    calls: int = 0
    # Where elements are read and written: pointers and indices.
    read: set[tuple[str, str]] = field(default_factory=set)
    written: set[tuple[str, str]] = field(default_factory=set)

    def renamed(self, text: str) -> str:
        """A text with the names that numbers have in this part of the loop."""
        if not self.suffix:
            return text
        return re.sub(r"%r\d+\b", self._renamed, text)

    def _renamed(self, found: re.Match[str]) -> str:
        name = found[0]
        return name + self.suffix if name in self.inside else name
