"""HTML that is short, and the check that no page is long."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
# Bytes of a page.
MOST = 300_000


class Translator(HTML5Translator):
    """Sphinx's, but words of code are not wrapped one by one."""

    def visit_literal(self, node: nodes.Element) -> None:
        """Write code that is not highlighted as one element."""
        if "code" in node["classes"]:
            super().visit_literal(node)
            return
        self.body.append(self.starttag(node, "code", "", CLASS="notranslate"))
        self.body.append(f"{self.encode(node.astext())}</code>")
        raise nodes.SkipNode


def check(app: Sphinx, exception: Exception | None) -> None:
    """Warn of each page that is too long."""
    if exception is None and app.builder.name == "html":
        for path in sorted(Path(app.outdir).rglob("*.html")):
            if (size := path.stat().st_size) > MOST:
                name = path.relative_to(app.outdir)
                logger.warning("%s has %d bytes; %d are the most", name, size, MOST)


def setup(app: Sphinx) -> None:
    """Take the place of Sphinx's translator, and look at what was written."""
    app.set_translator("html", Translator)
    app.connect("build-finished", check)
