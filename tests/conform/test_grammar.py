"""Sentences drawn from `spec/grammar.ebnf` are read; the grammar names what exists.

Rules: text.syntax
"""

from __future__ import annotations

import re
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
from traceir.rules import default, spec_path
from traceir.text.lexer import SourceText
from traceir.text.reader import ProgramParser

# A node is a terminal, the name of a rule, or a kind of group with its parts.
Node = str | tuple[str, tuple["Node", ...]]

# What the grammar spells by characters is drawn as a whole.
LEXICAL: Mapping[str, tuple[str, ...]] = {
    "name": ("a", "b", "x1", "f", "_where", "été"),
    "extent": ("0", "3", "17"),
    "number": ("1", "-2.5", "1e-7", "0x1.8p-3", "inf", "-nan", "True"),
    "hexadecimal": ("0x7fc1", "0xffc00001"),
    "word": ("float32", "Precision.HIGH", "<lambda>", "'a b'"),
    "string": ("'k'", '"k"'),
    "id": ("add.numeric", "select_n.which-shape"),
}
DEPTH = 7


class Grammar:
    """The rules of an EBNF text by name."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"\(\*.*?\*\)", " ", text, flags=re.DOTALL)
        self.tokens = re.findall(r'"[^"]*"|\'[^\']*\'|[\w-]+|[=;|,(){}\[\]]', text)
        self.tokens = [t for t in self.tokens if t != "-"]
        self.rules: dict[str, Node] = {}
        self.at = 0
        while self.at < len(self.tokens):
            name = self.take()
            assert self.take() == "=", name
            self.rules[name] = self.choice()
            assert self.take() == ";", name

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def choice(self) -> Node:
        parts = [self.sequence()]
        while self.tokens[self.at] == "|":
            self.take()
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else ("|", tuple(parts))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.tokens[self.at] not in ("|", ";", ")", "]", "}"):
            parts.append(self.item())
            if self.tokens[self.at] == ",":
                self.take()
        return ",", tuple(parts)

    def item(self) -> Node:
        token = self.take()
        if token not in ("(", "[", "{"):
            return token
        inner = self.choice()
        self.take()
        return token, (inner,)

    def draw(self, node: Node, random: Random, depth: int = 0) -> Iterator[str]:
        """The tokens of a sentence; groups are left out below a depth."""
        match node:
            case ("|", parts):
                yield from self.draw(random.choice(parts), random, depth)
            case (",", parts):
                for part in parts:
                    yield from self.draw(part, random, depth)
            case ("(", (inner,)):
                yield from self.draw(inner, random, depth)
            case ("[" | "{" as kind, (inner,)):
                most = 0 if depth > DEPTH else 1 if kind == "[" else 2
                for _ in range(random.randint(0, most)):
                    yield from self.draw(inner, random, depth + 1)
            case str():
                yield from self.symbol(node, random, depth)

    def symbol(self, name: str, random: Random, depth: int) -> Iterator[str]:
        if name[0] in "\"'":
            yield name[1:-1]
        elif name in LEXICAL:
            yield random.choice(LEXICAL[name])
        else:
            # The alternatives of a value end in a program; deep down, a word will do.
            if name == "value" and depth > DEPTH:
                name = "number"
                yield random.choice(LEXICAL[name])
                return
            yield from self.draw(self.rules[name], random, depth + 1)
            if name == "equation":
                yield "\n"


GRAMMAR = Grammar((spec_path() / "grammar.ebnf").read_text(encoding="utf-8"))


def sentence(start: str, random: Random) -> str:
    """A sentence of one rule, its tokens apart."""
    return " ".join(GRAMMAR.draw(start, random))


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
    assert set(terminals(GRAMMAR.rules["function"])) == FUNCTIONS
    assert set(terminals(GRAMMAR.rules["made"])) == OBJECTS
    words = {t for t in terminals(GRAMMAR.rules["transform"]) if t.isidentifier()}
    assert words == TRANSFORMS
    assert set(terminals(GRAMMAR.rules["stage"])) == STAGES


@given(st.randoms(use_true_random=False))
def test_objects_of_the_grammar_are_read(random: Random) -> None:
    text = sentence("object", random)
    try:
        SessionReader(SourceText(text)).object()
    except JaxprSyntaxError as error:
        assert error.rule == "text.literal", (text, str(error))


def terminals(node: Node) -> Iterator[str]:
    """The quoted words of a rule."""
    if isinstance(node, str):
        if node[0] in "\"'":
            yield node[1:-1]
    else:
        for part in node[1]:
            yield from terminals(part)


def test_the_grammar_has_the_dtypes_of_the_lattice() -> None:
    shorts = {dtype.short for dtype in default().dtypes.values()}
    assert set(terminals(GRAMMAR.rules["dtype"])) == shorts


def test_the_grammar_has_the_verbs_of_cases() -> None:
    words = {t for t in terminals(GRAMMAR.rules["verb"]) if t.isalpha()}
    assert words - {"with"} == VERBS


@pytest.mark.parametrize("name", sorted(GRAMMAR.rules))
def test_every_rule_of_the_grammar_is_used_and_defined(name: str) -> None:
    defined = GRAMMAR.rules.keys() | {"letter", "digit", "character", "hexdigits"}
    assert set(references(GRAMMAR.rules[name])) <= defined
    used = {r for node in GRAMMAR.rules.values() for r in references(node)}
    assert name in used | {"text", "cases"}


def references(node: Node) -> Iterator[str]:
    """The names of rules in a rule."""
    if isinstance(node, str):
        if node[0] not in "\"'":
            yield node
    else:
        for part in node[1]:
            yield from references(part)
