"""Tests of accuracy sets by their farthest members and the numbers next to them."""

from __future__ import annotations

from mutation import members


def test_sets_have_the_members_that_the_chapter_says() -> None:
    assert members.wrong() == []


def test_every_set_has_examples() -> None:
    named = {example.name for example in members.examples()}
    assert named == members.accuracy.SETS.keys()
