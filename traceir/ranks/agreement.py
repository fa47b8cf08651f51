"""The same program on all processes, found before any data moves.

Serves: process.programs
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from traceir import rules
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ranks.groups import axes_within
from traceir.ranks.transport import Transport, transport


class AgreedExecutable:
    """An executable with collectives of processes, which all of them must call.

    The first call compares the texts of the programs, and their types with them.
    """

    def __init__(self, inner: Any, closed: ClosedJaxpr) -> None:
        self._inner = inner
        program, jaxpr = inner.run, closed.jaxpr
        text = str(closed)

        def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            way = transport()
            if not way.knows(text):
                types = ", ".join(v.aval.str_short() for v in jaxpr.invars)
                agree(way, text, f"{jaxpr.debug_name}({types})")
                way.prepare(text, axes_within(jaxpr))
            with way.calling(text):
                found: tuple[np.ndarray, ...] = program(*arrays)
            return found

        self.run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def agreed(inner: Any, closed: ClosedJaxpr) -> Any:
    """An executable that all processes call, if its program has such collectives."""
    if not axes_within(closed.jaxpr):
        return inner
    return AgreedExecutable(inner, closed)


def agree(way: Transport, text: str, shown: str) -> None:
    """Raise RuntimeError (process.programs) on all processes unless they say the same.

    `shown` is what the error has of each of them.
    """
    digest = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)
    every = np.empty((way.control.Get_size(), len(digest)), np.uint8)
    what = f"the first call of {shown}"
    way.wait(what, way.control.Allgather, [digest, way.mpi.BYTE], [every, way.mpi.BYTE])
    if (every == every[0]).all():
        return
    told = way.wait(what, way.control.allgather, shown)
    if len(set(told)) == 1:
        told = [f"{one} with digest {row[:4].tobytes().hex()}"
                for one, row in zip(told, every)]  # fmt: skip
    groups: dict[str, list[int]] = {}
    for rank, one in enumerate(told):
        groups.setdefault(one, []).append(rank)
    listed = [f"{', '.join(map(str, who))}: {one}" for one, who in groups.items()]
    raise rules.error("process.programs", got="processes " + "; ".join(listed))
