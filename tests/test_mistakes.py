"""Typical mistakes say what to write, and that works.

Rules: cache.flag.traceback_filtering

`typed_mistakes` says what the files are. What is noted there is what Python prints,
with the traceback.
"""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import pytest
from rule_errors import check_users_alone
from typed_mistakes import Mistake, mistakes

from traceir.errors import TraceirError

ALL = mistakes()


def test_there_are_many() -> None:
    assert len(ALL) >= 60
    faces = [one.name.partition("_")[0] for one in ALL]
    assert faces.count("plain") >= 30 and faces.count("jax") >= 30


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_what_a_mistake_says(one: Mistake, tmp_path: Path) -> None:
    told, error = one.told(tmp_path)
    assert told == one.says
    assert error is not None
    frames = traceback.extract_tb(error.__traceback__)
    assert 1 <= len(frames) <= 3
    assert {Path(frame.filename).parent for frame in frames} == {tmp_path}
    check_users_alone(error)
    assert len(str(error).splitlines()) < 10
    if isinstance(error, TraceirError):
        assert error.where.startswith(f"{tmp_path}/{one.name}.py:")
        assert error.hint, error.rule


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_the_hint_works(one: Mistake, tmp_path: Path) -> None:
    given, error = one.given(tmp_path)
    assert error is None, given
    assert given == one.gives


PLAIN_WORDS = re.compile(r"\bjnp\.|\blax\.|traceir\.numpy|\bsize=")


def test_a_plain_function_is_told_nothing_of_another_face() -> None:
    hints = {one.name: one.says for one in ALL if one.name.startswith("plain")}
    lines = {
        name: line
        for name, says in hints.items()
        for line in says.splitlines()
        if line.startswith("  hint: ")
    }
    assert len(lines) > 30
    assert {n: line for n, line in lines.items() if PLAIN_WORDS.search(line)} == {}
