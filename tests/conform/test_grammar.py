"""Sentences drawn from `spec/grammar.ebnf` are read; the grammar names what exists.

Rules: text.syntax
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceir.conform.casefiles.cases import STAGES, VERBS
from traceir.conform.casefiles.sessions import (
    FUNCTIONS,
    OBJECTS,
    TRANSFORMS,
    Function,
    SessionReader,
)
from traceir.errors import JaxprSyntaxError
from traceir.oracle.ebnf import Node, read_rules
from traceir.rules import default, spec_path
from traceir.text.lexer import SourceText
from traceir.text.reader import ProgramParser

# What the grammar spells by characters is drawn as a whole; what a line is, as lines.
LEXICAL: Mapping[str, tuple[str, ...]] = {
    "name": ("a", "b", "x1", "f", "_where", "été"),
    "dotted": ("a", "scatter-add", "numpy.sum"),
    "digits": ("0", "3", "17"),
    "number": ("1", "-2.5", "1e-7", "0x1.8p-3", "inf", "-nan", "True", "(1.0-2j)"),
    "payload": ("nan(0x7fc1)", "-nan(0xffc00001)"),
    "word": ("float32", "Precision.HIGH", "<lambda>"),
    "string": ("'k'", '"k"'),
    "verbatim": ("'x = {}'",),
    "id": ("add.numeric", "select_n.which-shape"),
    "newline": ("\n",),
    "deeper": ("",),
}
DEPTH = 7
RULES, WORDS = read_rules((spec_path() / "grammar.ebnf").read_text(encoding="utf-8"))


def draw(node: Node, random: Random, depth: int = 0) -> Iterator[str]:
    """The tokens of a sentence; groups are left out below a depth."""
    kind, parts = node
    match kind, parts:
        case "text", str():
            yield parts
        case "rule", str():
            yield from symbol(parts, random, depth)
        case "any", _:
            yield from draw(_node(random.choice(parts)), random, depth)
        case "all", _:
            for part in parts:
                yield from draw(_node(part), random, depth)
        case "maybe" | "many", _:
            most = 0 if depth > DEPTH else 1 if kind == "maybe" else 2
            for _ in range(random.randint(0, most)):
                yield from draw(_node(parts[0]), random, depth + 1)


def _node(part: Node | str) -> Node:
    assert not isinstance(part, str)
    return part


def symbol(name: str, random: Random, depth: int) -> Iterator[str]:
    """The tokens of a rule; the alternatives of a value end in a program, and deep down
    a number will do."""
    if name in ("value", "node") and depth > DEPTH:
        name = "number"
    if name == "opaque":  # is read, and refused
        name = "word"
    if name in LEXICAL:
        yield random.choice(LEXICAL[name])
    else:
        yield from draw(RULES[name], random, depth + 1)


def sentence(start: str, random: Random) -> str:
    """A sentence of one rule, its tokens apart."""
    return " ".join(symbol(start, random, 0))


@given(st.randoms(use_true_random=False))
def test_programs_of_the_grammar_are_read(random: Random) -> None:
    text = sentence("text", random)
    try:
        ProgramParser(SourceText(text)).module()
    except JaxprSyntaxError as error:
        # A name twice is for the reader to refuse; the grammar does not count.
        assert "not yet" in error.got, (text, str(error))


@given(st.randoms(use_true_random=False))
def test_steps_of_the_grammar_are_read(random: Random) -> None:
    text = sentence("step", random)
    program = ProgramParser(SourceText("{ lambda ; . let in () }")).program()
    names = {n: Function(n, program, None, {}, SourceText("")) for n in LEXICAL["name"]}
    reader = SessionReader(SourceText(text))
    try:
        reader.step(names)
    except JaxprSyntaxError as error:
        # Names and types of a traced program are not for the grammar, nor is what
        # the names in settings stand for.
        undefined = "what this case defines" in error.got
        known = undefined or error.rule == "text.literal"
        assert known or "gives" in text, (text, str(error))
    else:
        assert reader.peek().kind == "end", text


@given(st.randoms(use_true_random=False))
def test_definitions_of_the_grammar_are_read(random: Random) -> None:
    text = "f = " + sentence("definition", random)
    try:
        SessionReader(SourceText(text)).given()
    except JaxprSyntaxError as error:
        # How many arguments a function of another kind has is not for the grammar.
        counts = "the name of a function" in error.got
        assert counts or "not yet" in error.got or error.rule == "text.literal", text


def test_the_grammar_has_the_kinds_of_functions_and_objects() -> None:
    assert set(terminals(RULES["function"])) == FUNCTIONS
    assert set(terminals(RULES["made"])) == OBJECTS
    words = {t for t in terminals(RULES["transform"]) if t.isidentifier()}
    assert words == TRANSFORMS
    assert set(terminals(RULES["stage"])) == STAGES


@given(st.randoms(use_true_random=False))
def test_objects_of_the_grammar_are_read(random: Random) -> None:
    text = sentence("object", random)
    try:
        SessionReader(SourceText(text)).object()
    except JaxprSyntaxError as error:
        assert error.rule == "text.literal", (text, str(error))


def terminals(node: Node) -> Iterator[str]:
    """The quoted words of a rule."""
    kind, parts = node
    if kind == "text":
        yield str(parts)
    elif not isinstance(parts, str):
        for part in parts:
            yield from terminals(part)


def test_the_grammar_has_the_dtypes_of_the_lattice() -> None:
    shorts = {dtype.short for dtype in default().dtypes.values()}
    assert set(terminals(RULES["dtype"])) == shorts


def test_the_grammar_has_the_verbs_of_cases() -> None:
    words = {t for t in terminals(RULES["verb"]) if t.isalpha()}
    assert words - {"with"} == VERBS


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_of_the_grammar_is_used_and_defined(name: str) -> None:
    assert set(references(RULES[name])) <= RULES.keys()
    used = {r for node in RULES.values() for r in references(node)}
    assert name in used | {"text", "cases"}


def references(node: Node) -> Iterator[str]:
    """The names of rules in a rule."""
    kind, parts = node
    if kind == "rule":
        yield str(parts)
    elif not isinstance(parts, str):
        for part in parts:
            yield from references(part)
