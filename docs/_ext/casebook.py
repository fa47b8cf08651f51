"""Cases on pages: each with its source, the rules it cites and how it went."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby, islice
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from _ext.cited import cases, runs, verdicts
from _ext.pieces import box, code, line, link, permalink, separated, text
from traceir.conform import Case
from traceir.conform.reporting.status import page
from traceir.rules import spec_path

PAGE = """\
:orphan:

{title}
{rule}

.. crumbs:: cases All cases

{others}

.. cases:: {file} {first} {last}
"""
# What a page of cases may weigh: bytes of HTML, as `weight` guesses them.
MOST = 200_000
CITES = re.compile(r"^ +cites\b.*\n(?: {4,}\S.*\n)*", re.MULTILINE)


def source(case: Case) -> str:
    """The text of a case, as its file has it, comments included."""
    lines = _lines(case.file)
    start, body = lines[case.line - 1], []
    for row in islice(lines, case.line, None):
        if row.strip() and not row.startswith(" "):
            break
        body.append(row)
    return "\n".join([start, *body]).rstrip() + "\n"


@cache
def _lines(file: str) -> list[str]:
    """The lines of a file of cases."""
    text = (spec_path() / "cases" / file).read_text(encoding="utf-8")
    return text.split("\n")


def shown(case: Case, canonical: bool) -> nodes.Node:
    """A case: where all cases of its file stand it has its permalink."""
    name = [code(case.name), permalink(f"case-{case.name}", "case")]
    head = line("case-head", *(name if canonical else [link("case", case.name)]))
    cites = separated(link("rule", rule) for rule in dict.fromkeys(case.cites))
    body, language = source(case), "python"
    if not case.plain:
        body, language = _dedent(CITES.sub("", body.partition("\n")[2])), "tir"
    block = nodes.literal_block("", body.rstrip(), language=language)
    parts = [head, line("cites", text("cites "), *cites), block]
    if canonical and runs():
        parts.append(verdicts(case))
    return box("case", *parts, id=f"case-{case.name}" if canonical else "")


def _dedent(body: str) -> str:
    return re.sub(r"^ {2}", "", body, flags=re.MULTILINE).rstrip()


def weight(case: Case) -> int:
    """About the bytes of a case on its page."""
    return 1000 + 7 * len(source(case)) + 60 * len(case.cites)


@cache
def pages() -> dict[str, list[tuple[str, list[Case]]]]:
    """The pages of each file of cases, each with its name and its cases."""
    found: dict[str, list[tuple[str, list[Case]]]] = {}
    for file, group in groupby(cases(), key=lambda case: case.file):
        stem = file.rpartition(".")[0].replace("/", "-")
        listed = found.setdefault(file, [(stem, [])])
        total = 0
        for case in group:
            total += weight(case)
            if total > MOST and listed[-1][1]:
                listed.append((f"{stem}-{len(listed) + 1}", []))
                total = weight(case)
            listed[-1][1].append(case)
    return found


def write_pages(app: Sphinx) -> None:
    """Pages for each file of cases, under `cases/`; old ones go.

    Other pages than the site's may be built with its settings.
    """
    if app.srcdir != app.confdir:
        return
    folder = Path(app.srcdir) / "cases"
    folder.mkdir(exist_ok=True)
    wanted = {}
    for file, listed in pages().items():
        first = 0
        for n, (name, group) in enumerate(listed, 1):
            title = file if len(listed) == 1 else f"{file}, part {n}"
            others = " ".join(f":doc:`{other}`" for other, _ in listed if other != name)
            last = first + len(group)
            wanted[folder / f"{name}.rst"] = PAGE.format(
                title=title,
                rule="=" * len(title),
                file=file,
                first=first,
                last=last,
                others=f"The file's other cases: {others}" if others else "",
            )
            first = last
    for path in folder.glob("*.rst"):
        if path not in wanted:
            path.unlink()
    for path, content in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")


def write_status(app: Sphinx) -> None:
    """The page of all runs, `status.rst`."""
    if app.srcdir == app.confdir:
        text = page(rules=False)
        (Path(app.srcdir) / "status.rst").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the pages before they are looked for."""
    app.connect("builder-inited", write_pages)
    app.connect("builder-inited", write_status)
