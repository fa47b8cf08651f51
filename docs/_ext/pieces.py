"""Small pieces of pages: links, sentences, mathematics, folded parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from typing import Literal

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from _ext.mathematics.markup import Math, broken, latex
from _ext.mathematics.typeset import elements, typeset
from traceir.rules import Formula, default

ID = re.compile(r"(?<![`\w.])[a-z_]\w*(?:\.[\w-]+)+(?![`\w])")
CODE = re.compile(r"`([^`]+)`")
# Signs that LaTeX has a command for in mathematics.
COMMANDS = {
    "τ": "tau",
    "σ": "sigma",
    "ρ": "rho",
    "φ": "varphi",
    "χ": "chi",
    "ψ": "psi",
    "θ": "theta",
    "λ": "lambda",
    "η": "eta",
    "Γ": "Gamma",
    "Δ": "Delta",
    "⊢": "vdash",
    "⇓": "Downarrow",
    "→": "to",
    "⟨": "langle",
    "⟩": "rangle",
    "▷": "rhd",
    "…": "ldots",
}
SIGNS = str.maketrans({sign: rf"\{name} " for sign, name in COMMANDS.items()})
# The drawings of this build, by the names that paper has for them.
DRAWINGS: dict[str, str] = {}


def raw(html: str) -> nodes.raw:
    """A piece of HTML."""
    return nodes.raw("", html, format="html")


def box(kind: str, *children: nodes.Node, id: str = "") -> nodes.container:
    """A `div` of a class of its own, and the place that an id leads to."""
    found = nodes.container("", *children, classes=[kind])
    found.attributes["ids"] = [id] if id else []
    return found


def line(kind: str, *children: nodes.Node) -> nodes.paragraph:
    """A paragraph of a class of its own."""
    return nodes.paragraph("", "", *children, classes=[kind])


def text(words: str) -> nodes.Text:
    """Plain words."""
    return nodes.Text(words)


def code(words: str) -> nodes.literal:
    """Words in the type of programs."""
    return nodes.literal("", words)


def link(kind: Literal["rule", "case"], target: str, shown: str = "") -> nodes.Node:
    """A link to a rule or a case, resolved when all pages are read."""
    inner = code(shown or target)
    return addnodes.pending_xref(
        "",
        inner,
        refdomain="tir",
        reftype=kind,
        reftarget=target,
        refwarn=True,
        refexplicit=bool(shown),
    )


def to_page(page: str, shown: str) -> nodes.Node:
    """A link to a page of the site, such as `/api/index`."""
    to = addnodes.pending_xref("", text(shown), refdomain="std", reftype="doc")
    to.attributes.update(reftarget=page, refexplicit=True, refwarn=True)
    return to


def link_ids(app: Sphinx, doctree: nodes.document) -> None:
    """Make each id of a rule that stands as code, or fills a cell, a link."""
    for node in list(doctree.findall(nodes.literal)):
        around = node.parent
        taken = isinstance(
            around, addnodes.pending_xref | nodes.reference | nodes.title
        )
        head = "rule-head" in around.get("classes", [])
        if not taken and not head and is_rule(node.astext()):
            node.replace_self(link("rule", node.astext()))
    for cell in list(doctree.findall(nodes.entry)):
        id = cell.astext()
        if is_rule(id) and cell.next_node(addnodes.pending_xref) is None:
            cell.clear()
            cell += nodes.paragraph("", "", link("rule", id))


def link_docstring(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Make each id of a rule that stands in a docstring a link to the rule."""
    lines[:] = linked(lines)


def linked(lines: Sequence[str]) -> list[str]:
    """The lines of a docstring, with a link for each id of a rule outside examples."""

    def link_to(found: re.Match[str]) -> str:
        return f":rule:`{found[0]}`" if is_rule(found[0]) else found[0]

    code = (">>>", "...", "[")
    return [r if r.lstrip().startswith(code) else ID.sub(link_to, r) for r in lines]


def permalink(id: str, what: str) -> nodes.raw:
    """The sign at the end of a head that links to the head."""
    href, title = escape(id), escape(f"Link to this {what}")
    return raw(f'<a class="headerlink" href="#{href}" title="{title}">¶</a>')


def sentence(words: str) -> list[nodes.Node]:
    """A sentence of a table: code in backquotes, linked where it is a rule's id."""
    found: list[nodes.Node] = []
    for n, part in enumerate(CODE.split(words)):
        if n % 2:
            found.append(link("rule", part) if is_rule(part) else code(part))
        elif part:
            found.append(text(part))
    return found


def is_rule(words: str) -> bool:
    """True if words are a rule's id; names of one part are too common to be links."""
    return "." in words and words in default().clauses


def math(formula: Formula, block: bool = False) -> nodes.inline:
    """A formula as mathematics, as it is written where the mouse rests."""
    return mathematics(typeset(formula), formula.text, block)


def mathematics(tree: Math, title: str = "", block: bool = False) -> nodes.inline:
    """A tree of mathematics: MathML on the site, and LaTeX on paper."""
    about = f' title="{escape(title)}"' if title else ""
    html = f'<span class="formula"{about}>{elements(tree, block)}</span>'
    parts = (rf"\({latex(part).translate(SIGNS)}\)" for part in broken(tree))
    return nodes.inline("", "", raw(html), on_paper(" ".join(parts)))


def on_paper(tex: str) -> nodes.raw:
    """A piece of LaTeX, which the site has not."""
    return nodes.raw("", tex, format="latex")


def drawing(svg: str) -> nodes.container:
    """A drawing: SVG on the site, a picture of its own on paper."""
    name = f"drawing-{sha256(svg.encode()).hexdigest()[:12]}"
    DRAWINGS[name] = svg
    tex = rf"\begin{{center}}\drawn{{{name}}}\end{{center}}"
    return nodes.container("", raw(f'<div class="diagram">{svg}</div>'), on_paper(tex))


def separated(parts: Iterable[nodes.Node], by: str = " ") -> list[nodes.Node]:
    """Parts with words between them."""
    found: list[nodes.Node] = []
    for part in parts:
        found += [text(by), part] if found else [part]
    return found


def folded(summary: str, *children: nodes.Node) -> list[nodes.Node]:
    """Parts that a click unfolds; `summary` is HTML."""
    head = raw(f'<details class="more"><summary>{summary}</summary>')
    return [head, *children, raw("</details>")]


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[Sequence[nodes.Node]]],
    kind: str,
    widths: Sequence[int] = (),
) -> nodes.container:
    """A table that scrolls within its own box; `widths` are its columns' on paper."""
    group = nodes.tgroup("", cols=len(head))
    group += [nodes.colspec("", colwidth=w) for w in widths or (1 for _ in head)]
    titles = nodes.row("", *(_entry([text(title)]) for title in head))
    body = (nodes.row("", *map(_entry, row)) for row in rows)
    group += [nodes.thead("", titles), nodes.tbody("", *body)]
    how = "given" if widths else "auto"
    return box(kind, nodes.table("", group, classes=[f"colwidths-{how}"]))


def _entry(children: Sequence[nodes.Node]) -> nodes.entry:
    return nodes.entry("", nodes.paragraph("", "", *children))
