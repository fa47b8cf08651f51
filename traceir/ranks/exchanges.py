"""Collectives on the memory of arrays, by MPI.

Each takes and gives arrays of NumPy. Memory in the order of C is sent as it is; no sum
is MPI's own, whose order is free: terms are gathered, and added in the order of the
processes. Serves: psum, pmax, pmin, all_gather, reduce_scatter, ppermute, all_to_all
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from traceir.ranks.agreement import agree
from traceir.ranks.groups import RankAxis
from traceir.ranks.transport import Transport, transport

# A fold of the first dimension.
Fold = Callable[[np.ndarray], np.ndarray]
Pairs = Sequence[tuple[int, int]]


def gathered(x: np.ndarray, axis: RankAxis, what: str = "all_gather") -> np.ndarray:
    """The arrays of all processes, along a new first dimension."""
    way, x = transport(), _sendable(x)
    found = np.empty((axis.size, *x.shape), x.dtype)
    if x.nbytes:
        comm = _communicator(way, axis, what, x)
        sent, got = _buffer(way, x), _buffer(way, found)
        got = [got[0], x.size, got[2]]
        way.wait(what, comm.Allgather, sent, got)
    return found


def exchanged(x: np.ndarray, axis: RankAxis, what: str = "all_to_all") -> np.ndarray:
    """Of each process its part for this one: parts lie along the first dimension."""
    way, x = transport(), _sendable(x)
    found = np.empty_like(x)
    if x.nbytes:
        comm = _communicator(way, axis, what, x)
        sent, got = _buffer(way, x), _buffer(way, found)
        sent[1] = got[1] = x.size // axis.size
        way.wait(what, comm.Alltoall, sent, got)
    return found


def folded(x: np.ndarray, axis: RankAxis, fold: Fold, what: str) -> np.ndarray:
    """The fold over all processes and the first dimension: the process is slower.

    Each process folds its share of the elements, and all get the shares of all: twice
    the array goes out of each process and into it, however many there are.
    """
    way, count = transport(), axis.size
    comm = _communicator(way, axis, what, x)
    rows, shape = x.shape[0], x.shape[1:]
    flat = _sendable(x).reshape(rows, -1)
    ends = [flat.shape[1] * k // count for k in range(count + 1)]
    sizes = [b - a for a, b in pairwise(ends)]
    own = sizes[axis.place]
    sent = flat
    if rows > 1:
        cut = [flat[:, a:b].reshape(-1) for a, b in pairwise(ends)]
        sent = np.concatenate(cut)
    terms = np.empty((count * rows, own), x.dtype)
    out = [_buffer(way, sent)[0], [n * rows for n in sizes], _kind(way, x)]
    got = [_buffer(way, terms)[0], [own * rows] * count, _kind(way, x)]
    way.wait(what, comm.Alltoallv, out, got)
    share = _sendable(fold(terms))
    whole = np.empty(flat.shape[1], x.dtype)
    out = [_buffer(way, share)[0], own, _kind(way, x)]
    got = [_buffer(way, whole)[0], sizes, _kind(way, x)]
    way.wait(what, comm.Allgatherv, out, got)
    return whole.reshape(shape)


def permuted(x: np.ndarray, axis: RankAxis, pairs: Pairs) -> np.ndarray:
    """The array that a pair of this process sends to it; zeros if there is none."""
    way, x, own = transport(), _sendable(x), axis.place
    comm = _communicator(way, axis, f"ppermute{tuple(pairs)}", x)
    source = next((s for s, t in pairs if t == own), None)
    targets = [t for s, t in pairs if s == own]
    if source == own:
        return x.copy()
    found = np.zeros_like(x) if source is None else np.empty_like(x)
    if not x.nbytes:
        return found
    requests = [comm.Isend(_buffer(way, x), t) for t in targets if t != own]
    if source is not None:
        requests.append(comm.Irecv(_buffer(way, found), source))
    way.wait("ppermute", way.mpi.Request.Waitall, requests)
    return found


def _communicator(way: Transport, axis: RankAxis, what: str, x: np.ndarray) -> Any:
    """The communicator of a collective; outside of programs processes agree on it."""
    if not way.program:
        shown = f"{what}({x.dtype.name}{list(x.shape)} over {axis!r})"
        if way.is_new(shown):
            agree(way, shown, shown)
    return way.communicator(axis)


def _sendable(x: np.ndarray) -> np.ndarray:
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def _kind(way: Transport, x: np.ndarray) -> Any:
    """MPI's type of an element: of its bytes, whatever they mean."""
    mpi = way.mpi
    known = {1: mpi.BYTE, 2: mpi.INT16_T, 4: mpi.INT32_T, 8: mpi.INT64_T}
    return known.get(x.itemsize, mpi.C_DOUBLE_COMPLEX)


def _buffer(way: Transport, x: np.ndarray) -> list[Any]:
    """The memory of an array as MPI takes it: where it is, how much, and of what."""
    return [x.reshape(-1).view(np.uint8).data, x.size, _kind(way, x)]
