"""The pages on which the specification runs, in the reader's browser.

What runs is the second implementation, in TypeScript (`spec/playground`), bundled by
`make playground`; a site that is built without it says so on these pages and has no
*Try it*. Beside the bundle stands what it is given: the specification's document, where
each rule stands, a program for each primitive, and sessions of the cache.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.casebook import source
from _ext.cited import cases
from _ext.drawings.machine_states import machine_svg
from _ext.pieces import drawing, line, raw, text
from traceir.conform import Case
from traceir.rules import default
from traceir.spec.cases import case_data
from traceir.spec.document import document

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "spec" / "playground" / "dist" / "page.js"
FOLDER = "playground"
OTHERS = ROOT / "docs" / "playground" / "programs.toml"
# The file whose sessions the page of the cache plays.
SESSIONS = "machine.tir"
LARGE = 24  # elements of arguments that a reader would not type


class Playground(SphinxDirective):
    """`.. playground:: program` is a page that runs; so are `levels` and `cache`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place of the page, and the drawing that it lights up."""
        (page,) = self.arguments
        if not BUNDLE.is_file():
            words = "This site was built without this page: it takes npm, and "
            return [line("refused", text(words), nodes.literal("", "make playground"))]
        drawn = [drawing(machine_svg(default()))] if page == "cache" else []
        return [raw(f'<div class="playground" data-page="{page}"></div>'), *drawn]


def try_it(primitive: str) -> list[nodes.Node]:
    """The place where a primitive is tried, below its name."""
    if not BUNDLE.is_file():
        return []
    return [
        raw(
            '<details class="try"><summary>Try it</summary>'
            f'<div class="playground" data-primitive="{primitive}"></div></details>'
        )
    ]


@cache
def programs() -> dict[str, dict[str, str]]:
    """A program for each primitive: the shortest of the cases that evaluate it, or the
    one of `docs/playground/programs.toml`."""
    others: dict[str, dict[str, str]] = tomllib.loads(OTHERS.read_text("utf-8"))
    return dict(sorted((of_cases() | others).items()))


def of_cases() -> dict[str, dict[str, str]]:
    """The shortest program of a case for each primitive that one evaluates."""
    found: dict[str, tuple[tuple[int, int], dict[str, str]]] = {}
    for case in cases():
        for primitive, size, program in evaluated(case):
            if primitive not in found or size < found[primitive][0]:
                found[primitive] = size, program
    return {name: program for name, (_, program) in found.items()}


def evaluated(case: Case) -> Iterator[tuple[str, tuple[int, int], dict[str, str]]]:
    """The primitives of a program with small arguments, and how long it is."""
    given = case.verbs.get("given", ())
    if len(given) != 1 or case.reject or not case.verbs.get("value"):
        return
    data = case_data(case)
    if data["program"] is None or data["program"]["constants"]:
        return
    if sum(len(array["elements"]) for array in data["call"]) <= LARGE:
        equations = data["program"]["equations"]
        for equation in equations:
            size = len(equations), len(data["given"][0])
            yield equation["primitive"], size, started(data)


def started(data: dict[str, Any]) -> dict[str, str]:
    """The program of a case and its arguments, a line each."""
    rows = (" ".join(map(word, array["elements"])) for array in data["call"])
    (given,) = data["given"]
    return {"program": given, "arguments": "\n".join(rows)}


def word(element: object) -> str:
    """An element as one types it.

    >>> word("0x1.8000000000000p+1"), word(["0x1.0p+0", "-0x1.0p+0"]), word("7")
    ('3.0', '(1-1j)', '7')
    """
    if isinstance(element, list):
        return str(complex(*map(float.fromhex, element)))
    words = str(element)
    return repr(float.fromhex(words)) if "x" in words else words


def given(app: Sphinx) -> dict[str, object]:
    """All that the pages take besides the bundle."""
    places: dict[str, list[str]] = {}
    for rule, page in sorted(app.env.domains["tir"].data["rule"].items()):
        places.setdefault(page, []).append(rule)
    data = document(default(), [])
    return {
        "document": json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        "rules": places,
        "programs": programs(),
        "sessions": {
            case.name: {"text": source(case), "session": case_data(case)["session"]}
            for case in cases()
            if case.file == SESSIONS
        },
    }


def write(app: Sphinx, problem: Exception | None) -> None:
    """Put the scripts where the pages load them from."""
    if problem or app.builder.format != "html" or not BUNDLE.is_file():
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(BUNDLE, folder)
    data = json.dumps(given(app), ensure_ascii=False, separators=(",", ":"))
    (folder / "given.js").write_text(f"traceirGiven={data}", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the directive, and write the scripts at the end."""
    app.add_directive("playground", Playground)
    app.connect("build-finished", write)
