"""Rules of random keys: words, hashed with counters. Serves: random_*

Every element of a result is computed from its own place, so that random numbers are
made in the loop that uses them. In the older layout, too, an element is one word of one
hash: the one of the two that its place asks for.

A place is known in every loop, so nothing is kept between elements: a normal number is
one kernel from the key's two words to the result. What is expensive and the same for a
whole loop, as the words of a key that was split, is in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from traceir.ir.jaxpr import Atom, Eqn, Literal, Var
from traceir.rules.formulas.helpers import broadcast_shapes
from traceir_numba.emitters.decompositions import constant
from traceir_numba.emitters.kinds import PairRule, register
from traceir_numba.emitters.pairs.values import (
    Pair,
    PairedArray,
    PairRewriter,
    Value,
    rule,
)

Shape = tuple[int, ...]
WORD, LONG = np.dtype("uint32"), np.dtype("uint64")
CAST = "bitcast_convert_type"
BITS = 32
WORDS = 1 << BITS

for _name in ("random_seed", "random_wrap", "random_unwrap", "random_clone"):
    register(_name, PairRule())
for _name in ("random_split", "random_fold_in", "random_bits"):
    register(_name, PairRule())


@rule("random_seed")
def random_seed(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The bits of a number, as often as there is room for them; of fewer than 64, the
    first word is 0."""
    x = w.use(eqn.inputs[0])
    low, high = _converted(w, x, WORD), None
    if x.aval.dtype.itemsize == LONG.itemsize:
        shifted = w.bind("shift_right_logical", x, w.number(BITS, x))
        high = _converted(w, shifted, WORD)
    if _is_long(eqn.outputs[0]):
        # The first word has the lower bits of a number that is two of them.
        second = _converted(w, low, LONG)
        both = w.bind("shift_left", second, w.number(BITS, second))
        if high is not None:
            both = w.bind("or", both, _converted(w, high, LONG))
        return [Pair(both, both)]
    return [Pair(w.number(0, low) if high is None else high, low)]


def _is_long(keys: Atom) -> bool:
    """True for keys of four words."""
    return keys.aval.dtype.itemsize > LONG.itemsize


@rule("random_wrap")
def random_wrap(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Words that lie beside one another are keys."""
    words = w.use(eqn.inputs[0])
    assert isinstance(words, Var)  # a literal is one number
    if _is_long(eqn.outputs[0]):
        rows = words.aval.shape[:-1]
        pairs = w.bind("reshape", words, shape=(*rows, 2, 2))
        words = w.bind(CAST, pairs, shape=(*rows, 2), dtype=LONG, new_dtype=LONG)
    return [PairedArray(words)]


@rule("random_unwrap")
def random_unwrap(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The words of keys beside one another."""
    keys = eqn.inputs[0]
    words = w.whole(keys)
    if _is_long(keys):
        shape = (*keys.aval.shape, 2, 2)
        words = w.bind(CAST, words, shape=shape, dtype=WORD, new_dtype=WORD)
        words = w.bind("reshape", words, shape=(*shape[:-2], 4))
    return [words]


@rule("random_clone")
def random_clone(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The same keys."""
    whole = w.found_whole(eqn.inputs[0])
    return [Pair(*w.pair(eqn.inputs[0])) if whole is None else PairedArray(whole)]


@rule("random_fold_in")
def random_fold_in(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The hash of a number by each key."""
    keys, data = eqn.inputs
    return [Pair(*_hashed(w, w.pair(keys), _word(0), w.use(data)))]


@rule("random_split")
def random_split(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """A key for each element of the shape, of each key."""
    count = _Count(w, eqn)
    if count.partitionable:
        return [Pair(*count.hashed(*count.counter()))]
    # The words of the keys, one after the other, are the first words of all pairs of
    # counters and then the second ones.
    size = 2 * count.size
    first = w.bind("mul", count.numbers(), _word(2))
    second = w.bind("add", first, _word(1))
    return [Pair(*(count.word_of(number, size) for number in (first, second)))]


@rule("random_bits")
def random_bits(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """So many bits for each element of the shape, of each key."""
    count = _Count(w, eqn)
    width, dtype = int(eqn.param("bit_width")), eqn.outputs[0].aval.dtype
    if width > BITS:
        counter = count.counter() if count.partitionable else count.halves()
        return [_joined(w, count.words, *counter)]
    if count.partitionable:
        word: Atom = w.bind("xor", *count.hashed(*count.counter()))
    else:
        word = count.lane(width)
    return [_converted(w, word, dtype)]


class _Count:
    """The random bits of each key, element by element of a shape."""

    def __init__(self, w: PairRewriter, eqn: Eqn) -> None:
        self.w = w
        shape = eqn.param("shape")
        assert isinstance(shape, tuple)
        self.shape: Shape = shape
        self.size = prod(shape)
        self.partitionable = dict(eqn.params).get("partitionable", True)
        keys = eqn.inputs[0]
        self.rank = keys.aval.ndim
        self.all = (*keys.aval.shape, *shape)
        self.words = tuple(self.spread(word) for word in w.pair(keys))

    def spread(self, word: Atom) -> Atom:
        """A word of each key, for every element."""
        if not word.aval.shape:
            return word
        params = {"broadcast_dimensions": tuple(range(self.rank))}
        return self.w.bind("broadcast_in_dim", word, shape=self.all, **params)

    def numbers(self, dtype: np.dtype = WORD) -> Atom:
        """The number of each element in the order of memory."""
        found: Atom | None = None
        for k, extent in enumerate(self.shape):
            if extent == 1:
                continue
            apart = prod(self.shape[k + 1 :])
            one = self.along(self.rank + k, dtype)
            if apart != 1:
                one = self.w.bind("mul", one, self.w.number(apart, one))
            found = one if found is None else self.w.bind("add", found, one)
        return _word(0, dtype) if found is None else found

    def along(self, dimension: int, dtype: np.dtype) -> Atom:
        """The index along one dimension."""
        return self.w.bind("iota", shape=self.all, dtype=dtype, dimension=dimension)

    def counter(self) -> tuple[Atom, Atom]:
        """The two words of each element's number."""
        if self.size <= WORDS:
            return _word(0), self.numbers()
        long = self.numbers(LONG)
        high = self.w.bind("shift_right_logical", long, self.w.number(BITS, long))
        return _converted(self.w, high, WORD), _converted(self.w, long, WORD)

    def halves(self) -> tuple[Atom, Atom]:
        """Each element's number, and the one as many further as there are elements."""
        numbers = self.numbers()
        return numbers, self.w.bind("add", numbers, _word(self.size))

    def hashed(self, high: Atom, low: Atom) -> tuple[Atom, Atom]:
        """The hashes of counters by each key."""
        return _hashed(self.w, self.words, high, low)

    def word_of(self, number: Atom, size: int) -> Atom:
        """The word of that number among so many that the older layout makes.

        The numbers below `size` and, if they are odd many, a 0, are cut in the middle.
        Two counters below one another are hashed, and the first words of all stand
        before the second ones.
        """
        w, half = self.w, (size + 1) // 2
        is_first = w.bind("lt", number, _word(half))
        second = w.bind("sub", number, _word(half))
        low = w.bind("select_n", is_first, second, number)
        high = w.bind("add", low, _word(half))
        if size % 2:
            last = w.bind("eq", high, _word(size))
            high = w.bind("select_n", last, high, _word(0))
        words = self.hashed(low, high)
        return w.bind("select_n", is_first, words[1], words[0])

    def lane(self, width: int) -> Atom:
        """So many bits of a word, of which the first numbers have the lowest."""
        w, lanes = self.w, BITS // width
        size = (self.size + lanes - 1) // lanes
        numbers = self.numbers()
        if lanes == 1:
            return self.word_of(numbers, size)
        shift = w.bind("shift_right_logical", numbers, _word(lanes.bit_length() - 1))
        word = self.word_of(shift, size)
        lane = w.bind("and", numbers, _word(lanes - 1))
        by = w.bind("mul", lane, _word(width))
        return w.bind("shift_right_logical", word, by)


def _hashed(
    w: PairRewriter, key: Sequence[Atom], high: Atom, low: Atom
) -> tuple[Atom, Atom]:
    """The first and the second word of one evaluation."""
    both = _joined(w, key, high, low)
    first = w.bind("shift_right_logical", both, w.number(BITS, both))
    return _converted(w, first, WORD), _converted(w, both, WORD)


def _joined(w: PairRewriter, key: Sequence[Atom], high: Atom, low: Atom) -> Var:
    """Both words as one number, the first above the second."""
    operands = (*key, high, low)
    shape = broadcast_shapes(*(x.aval.shape for x in operands))
    return w.bind("threefry2x32", *operands, shape=shape, dtype=LONG, joined=True)


def _converted(w: PairRewriter, x: Atom, dtype: np.dtype) -> Atom:
    """A number of another integer dtype, modulo its size."""
    if x.aval.dtype == dtype:
        return x
    return w.bind("convert_element_type", x, dtype=dtype)


def _word(value: int, dtype: np.dtype = WORD) -> Literal:
    """A constant word."""
    return constant(value % WORDS, dtype)
