"""The specification on paper, by LaTeX: `make spec-pdf`.

Pages are those of the site, less what only a screen can show: cases that a click
unfolds, how they went, formulas as they are written.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.pieces import DRAWINGS, text

# Boxes that are for a screen.
FOLDED = frozenset({"shown", "runs"})
FILE = "traceir-specification.pdf"

PREAMBLE = r"""
\usepackage{graphicx}
\newcommand{\drawn}[1]{\includegraphics[width=0.9\linewidth]{#1}}
\newenvironment{sphinxclassrule}
  {\par\addvspace{8pt}\noindent\rule{\linewidth}{0.4pt}\par\nopagebreak}
  {\par\addvspace{6pt}}
\newenvironment{sphinxclasspremise}{\par}{\par}
\newenvironment{sphinxclassconclusion}
  {\par\nopagebreak\noindent\rule{0.6\linewidth}{0.2pt}\par\nopagebreak}{\par}
\newenvironment{sphinxclassequation}{\par\begin{flushleft}}{\end{flushleft}\par}
"""


def prepare(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Leave out what is for a screen, and give places of rules to LaTeX."""
    if app.builder.name != "latex":
        return
    for place in list(doctree.findall(nodes.container)):
        if FOLDED & set(place["classes"]):
            place.parent.remove(place)
            continue
        unfold(place)
        if place["ids"]:
            place.insert(0, nodes.target("", "", ids=place["ids"]))
            place["ids"] = []


def unfold(place: nodes.container) -> None:
    """Take folded parts away: what stands between the tags of `details`."""
    kept, hidden = [], False
    for child in place.children:
        html = child.astext() if isinstance(child, nodes.raw) else ""
        hidden = hidden or html.startswith("<details")
        if not hidden:
            kept.append(child)
        hidden = hidden and not html.endswith("</details>")
    place.children = kept


def draw(app: Sphinx, exception: Exception | None) -> None:
    """Make a picture of each drawing, by `rsvg-convert`."""
    if exception is None and app.builder.name == "latex":
        for name, svg in DRAWINGS.items():
            path = Path(app.outdir) / f"{name}.svg"
            path.write_text(svg.replace("currentColor", "black"), encoding="utf-8")
            pdf = path.with_suffix(".pdf")
            subprocess.run(["rsvg-convert", "-f", "pdf", "-o", pdf, path], check=True)


class Paper(SphinxDirective):
    """`.. paper::` leads to the PDF, where it was made before the site."""

    def run(self) -> list[nodes.Node]:
        """A sentence."""
        made = Path(self.env.app.srcdir).parent / "build" / "pdf" / FILE
        if self.env.app.builder.name != "html" or not made.exists():
            words = text("make spec-pdf writes this specification as a PDF, by LaTeX.")
            return [nodes.paragraph("", "", words)]
        to = addnodes.download_reference(
            "",
            "",
            text("This specification as a PDF"),
            reftarget=f"/../build/pdf/{FILE}",
        )
        return [nodes.paragraph("", "", to)]


def setup(app: Sphinx) -> None:
    """Register all of it."""
    app.add_directive("paper", Paper)
    app.connect("doctree-resolved", prepare)
    app.connect("build-finished", draw)
