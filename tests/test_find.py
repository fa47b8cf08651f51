"""A word of the glossary leads a reader who searches to the function that decides."""

from __future__ import annotations

import re

import pytest
from drift.test_names import entries
from identifiers import Definition, definitions

# What a reader asks, by the term of the glossary that answers.
QUESTIONS = {
    "Where is a cache miss decided?": "cache miss",
    "Which equations are fused?": "fusion decision",
    "Where is an error's text made?": "error text",
    "What is the JVP of a primitive?": "jvp rule",
    "How is a primitive batched?": "batching rule",
    "Why was a function traced again?": "retrace reason",
    "Which buffer takes the memory of another?": "buffer reuse",
    "How is a kernel's work split among threads?": "thread split",
}


def hits(word: str) -> list[Definition]:
    """The results of a search for a word: definitions of the name, then sentences.

    That is what `git grep -nw 'def WORD'` and `git grep -niw '\"\"\".*WORD'` list, less
    the texts of whole modules.
    """
    found = [*definitions()]
    phrase = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    return [
        *(one for one in found if one.name == word),
        *(one for one in found if phrase.search(one.summary)),
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_word_leads_to_the_function_that_decides(question: str) -> None:
    fields = entries()[QUESTIONS[question]]
    word, place = (fields[f].strip("`") for f in ("Search for", "Place"))
    assert {f"{one.module}.{one.path}" for one in hits(word)} == {place}


def test_every_word_to_search_for_answers_a_question() -> None:
    asked = {term for term, fields in entries().items() if "Search for" in fields}
    assert asked == set(QUESTIONS.values())


def test_a_word_that_leads_to_several_places_is_found() -> None:
    assert len({one.module for one in hits("run")}) > 3
    assert hits("no such word") == []
