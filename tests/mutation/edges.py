"""Results at the edge of what is right: the farthest one that the tables still allow.

A bound that a row states is told from another bound by results between the two. So an
element of the right results is moved, up and down, until it is wrong: the last right
result and the first wrong one are a pair that hardly any other bound parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from traceir.conform import Case
from traceir.ir.jaxpr import Literal
from traceir.oracle import scalar_interpreter
from traceir.reference import interpreter
from traceir.rules import Rules

# Elements of one result, and the steps between a right one and a wrong one, relatively.
ELEMENTS = 2
NEARNESS = 16


@dataclass(frozen=True)
class Edge:
    """One element of the reference's results, moved by steps in its last place."""

    result: int
    element: int
    steps: int


@dataclass(frozen=True)
class Application:
    """The one equation of a case, its operands and the reference's results."""

    primitive: str
    params: dict[str, object]
    operands: Sequence[np.ndarray]
    results: Sequence[np.ndarray]

    @staticmethod
    def of(case: Case) -> Application:
        """That of a case whose program has one equation."""
        program = case.program()
        (eqn,) = program.eqns
        args = [v.array for v in case.values("call")]
        env = dict(zip(program.jaxpr.invars, args))
        operands = [a.array if isinstance(a, Literal) else env[a] for a in eqn.inputs]
        results = interpreter.eval_jaxpr(program, program.consts, *args)
        params = dict(eqn.params)
        return Application(
            eqn.primitive, params, operands, list(map(np.asarray, results))
        )

    def right(self, edge: Edge, rules: Rules) -> bool:
        """True if the results with one element moved are right."""
        results = [np.array(r) for r in self.results]
        part = parts(results[edge.result])
        word = part[edge.element : edge.element + 1].view(f"i{part.itemsize}")
        word += edge.steps
        faults = scalar_interpreter.faults(
            self.primitive, self.params, self.operands, results, rules
        )
        return not faults

    def moved(self) -> Iterator[tuple[int, int]]:
        """The elements that are moved: few of each result, spread over it."""
        for k, result in enumerate(self.results):
            if result.dtype.kind not in "fc":
                continue
            near = np.flatnonzero(np.isfinite(parts(result)))
            some = np.linspace(0, len(near) - 1, min(ELEMENTS, len(near)))
            yield from ((k, int(near[int(n)])) for n in some)


def parts(result: np.ndarray) -> np.ndarray:
    """The elements of a result in a row, those of complex numbers part by part."""
    flat = result.reshape(-1)
    return flat.view(f"f{result.itemsize // 2}") if result.dtype.kind == "c" else flat


def edges_of(case: Case, rules: Rules) -> tuple[Edge, ...]:
    """The pairs of a case's results, one after the other."""
    here = Application.of(case)
    found: list[Edge] = []
    for k, n in here.moved():
        for sign in (1, -1):

            def right(steps: int, k: int = k, n: int = n, sign: int = sign) -> bool:
                try:
                    return here.right(Edge(k, n, sign * steps), rules)
                except Exception:  # beyond the last finite number there is no right one
                    return False

            pair = between(right, 8 * parts(here.results[k]).itemsize - 3)
            found += (Edge(k, n, sign * steps) for steps in pair)
    return tuple(found)


def between(right: Callable[[int], bool], bits: int) -> tuple[int, ...]:
    """The most steps that are right, nearly, and some more that are wrong.

    Nothing where the result as it is is wrong, or any is right.

    >>> between(lambda steps: steps <= 1000, 20)
    (960, 1024)
    """
    if not right(0):
        return ()
    low, high = 0, 1
    while right(high):
        low, high = high, 2 * high
        if high.bit_length() > bits:
            return ()
    while high - low > max(1, high // NEARNESS):
        middle = (low + high) // 2
        low, high = (middle, high) if right(middle) else (low, middle)
    return low, high
