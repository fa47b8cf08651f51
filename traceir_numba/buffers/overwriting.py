"""Kernels that write a new array over an old one, and which may."""

from __future__ import annotations

from dataclasses import replace

from traceir_numba.loops.nest import Access, LoadElement, LoopNest, map_accesses
from traceir_numba.loops.program import Launch


def may_overwrite(nest: LoopNest, old: int, new: int) -> bool:
    """True if `new` may have the memory of `old`, another buffer of the same shape.

    Each point then reads `old` only where it writes `new`, and no more in later passes.
    """
    if old in nest.written:
        return False
    read: list[tuple[int, Access]] = []
    stored: list[tuple[int, Access]] = []
    for number, one in enumerate(nest.passes):
        loads = [n.access for n in one.body if isinstance(n, LoadElement)]
        read += [(number, a) for a in loads if a.buffer == old]
        stored += [(number, s.access) for s in one.stores if s.access.buffer == new]
        ends = [n.access for n in one.epilogue if isinstance(n, LoadElement)]
        ends += [s.access for s in one.epilogue_stores]
        if any(access.buffer in (old, new) for access in ends):
            return False
    written = {replace(access, buffer=old) for _, access in stored}
    # Elements that lie together at a place are of one point, whichever they are.
    places = {replace(access, lane=0) for access in written}
    return (
        len(places) == 1
        and all(access in written for _, access in read)
        and max((k for k, _ in read), default=0) <= min(k for k, _ in stored)
    )


def overwritten(launch: Launch, old: int, new: int) -> Launch:
    """The launch that writes the new buffer into the memory of the old one."""
    gone = launch.buffers.index(new)
    if old not in launch.buffers:
        buffers = tuple(old if b == new else b for b in launch.buffers)
        return replace(launch, buffers=buffers)
    kept = launch.buffers.index(old)

    def number(k: int) -> int:
        k = kept if k == gone else k
        return k - 1 if k > gone else k

    nest = map_accesses(launch.nest, lambda a: replace(a, buffer=number(a.buffer)))
    rest = [k for k in range(len(launch.buffers)) if k != gone]
    pointers = launch.labels.pointers
    return replace(
        launch,
        nest=replace(nest, buffers=tuple(nest.buffers[k] for k in rest)),
        buffers=tuple(launch.buffers[k] for k in rest),
        labels=replace(launch.labels, pointers=tuple(pointers[k] for k in rest)),
    )
