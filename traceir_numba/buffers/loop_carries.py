"""Moves of a loop's carried values from one iteration to the next.

Scalars are assigned. An array's pointer takes the one of the memory that the body has
put the next value in, and that memory takes the old value's: they change places. If the
body reads an element no more once it has written the new one, there is one memory.

A body reads one memory of a carried array and writes another, which then change places,
or it writes each element over the one that it has just read. A row that is stacked is
written where it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from traceir.base.fast_dataclass import dataclass
from traceir_numba.buffers.overwriting import steps_over
from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import Assign, Buffer, Copy, Step

Source = int | ScalarConstant
Pair = tuple[int, Source]


@dataclass(frozen=True, slots=True)
class CarryMoves:
    """The body's steps with the moves at their end.

    `copied` are the carries that need memory of their own, in which they begin as a
    copy; the others only ever point to memory that nothing in the loop writes twice.
    """

    steps: tuple[Step, ...]
    copied: frozenset[int]


def moves_of(
    steps: Sequence[Step],
    next_: Mapping[int, Source],
    buffers: Sequence[Buffer],
    owned: Collection[int],
    stable: Collection[int],
    spare: Callable[[int], int],
) -> CarryMoves:
    """The moves that give carries their next values.

    `next_` gives for each carry what it becomes; `owned` are the pointers to memory
    that may change places, `stable` those to memory that lasts as long as the loop.
    `spare` gives memory for a carry's next value where that must be copied.
    """
    scalars = [(t, s) for t, s in next_.items() if buffers[t].role == "scalar"]
    arrays = {t: s for t, s in next_.items() if buffers[t].role != "scalar"}
    pointing = _pointing(arrays, stable)
    rotating: dict[int, int] = {}
    copies: list[Step] = []
    for target, source in arrays.items():
        assert isinstance(source, int)
        if target in pointing:
            continue
        fits = source in owned or source in arrays
        if not fits or source in rotating.values():
            copied = spare(target)
            copies.append(Copy(source, copied))
            source = copied
        rotating[target] = source
    body, rotating = _in_place((*steps, *copies), rotating, arrays, buffers)
    pairs = [(t, s) for t, s in arrays.items() if t in pointing and t != s]
    pairs += _rotation(rotating)
    done = frozenset(t for t in arrays if t not in pointing)
    tail = (Assign((*scalars, *pairs)),) if scalars or pairs else ()
    return CarryMoves((*body, *tail), done)


def _pointing(arrays: Mapping[int, Source], stable: Collection[int]) -> set[int]:
    """The carries whose memory outlasts the loop, or that become one another in the
    end.
    """
    found = {t for t, s in arrays.items() if s in stable or s == t}
    while True:
        more = {t for t, s in arrays.items() if s in found} - found
        if not more:
            return found
        found |= more


def _rotation(rotating: Mapping[int, int]) -> list[Pair]:
    """Pointers that change places: each one's old memory goes to one that has none."""
    pairs: list[Pair] = [(t, s) for t, s in rotating.items() if t != s]
    target_of = {s: t for t, s in rotating.items()}
    for source in rotating.values():
        if source not in rotating:
            last = target_of[source]
            while last in target_of:
                last = target_of[last]
            pairs.append((source, last))
    return pairs


# -- one memory for the old and the new value -----------------------------------------


def _in_place(
    steps: tuple[Step, ...],
    rotating: dict[int, int],
    arrays: Mapping[int, Source],
    buffers: Sequence[Buffer],
) -> tuple[tuple[Step, ...], dict[int, int]]:
    """The steps with next values written over old ones where that is allowed: over that
    of the carry itself, or of another one that goes on as nothing.
    """
    left = dict(rotating)
    for carry, new in rotating.items():
        if new in rotating or [*arrays.values()].count(new) > (arrays[carry] == new):
            continue
        free = [t for t in rotating if t not in (*arrays.values(), *left.values())]
        for old in sorted(free, key=lambda t: t != carry):
            made = steps_over(steps, old, new) if _alike(buffers, old, new) else None
            if made is not None:
                steps, left[carry] = made, old
                break
    return steps, left


def _alike(buffers: Sequence[Buffer], one: int, other: int) -> bool:
    a, b = buffers[one], buffers[other]
    return (a.shape, a.dtype) == (b.shape, b.dtype)
