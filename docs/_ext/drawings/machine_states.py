"""The machine of the cache as an SVG drawing. Serves: cache.state.*, cache.event.*"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import cos, hypot, pi, sin

from traceir.base.fast_dataclass import dataclass
from traceir.rules.machine import Machine, Transition
from traceir.rules.rules import Rules

WIDTH, HEIGHT = 760, 560
LINE = 15  # of text, in pixels
STYLE = """
  .machine text { font: 12px sans-serif; fill: currentColor; }
  .machine .name { font-weight: bold; font-size: 14px; }
  .machine rect, .machine path { fill: none; stroke: currentColor; }
  .machine .halo { stroke: var(--color-background-primary, white); stroke-width: 4px;
    stroke-linejoin: round; paint-order: stroke; }
  .machine marker path { fill: currentColor; }
  .machine rect.lit, .machine path.lit { stroke: var(--color-brand-primary, blue);
    stroke-width: 3px; }
  .machine text.lit { fill: var(--color-brand-primary, blue); font-weight: bold; }
"""


@dataclass(frozen=True)
class _Box:
    """A state on the page: its middle, its half sizes, the rows that leave it alone."""

    x: float
    y: float
    w: float
    h: float
    rows: Sequence[Transition]

    def edge(self, x: float, y: float) -> tuple[float, float]:
        """The point where the line from the middle towards a point leaves the box."""
        dx, dy = x - self.x, y - self.y
        scale = min(
            self.w / abs(dx) if dx else 1e9, self.h / abs(dy) if dy else 1e9, 1.0
        )
        return self.x + dx * scale, self.y + dy * scale


def machine_svg(rules: Rules) -> str:
    """The machine as a drawing: a box for each state, an arrow for what changes it.

    Events that leave a state as it is stand in its box. Text and lines have the colour
    of the page's text.

    >>> from traceir.rules import default
    >>> machine_svg(default()).count("<rect")
    5
    """
    machine = rules.machine
    boxes = _boxes(machine)
    low = max(box.y + box.h for box in boxes.values())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="machine" '
        f'viewBox="0 0 {WIDTH} {low + 4:.0f}" role="img">',
        "<title>The states of a trace in the jit cache</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" '
        'markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
    ]
    arrows = list(_arrows(machine, boxes))
    parts += [path for path, _ in arrows]
    parts += [box for name in boxes for box in _drawn(name, boxes[name])]
    parts += [label for _, label in arrows]
    return "\n".join([*parts, "</svg>"])


def label_of(row: Transition) -> str:
    """A transition in a line: event, condition, outcome.

    >>> from traceir.rules import default
    >>> label_of(default().machine.transitions["cache.event.recursion"])
    'call [mine]: raises'
    """
    when = f" [{row.when}]" if row.when else ""
    return f"{row.event}{when}{': ' * bool(row.outcome)}{row.outcome}"


def _boxes(machine: Machine) -> Mapping[str, _Box]:
    """The states in a circle, the first at the top, with what leaves them alone."""
    found = {}
    for n, state in enumerate(machine.states):
        turn = 2 * pi * n / len(machine.states)
        stays = [
            row
            for row in machine.transitions.values()
            if state in row.sources and state in machine.targets(row, state)
        ]
        wide = max(map(len, [*map(label_of, stays), state]))
        w, h = max(40, 3.3 * wide + 10), LINE * (len(stays) + 1) / 2 + 8
        x = WIDTH / 2 + 0.38 * WIDTH * sin(turn)
        y = HEIGHT / 2 - 0.40 * HEIGHT * cos(turn)
        found[state] = _Box(min(max(x, w + 2), WIDTH - w - 2), y, w, h, stays)
    return found


def _drawn(name: str, box: _Box) -> Iterator[str]:
    left, top = box.x - box.w, box.y - box.h
    yield (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{2 * box.w:.0f}" '
        f'height="{2 * box.h:.0f}" rx="8" data-state="{name}"/>'
    )
    yield _text(box.x, top + LINE + 3, name, "name")
    for n, row in enumerate(box.rows, 2):
        yield _text(box.x, top + n * LINE + 3, label_of(row), row=row.id)


def _arrows(machine: Machine, boxes: Mapping[str, _Box]) -> Iterator[tuple[str, str]]:
    """The path and the label of each arrow; one arrow for all rows of two states."""
    found: dict[tuple[str, str], list[Transition]] = defaultdict(list)
    for row in machine.transitions.values():
        for source in row.sources:
            for target in machine.targets(row, source):
                if target != source:
                    found[source, target].append(row)
    for (source, target), rows in found.items():
        a, b = boxes[source], boxes[target]
        # Bent to its right, so that two arrows between two states lie apart.
        dx, dy = b.x - a.x, b.y - a.y
        bend = 28 / hypot(dx, dy)
        mx, my = (a.x + b.x) / 2 - dy * bend, (a.y + b.y) / 2 + dx * bend
        (x0, y0), (x1, y1) = a.edge(mx, my), b.edge(mx, my)
        path = f'<path d="M{x0:.0f},{y0:.0f} Q{mx:.0f},{my:.0f} {x1:.0f},{y1:.0f}"'
        x, y = x0 * 0.36 + mx * 0.48 + x1 * 0.16, y0 * 0.36 + my * 0.48 + y1 * 0.16
        texts = [
            _text(x, y + n * LINE, label_of(row), "halo", row.id)
            for n, row in enumerate(rows)
        ]
        ids = " ".join(row.id for row in rows)
        yield f'{path} data-row="{ids}" marker-end="url(#arrow)"/>', "\n".join(texts)


def _text(x: float, y: float, text: str, kind: str = "", row: str = "") -> str:
    class_ = f' class="{kind}"' if kind else ""
    about = f' data-row="{row}"' if row else ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle"{class_}{about}>'
        f"{escape(text)}</text>"
    )
