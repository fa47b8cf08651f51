"""Representations in notebooks: HTML that is whole, escaped, and of no theme."""

from __future__ import annotations

import html
import pickle
import re
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir.ir.notebooks import LINES, NotebookText
from traceir.jit.backends import default_backend

NBCLIENT = bool(find_spec("nbclient") and find_spec("ipykernel"))


class Reader(HTMLParser):
    """Checks that tags are closed in order, and keeps the text in between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """One more tag is open."""
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        """The tag that was opened last is closed."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """A part of the text."""
        self.text += data


def double(x: Any) -> Any:
    """A function; <script>alert("&")</script> is text."""
    return x * 2.0


def shown() -> dict[str, tuple[Any, str]]:
    """The values that a notebook shows, with the text that has to be in it."""
    f, x = traceir.jit(double), jnp.ones(3)
    f(x)
    lowered = f.lower(x)
    texts = {
        "source": lowered.as_text(),
        "explain": f.explain(x),
        "speed": f.explain(x, what="speed"),
        "trace": f.trace(x).as_text(),
    }
    if default_backend() == "numba":
        texts |= {kind: lowered.as_text(kind) for kind in ("llvm", "asm")}
    closed = f.trace(x).jaxpr
    deleted = jnp.ones(2)
    deleted.delete()
    return {name: (text, str(text)) for name, text in texts.items()} | {
        "closed": (closed, str(closed)),
        "jaxpr": (closed.jaxpr, str(closed)),
        "lambda": (traceir.make_jaxpr(lambda x: x)(1.0), "<lambda>: 0 equations"),
        "array": (jnp.ones((2, 3)), str(np.ones((2, 3)))),
        "key": (traceir.random.key(0), "key<fry>[]"),
        "deleted": (deleted, "f32[2], deleted"),
        "cache": (f.cache_info(), "compiles"),
        "hostile": (NotebookText("</pre><b>'&amp;\"", "source", "<i>"), "</pre><b>'&a"),
    }


def test_html_is_whole_and_has_the_text() -> None:
    for name, (value, text) in shown().items():
        found = value._repr_html_()
        reader = Reader(found)
        assert text in reader.text, name
        known = {"details", "summary", "pre", "span"}
        known |= {"table", "caption", "tr", "th", "td"}
        assert reader.tags <= known, name
        # No colour but those of the theme around it.
        for style in re.findall("style=(['\"])(.*?)\\1", found):
            for colour in re.findall("color: ([^;]*)", style[1]):
                assert colour == "inherit" or colour.startswith("var(--jp-"), name
            assert "background: " not in style[1].replace("background: none", ""), name


def test_long_texts_are_folded() -> None:
    assert NotebookText("a\n" * (LINES - 1))._repr_html_().startswith("<details open>")
    assert NotebookText("a\n" * LINES)._repr_html_().startswith("<details><summary")


def test_texts_are_texts() -> None:
    f = traceir.jit(double)
    f(1.0)
    told = f.explain(1.0)
    assert told == "hit" and repr(told) == "'hit'" and isinstance(told, str)
    copy = pickle.loads(pickle.dumps(told))
    assert copy == "hit" and type(copy) is str


CELLS = [
    "import traceir, traceir.numpy as jnp\n"
    "from traceir.base import progress\n"
    "progress.AFTER = 0.0\n"
    "f = traceir.jit(lambda x: jnp.sin(x) * 2)",
    "f(jnp.ones(3))",
    "f.trace(jnp.ones(3)).jaxpr",
    "f.explain(jnp.ones(3))",
]


@pytest.mark.skipif(not NBCLIENT, reason="the extra `test` has nbclient and ipykernel")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_shows_html_and_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    NotebookClient(book, timeout=120).execute()
    told = [
        "".join(o.get("text", "") for o in cell.outputs if o.get("name") == "stderr")
        for cell in book.cells
    ]
    assert "tracing <lambda> took" in told[1] and "compiling <lambda> took" in told[1]
    found = [
        html.unescape(output["data"]["text/html"])
        for cell in book.cells[1:]
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert ["f32[3], 12 bytes" in found[0], "2 equations" in found[1]] == [True, True]
    assert ">hit</pre>" in found[2]
