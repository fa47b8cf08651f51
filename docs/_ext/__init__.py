"""The extensions of the site: rules, cases, drawings, and examples that run."""

from __future__ import annotations

from sphinx.application import Sphinx

from _ext import (
    casebook,
    coverage,
    directives,
    doctests,
    domain,
    examples,
    packages,
)
from _ext.lexer import CaseLexer
from _ext.pieces import link_docstring, link_ids


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything."""
    for part in (domain, directives, casebook, coverage, doctests, examples, packages):
        part.setup(app)
    app.connect("doctree-read", link_ids)
    app.connect("autodoc-process-docstring", link_docstring)
    for alias in CaseLexer.aliases:
        app.add_lexer(alias, CaseLexer)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
