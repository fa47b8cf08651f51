"""The specification on paper: all chapters, without what only a screen can show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from _ext.mathematics.markup import Leaf, Line
from _ext.paper import prepare
from _ext.pieces import DRAWINGS, box, code, drawing, folded, line, mathematics, text
from _ext.rows import clause
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from traceir.rules import default, spec_path

ROOT = Path(__file__).parents[2]


class OnPaper:
    """An application whose builder makes LaTeX."""

    builder = type("Builder", (), {"name": "latex"})()


def test_paper_has_every_chapter_in_the_order_of_the_index() -> None:
    listed = (ROOT / "docs" / "paper.rst").read_text(encoding="utf-8")
    found = re.findall(r"^   spec/(\w+)$", listed, re.M)
    index = (spec_path() / "index.rst").read_text(encoding="utf-8")
    assert found == ["index", *re.findall(r"^:doc:`(\w+)`$", index, re.M)]


def test_folded_parts_and_verdicts_are_left_out() -> None:
    page = new_document("page", get_default_settings(Parser))
    hidden = folded("3 cases", line("cases", code("add/wraps")))
    inside = box("shown", *folded("1 case", code("add/bool")), text("passed"))
    page += box("rule", line("says", text("It holds.")), *hidden, inside, id="add.one")
    app: Any = OnPaper()
    prepare(app, page, "page")
    assert page.astext().split() == ["It", "holds."]
    (target,) = page.findall(nodes.target)
    assert target["ids"] == ["add.one"]


def test_mathematics_and_drawings_have_both_forms() -> None:
    shown = mathematics(Line((Leaf("name", "τs"), Leaf("operator", "⊢"))))
    html, tex = (part for part in shown.findall(nodes.raw))
    assert "<math" in html.astext() and "⊢" in html.astext()
    assert tex.astext() == r"\(\mathit{\tau s} \vdash \)"
    assert tex["format"] == "latex"
    found = drawing("<svg>1</svg>")
    (name,) = re.findall(r"drawn{(.*?)}", found.astext())
    assert DRAWINGS.pop(name) == "<svg>1</svg>"


def test_every_row_of_the_judgements_can_be_shown() -> None:
    sections = default().tables["judgements"].values()
    ids = [row["id"] for rows in sections for row in rows if "id" in row]
    assert len(ids) > 30
    for id in ids:
        assert clause(default(), id)[0].astext()
