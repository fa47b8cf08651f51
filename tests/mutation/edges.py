"""Results at the edge of what is right: the farthest one that the tables still allow.

A bound that a row states is told from another bound by results between the two. So an
element of the right results is moved, up and down, until it is wrong: the last right
result and the first wrong one are a pair that hardly any other bound parts.

Of a row with relations each relation is asked alone, since of several bounds the
narrowest would hide the others. Then operands are moved, too, and other results than
the right ones are tried: what a relation says of failures shows there alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from traceir.conform import Case
from traceir.ir.jaxpr import Literal
from traceir.oracle import scalar_interpreter
from traceir.oracle.relations import unsatisfied
from traceir.reference import interpreter
from traceir.rules import Rules

# Elements of one result, and the steps between a right one and a wrong one, relatively.
ELEMENTS = 2
NEARNESS = 16
# The elements of operands of which edges are found exactly.
SMALL = 8
# Results of which each relation is asked, by what they are made of the right ones.
OTHERS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "right": np.array,
    "zero": np.zeros_like,
    "one": np.ones_like,
    "NaN": lambda result: _filled(result, np.nan),
    "infinity": lambda result: _filled(result, np.inf),
    "negated": lambda result: np.array(-result),
    "conjugate": lambda result: np.array(np.conj(result), result.dtype),
    "mirrored": lambda result: np.flip(result, -1) if result.ndim else result,
    "one NaN": lambda result: _first(result, np.nan),
    "one infinity": lambda result: _first(result, np.inf),
    "band": lambda result: _band(result),
}


@dataclass(frozen=True)
class Edge:
    """One element of the reference's results, moved by steps in its last place."""

    result: int
    element: int
    steps: int


@dataclass(frozen=True)
class Probe:
    """A relation, by number, and what it is asked of: results, one element moved.

    `place` is the number of a result, or of an operand after all results; -1 where
    nothing is moved.
    """

    relation: int
    results: str
    place: int = -1
    element: int = 0
    steps: int = 0


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

    def holds(self, probe: Probe, rules: Rules) -> bool:
        """True if one relation of the row holds, of what the probe makes."""
        row = rules.prims[self.primitive]
        row = replace(row, post=row.post[probe.relation : probe.relation + 1])
        arrays = [OTHERS[probe.results](r) for r in self.results]
        arrays += [np.array(a) for a in self.operands]
        if probe.place >= 0:
            part = parts(arrays[probe.place])
            word = part[probe.element : probe.element + 1].view(f"i{part.itemsize}")
            word += probe.steps
        got, operands = arrays[: len(self.results)], arrays[len(self.results) :]
        params = {**row.defaults, **self.params}
        return next(unsatisfied(row, params, operands, got, rules), None) is None

    def moved(self) -> Iterator[tuple[int, int]]:
        """The elements that are moved: few of each result, spread over it."""
        for k, result in enumerate(self.results):
            if result.dtype.kind not in "fc":
                continue
            near = np.flatnonzero(np.isfinite(parts(result)))
            some = np.linspace(0, len(near) - 1, min(ELEMENTS, len(near)))
            yield from ((k, int(near[int(n)])) for n in some)


def probes_of(case: Case, rules: Rules) -> tuple[Probe, ...]:
    """The probes of each relation of a case: other results, and pairs at edges."""
    here = Application.of(case)
    relations = range(len(rules.prims[here.primitive].post))
    found = [Probe(k, name) for k in relations for name in OTHERS]
    for n, result in enumerate(here.results):
        part = parts(result)
        if result.dtype.kind in "fc" and part.size:
            nan = int(np.full(1, np.nan, part.dtype).view(f"i{part.itemsize}")[0])
            ends = dict.fromkeys((0, part.size - 1))
            found += [Probe(k, "zero", n, e, nan) for k in relations for e in ends]
    arrays = [*here.results, *here.operands]
    for k in relations:
        for name in ("right", "NaN"):
            first = 0 if name == "right" else len(here.results)
            for place in range(first, len(arrays)):
                for element in _spread(arrays[place]):
                    for sign in (1, -1):
                        found += _pair(
                            here, Probe(k, name, place, element), sign, rules
                        )
    return tuple(found)


def _pair(here: Application, probe: Probe, sign: int, rules: Rules) -> Iterator[Probe]:
    """The probes before and behind the step at which a relation changes."""
    arrays = [*here.results, *here.operands]
    array = parts(arrays[probe.place])
    moves_zero = array[probe.element] == 0
    # From zero to 2 at least, from others over all of their exponents.
    bits = 8 * array.itemsize - (1 if moves_zero else 3)

    def at(steps: int) -> Probe:
        return replace(probe, steps=sign * steps)

    def as_before(steps: int) -> bool:
        return here.holds(at(steps), rules) == known

    known = here.holds(probe, rules)
    if all(as_before(1 << k) for k in (bits - 1, bits // 2)):
        if moves_zero:
            yield at(int(np.ones(1, array.dtype).view(f"i{array.itemsize}")[0]))
        return
    # Of small matrices, to the very step.
    small = sum(a.size for a in here.operands) <= SMALL
    exact = small and (moves_zero or probe.place >= len(here.results))
    yield from map(at, between(as_before, bits, 2**bits if exact else NEARNESS))


def _spread(array: np.ndarray) -> list[int]:
    """Some elements that can be moved: the first and last, and one between."""
    if array.dtype.kind not in "fc":
        return []
    near = np.flatnonzero(np.isfinite(parts(array)))
    n = len(near)
    return [int(near[k]) for k in sorted({0, n // 3, n - 1}) if 0 <= k < n]


def _filled(result: np.ndarray, value: float) -> np.ndarray:
    return np.full_like(result, value) if result.dtype.kind in "fc" else result


def _band(result: np.ndarray) -> np.ndarray:
    """Ones on the diagonals of matrices and in the lines below, zeros elsewhere."""
    ones = np.ones_like(result)
    return np.tril(np.triu(ones, -1)) if result.ndim > 1 else ones


def _first(result: np.ndarray, value: float) -> np.ndarray:
    found = np.array(result)
    if result.dtype.kind in "fc":
        found.reshape(-1)[:1] = value
    return found


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


def between(
    right: Callable[[int], bool], bits: int, nearness: int = NEARNESS
) -> tuple[int, ...]:
    """The most steps that are right, nearly, and some more that are wrong.

    Nothing where the result as it is is wrong, or any is right.

    >>> between(lambda steps: steps <= 1000, 20)
    (976, 1024)
    """
    if not right(0):
        return ()
    low, high = 0, 1
    while right(high):
        low, high = high, 4 * high
        if high.bit_length() > bits:
            return ()
    while high - low > max(1, high // nearness):
        middle = (low + high) // 2
        low, high = (middle, high) if right(middle) else (low, middle)
    return low, high
