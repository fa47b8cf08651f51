"""Traces within one another as an SVG drawing: boxes, and one operation's way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, STEP, HEAD, LINE = 720, 26, 30, 34
STYLE = """
  .nesting text { font: 13px sans-serif; fill: currentColor; }
  .nesting .name { font-weight: bold; }
  .nesting .code { font-family: monospace; }
  .nesting rect, .nesting path { fill: none; stroke: currentColor; }
  .nesting marker path { fill: currentColor; }
"""


@dataclass(frozen=True)
class Layer:
    """A trace: its level, who makes it, what it does, and what it does here."""

    level: str
    name: str
    does: str
    here: str

    @property
    def title(self) -> str:
        """The first line of its box."""
        return f"level {self.level}: {self.name}"


def diagram(layers: Sequence[Layer], inside: str) -> str:
    """The drawing; `layers` from the outside in, `inside` is what is run.

    >>> one = Layer("1", "jit", "records", "b:f32[] = sin a")
    >>> diagram([one], "sin x").count("<rect")
    2
    """
    count = len(layers)
    inner = 2 * LINE
    height = count * (HEAD + LINE + 8) + inner
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nesting" role="img" '
        f'viewBox="0 0 {WIDTH} {height + 8}">',
        "<title>Traces in one another, and an operation in them</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="out" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
    ]
    parts += _boxes(layers, height)
    top, low = count * HEAD + 4, height - count * (LINE + 8)
    left = 4 + count * STEP
    parts.append(_rect(left, top, WIDTH - 2 * left, low - top))
    parts.append(_text(left + 12, (top + low) / 2 + 5, inside, "code"))
    parts += _arrows(count, height)
    return "\n".join([*parts, "</svg>"])


def _boxes(layers: Sequence[Layer], height: int) -> Iterator[str]:
    """Each trace's box, its title above and what it does below."""
    for n, layer in enumerate(layers):
        left, top = 4 + n * STEP, 4 + n * HEAD
        low = height + 4 - n * (LINE + 8)
        yield _rect(left, top, WIDTH - 2 * left, low - top)
        yield _text(left + 12, top + 19, layer.title, "name")
        yield _text(left + 150, top + 19, layer.does)
        yield _text(left + 54, low - 14, layer.here, "code")


def _arrows(count: int, height: int) -> Iterator[str]:
    """From what is run to the innermost trace, and from each to the one around it."""
    for n in range(count):
        low = height - 12 - n * (LINE + 8)
        start = low - LINE - 2
        across = 4 + n * STEP + 38
        path = f"M{across},{start} L{across},{low - 2}"
        yield f'<path d="{path}" marker-end="url(#out)"/>'


def _rect(x: float, y: float, w: float, h: float) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="8"/>'


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    class_ = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{class_}>{escape(words)}</text>'
