"""Tests that get the hints which no program of `tests/hints` gets: `apart.toml` there.

While such a test runs, errors and warnings are looked at: one has the row's hint. What
other processes have told, the test has `read`.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from traceir import rules
from traceir.rules import rules as making

APART: dict[str, str] = tomllib.loads(
    (Path(__file__).parent / "hints" / "apart.toml").read_text(encoding="utf-8")
)["row"]


# Rows of which the test that runs has told, each with its hint.
_told: set[tuple[str, str]] = set()


def read(text: str) -> None:
    """Find the hints in what has been told."""
    _told.update((row, hint(row)) for row in APART if hint(row) in text)


@contextmanager
def expected(test: str) -> Iterator[None]:
    """The run of a test; AssertionError if it gets no hint of a row that names it."""
    rows = [row for row, named in APART.items() if named == test]
    if not rows:
        yield
        return
    _told.clear()
    make: Any = vars(making)["make"]
    warn: Any = warnings.warn_explicit

    def made(*args: Any) -> Any:
        error = make(*args)
        _told.add((error.rule, error.hint))
        return error

    def warned(text: str, *args: Any) -> None:
        read(text)
        warn(text, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "make", made)
        patch.setattr(warnings, "warn_explicit", warned)
        yield
    unmet = [row for row in rows if (row, hint(row)) not in _told]
    assert not unmet, f"{test} gets no hint of {unmet}, as tests/hints/apart.toml says"


def hint(row: str) -> str:
    """The hint of a row."""
    return rules.default().clauses[row].hint
