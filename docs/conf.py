"""How Sphinx builds the site: `make docs`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

HERE = Path(__file__).parent
# What follows is found by this path, hence E402.
sys.path[:0] = [str(HERE), str(HERE.parent)]

from _ext.paper import PREAMBLE  # noqa: E402
from _ext.source import linkcode_resolve as linkcode_resolve  # noqa: E402

import traceir  # noqa: E402

# Chapters are pages; an sdist has no links.
if not (HERE / "spec").exists():
    (HERE / "spec").symlink_to(Path("..", "spec"))

# Pages are trees that stay: looking for garbage among them takes a quarter of all time.
gc.set_threshold(100_000, 50, 1000)

project = "traceir"
author = "The traceir contributors"
copyright = author
version = release = traceir.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.linkcode",  # a part of Sphinx: `[source]` beside each signature
    "_ext",
]
root_doc = "index"
# The specification alone is also a PDF: `make spec-pdf` sets the tag. Sphinx alone, of
# all that read this file, gives it tags.
exclude_patterns = ["paper.rst"]
if "tags" in globals() and globals()["tags"].has("paper"):
    root_doc = "paper"
    exclude_patterns = []
    include_patterns = ["paper.rst", "spec/*.rst", "chapters/*.rst"]
    suppress_warnings = ["ref", "toc"]
default_role = "code"
nitpicky = True
highlight_language = "python"
pygments_dark_style = "github-dark"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

latex_engine = "xelatex"
latex_documents = [
    (
        "paper",
        "traceir-specification.tex",
        "The traceir specification",
        author,
        "manual",
    )
]
latex_use_xindy = False
latex_domain_indices = False
latex_elements = {
    "preamble": PREAMBLE,
    "papersize": "a4paper",
    "pointsize": "10pt",
    "printindex": "",
    "extraclassoptions": "openany,oneside",
    "fontpkg": r"\setmainfont{DejaVu Serif}\setsansfont{DejaVu Sans}"
    r"\setmonofont[Scale=0.85]{DejaVu Sans Mono}",
}

html_theme = "furo"
html_title = "traceir"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js", "try.js"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_copy_source = False
html_show_sphinx = False
