"""The report as one HTML file without other files. Serves: every table"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from traceir.conform.casefiles.cases import Case
from traceir.conform.judging.run import Verdict
from traceir.conform.judging.runs import KINDS
from traceir.conform.reporting.report import WORST, Report, Row, bearing, clean, source

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem;
  padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .85rem; }
pre { background: var(--soft); border-radius: .4rem; overflow-x: auto;
  padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem;
  text-align: right; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { vertical-align: bottom; }
@media (max-width: 40rem) {
  th, td { padding: .2rem .35rem; }
  th:not(:first-child) { writing-mode: vertical-rl; }
}
summary { cursor: pointer; padding: .3rem 0; overflow-wrap: anywhere; }
.counts { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; padding: 0; }
.kind, .counts li { border-radius: .3rem; padding: .1rem .5rem; color: #fff;
  font-size: .85rem; }
.pass { background: #1a7f37; } .fail { background: #c1121f; }
.crashed { background: #7b2cbf; } .deviation { background: #8a5a00; }
.unsupported { background: #57606a; } .zero, .why { color: GrayText; }
.why { display: block; font-size: .85rem; padding-left: 1.1rem; }
"""
# So much of a reason is shown before it is opened.
_FIRST = 120


def to_html(report: Report) -> str:
    """The report as a page; whatever an implementation said stays text.

    >>> from traceir.conform.judging.runs import ConformanceRun
    >>> "<b>" in to_html(Report(ConformanceRun("<b>"), []))
    False
    """
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    run = report.run
    name = _text(" ".join(filter(None, (run.implementation, run.version))))
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Conformance: {name}</title>"
    yield f"<style>{_STYLE}</style></head><body>"
    yield f"<h1>Conformance: {name}</h1>"
    if report.interrupted:
        done = f"{len(report.judged)} of {len(report.cases)}"
        yield f"<p><strong>Interrupted: {done} cases were judged.</strong></p>"
    yield '<ul class="counts">'
    yield from (f'<li class="{k}">{run.counts[k]} {k}</li>' for k in KINDS)
    yield "</ul>"
    if run.unattributed:
        yield f"<p>{run.unattributed} passes are rejections that name no rule.</p>"
    yield from _choices(report)
    yield from _table("By profile", "profile", report.profiles)
    yield from _not_passed(report)
    yield from _unsupported(report)
    yield from _table("By table", "table", report.tables)
    rules = list(report.rules.items())
    yield from _table("By rule", "rule", rules, open_=False)
    yield from _all(report)
    yield "</body></html>"


def _choices(report: Report) -> Iterator[str]:
    yield "<h2>Declared choices</h2>"
    if not report.run.choices:
        yield "<p>None.</p>"
        return
    rows = sorted(report.run.choices.items())
    cells = "".join(f"<tr><td>{_code(n)}<td>{_code(c)}" for n, c in rows)
    yield f'<div class="wide"><table>{cells}</table></div>'


def _not_passed(report: Report) -> Iterator[str]:
    yield "<h2>What did not pass</h2>"
    if not report.others:
        yield "<p>Nothing.</p>"
    for case, verdict in report.others:
        yield from _case(case, verdict)


def _unsupported(report: Report) -> Iterator[str]:
    if report.unsupported:
        yield "<h2>What is unsupported</h2>"
    for why, cases in report.unsupported.items():
        first = _text(why.partition("\n")[0][:_FIRST])
        yield f"<details><summary>{len(cases)}: {first}</summary>"
        for case in cases:
            yield from _case(case, report.run.verdicts[case.name])
        yield "</details>"


def _all(report: Report) -> Iterator[str]:
    passed = [(c, v) for c, v in report.judged if v.kind == "pass"]
    yield f"<h2>What passed</h2><details><summary>{len(passed)} cases</summary>"
    for case, verdict in passed:
        yield from _case(case, verdict)
    yield "</details>"


def _case(case: Case, verdict: Verdict) -> Iterator[str]:
    mark = f'<span class="kind {verdict.kind}">{verdict.kind}</span>'
    yield f'<details id="{_text(case.name)}">'
    first = verdict.why.partition("\n")[0]
    why = f'<span class="why">{_text(first[:_FIRST])}</span>' if first else ""
    yield f"<summary>{mark} {_code(case.name)}{why}</summary>"
    if verdict.why != first[:_FIRST]:
        yield f"<pre>{_text(verdict.why)}</pre>"
    yield f"<p>{_text(case.file)}, line {case.line}</p>"
    yield f"<pre>{_text(source(case))}</pre>"
    if verdict.kind in WORST:
        rows = "".join(
            f"<dt>{_code(n)}</dt><dd>{_text(t)}</dd>" for n, t in bearing(case)
        )
        yield f"<dl>{rows}</dl>"
    yield "</details>"


def _table(
    title: str, head: str, rows: Sequence[Row], open_: bool = True
) -> Iterator[str]:
    if not open_:
        yield f"<h2>{title}</h2><details><summary>{len(rows)} rows</summary>"
    else:
        yield f"<h2>{title}</h2>"
    heads = "".join(f"<th>{kind}" for kind in KINDS)
    yield f'<div class="wide"><table><thead><tr><th>{head}{heads}<tbody>'
    for name, counts in rows:
        cells = "".join(_count(counts[kind]) for kind in KINDS)
        yield f"<tr><td>{_code(name)}{cells}"
    yield "</table></div>" + "</details>" * (not open_)


def _count(n: int) -> str:
    return f"<td>{n}" if n else '<td class="zero">0'


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _text(text: str) -> str:
    return escape(clean(text))
