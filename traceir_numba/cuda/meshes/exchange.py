"""Exchanges of memory by copies from one device to another.

A device that copies waits, in its stream, for what the others had to do before; they go
on when it has copied, since their memory may then be another's.
Serves: device.simulated
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ranks.groups import RankAxis
from traceir_numba.cuda.runtime import device, streams

# A piece that is copied: where it begins there, where here, and its length.
Move = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class PeerExchange:
    """The memory that a device gives to those along an axis, and takes from them.

    `moves` says which pieces of the memory go from one place along the axis to another;
    what a device takes has `length` elements, by its place.
    """

    axis: RankAxis
    number: int  # of the exchanges of a program, in which all devices agree
    memory: Any
    length: Callable[[int], int]
    moves: Callable[[int, int], Sequence[Move]]


def exchanged(
    requests: Sequence[PeerExchange],
    using: Sequence[Callable[[], AbstractContextManager[Any]]],
    events: streams.StreamQueues | streams.DriverStreams,
) -> list[Any]:
    """The memory that each device takes, of the devices along an axis in their order.

    `using` makes each of them the present device.
    """
    ready = []
    for here in using:
        with here():
            ready.append(events.record())
    taken, done = [], []
    for place, (request, here) in enumerate(zip(requests, using, strict=True)):
        with here():
            target = device.empty(request.length(place), request.memory.dtype.str)
            for other, source in enumerate(requests):
                moves = source.moves(other, place)
                if moves and other != place:
                    events.wait(ready[other])
                for start, at, length in moves:
                    part = source.memory[start : start + length]
                    device.copy(part, target[at : at + length])
            taken.append(target)
            done.append(events.record())
    for place, here in enumerate(using):
        with here():
            for other, event in enumerate(done):
                if other != place and requests[place].moves(place, other):
                    events.wait(event)
    return taken


def all_of(axis: RankAxis, number: int, memory: Any, size: int) -> PeerExchange:
    """All devices take the memory of all, in the order of the axis."""
    return PeerExchange(
        *(axis, number, memory, lambda place: axis.size * size),
        lambda source, target: [(0, source * size, size)] if size else [],
    )


def shares_of(
    axis: RankAxis, number: int, memory: Any, ends: Sequence[int]
) -> PeerExchange:
    """Each device takes its share of the memory of all, one after the other."""

    def moves(source: int, target: int) -> Sequence[Move]:
        start, end = ends[target], ends[target + 1]
        return [(start, source * (end - start), end - start)] if end > start else []

    def length(place: int) -> int:
        return axis.size * (ends[place + 1] - ends[place])

    return PeerExchange(axis, number, memory, length, moves)


def joined_shares(
    axis: RankAxis, number: int, memory: Any, ends: Sequence[int]
) -> PeerExchange:
    """All devices take the shares of all, which make up one array."""

    def moves(source: int, target: int) -> Sequence[Move]:
        size = ends[source + 1] - ends[source]
        return [(0, ends[source], size)] if size else []

    return PeerExchange(axis, number, memory, lambda place: ends[-1], moves)


def sent(
    axis: RankAxis, number: int, memory: Any, size: int, pairs: Mapping[int, int]
) -> PeerExchange:
    """Each device takes the memory of the one that `pairs` has for it."""

    def moves(source: int, target: int) -> Sequence[Move]:
        return [(0, 0, size)] if pairs.get(target) == source and size else []

    return PeerExchange(axis, number, memory, lambda place: size, moves)
