"""Text on lines of a width: what fits one line, or each part on its own.

Serves: text.layout
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Break:
    """A place for a new line, `flat` where the line goes on."""

    flat: str


@dataclass(frozen=True, slots=True)
class Box:
    """Parts whose new lines are indented by so much more.

    Those of a group are new lines unless the whole of it ends within the width; where
    it is none they are as those around it.
    """

    parts: tuple[Piece, ...]
    indent: int = 0
    grouped: bool = True


Piece = str | Break | Box


def spaced(parts: Sequence[Piece], between: Piece) -> list[Piece]:
    """The parts with something between each two.

    >>> spaced(["a", "b"], Break(" "))
    ['a', Break(flat=' '), 'b']
    """
    return [*chain.from_iterable((between, part) for part in parts)][1:]


def fill(parts: Sequence[str], indent: int, comma: str = "") -> Piece:
    """Parts with as many on a line as it has room for.

    >>> laid_out(fill(["abc", "def"], 2), 3)
    'abc\\n  def'
    """
    between = Box((comma, Box((Break(" "),))), grouped=False)
    return Box(tuple(spaced(parts, between)), indent, grouped=False)


def laid_out(piece: Piece, width: int) -> str:
    """The text of a piece, which stands in no group.

    >>> piece = Box(("f(", Box((Break(""), "x")), ")"), grouped=False)
    >>> print(laid_out(piece, 3))
    f(x)
    >>> print(laid_out(piece, 2))
    f(
    x)
    """
    lines = [""]

    def put(piece: Piece, indent: int, flat: bool) -> None:
        match piece:
            case str():
                lines[-1] += piece
            case Break(text) if flat:
                lines[-1] += text
            case Break():
                lines.append(" " * indent)
            case Box(parts, more, grouped):
                room = width - len(lines[-1])
                flat = flat or (grouped and _room_after(piece, room) >= 0)
                for part in parts:
                    put(part, indent + more, flat)

    put(piece, 0, False)
    return "\n".join(lines)


def _room_after(piece: Piece, room: int) -> int:
    """The room left on a line after a piece; negative if there is too little."""
    match piece:
        case str():
            return room - len(piece)
        case Break(flat):
            return room - len(flat)
        case Box(parts):
            for part in parts:
                room = _room_after(part, room)
                if room < 0:
                    break
    return room
