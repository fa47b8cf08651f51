"""The examples of the page on exports, that for C, too."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

COMPILER = shutil.which("cc")
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "export.rst"


def block(language: str) -> str:
    """The text of the page's block in a language."""
    (found,) = re.findall(
        rf"^\.\. code-block:: {language}\n\n((?: {{4}}.*\n|\n)+)",
        PAGE.read_text(),
        re.MULTILINE,
    )
    return dedent(found)


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_the_page_gives_what_it_says() -> None:
    names: dict[str, Any] = {}
    # The page is a test by itself: here are its beginning, and what it exports for C.
    begin, _, rest = PAGE.read_text().partition(">>> spec =")
    section = rest.partition("An object for C\n")[2].partition("Source to read\n")[0]
    page = doctest.DocTestParser().get_doctest(
        f"{begin}\n\n{section}", names, PAGE.name, None, None
    )
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(
        page, clear_globs=False
    )
    assert tried > 8 and failed == 0
    folder = Path(page.globs["folder"])
    (folder / "program.c").write_text(block("c"))
    commands = re.split(r"^\$ ", block("console"), flags=re.MULTILINE)[1:]
    for command, _, said in (part.partition("\n") for part in commands):
        done = subprocess.run(
            command.split(), cwd=folder, capture_output=True, text=True, check=False
        )
        assert (done.stdout.strip(), done.stderr) == (said.strip(), "")
