"""The surroundings of a page: the tree at its side, and its description.

Pages of functions and of cases are in no table of contents, or each page of the site
would have all of them at its side. They have the tree of the page that lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
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
    """Give a page its description, and a function's page the tree of its list."""
    if doctree is not None:
        words = escape(description(doctree), quote=True)
        context["metatags"] += f'\n<meta name="description" content="{words}">'
    home, builder = homes().get(page), app.builder
    if home is not None and isinstance(builder, StandaloneHTMLBuilder):
        context["toctree"] = tree_of(builder, home, page.count("/") - home.count("/"))


@cache
def tree_of(
    builder: StandaloneHTMLBuilder, home: str, depth: int
) -> Callable[..., str]:
    """A function that makes the tree of a page, for pages so much deeper."""
    found: dict[str, str] = {}

    def tree(**options: Any) -> str:
        key = repr(options)
        if key not in found:
            own = builder._get_local_toctree(home, **options)
            found[key] = HREF.sub(lambda m: f'href="{deeper(m[1])}"', own)
        return found[key]

    def deeper(href: str) -> str:
        own = f"{home.rpartition('/')[2]}.html"
        return "../" * depth + (own + href if href.startswith("#") else href or own)

    return tree


def description(doctree: nodes.document) -> str:
    """The first paragraph of a page, or what a function does, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        if "crumbs" not in paragraph["classes"] and (words := paragraph.astext()):
            words = " ".join(words.split())
            if len(words) > SHOWN:
                words = words[:SHOWN].rpartition(" ")[0].rstrip(",;:") + " …"
            return words
    return ""


def setup(app: Sphinx) -> None:
    """Take part before the theme reads the context."""
    app.connect("html-page-context", around, priority=400)
