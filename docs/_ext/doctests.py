"""Runs the examples of each page while it is read; a mismatch is a warning."""

from __future__ import annotations

import doctest
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import numpy as np
from sphinx.application import Sphinx
from sphinx.util import logging

from traceir.base import config
from traceir.ir.avals import ShapedArray
from traceir.oracle.relations import Elements
from traceir.rules import default
from traceir.rules.formulas.language import VOCABULARY

logger = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]


def flags() -> int:
    """The flags under which the tests run the same examples."""
    settings = ConfigParser(interpolation=None)
    settings.read(ROOT / "setup.cfg")
    names = settings["tool:pytest"]["doctest_optionflags"].split()
    return sum(doctest.OPTIONFLAGS_BY_NAME[name] for name in names)


def names(docname: str) -> dict[str, Any]:
    """The names that examples of a page can use; those of the notation are formulas."""
    if docname != "spec/notation":
        return {"__name__": "__main__"}
    x, y = np.array([[10], [20]], "int32"), np.array(7, "int32")
    shown = {
        "x": Elements.of(x),
        "y": Elements.of(y),
        "t": ShapedArray((3,), "float32"),
    }
    return {**default().constants, **VOCABULARY, **shown}


def run(app: Sphinx, docname: str, content: list[str]) -> None:
    """Run the examples of one page, from the flags' defaults; none in a brief build.

    Those of a part of a chapter run with the chapter.
    """
    if app.config.brief or docname.startswith("chapters/"):
        return
    where = str(app.env.doc2path(docname))
    parser = doctest.DocTestParser()
    test = parser.get_doctest(content[0], names(docname), docname, where, 0)
    found: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags())
    before = {flag: getattr(config, f"jax_{flag}") for flag in config.FLAGS}
    runner.run(test, out=found.append)
    for flag, value in before.items():
        config.update(flag, value)
    if found:
        logger.warning("an example differs:\n%s", "".join(found), location=docname)


def setup(app: Sphinx) -> None:
    """Run the examples of each page as it is read."""
    app.connect("source-read", run)
