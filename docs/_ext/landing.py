"""The landing page: the README's sentences and figures, and doors to what there is."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.pieces import box, code, line, table, text, to_page
from benchmarks import readme

CODE = re.compile(r"`([^`]+)`")


def inline(words: str) -> list[nodes.Node]:
    """Words of Markdown with their code."""
    parts = CODE.split(words)
    return [code(part) if n % 2 else text(part) for n, part in enumerate(parts) if part]


class Headline(SphinxDirective):
    """`.. headline::` says what was measured, as the README does."""

    def run(self) -> list[nodes.Node]:
        """The sentences."""
        return [line("headline", *inline(readme.headline()))]


class Example(SphinxDirective):
    """`.. readme::` shows the README's first program, and its times."""

    def run(self) -> list[nodes.Node]:
        """The program and the table."""
        program = readme.example()
        head, *rows = readme.times()
        cells = [tuple(map(inline, row)) for row in rows]
        block = nodes.literal_block(program, program, language="python")
        titles = [title.replace("`", "") for title in head]
        return [block, table(titles, cells, "times")]


class Door(SphinxDirective):
    """`.. door:: page Title` with a sentence: a part of the site to go to."""

    required_arguments = 2
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """A box with the title as a link."""
        page, title = self.arguments
        inside = box("door", line("door-title", to_page(f"/{page}", title)))
        self.state.nested_parse(self.content, self.content_offset, inside)
        return [inside]


class Doors(SphinxDirective):
    """`.. doors::` has doors side by side."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The doors."""
        found = box("doors")
        self.state.nested_parse(self.content, self.content_offset, found)
        return [found]


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("headline", Headline)
    app.add_directive("readme", Example)
    app.add_directive("doors", Doors)
    app.add_directive("door", Door)
