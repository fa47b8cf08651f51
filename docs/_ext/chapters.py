"""Long chapters as several pages: `.. part::` in a chapter begins a page of its own.

A part without a title has that of the section that it stands before. What comes before
the first part stays the chapter's page, and leads to the others, which are written to
`docs/chapters` before Sphinx looks for pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from traceir.rules import spec_path

PART = re.compile(r"^\.\. part::(.*)\n", re.MULTILINE)
HEADING = re.compile(r"\A\s*(\S.*)\n([-~])\2+\n")
# Documents that a chapter names by the place where it stands.
NEAR = re.compile(r":doc:`([^`]*<)?(?=[a-z])")
TREE = "\n\n.. toctree::\n\n{}\n"


@dataclass(frozen=True)
class Part:
    """A page of a chapter: its chapter, its title and its text."""

    chapter: str
    title: str
    text: str

    @property
    def page(self) -> str:
        """The name of its page, below `chapters`."""
        return f"{self.chapter}-{nodes.make_id(self.title)}"

    def source(self) -> str:
        """The page in reStructuredText."""
        text = NEAR.sub(lambda m: f"{m[0]}/spec/", self.text)
        return f"{self.title}\n{'=' * len(self.title)}\n\n{text.strip()}\n"


def parts(chapter: str, text: str) -> Iterator[Part]:
    """The pages that a chapter has beside its own.

    >>> text = "Short ones." + chr(10) + ".. part:: Long ones" + chr(10) + "These."
    >>> [one.page for one in parts("sums", text)]
    ['sums-long-ones']
    """
    _, *pieces = PART.split(text)
    for title, piece in zip(pieces[::2], pieces[1::2], strict=True):
        title = title.strip()
        if not title:
            heading = HEADING.match(piece)
            assert heading is not None, f"a part of {chapter} has no title"
            title, piece = heading[1], piece[heading.end() :]
        yield Part(chapter, title, piece)


def all_parts() -> Iterator[Part]:
    """The pages of all long chapters."""
    for path in sorted(spec_path().glob("*.rst")):
        yield from parts(path.stem, path.read_text(encoding="utf-8"))


def write_pages(app: Sphinx) -> None:
    """Write the pages of parts; old ones go."""
    if app.srcdir != app.confdir:
        return
    folder = Path(app.srcdir) / "chapters"
    folder.mkdir(exist_ok=True)
    wanted = {folder / f"{part.page}.rst": part.source() for part in all_parts()}
    for path in folder.glob("*.rst"):
        if path not in wanted:
            path.unlink()
    for path, content in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")


def shorten(app: Sphinx, docname: str, content: list[str]) -> None:
    """Leave of a long chapter what is before its parts, and a list of these."""
    folder, _, chapter = docname.rpartition("/")
    if folder == "spec" and (found := list(parts(chapter, content[0]))):
        listed = "\n".join(f"   /chapters/{part.page}" for part in found)
        content[0] = PART.split(content[0])[0].rstrip() + TREE.format(listed)


def setup(app: Sphinx) -> None:
    """Write the pages before they are looked for; examples have run by then."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", shorten, priority=600)
