"""The surroundings of a page: the tree at its side, and its description.

The tree is made once, and a page's own place in it is marked. Pages of functions and
of cases are in no table of contents, or each page of the site would have all of them at
its side: theirs is the place of the page that lists them.
"""

from __future__ import annotations

import re
from functools import cache, partial
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from _ext.casebook import pages
from _ext.reference import entries

HREF = re.compile(r'href="(?!\w+:)([^"]*)"')
# Characters of a description that results of searches show.
SHOWN = 155


@cache
def homes() -> dict[str, str]:
    """The pages of functions and cases, and the page that lists each."""
    found = {f"api/{one.page}": f"api/{one.home}" for one in entries().values()}
    cases = (name for listed in pages().values() for name, _ in listed)
    return found | {f"cases/{name}": "cases" for name in cases}


def around(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give a page its description, and the tree with its place."""
    if doctree is not None:
        words = escape(description(doctree), quote=True)
        context["metatags"] += f'\n<meta name="description" content="{words}">'
    if isinstance(app.builder, StandaloneHTMLBuilder):
        context["toctree"] = partial(tree, app.builder, page)


def tree(builder: StandaloneHTMLBuilder, page: str, **options: Any) -> str:
    """The tree at the side of a page."""
    found = whole(builder, tuple(sorted(options.items())))
    place: str | None = homes().get(page, page)
    while place:
        link = f'"><a class="reference internal" href="{place}.html"'
        found = found.replace(link, f" current{link}", 1)
        place = parents(builder).get(place)
    up = "../" * page.count("/")
    return HREF.sub(lambda match: f'href="{up}{match[1]}"', found)


@cache
def whole(builder: StandaloneHTMLBuilder, options: tuple[tuple[str, Any], ...]) -> str:
    """The tree as the first page has it."""
    return builder._get_local_toctree(str(builder.config.root_doc), **dict(options))


@cache
def parents(builder: StandaloneHTMLBuilder) -> dict[str, str]:
    """The page in whose table of contents each page is."""
    found = builder.env.toctree_includes.items()
    return {child: page for page, children in found for child in children}


def description(doctree: nodes.document) -> str:
    """The first paragraph of a page, or what a function does, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        other = {"crumbs", "rule-head"} & set(paragraph["classes"])
        if not other and (words := paragraph.astext()):
            words = " ".join(words.split())
            if len(words) > SHOWN:
                words = words[:SHOWN].rpartition(" ")[0].rstrip(",;:") + " …"
            return words
    return ""


def setup(app: Sphinx) -> None:
    """Take part before the theme reads the context."""
    app.connect("html-page-context", around, priority=400)
