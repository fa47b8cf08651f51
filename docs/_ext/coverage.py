"""The names that traceir.numpy shares with NumPy and jax.numpy, and their tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import traceir.numpy
from _ext.pieces import box, code, line, sentence, separated, text
from tests.recorded import Record
from traceir.lax.checks.attribute_hints import coverage

ROOT = Path(__file__).parents[2]
# Where functions are called, and how they are written there.
CALLED = {
    "tests/**/*.py": re.compile(r"\bjnp\.([\w.]+)"),
    "tests/array/lines/*.txt": re.compile(r"\bnp\.([\w.]+)"),
    "spec/cases/*.tir": re.compile(r"\bnumpy\.([\w.]+)"),
}
EXAMPLE = re.compile(r"^ *(?:>>>|\.\.\.) (.*)$", re.MULTILINE)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def present() -> list[str]:
    """The shared names that are there."""
    return [name for name in coverage()["shared"] if hasattr(traceir.numpy, name)]


def absent() -> Mapping[str, str]:
    """The reasons why the other ones are not there."""
    return {name: str(why) for name, why in coverage()["absent"].items()}


def counts() -> str:
    """The counts of the Array API standard's suite, in a sentence.

    >>> counts()
    'Of ... tests ... pass, ... fail and ... are skipped by the suite.'
    """
    found = coverage()["array_api"]
    tests, passed, skipped = found["tests"], found["passed"], found["skipped"]
    failed = tests - passed - skipped
    return (
        f"Of {tests:,} tests {passed:,} pass, {failed} fail and {skipped} are skipped"
        " by the suite."
    )


@cache
def calls() -> Counter[str]:
    """The number of tests, cases and examples that name each function."""
    return Counter(name for dotted in _named() for name in dotted.split(".")[:1])


def _named() -> Iterator[str]:
    for pattern, called in CALLED.items():
        for path in ROOT.glob(pattern):
            yield from called.findall(path.read_text(encoding="utf-8"))
    yield from CALLED["tests/**/*.py"].findall(Record("face.txt.xz").read_text())
    for path in (ROOT / "traceir" / "numpy").rglob("*.py"):
        for example in EXAMPLE.findall(path.read_text(encoding="utf-8")):
            yield from WORD.findall(example)


class Coverage(SphinxDirective):
    """`.. coverage:: part` shows a part of the table."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The part's nodes."""
        match self.arguments[0]:
            case "present":
                return [line("ids", *separated(map(_counted, present())))]
            case "absent":
                return [_reasons(absent())]
            case "parameters" | "signatures" | "extensions" as part:
                return [_reasons(coverage()[part])]
            case "array-api":
                return [_reasons(coverage()["array_api"]["failed"])]
            case "array-api-counts":
                return [line("counts", *sentence(counts()))]
        raise self.error(f"no part {self.arguments[0]}")


def _counted(name: str) -> nodes.Node:
    shown = nodes.inline("", "", code(name), text(f" {calls()[name]}"))
    shown["classes"].append("counted")
    return shown


def _reasons(reasons: Mapping[str, str]) -> nodes.Node:
    rows = [
        line("reason", code(name), text(": "), *sentence(why))
        for name, why in sorted(reasons.items())
    ]
    return box("reasons", *rows)


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("coverage", Coverage)
