"""A count of how often random applications meet each clause.

    python -m traceir.conform.drawing.reach [draws]

Serves: every clause of a primitive's row
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings

from traceir.conform.drawing.aims import aim, clauses
from traceir.conform.drawing.strategies import DrawnApplication, applications, violated
from traceir.rules import default

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Counts = Mapping[str, Counter[str]]


def tally(draws: int, rules: Collection[str] = ()) -> Counts:
    """The counts for each clause of draws that were `valid`, violated it `alone`, were
    `aimed`.

    Of all clauses, unless some are given.

    >>> tally(20, ["transpose.permutation"])["transpose.permutation"]["aimed"] > 0
    True
    """
    asked = {r: name for r, name in clauses().items() if not rules or r in rules}
    found: dict[str, Counter[str]] = {rule: Counter() for rule in asked}
    for rule, name in asked.items():
        for application in sample(applications(name, wide=True), draws):
            wrong = violated(application)
            kind = "valid" if not wrong else "alone" if wrong == {rule} else "other"
            found[rule][kind] += 1
        aimed = sample(aim(name, rule), max(1, draws // 20))
        found[rule]["aimed"] = sum(violated(a) == {rule} for a in aimed)
    return found


def sample(
    strategy: SearchStrategy[DrawnApplication], count: int
) -> list[DrawnApplication]:
    """Some draws, always the same ones."""
    drawn: list[DrawnApplication] = []

    @settings(
        max_examples=count,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(application: DrawnApplication) -> None:
        drawn.append(application)

    draw()
    return drawn


def report(counts: Counts) -> str:
    """A line for each clause, those that nothing reaches marked."""
    width = max(map(len, counts))
    lines = [f"{'clause':<{width}}  {'valid':>6} {'alone':>6} {'aimed':>6}"]
    for rule, count in counts.items():
        row = f"{rule:<{width}}  {count['valid']:>6} {count['alone']:>6}"
        never = "" if count["valid"] and count["aimed"] else "  never"
        lines.append(f"{row} {count['aimed']:>6}{never}")
    return "\n".join(lines)


def main(args: Sequence[str]) -> int:
    """Print the report; 1 where a clause is never true or never violated alone."""
    parser = argparse.ArgumentParser(
        prog="python -m traceir.conform.drawing.reach",
        description="How often random applications meet each clause.",
    )
    text = "of each primitive (%(default)d)"
    parser.add_argument("draws", nargs="?", type=int, default=100, help=text)
    counts = tally(parser.parse_args(args).draws)
    print(report(counts))
    missed = [r for r, c in counts.items() if not (c["valid"] and c["aimed"])]
    print(f"{len(counts)} clauses of {len(default().prims)} primitives")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
