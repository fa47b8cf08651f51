"""The data of a report, and the report as plain text.

Serves: every table
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from traceir.conform.casefiles.cases import Case, attempt
from traceir.conform.casefiles.profiles import PROFILES, profile_of
from traceir.conform.judging.results import used
from traceir.conform.judging.run import Verdict
from traceir.conform.judging.runs import KINDS, ConformanceRun
from traceir.conform.reporting.status import matrix, tables_of
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import default

# Names of cases have hyphens, at which no line may end.
_NAMES = textwrap.TextWrapper(
    80,
    initial_indent="  ",
    subsequent_indent="  ",
    break_on_hyphens=False,
    break_long_words=False,
)

_SAYS = textwrap.TextWrapper(
    88, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
)

Row = tuple[str, Counter[str]]
# Kinds of verdicts that want to be explained.
WORST = ("fail", "crashed", "deviation")


@dataclass(frozen=True)
class Report:
    """A run and the cases that were asked for; `interrupted` when some were not run."""

    run: ConformanceRun
    cases: Sequence[Case]
    interrupted: bool = False

    @property
    def judged(self) -> list[tuple[Case, Verdict]]:
        """The cases that have a verdict."""
        verdicts = self.run.verdicts
        return [(c, verdicts[c.name]) for c in self.cases if c.name in verdicts]

    @property
    def others(self) -> list[tuple[Case, Verdict]]:
        """The cases that neither passed nor are unsupported, the worst kinds first."""
        found = [(c, v) for c, v in self.judged if v.kind in WORST]
        return sorted(found, key=lambda pair: WORST.index(pair[1].kind))

    @property
    def unsupported(self) -> Mapping[str, Sequence[Case]]:
        """The cases that are not supported, by the reason, the commonest first."""
        return self._by_reason("unsupported")

    @property
    def crashed(self) -> Mapping[str, Sequence[Case]]:
        """The cases that crashed, by what happened, the commonest first."""
        return self._by_reason("crashed")

    def _by_reason(self, kind: str) -> Mapping[str, Sequence[Case]]:
        found: dict[str, list[Case]] = {}
        for case, verdict in self.judged:
            if verdict.kind == kind:
                found.setdefault(verdict.why, []).append(case)
        return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))

    @property
    def profiles(self) -> list[Row]:
        """The verdicts by profile."""
        return _rows(PROFILES, ((profile_of(c), v) for c, v in self.judged))

    @property
    def rules(self) -> Mapping[str, Counter[str]]:
        """The verdicts by rule, of the rules that a case cites."""
        judged = [case for case, _ in self.judged]
        found = matrix({"this": self.run}, judged)
        return {rule: row["this"] for rule, row in found.items() if row["this"]}

    @property
    def tables(self) -> list[Row]:
        """The verdicts by table: of the cases that cite one of its rules."""
        table_of = {i: t for t, ids in tables_of(default()).items() for i in ids}
        pairs = (
            (table, verdict)
            for case, verdict in self.judged
            for table in dict.fromkeys(table_of.get(i, "other") for i in case.cites)
        )
        return _rows([*tables_of(default()), "other"], pairs)


def _rows(
    names: Sequence[str] | Mapping[str, str], pairs: Iterator[tuple[str, Verdict]]
) -> list[Row]:
    found = {name: Counter[str]() for name in names}
    for name, verdict in pairs:
        found[name][verdict.kind] += 1
    return [(name, counts) for name, counts in found.items() if counts]


def clean(text: str) -> str:
    r"""A text of theirs without the characters that steer a terminal.

    >>> clean("a\x1b[31m\r\nb")
    'a\\x1b[31m\\r\nb'
    """
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def source(case: Case) -> str:
    """The case as its file has it, without comments.

    >>> from traceir.conform import load_cases
    >>> source(load_cases()[0]).split()[0]
    'case'
    """
    parts = [part for parts in case.verbs.values() for part in parts]
    text = parts[0].text
    if case.plain:
        (part,) = case.verbs["plain"]
        return text[part.start : part.stop].rstrip()
    start = text.rfind(f"case {case.name}", 0, min(part.start for part in parts))
    lines = text[start : max(part.stop for part in parts)].split("\n")
    return "\n".join(line for line in lines if line.strip())


def bearing(case: Case) -> list[tuple[str, str]]:
    """The rules that bear on a case, with their sentences, and the sets of its results.

    >>> from traceir.conform import load_cases
    >>> cases = {case.name: case for case in load_cases()}
    >>> [name for name, _ in bearing(cases["sin/values"])]
    ['function.floating', 'accuracy.ulp']
    """
    clauses = default().clauses
    found = [*case.cites, *sorted(case.rejected)]
    sets = default().accuracy
    program = attempt(case) if "value" in case.verbs and not case.session else None
    if isinstance(program, ClosedJaxpr):
        names = dict.fromkeys(default().prims[p].accuracy for p in used(program))
        found += [sets[name].id for name in names if name in sets]
    return [(i, clauses[i].says) for i in dict.fromkeys(found) if i in clauses]


def to_text(report: Report) -> str:
    """The report as plain text."""
    return "\n".join(_lines(report)) + "\n"


def headline(report: Report) -> str:
    """A summary of the report, in one line."""
    run = report.run
    name = clean(" ".join(filter(None, (run.implementation, run.version))))
    counts = ", ".join(f"{run.counts[kind]} {kind}" for kind in KINDS)
    part = f"interrupted: {len(report.judged)} of {len(report.cases)} cases judged; "
    return f"{name}: {part if report.interrupted else ''}{counts}"


def _lines(report: Report) -> Iterator[str]:
    yield headline(report)
    if report.run.unattributed:
        yield f"{report.run.unattributed} passes are rejections that name no rule."
    for name, choice in sorted(report.run.choices.items()):
        yield f"declares {name} = {choice}"
    if not report.run.choices:
        yield "declares no choices"
    yield from _table("profile", report.profiles)
    yield from _table("table", report.tables)
    lacking = [(r, c) for r, c in report.rules.items() if c.keys() - {"pass"}]
    if lacking:
        yield from _table("rule with other than passes", lacking)
    crashed = report.crashed
    for case, verdict in report.others:
        alike = crashed[verdict.why] if verdict.kind == "crashed" else [case]
        if case is not alike[0]:  # told with the first
            continue
        first, *rest = clean(verdict.why).split("\n")
        yield ""
        yield f"{verdict.kind}: {case.name} ({case.file}:{case.line})"
        yield f"  {first}"
        yield from (f"  {line}" for line in islice(rest, 40))
        yield from (f"    {line}" for line in islice(source(case).split("\n"), 1, 40))
        for name, says in bearing(case):
            yield from _SAYS.wrap(f"{name}: {says}")
        if len(alike) > 1:
            yield f"  {len(alike) - 1} more crashed like that:"
            yield _NAMES.fill(" ".join(other.name for other in alike[1:]))
    for why, cases in report.unsupported.items():
        names = " ".join(case.name for case in cases)
        yield ""
        yield f"unsupported, {len(cases)}: {clean(why)}"
        yield _NAMES.fill(names)
    yield ""
    yield headline(report)


def _table(head: str, rows: Sequence[Row]) -> Iterator[str]:
    width = max(map(len, [head, *(name for name, _ in rows)]))
    yield ""
    yield f"{head.ljust(width)}  " + "  ".join(kind.rjust(6) for kind in KINDS)
    for name, counts in rows:
        cells = (str(counts[k] or "·").rjust(max(6, len(k))) for k in KINDS)
        yield f"{name.ljust(width)}  " + "  ".join(cells)
