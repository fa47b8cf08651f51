"""Uses of keys: which keys are used, and which values hold them.

Serves: random.reuse
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass


class KeyRoot:
    """Keys that were made together: which are spent, and at which line the first was.

    >>> KeyRoot.of((3,)).spent
    array([False, False, False])
    """

    __slots__ = ("spent", "line")

    def __init__(self, spent: np.ndarray, line: str = "") -> None:
        self.spent = spent
        self.line = line

    @classmethod
    def of(cls, shape: Sequence[int]) -> KeyRoot:
        """New keys, none of which is spent."""
        return cls(np.zeros(tuple(shape), bool))


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """The keys that a value has: for each element its place in the root's, flat.

    A place below 0 is that of no key of the root; `places` are None where it is known
    only when the program runs which these are.
    """

    root: KeyRoot
    shape: tuple[int, ...]
    places: np.ndarray | None

    @classmethod
    def new(cls, shape: Sequence[int]) -> HeldKeys:
        """New keys.

        >>> HeldKeys.new((2,)).spent
        array([False, False])
        """
        return cls.all_of(KeyRoot.of(shape))

    @classmethod
    def all_of(cls, root: KeyRoot) -> HeldKeys:
        """The keys of a root as they are."""
        places = np.arange(root.spent.size).reshape(root.spent.shape)
        return cls(root, root.spent.shape, places)

    @property
    def spent(self) -> np.ndarray:
        """The keys of the value that are spent, or may be."""
        flat = self.root.spent.reshape(-1)
        if self.places is None:
            return np.full(self.shape, flat.any())
        found = np.zeros(self.shape, bool)
        known = self.places >= 0
        found[known] = flat[self.places[known]]
        return found

    def at(self, places: np.ndarray | None, shape: Sequence[int]) -> HeldKeys:
        """The keys of this value at some of its places, flat.

        >>> HeldKeys.new((3,)).at(np.array([2, -1]), (2,)).places
        array([ 2, -1])
        """
        if places is None or self.places is None:
            return HeldKeys(self.root, tuple(shape), None)
        own = np.append(self.places.reshape(-1), -1)
        found = np.asarray(own[np.maximum(places, -1)])
        return HeldKeys(self.root, tuple(shape), found)

    def spend(self, mask: np.ndarray | None = None, line: str = "") -> np.ndarray:
        """Count the keys, or those of a mask, as used; gives which of them were before.

        >>> keys = HeldKeys.new((2,))
        >>> keys.spend(np.array([True, False])), keys.spent, keys.spend()
        (array([False]), array([ True, False]), array([ True, False]))
        """
        wanted = np.ones(self.shape, bool) if mask is None else mask
        flat = self.root.spent.reshape(-1)
        if self.places is None:
            places = np.arange(flat.size if wanted.any() else 0)
        else:
            places = self.places[wanted]
            places = places[places >= 0]
        before = flat[places]
        flat[places] = True
        if places.size and not self.root.line:
            self.root.line = line
        return before

    def use(self, what: str, line: str, mask: np.ndarray | None = None) -> None:
        """Use the keys, or those of a mask, at a line.

        Raises KeyReuseError (random.reuse) if one has been used.
        """
        earlier = self.root.line
        if self.spend(mask, line).any():
            again = "in an earlier run of this line" if earlier == line else earlier
            got = f"`{what}` of a key that was used {_at(again)}"
            raise rules.error("random.reuse", got=got, where=line or None)


def _at(line: str) -> str:
    if not line:
        return "before"
    return line if line.startswith("in ") else f"at {line}"


@dataclass(frozen=True, slots=True)
class KeyUse:
    """The keys of a value that a program uses, the first of them at a line."""

    mask: np.ndarray
    line: str


@dataclass(frozen=True, slots=True)
class ResultKeys:
    """The keys that a result of a program has: those of an input, at some of its
    places, or new ones, of which some may be spent."""

    spent: np.ndarray
    line: str
    input: int | None = None
    places: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class KeyUses:
    """The key uses of a program: its inputs', its constants' and its results'."""

    inputs: tuple[KeyUse | None, ...]
    consts: tuple[tuple[np.ndarray, KeyUse], ...]
    outputs: tuple[ResultKeys | None, ...]
