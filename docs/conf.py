"""How Sphinx builds the site: `make docs`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

HERE = Path(__file__).parent
# What follows is found by this path, hence E402.
sys.path[:0] = [str(HERE), str(HERE.parent)]

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
exclude_patterns = []
default_role = "code"
nitpicky = True
highlight_language = "python"
pygments_dark_style = "github-dark"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "traceir"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_copy_source = False
html_show_sphinx = False
