"""The promotion lattice as a drawing, made from its edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape

Edges = Mapping[str, Iterable[str]]
# Integers of the two signs stand on two sides, all else between them; complex numbers
# beside the middle, as an edge of real ones may pass their row.
SIDE = {"signed": -1.0, "complex": 0.5, "unsigned": 1.0}
WIDTH, HEIGHT = 92, 30
# A name of more letters is made narrower, to be within its box.
LONG = 10
ACROSS, UP = 142, 64


@dataclass(frozen=True)
class Node:
    """A node's name, and the middle of its box."""

    name: str
    x: float
    y: float


def heights(edges: Edges) -> dict[str, int]:
    """The height of each node above the lowest: the longest way up to it.

    >>> heights({"a": ["b", "c"], "b": ["c"], "c": []})
    {'a': 0, 'b': 1, 'c': 2}
    """
    found = dict.fromkeys(edges, 0)
    for _ in edges:
        for below, targets in edges.items():
            for above in targets:
                found[above] = max(found[above], found[below] + 1)
    return found


def layout(edges: Edges, kinds: Mapping[str, str]) -> dict[str, Node]:
    """The place of each node, the least at the bottom."""
    rows = heights(edges)
    top = max(rows.values())
    groups: dict[tuple[int, float], list[str]] = defaultdict(list)
    for name, row in rows.items():
        groups[row, SIDE.get(kinds.get(name, ""), 0.0)].append(name)
    most = max(len(names) for (_, side), names in groups.items() if not side)
    found = {}
    for (row, side), names in groups.items():
        for n, name in enumerate(_midmost(names, edges)):
            across = side * (most + 1) / 2 + n - (len(names) - 1) / 2
            found[name] = Node(name, across * ACROSS, (top - row) * UP + HEIGHT / 2 + 4)
    left = WIDTH / 2 + 4 - min(node.x for node in found.values())
    return {name: replace(found[name], x=found[name].x + left) for name in edges}


def _midmost(names: list[str], edges: Edges) -> list[str]:
    """Names of a row: those with nothing above them stand on both sides of others."""
    ends = [name for name in names if not edges[name]]
    half = (len(ends) + 1) // 2
    return [*ends[:half], *(n for n in names if edges[n]), *ends[half:]]


def diagram(edges: Edges, kinds: Mapping[str, str], title: str) -> str:
    """The drawing as SVG, in the colours of the page."""
    places = layout(edges, kinds)
    width = max(node.x for node in places.values()) + WIDTH / 2 + 4
    height = max(node.y for node in places.values()) + HEIGHT / 2 + 4
    parts = [*_lines(edges, places), *map(_box, places.values())]
    return (
        f'<svg class="hasse" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'width="{width:g}" height="{height:g}" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _lines(edges: Edges, places: Mapping[str, Node]) -> Iterator[str]:
    for name, targets in edges.items():
        for target in targets:
            low, high = places[name], places[target]
            start, end = low.y - HEIGHT / 2, high.y + HEIGHT / 2
            yield (
                f'<line x1="{low.x:g}" y1="{start:g}" x2="{high.x:g}" y2="{end:g}"/>'
            )


def _box(node: Node) -> str:
    left, top = node.x - WIDTH / 2, node.y - HEIGHT / 2
    fit = ""
    if len(node.name) > LONG:
        fit = f' textLength="{WIDTH - 8}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text x="{node.x:g}" y="{node.y + 5:g}"{fit}>'
        f"{escape(node.name)}</text>"
    )
