"""Random compositions of transforms over random programs.

A function here takes arrays and returns a list of arrays, so that any transform can
follow any other. Serves: derive.*, vmap.*
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from traceir.conform.drawing.programs import programs
from traceir.conform.drawing.steps import (
    FORWARD,
    LOOPS,
    REVERSE,
    STEPS,
    Fun,
    StepContext,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, subjaxprs

MOST_STEPS = 4


@dataclass(frozen=True)
class Chain:
    """A program, its steps, the first one innermost, and a numbering of choices.

    `axes` has a number for each choice of a step: which arguments `vmap` maps, where.
    """

    program: ClosedJaxpr
    steps: tuple[str, ...]
    axes: tuple[int, ...]

    def function(self, api: Any, program: Fun) -> Fun:
        """The transformed function, by the transforms of a package."""
        return self.built(api, program)[0]

    def avals(self, api: Any, program: Fun) -> list[ShapedArray]:
        """The types of its arguments."""
        return self.built(api, program)[1]

    def built(self, api: Any, program: Fun) -> tuple[Fun, list[ShapedArray]]:
        """The function and the types of its arguments."""
        fun, avals = program, list(self.program.in_avals)
        turns = cycle(self.axes)
        for k, step in enumerate(self.steps):
            batches = [n for n, s in enumerate(self.steps) if s == "vmap" and n >= k]
            names = tuple(f"axis{n}" for n in batches)
            fun, avals = STEPS[step](StepContext(api, names, turns), fun, avals)
        return fun, avals


@st.composite
def chains(draw: DrawFn, size: int = 4, without: frozenset[str] = frozenset()) -> Chain:
    """Chains of up to four steps over programs with control flow.

    A loop whose number of turns is not known has no reverse mode, so a program with one
    is differentiated forward alone. `without` are primitives that programs lack.
    """
    from traceir.rules import default

    names = [n for n, row in default().prims.items() if _differs(row, without)]
    program = draw(programs(size, grid=True, primitives=names, depth=2, control=True))
    steps = draw(
        st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=MOST_STEPS)
    )
    axes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    return Chain(program, possible(steps, _has_while(program)), tuple(axes))


def possible(steps: Sequence[str], looping: bool) -> tuple[str, ...]:
    """The steps that can follow those before: none goes backwards through a loop, and
    a rule for going backwards is first used so.

    >>> possible(["while", "grad", "jvp"], False)
    ('while', 'jvp')
    >>> possible(["custom_vjp", "jvp", "grad"], False)
    ('custom_vjp', 'grad')
    """
    found: list[str] = []
    backwards = False  # whether what is next differentiated has to go backwards
    for step in steps:
        if (step in REVERSE and looping) or (step in FORWARD and backwards):
            continue
        looping = looping or step in LOOPS
        backwards = step == "custom_vjp" or (backwards and step not in ("vjp", "grad"))
        found.append(step)
    return tuple(found)


def _differs(row: Any, without: frozenset[str]) -> bool:
    return (row.name not in without and row.derivative is not None) or row.name == "jit"


def _has_while(program: ClosedJaxpr) -> bool:
    return any(_while_in(eqn) for eqn in program.eqns)


def _while_in(eqn: Eqn) -> bool:
    return eqn.primitive == "while" or any(map(_has_while, subjaxprs(eqn)))
