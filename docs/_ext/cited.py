"""The cases that cite each rule, and their verdicts on each implementation that was
run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape

from docutils import nodes

from _ext.pieces import box, folded, line, link, raw, separated, text
from traceir.conform import Case, load_cases
from traceir.conform.judging.runs import KINDS, ConformanceRun, load_runs
from traceir.conform.reporting.status import Matrix, matrix

# The cases that a rule names one by one.
MOST = 60


@cache
def cases() -> tuple[Case, ...]:
    """The cases of the specification."""
    return tuple(load_cases())


@cache
def by_rule() -> Mapping[str, tuple[Case, ...]]:
    """The cases that cite each rule."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases():
        for rule in dict.fromkeys(case.cites):
            found[rule].append(case)
    return {rule: tuple(citing) for rule, citing in found.items()}


@cache
def runs() -> Mapping[str, ConformanceRun]:
    """The recorded runs, by column."""
    return load_runs()


@cache
def rows() -> Matrix:
    """The verdicts of the cases of each rule, by column."""
    return matrix(runs(), cases())


def mark(column: str, counts: Mapping[str, int], why: str = "") -> str:
    """One column's mark: how many of each verdict, or what the only one is."""
    parts = [
        f'<span class="verdict {kind.replace(" ", "-")}">'
        f"{f'{counts[kind]} ' if sum(counts.values()) > 1 else ''}{kind}</span>"
        for kind in (*KINDS, "not run")
        if counts.get(kind)
    ]
    title = f' title="{escape(why)}"' if why else ""
    return f'<span class="run"{title}><b>{escape(column)}</b> {" ".join(parts)}</span>'


def marks(counts: Mapping[str, Mapping[str, int]]) -> nodes.raw:
    """A row of the matrix: each column's mark."""
    shown = (mark(column, kinds) for column, kinds in counts.items() if kinds)
    return raw(f'<div class="runs">{"".join(shown)}</div>')


def verdicts(case: Case) -> nodes.raw:
    """The verdicts of a case."""
    shown = []
    for column, run in runs().items():
        verdict = run.verdicts.get(case.name)
        kind = verdict.kind if verdict else "not run"
        why = verdict.why if verdict else ""
        shown.append(mark(column, Counter([kind]), why))
    return raw(f'<div class="runs">{"".join(shown)}</div>')


def citations(rule: str) -> list[nodes.Node]:
    """The cases that cite a rule, folded, and its row of the matrix."""
    return _listed(by_rule().get(rule, ()), rows().get(rule, {}))


def named(primitive: str) -> list[nodes.Node]:
    """The cases that are named after a primitive, folded, and how they went."""
    found = tuple(c for c in cases() if c.name.startswith(f"{primitive}/"))
    verdicts = {column: run.verdicts for column, run in runs().items()}
    counts = {
        column: Counter(v[c.name].kind if c.name in v else "not run" for c in found)
        for column, v in verdicts.items()
    }
    return _listed(found, counts)


def _listed(
    found: Sequence[Case], counts: Mapping[str, Mapping[str, int]]
) -> list[nodes.Node]:
    if not found:
        return []
    summary = f"{len(found)} case{'s' if len(found) > 1 else ''}"
    links = separated(link("case", case.name) for case in found[:MOST])
    if rest := found[MOST:]:
        files = ", ".join(sorted({case.file for case in rest}))
        links.append(text(f" and {len(rest)} more, in {files}"))
    return [box("shown", *folded(summary, line("cases", *links)), marks(counts))]
