"""Representations for notebooks: HTML of programs, source and tables.

Colours are those of the notebook's own editor, light or dark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

# Longer texts are folded.
LINES = 30
# The kinds of words, with the variable of a notebook's theme and what stands for it.
_COLOURS = {
    "comment": ("comment", "#6a8a7a"),
    "string": ("string", "#c0603a"),
    "keyword": ("keyword", "#8a63d2"),
    "type": ("type", "#2f86b5"),
    "number": ("number", "#3f8f4f"),
}
_NUMBER = r"(?P<number>(?<![\w.])-?\d[\w.]*(?:[eE][+-]?\d+)?)"
_LANGUAGES = {
    "jaxpr": r"(?P<keyword>\b(?:lambda|let|in)\b)"
    r"|(?P<type>\b(?:bool|key<\w+>|[iufbc]+\d+)\[[^\]]*\])|" + _NUMBER,
    "source": r"(?P<comment>#[^\n]*)"
    r"|(?P<string>\"{3}(?s:.*?)\"{3}|\"[^\"\n]*\"|'[^'\n]*')"
    r"|(?P<keyword>\b(?:and|as|assert|break|class|continue|def|elif|else|for|from|if"
    r"|import|in|is|lambda|not|or|pass|raise|return|while|with|None|True|False)\b"
    r"|@[\w.]+)|" + _NUMBER,
    "llvm": r"(?P<comment>;[^\n]*)|(?P<string>\"[^\"\n]*\")"
    r"|(?P<keyword>\b(?:define|declare|ret|br|label|load|store|call|phi|switch)\b)"
    r"|(?P<type>\b(?:ptr|void|float|double|i\d+)\b)|" + _NUMBER,
    "asm": r"(?P<comment>#[^\n]*)|(?P<keyword>^\s*\.\w+)|" + _NUMBER,
}


class NotebookText(str):
    """A text that a notebook shows with colours, and folded where it is long.

    >>> NotebookText("x = 1", "source", "f")._repr_html_()
    '<details open...<pre...x = <span ...>1</span></pre></details>'
    """

    __slots__ = ("language", "heading")
    language: str
    heading: str

    def __new__(
        cls, text: str, language: str = "text", heading: str = ""
    ) -> NotebookText:
        """The text, its language, and a word on what it is of."""
        made = super().__new__(cls, text)
        made.language, made.heading = language, heading or language
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)

    def _repr_html_(self) -> str:
        return folded(self.heading, self, self.language)


def folded(title: str, text: str, language: str = "text") -> str:
    """A text under its title, which opens and closes it."""
    opened = " open" if text.count("\n") < LINES else ""
    return (
        f"<details{opened}><summary style='cursor: pointer'>{escape(title)}</summary>"
        "<pre style='overflow-x: auto; color: inherit; background: none; "
        "font-family: var(--jp-code-font-family, monospace)'>"
        f"{''.join(_spans(text, language))}</pre></details>"
    )


def _spans(text: str, language: str) -> Iterator[str]:
    """The words of a text, some of them in a colour; nothing is left unescaped."""
    done = 0
    pattern = _LANGUAGES.get(language)
    for found in re.finditer(pattern, text, re.MULTILINE) if pattern else ():
        yield escape(text[done : found.start()])
        name, default = _COLOURS[str(found.lastgroup)]
        colour = f"var(--jp-mirror-editor-{name}-color, {default})"
        yield f'<span style="color: {colour}">{escape(found[0])}</span>'
        done = found.end()
    yield escape(text[done:])


def escape(text: str) -> str:
    """A text in which nothing is HTML; the library's own takes long to import.

    >>> escape("<b> & 'c'")
    '&lt;b&gt; &amp; &#39;c&#39;'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("'", "&#39;")


def table(title: str, rows: Mapping[str, object]) -> str:
    """Names and values, side by side under a title.

    >>> table("cache", {"hits": 3})
    "<table><caption ...>cache</caption><tr><th ...>hits...<td ...>3</td></tr></table>"
    """
    left = "style='text-align: left; white-space: nowrap'"
    body = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table><caption {left}>{escape(title)}</caption>{body}</table>"
