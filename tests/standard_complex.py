"""The Array API standard on special complex operands, as data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import standard
from data_lines import data_lines

Turn = Callable[[complex], complex]
# All parts of operands that are tried.
PARTS = standard.CLASSES["any"]
GRID = tuple(complex(a, b) for a, b in product(PARTS, PARTS))


@dataclass(frozen=True, slots=True)
class Relation:
    """A function of which all holds that holds of another: f(there(z)) = back(g(z))."""

    name: str
    there: Turn
    undo: Turn

    def after(self, other: Relation) -> Relation:
        """This one of a function of which the other holds."""
        return Relation(
            self.name,
            lambda z: self.there(other.there(z)),
            lambda w: other.undo(self.undo(w)),
        )


@dataclass(frozen=True, slots=True)
class Special:
    """A statement about a function whose operand's parts are of two classes."""

    name: str
    operand: tuple[str, str]
    result: tuple[str, str]

    def points(self) -> Iterator[complex]:
        """The operands that are meant."""
        for a, b in product(*map(standard.numbers, self.operand)):
            yield complex(a, b)

    def admits(self, got: complex, z: complex, error: float) -> bool:
        """True if it is the result for this operand, but for a relative error."""
        xs = (z.real, z.imag)
        return all(
            any(_is(part, word, xs, error) for word in words.split("|"))
            for part, words in zip((got.real, got.imag), self.result, strict=True)
        )


def _is(got: float, word: str, xs: tuple[float, float], error: float) -> bool:
    zero, _, name = word.rpartition("*")
    if name not in ("cos", "sin"):
        return standard.is_said(got, word, xs, error)
    sign = math.copysign(1, getattr(math, name)(xs[1]))
    size = 0.0 if zero else math.inf
    return abs(got) == size and math.copysign(1, got) == sign


def times_i(z: complex) -> complex:
    """i z: the parts exchanged, and the sign of one changed.

    >>> times_i(complex(-0.0, math.inf))
    (-inf-0j)
    """
    return complex(-z.imag, z.real)


def over_i(z: complex) -> complex:
    """-i z.

    >>> over_i(times_i(1 + 2j))
    (1+2j)
    """
    return complex(z.imag, -z.real)


def same(z: complex) -> complex:
    """The number itself."""
    return z


def _conjugate(z: complex) -> complex:
    return z.conjugate()


def _opposite(z: complex) -> complex:
    return complex(-z.real, -z.imag)


MIRRORS = {
    "conj": (_conjugate, _conjugate),
    "odd": (_opposite, _opposite),
    "even": (_opposite, same),
}


def _derived(words: list[str]) -> tuple[str, Turn, Turn]:
    """The function of which another is made, and how."""
    match words:
        case ["turned", name]:
            return name, over_i, times_i
        case ["turned-even", name]:
            return name, over_i, same
        case ["log", base]:
            factor = math.log(float(base))
            return "log", same, lambda w: complex(w.real * factor, w.imag * factor)
    raise AssertionError(words)


@cache
def _said() -> tuple[dict[str, list[str]], list[Special]]:
    """The symmetries of functions, those made of others, and the special cases."""
    made: dict[str, list[str]] = {}
    cases = []
    for line in data_lines(standard.FOLDER / "complex.txt"):
        name, *words = line.split()
        if words[0] == "is":
            made[name] = words[1:]
        else:
            a, b, re, im = words
            cases.append(Special(name, (a, b), (re, im)))
    return made, cases


def specials() -> list[Special]:
    """All special cases, as they are written."""
    return _said()[1]


def mirrors(name: str) -> list[Relation]:
    """The symmetries of the function."""
    words = _said()[0].get(name, [])
    found = [Relation(name, same, same)]
    for word in words:
        if word in MIRRORS:
            there, undo = MIRRORS[word]
            image = Relation(name, there, undo)
            found += [image.after(other) for other in found]
    return found


def relations(name: str) -> list[Relation]:
    """All functions of which what is said of this one holds, with its mirror images."""
    found = mirrors(name)
    for other, words in _said()[0].items():
        if words[0] in MIRRORS:
            continue
        base, there, undo = _derived(words)
        if base == name:
            turned = Relation(other, there, undo)
            found += [turned.after(image) for image in mirrors(name)]
    return found


def names() -> list[str]:
    """The functions of which something is said."""
    found = {relation.name for case in specials() for relation in relations(case.name)}
    return sorted(found)
