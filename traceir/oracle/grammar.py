"""Texts parsed by a grammar that is read as data. Serves: text.syntax

Nothing is known here of what is parsed: the grammar alone says what is a sentence. A
parser tries the alternatives in their order, and takes another where the text does not
go on; what a rule gives at a place is found once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Final

from traceir.base.fast_dataclass import dataclass
from traceir.oracle.ebnf import Node, read_rules

Parts = tuple["Tree | str", ...]
# From a place of a text, and that where the rule began: each place where an expression
# can end, in the order in which they are tried, with what was read.
Reader = Callable[["Parsed", int, int], Iterator[tuple[int, Parts]]]
# Whether an expression can begin at a place of a text.
Begin = Callable[[str, int], object]

# The special sequences that are characters, as regular expressions.
CHARACTERS: Final[Mapping[str, str]] = {
    "a letter of Unicode": r"[^\W\d_]",
    "a digit from 0 to 9": "[0-9]",
    "any character but the end of a line": r"[^\n]",
    "all up to a space and `has_placeholders=`": r"(?s:.*?)(?=\s+has_placeholders=)",
}
NEWLINE: Final = "the next word begins a line"
DEEPER: Final = "no line begins within the equation, or one to the right of it"


class NoSentence(Exception):
    """A text is no sentence of a grammar; it goes on to the place `at`."""

    def __init__(self, at: int) -> None:
        super().__init__(f"no sentence: it goes on to character {at}")
        self.at = at


@dataclass(frozen=True, slots=True)
class Tree:
    """The tree of a rule: its terminals and the trees of the rules in it.

    A word has its text as its one part. It begins at the character `at`.
    """

    rule: str
    parts: Parts
    at: int

    def all(self, *rules: str) -> list[Tree]:
        """The parts that are of these rules."""
        return [p for p in self.parts if isinstance(p, Tree) and p.rule in rules]

    def one(self, *rules: str) -> Tree | None:
        """The first part that is of these rules, or None."""
        return next(iter(self.all(*rules)), None)

    @property
    def text(self) -> str:
        """The text of a word."""
        (found,) = self.parts
        return found if isinstance(found, str) else found.text


class Grammar:
    """A grammar, and parsers of its rules.

    >>> grammar = Grammar('list = "(" { word } ")" ; (* Words. *) word = "a" | "ab" ;')
    >>> [word.text for word in grammar.parse("list", "( ab a)").all("word")]
    ['ab', 'a']
    """

    def __init__(self, text: str) -> None:
        self.rules, self.words = read_rules(text)
        self.readers: dict[str, Reader] = {}
        self.begins: dict[Node, Begin | None] = {}

    def parse(self, rule: str, text: str) -> Tree:
        """The tree of a whole text; raises NoSentence if it is none."""
        parsed = Parsed(text)
        begin = len(text) - len(text.lstrip())
        for end, (tree,) in self.rule(rule)(parsed, begin, begin):
            if end == len(text):
                assert isinstance(tree, Tree)
                return tree
        raise NoSentence(parsed.furthest)

    def pattern(self, node: Node) -> str:
        """The regular expression of a word, or of a part of one."""
        match node:
            case ("text", str() as text):
                return re.escape(text)
            case ("special", str() as text):
                return CHARACTERS[text]
            case ("rule", str() as name):
                return self.pattern(self.rules[name])
            case ("but", (left, right)):
                return f"(?!{self.pattern(right)}){self.pattern(left)}"
        kind, parts = node
        inner = [self.pattern(part) for part in parts if not isinstance(part, str)]
        if kind == "any":
            return f"(?:{'|'.join(inner)})"
        return f"(?:{''.join(inner)}){ {'maybe': '?', 'many': '*'}.get(kind, '') }"

    def rule(self, name: str) -> Reader:
        """The reader of a rule."""
        if name not in self.readers:
            node = self.rules[name]
            if node[1] in _LINES:  # of the rule in which its name stands
                self.readers[name] = self.reader(node)
            elif name in self.words:
                self.readers[name] = _Word(name, self.pattern(node))
            else:
                kept = name in self.within(node, set())
                self.readers[name] = _ruled(name, kept, lambda: self.reader(node))
        return self.readers[name]

    def within(self, node: Node, found: set[str]) -> set[str]:
        """The rules that an expression leads to."""
        kind, parts = node
        if kind == "rule" and parts not in found:
            found.add(str(parts))
            self.within(self.rules[str(parts)], found)
        elif not isinstance(parts, str):
            for part in parts:
                self.within(part, found)
        return found

    def reader(self, node: Node) -> Reader:
        """The reader of an expression."""
        match node:
            case ("text", str() as text):
                return _Word("", re.escape(text))
            case ("special", str() as text):
                return _LINES[text]
            case ("rule", str() as name):
                return self.rule(name)
        kind, parts = node
        nodes = [part for part in parts if not isinstance(part, str)]
        begins = [self.begin(part) for part in nodes]
        return _READERS[kind](list(map(self.reader, nodes)), begins)

    def begin(self, node: Node) -> Begin | None:
        """A match of the beginning of an expression, None if it can be empty."""
        if node not in self.begins:
            self.begins[node] = None  # what is within itself may begin with anything
            found = self.first(node)
            self.begins[node] = re.compile(found).match if found else None
        return self.begins[node]

    def first(self, node: Node) -> str | None:
        """The regular expression of first characters, None if there may be none."""
        match node:
            case ("text", str() as text):
                return re.escape(text[0])
            case ("special", str() as text):
                return None
            case ("rule", str() as name):
                if name not in self.words:
                    return self.first(self.rules[name])
                word = self.pattern(self.rules[name])
                return None if re.fullmatch(word, "") else word
            case ("any", parts):
                return _either([self.first(p) for p in parts if not isinstance(p, str)])
            case ("all", parts):
                firsts: list[str | None] = []
                for part in parts:
                    assert not isinstance(part, str)
                    if part[0] in ("many", "maybe"):  # or what follows
                        inner = part[1][0]
                        assert not isinstance(inner, str)
                        firsts.append(self.first(inner))
                    elif part[0] != "rule" or self.rules[str(part[1])][1] not in _LINES:
                        return _either([*firsts, self.first(part)])
        return None


def _either(patterns: Sequence[str | None]) -> str | None:
    known = [pattern for pattern in patterns if pattern]
    return f"(?:{'|'.join(known)})" if len(known) == len(patterns) else None


class Parsed:
    """A text being parsed: what was found in it, and how far it was read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.furthest = 0
        self.found: dict[tuple[str, int], _Ends] = {}

    def line(self, at: int) -> int:
        """The place where the line of a place begins."""
        return self.text.rfind("\n", 0, at) + 1


class _Ends:
    """The ends of a rule at a place, found when they are first asked for."""

    __slots__ = ("known", "rest")

    def __init__(self, rest: Iterator[tuple[int, Parts]]) -> None:
        self.known: list[tuple[int, Parts]] = []
        self.rest = rest

    def __iter__(self) -> Iterator[tuple[int, Parts]]:
        for k in count():
            if k == len(self.known):
                found = next(self.rest, None)
                if found is None:
                    return
                self.known.append(found)
            yield self.known[k]


class _Word:
    """A terminal, or a word that is a rule, and the space after it.

    No letter follows one that ends in a letter.
    """

    def __init__(self, name: str, pattern: str) -> None:
        self.name = name
        self.match = re.compile(rf"({pattern})(?!(?<=\w)\w)\s*").match

    def once(self, parsed: Parsed, at: int) -> tuple[int, Parts] | None:
        """The one place where it ends, None if it does not stand here."""
        found = self.match(parsed.text, at)
        if found is not None:
            text = found[1]
            return found.end(), (Tree(self.name, (text,), at) if self.name else text,)
        if at > parsed.furthest:
            parsed.furthest = at
        return None

    def __call__(self, parsed: Parsed, at: int, _: int) -> Iterator[tuple[int, Parts]]:
        if (found := self.once(parsed, at)) is not None:
            yield found


def _ruled(name: str, kept: bool, make: Callable[[], Reader]) -> Reader:
    """A rule; what one gives that can be within itself is kept."""
    made: list[Reader] = []

    def trees(parsed: Parsed, at: int, _: int) -> Iterator[tuple[int, Parts]]:
        if not made:
            made.append(make())
        for end, parts in made[0](parsed, at, at):
            yield end, (Tree(name, parts, at),)

    def read(parsed: Parsed, at: int, _: int) -> Iterator[tuple[int, Parts]]:
        key = name, at
        if key not in parsed.found:
            parsed.found[key] = _Ends(trees(parsed, at, at))
        return iter(parsed.found[key])

    return read if kept else trees


def _any(readers: Sequence[Reader], begins: Sequence[Begin | None]) -> Reader:
    pairs = list(zip(readers, begins))

    def read(parsed: Parsed, at: int, start: int) -> Iterator[tuple[int, Parts]]:
        for reader, begin in pairs:
            if begin is None or begin(parsed.text, at):
                yield from reader(parsed, at, start)
        if at > parsed.furthest:
            parsed.furthest = at

    return read


def _all(readers: Sequence[Reader], _: Sequence[Begin | None]) -> Reader:
    """One after the other; where one cannot go on, that before it is read otherwise."""
    last = len(readers) - 1
    words = [r.once if isinstance(r, _Word) else None for r in readers]

    def read(parsed: Parsed, at: int, start: int) -> Iterator[tuple[int, Parts]]:
        # Of each that is no word: its number, the ends that are left, what it follows.
        open_: list[tuple[int, Iterator[tuple[int, Parts]], Parts]] = []
        k, parts = 0, tuple[Tree | str, ...]()
        while True:
            while k <= last and (word := words[k]) is not None:
                found = word(parsed, at)
                if found is None:
                    break
                k, at, parts = k + 1, found[0], parts + found[1]
            else:
                if k > last:
                    yield at, parts
                else:
                    open_.append((k, readers[k](parsed, at, start), parts))
            while open_:
                k, ends, parts = open_[-1]
                found = next(ends, None)
                if found is not None:
                    k, at, parts = k + 1, found[0], parts + found[1]
                    break
                open_.pop()
            else:
                return

    return read


def _maybe(readers: Sequence[Reader], begins: Sequence[Begin | None]) -> Reader:
    [reader], [begin] = readers, begins

    def read(parsed: Parsed, at: int, start: int) -> Iterator[tuple[int, Parts]]:
        if begin is None or begin(parsed.text, at):
            yield from reader(parsed, at, start)
        yield at, ()

    return read


def _many(readers: Sequence[Reader], begins: Sequence[Begin | None]) -> Reader:
    """Repetitions, as many as there can be first; each is of some characters."""
    [reader], [begin] = readers, begins

    def read(parsed: Parsed, at: int, start: int) -> Iterator[tuple[int, Parts]]:
        if begin is not None and not begin(parsed.text, at):
            yield at, ()
            return
        open_ = [reader(parsed, at, start)]
        ends, parts = [at], list[Parts]()
        while open_:
            found = next(open_[-1], None)
            if found is None:
                open_.pop()
                yield ends.pop(), tuple(chain.from_iterable(parts))
                if parts:
                    parts.pop()
            elif found[0] > ends[-1]:
                ends.append(found[0])
                parts.append(found[1])
                open_.append(reader(parsed, found[0], start))

    return read


def _begins_line(parsed: Parsed, at: int) -> bool:
    line = parsed.line(at)
    return line > 0 and not parsed.text[line:at].strip()


def _newline(parsed: Parsed, at: int, _: int) -> Iterator[tuple[int, Parts]]:
    if _begins_line(parsed, at):
        yield at, ()


def _deeper(parsed: Parsed, at: int, start: int) -> Iterator[tuple[int, Parts]]:
    column = start - parsed.line(start)
    if at == start or not _begins_line(parsed, at) or at - parsed.line(at) > column:
        yield at, ()


_LINES: Final[Mapping[object, Reader]] = {NEWLINE: _newline, DEEPER: _deeper}
_READERS: Final[
    Mapping[str, Callable[[Sequence[Reader], Sequence[Begin | None]], Reader]]
] = {"any": _any, "all": _all, "maybe": _maybe, "many": _many}
