"""The contracts of imports as a drawing: a row of packages for each layer."""

from __future__ import annotations

import configparser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[3]
# Of a box, of the space between rows, between layers, and around a library.
WIDTH, HEIGHT, GAP, SPACE, MARGIN = 116, 24, 6, 13, 10
# Boxes beside one another, and the room of a library's name.
ACROSS, HEAD = 4, 30
STYLE = """
  .layers text { font: 12px sans-serif; fill: currentColor; text-anchor: middle; }
  .layers .head { font-weight: bold; font-size: 14px; }
  .layers rect { fill: none; stroke: currentColor; stroke-opacity: .45; }
  .layers .whole { stroke-dasharray: 3 4; }
  .layers .layer { stroke: none; fill: currentColor; fill-opacity: .06; }
  .layers .met { stroke: var(--color-brand-primary, #0a4bff); stroke-opacity: 1;
    stroke-width: 1.6px; }
  .layers circle { fill: var(--color-brand-primary, #0a4bff); }
  .layers .step { font-size: 10px; font-weight: bold;
    fill: var(--color-background-primary, white); }
  .layers path { fill: none; stroke: currentColor; stroke-width: 1.4px; }
  .layers marker path { fill: currentColor; stroke: none; }
"""


@dataclass(frozen=True)
class Library:
    """A package, its layers from the highest down, and its place on the drawing."""

    name: str
    layers: Sequence[Sequence[str]]
    left: float
    across: int

    @property
    def width(self) -> float:
        """As wide as the boxes of a row."""
        return self.across * (WIDTH + GAP) - GAP + 4 * MARGIN

    def rows(self) -> Iterator[tuple[float, float, list[Sequence[str]]]]:
        """Each layer's top, its height, and its boxes in rows."""
        top: float = HEAD + MARGIN
        for layer in self.layers:
            starts = range(0, len(layer), self.across)
            rows = [layer[k : k + self.across] for k in starts]
            height = len(rows) * (HEIGHT + GAP) - GAP + 2 * GAP
            yield top, height, rows
            top += height + SPACE

    @property
    def height(self) -> float:
        """Down to the end of the lowest layer."""
        top, height, _ = list(self.rows())[-1]
        return top + height + MARGIN


def layers_of(package: str) -> list[list[str]]:
    """The layers of a package by its contract, the highest first.

    >>> layers_of("traceir_numba")[1]
    ['aot']
    """
    settings = configparser.ConfigParser()
    settings.read(ROOT / ".importlinter")
    (found,) = (
        settings[name]["layers"]
        for name in settings.sections()
        if settings[name].get("containers") == package
    )
    lines = found.strip().splitlines()
    return [[name.strip() for name in line.split("|")] for line in lines]


@dataclass(frozen=True)
class Notes:
    """Notes at boxes, by their dotted names.

    `steps` has the numbers of a path's steps, `places` an address and a sentence.
    """

    steps: Mapping[str, Sequence[int]] = field(default_factory=dict)
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def diagram(packages: Sequence[str], notes: Notes) -> str:
    """The layers of packages, each of which imports the one to its left, as SVG.

    Raises ValueError for a step at what is in no layer.
    """
    libraries = list(_placed(packages))
    names = {f"{lib.name}.{n}" for lib in libraries for row in lib.layers for n in row}
    if unknown := sorted(notes.steps.keys() - names):
        raise ValueError(f"no layer has {', '.join(unknown)}")
    width = libraries[-1].left + libraries[-1].width
    height = max(library.height for library in libraries)
    title = f"The layers of {' and '.join(packages)}"
    parts = [part for library in libraries for part in _library(library, notes)]
    parts += [
        _line(importer.left, HEAD / 2, imported.left + imported.width, HEAD / 2)
        for imported, importer in pairwise(libraries)
    ]
    return (
        f'<svg class="layers" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="-1 -1 {width + 2:g} {height + 2:g}" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>{_MARKER}"
        f"{''.join(parts)}</svg>"
    )


_MARKER = (
    '<defs><marker id="layers-head" viewBox="0 0 8 8" refX="7" refY="4" '
    'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/>'
    "</marker></defs>"
)


def _placed(packages: Sequence[str]) -> Iterator[Library]:
    left: float = 0
    for name in packages:
        layers = layers_of(name)
        across = min(ACROSS, max(map(len, layers)))
        library = Library(name, layers, left, across)
        yield library
        left += library.width + 5 * MARGIN


def _library(library: Library, notes: Notes) -> Iterator[str]:
    left, middle = library.left, library.left + library.width / 2
    yield _rect("whole", left, 0, library.width, library.height)
    yield f'<text class="head" x="{middle:g}" y="{HEAD - 8}">{library.name}</text>'
    below = None
    for top, height, rows in library.rows():
        if below is not None:
            yield _line(middle, below, middle, top)
        below = top + height
        yield _rect("layer", left + MARGIN, top, library.width - 2 * MARGIN, height)
        for n, row in enumerate(rows):
            y = top + GAP + n * (HEIGHT + GAP)
            start = middle - (len(row) * (WIDTH + GAP) - GAP) / 2
            for k, name in enumerate(row):
                full = f"{library.name}.{name}"
                x = start + k * (WIDTH + GAP)
                box = _box(x, y, name, notes.steps.get(full, ()))
                address, about = notes.places.get(full, ("", ""))
                yield (
                    f'<a href="{address}"><title>{escape(about)}</title>{box}</a>'
                    if address
                    else box
                )


def _box(x: float, y: float, name: str, steps: Sequence[int]) -> str:
    kind = "met" if steps else "plain"
    shown = f'<text x="{x + WIDTH / 2:g}" y="{y + 16:g}">{escape(name)}</text>'
    marks = [
        f'<circle cx="{x + 12 + 15 * n:g}" cy="{y:g}" r="8"/>'
        f'<text class="step" x="{x + 12 + 15 * n:g}" y="{y + 3.5:g}">{step}</text>'
        for n, step in enumerate(steps)
    ]
    return _rect(kind, x, y, WIDTH, HEIGHT) + shown + "".join(marks)


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" '
        f'height="{height:g}" rx="5"/>'
    )


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    end = f"L{to_x:g} {to_y:g}"
    return f'<path d="M{x:g} {y:g}{end}" marker-end="url(#layers-head)"/>'
