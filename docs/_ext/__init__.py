"""The extensions of the site: rules, cases, drawings, and examples that run.

`make docs` builds the pages with Sphinx; a warning is an error. They are made of the
tables that the reference reads: a rule on a page is its row, its formulas are set as
mathematics from the tree that is computed with (`mathematics`; a test reads them back),
and each id has exactly one place. Mathematics is MathML and drawings are SVG, so pages
need neither scripts nor a network. The specification enters the site by a link,
`docs/spec`; pages of cases are written to `docs/cases` when the site is built.

A program in `docs/examples` has `problem`, `solve` and `draw`. Its page has it run when
the site is built, and keeps the picture within itself (`examples`).
`tests/test_examples.py` runs a short form in both backends, and
`python -m benchmarks examples` runs the same text with JAX's names in it beside.
"""

from __future__ import annotations

from sphinx.application import Sphinx

from _ext import (
    casebook,
    chapters,
    costs,
    coverage,
    coverage_jax,
    directives,
    doctests,
    domain,
    examples,
    landing,
    navigation,
    output,
    packages,
    paper,
    playground,
    reference,
)
from _ext.lexer import CaseLexer
from _ext.pieces import link_docstring, link_ids


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything.

    A brief build, which tests look at, runs no examples, draws no pictures, and has the
    pages of few functions: the others have a place in the lists.
    """
    app.add_config_value("brief", False, "env", [bool])
    for part in (
        domain,
        directives,
        casebook,
        chapters,
        costs,
        coverage,
        coverage_jax,
        doctests,
        examples,
        landing,
        navigation,
        output,
        packages,
        paper,
        playground,
        reference,
    ):
        part.setup(app)
    app.connect("doctree-read", link_ids)
    app.connect("autodoc-process-docstring", link_docstring)
    for alias in CaseLexer.aliases:
        app.add_lexer(alias, CaseLexer)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
