"""Every hint is applied to a program that gets it: hints of rows, and those in code.

`hint_programs` says what the files of `tests/hints` are. A hint that no program gets
stands in `apart.toml` there, with the test that gets it (`told_hints`).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hint_programs import HintProgram, hint_programs
from told_hints import APART
from typed_mistakes import mistakes

from traceir import rules
from traceir.errors import TraceirError
from traceir.rules import rules as making

ROOT = Path(__file__).parents[1]
# From here on a hint is spelled out for the function, or left out.
_SPELLED = re.compile(r",? or make the arg|,? ?with `(?:static|control)|`static_arg")
_GROUP = re.compile(r"\\\{\d\\\}")
_NUMPY = re.compile(r"\b(?:jnp|traceir\\\.numpy)\\\.")


@dataclass
class Runs:
    """Complaints about programs, hints by rows, and lines that made errors."""

    wrong: dict[str, str] = field(default_factory=dict)
    hints: set[tuple[str, str]] = field(default_factory=set)
    lines: set[tuple[str, int]] = field(default_factory=set)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """All programs, run with and without their hint."""
    found, folder = Runs(), tmp_path_factory.mktemp("programs")
    make: Any = vars(making)["make"]

    def noted(*args: Any) -> TraceirError:
        frame = sys._getframe(1)
        while "/traceir/rules/" in frame.f_code.co_filename and frame.f_back:
            frame = frame.f_back
        found.lines.add((frame.f_code.co_filename, frame.f_lineno))
        error: TraceirError = make(*args)
        return error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "make", noted)
        for one in hint_programs():
            error = one.told(folder)
            if told := complaint(one, error, one.given(folder)):
                found.wrong[one.place] = told
            found.hints.add((one.row, getattr(error, "hint", "")))
    for mistake in mistakes():
        hint = re.search(r"^  hint: (.*)$", mistake.says, re.MULTILINE)
        rule = re.search(r"^  \[([\w.-]+)\]$", mistake.says, re.MULTILINE)
        if hint and rule:
            found.hints.add((rule[1], hint[1]))
    yield found


def complaint(one: HintProgram, error: Any, then: Any) -> str:
    """The fault of a program and its hint; nothing if all is well."""
    if not isinstance(error, TraceirError) or error.rule != one.rule:
        return f"the program gave {error!r}"
    if not error.hint or one.applied == one.program:
        return "there is nothing to apply"
    if getattr(then, "rule", "") != one.then or one.then == one.rule:
        return f"with the hint {error.hint!r} it gave {then!r}"
    return "" if then is None or one.then else f"it gave {then!r}"


def test_hints_work(runs: Runs) -> None:
    assert runs.wrong == {}


def texts() -> dict[str, tuple[str, str]]:
    """Every hint of the tables: its row, with a number behind the first, and itself."""
    found = {}
    for row in rules.default().clauses.values():
        for k, hint in enumerate((row.hint, *(one.hint for one in row.hints))):
            if hint:
                found[f"{row.id} {k}" if k else row.id] = row.id, hint
    return found


def pattern(hint: str) -> str:
    """A pattern of a hint's text, to where it is spelled out for a function.

    >>> pattern("use `jnp.{1}`, or make the argument static")
    'use\\\\ `(?:jnp|np)\\\\..*`'
    """
    text = re.escape(_SPELLED.split(hint)[0])
    return _NUMPY.sub(r"(?:jnp|np)\\.", _GROUP.sub(".*", text))


def test_every_hint_of_the_tables_is_applied_or_has_a_test(runs: Runs) -> None:
    told: dict[str, list[str]] = {}
    for row, hint in runs.hints:
        told.setdefault(row, []).append(hint)
    unmet = {
        name
        for name, (row, hint) in texts().items()
        if not any(map(re.compile(pattern(hint)).search, told.get(row, ())))
    }
    assert unmet == set(APART)
    for test in APART.values():
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert f"\ndef {name}(" in text, test


def sites() -> dict[str, tuple[str, int, int]]:
    """Every hint in code: a name of the place, the file, its first and last line."""
    found = {}
    for path in sorted(ROOT.glob("traceir*/**/*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and any(
                one.arg == "hint" for one in call.keywords
            ):
                first, last = call.lineno, call.end_lineno or call.lineno
                found[f"{path.relative_to(ROOT)}:{first}"] = str(path), first, last
    return found


def test_every_hint_in_code_is_applied(runs: Runs) -> None:
    unmet = {
        place
        for place, (path, first, last) in sites().items()
        if not any(p == path and first <= n <= last for p, n in runs.lines)
    }
    assert unmet == set()
