"""Programs that also tell if an index was out of bounds. Serves: index.bounds

A trace of a plain function notes the places that it indexes by. The program that runs
has one result more, whether any of them was outside; where it was, the places are
computed anew to tell which.

Places that interval arithmetic proves to be inside are dropped
(`face.arrays.integer_ranges`). An entry has both programs, and every other use of it,
such as a derivative, takes the one without checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source, user_frame_summary
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr
from traceir.reference import interpreter


@dataclass(frozen=True, eq=False, slots=True)
class PlaceCheck:
    """Places in one dimension, and the user's line; without an extent, a flag that is
    set where a rule was broken, or one of those of an inner program."""

    places: Atom
    least: int
    extent: int | None
    axis: int
    source: Source | None
    rule: str = "index.bounds"
    got: str = ""
    inner: tuple[PlaceCheck, ...] = ()

    def leaves(self) -> Iterator[PlaceCheck]:
        """The checks of inner programs whose flag this is; itself, if it is of none."""
        if not self.inner:
            yield self
        for one in self.inner:
            yield from one.leaves()


@dataclass(frozen=True, eq=False, slots=True)
class BoundsChecks:
    """The checks of a trace: the program with them, whose last result tells if any
    place is outside."""

    closed: ClosedJaxpr
    checks: tuple[PlaceCheck, ...]

    def error(self, arrays: Sequence[np.ndarray]) -> Exception:
        """The error of the first check that fails: by default IndexError
        (index.bounds) of a place outside."""
        jaxpr = self.closed.jaxpr
        first, got = self.checks[0], ""
        if not calls_host(jaxpr):
            atoms = tuple(check.places for check in self.checks)
            places = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.eqns, atoms)
            made = interpreter.compile(
                ClosedJaxpr(places, self.closed.consts), "places"
            )
            for check, value in zip(self.checks, made.run(*arrays), strict=True):
                found = outside(check, value)
                if found is not None:
                    first, got = check, found
                    break
        return _broken(first, got)


def _broken(check: PlaceCheck, got: str) -> Exception:
    """The error of a check that failed; of an inner program that of its first one."""
    leaves = list(check.leaves())
    lines = dict.fromkeys(leaf.source for leaf in leaves)
    source = leaves[0].source if len(lines) == 1 else check.source
    where = None if source is None else user_frame_summary(source)
    got = leaves[0].got or got or "a place outside"
    return rules.error(leaves[0].rule, got=got, where=where)


def outside(check: PlaceCheck, value: np.ndarray) -> str | None:
    """A message about the first index that is out of bounds, or None."""
    if check.extent is None:
        return "a place outside, in a function that is called here" if value else None
    flat = np.ravel(value)
    bad = flat[(flat < check.least) | (flat >= check.extent)]
    if not bad.size:
        return None
    return f"place {bad[0]} in dimension {check.axis} of extent {check.extent}"


class BoundsCheckedExecutable:
    """An executable whose last result tells whether a place was outside.

    `run` raises IndexError (index.bounds) where one was, and gives the other results.
    """

    def __init__(self, inner: Any, bounds: BoundsChecks) -> None:
        self._inner = inner
        program = inner.run

        def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            found: tuple[np.ndarray, ...] = program(*arrays)
            if found[-1]:
                raise bounds.error(arrays)
            return found[:-1]

        self.run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
