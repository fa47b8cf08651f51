"""Index-set splitting: the turns in which no place can be outside.

A counter whose end is a value leaves places that may be outside of an array. Such an
innermost loop becomes two: the first one runs only while all places that are the
counter and a number are inside, the second one is the loop as it was, from there on.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    sort_params,
)
from traceir.numpy.indexing.integer_ranges import RangeAnalysis
from traceir.numpy.indexing.intervals import of_dtype

INT64 = ShapedArray((), np.dtype("int64"))
BOOL = ShapedArray((), np.dtype(bool))


@dataclass(frozen=True, slots=True)
class LoopCounter:
    """The counter of a loop: its number in the carry, that of the test's equation that
    compares it, and the stop."""

    number: int
    compared: int
    stop: Atom


def split(eqn: Eqn, ranges: RangeAnalysis) -> list[Eqn]:
    """The equations of a loop and its glue; the loop alone where nothing is gained."""
    counted = _counted(eqn) if eqn.primitive == "while" else None
    if counted is None:
        return [eqn]
    first = eqn.inputs[len(eqn.inputs) - len(eqn.outputs) + counted.number]
    body, used = eqn.param("body_jaxpr").jaxpr, eqn.param("body_nconsts")
    counter = body.invars[used + counted.number]
    low, high = ranges.loop(eqn).inputs[used + counted.number]
    lows, highs = [*_limits(body, counter)], [*_ends(body, counter)]
    least = max((k for k in lows if k > low), default=None)
    most = min((k for k in highs if k <= high), default=None)
    if (least is None and most is None) or (most or 1) <= (least or 0):
        return [eqn]
    work = _Splitting([], eqn, counted)
    work.run(first, least, most)
    return work.eqns


@dataclass(frozen=True, slots=True)
class _Splitting:
    eqns: list[Eqn]
    loop: Eqn
    counted: LoopCounter

    def bind(self, primitive: str, *inputs: Atom, aval: ShapedArray = INT64) -> Var:
        """The result of another equation."""
        out = Var(aval)
        eqn = Eqn(primitive, inputs, (out,), source=self.loop.source)
        self.eqns.append(eqn)
        return out

    def run(self, first: Atom, least: int | None, most: int | None) -> None:
        """Add both loops."""
        start, stop = first, self.counted.stop
        if most is not None:
            stop = self.bind("min", stop, Literal(most, INT64))
        if least is not None:
            bound = Literal(least, INT64)
            inside = self.bind("ge", first, bound, aval=BOOL)
            start = self.bind("max", first, bound)
            stop = self.bind("select_n", inside, bound, stop)
        middle = tuple(Var(v.aval) for v in self.loop.outputs)
        self.eqns.append(self.limited(start, stop, middle))
        reached: Atom = middle[self.counted.number]
        if least is not None:
            reached = self.bind("select_n", inside, first, reached)
        carry: list[Atom] = list(middle)
        inputs = self.loop.inputs[: len(self.loop.inputs) - len(carry)]
        carry[self.counted.number] = reached
        self.eqns.append(replace(self.loop, inputs=(*inputs, *carry)))

    def limited(self, start: Atom, stop: Atom, outputs: tuple[Var, ...]) -> Eqn:
        """The loop with another start, and another stop in its test."""
        params = dict(self.loop.params)
        closed, count = params["cond_jaxpr"], params["cond_nconsts"]
        assert isinstance(closed, ClosedJaxpr) and isinstance(count, int)
        jaxpr, bound = closed.jaxpr, Var(INT64)
        eqns = list(jaxpr.eqns)
        at = self.counted.compared
        eqns[at] = replace(eqns[at], inputs=(eqns[at].inputs[0], bound))
        jaxpr = replace(jaxpr, invars=(bound, *jaxpr.invars), eqns=tuple(eqns))
        params["cond_jaxpr"] = ClosedJaxpr(jaxpr, closed.consts)
        params["cond_nconsts"] = count + 1
        inputs = list(self.loop.inputs)
        inputs[len(inputs) - len(outputs) + self.counted.number] = start
        return replace(
            self.loop,
            inputs=(stop, *inputs),
            outputs=outputs,
            params=sort_params(params),
        )


def _counted(eqn: Eqn) -> LoopCounter | None:
    """The counter of an innermost loop that goes up."""
    test, body = eqn.param("cond_jaxpr"), eqn.param("body_jaxpr")
    if test.consts or body.consts or any(e.primitive in _LOOPS for e in body.eqns):
        return None
    first, used = eqn.param("cond_nconsts"), eqn.param("body_nconsts")
    for number, compared, stop in counters(test.jaxpr, body.jaxpr, first, used):
        outer = stop if isinstance(stop, Literal) else eqn.inputs[_place(test, stop)]
        if outer.aval.dtype == INT64.dtype:
            return LoopCounter(number, compared, outer)
    return None


def most_turns(eqn: Eqn, ranges: RangeAnalysis) -> int | None:
    """The most turns that a loop with a test can have, if a counter limits them."""
    test, body = eqn.param("cond_jaxpr"), eqn.param("body_jaxpr")
    if test.consts or body.consts:
        return None
    tested, used = eqn.param("cond_nconsts"), eqn.param("body_nconsts")
    carry, found = eqn.inputs[len(eqn.inputs) - len(eqn.outputs) :], []
    for number, _, stop in counters(test.jaxpr, body.jaxpr, tested, used):
        outer = stop if isinstance(stop, Literal) else eqn.inputs[_place(test, stop)]
        first, end = ranges.of(carry[number])[0], ranges.of(outer)[1]
        var, out = body.jaxpr.invars[used + number], body.jaxpr.outvars[number]
        step = step_of(body.jaxpr, var, out)
        if end + step - 1 <= of_dtype(var.aval.dtype)[1]:  # else it may wrap
            found.append(max(0, -(-(end - first) // step)))
    return min(found, default=None)


def _place(test: ClosedJaxpr, var: Atom) -> int:
    return next(k for k, v in enumerate(test.jaxpr.invars) if v is var)


_LOOPS = frozenset({"scan", "while", "jit"})


def counters(
    test: Jaxpr, body: Jaxpr, tested: int, used: int
) -> Iterator[tuple[int, int, Atom]]:
    """The integers of a carry that grow by a positive number until they reach a stop.

    For each, its number in the carry, that of the test's equation, and the stop: a
    constant of the test, or a literal. `tested` and `used` are how many constants the
    test and the body have.
    """
    makers = {v: e for e in test.eqns for v in e.outputs}
    carry: list[Atom] = list(test.invars[tested:])
    for compare in _conjuncts(test.outvars[0], makers):
        if compare.primitive != "lt":
            continue
        x, stop = compare.inputs
        x = _unconverted(x, makers)
        if x not in carry or not (
            isinstance(stop, Literal) or stop in test.invars[:tested]
        ):
            continue
        number = carry.index(x)
        step = step_of(body, body.invars[used + number], body.outvars[number])
        if step > 0 and not _may_wrap(step, stop):
            yield number, test.eqns.index(compare), stop


def _may_wrap(step: int, stop: Atom) -> bool:
    """True if a counter may pass the end of its dtype before it reaches a stop.

    One of 64 bits passes it after more turns than anybody waits for.
    """
    dtype = stop.aval.dtype
    if step == 1 or dtype.itemsize == 8:
        return False
    if not isinstance(stop, Literal):
        return True
    return bool(int(stop.value) + step - 1 > of_dtype(dtype)[1])


def sole_counter(
    test: Jaxpr, body: Jaxpr, tested: int, used: int, steady: Container[int] = ()
) -> tuple[int, int, Atom] | None:
    """The counter of a loop that runs as long as that is less than a stop, or not at
    all: its number in the carry, its step, and the stop, as `counters` has it. The
    `steady` parts of the carry do not change.
    """
    for number, at, stop in counters(test, body, tested, used):
        carry = enumerate(test.invars[tested:])
        varying: set[Atom] = {v for k, v in carry if k not in steady}
        compared: set[Atom] = {test.eqns[at].outputs[0]}
        for eqn in test.eqns:
            if eqn is test.eqns[at]:
                continue
            name = eqn.primitive
            if not varying.isdisjoint(eqn.inputs) and name == "convert_element_type":
                varying.update(eqn.outputs)
            elif not varying.isdisjoint(eqn.inputs):
                break
            elif not compared.isdisjoint(eqn.inputs):
                if name not in ("and", "convert_element_type"):
                    break
                compared.update(eqn.outputs)
        else:
            var, out = body.invars[used + number], body.outvars[number]
            if test.outvars[0] in compared:
                return number, step_of(body, var, out), stop
    return None


def _conjuncts(atom: Atom, makers: dict[Var, Eqn]) -> Iterator[Eqn]:
    """The equations of conditions that hold together."""
    eqn = makers.get(atom) if isinstance(atom, Var) else None
    if eqn is None:
        return
    if eqn.primitive == "and":
        for part in eqn.inputs:
            yield from _conjuncts(part, makers)
    elif eqn.primitive == "convert_element_type":
        yield from _conjuncts(eqn.inputs[0], makers)
    else:
        yield eqn


def _unconverted(atom: Atom, makers: dict[Var, Eqn]) -> Atom:
    """An integer before conversions that change nothing."""
    while isinstance(atom, Var) and atom in makers:
        eqn = makers[atom]
        same = eqn.inputs[0].aval.dtype == atom.aval.dtype if eqn.inputs else False
        if eqn.primitive != "convert_element_type" or not same:
            break
        atom = eqn.inputs[0]
    return atom


def step_of(body: Jaxpr, var: Var, out: Atom) -> int:
    """The known number by which an integer of the carry grows in each turn; else 0."""
    if var.aval.dtype.kind not in "iu":
        return 0
    for number, offset in _shifted(body, var):
        if number is out:
            return offset
    return 0


def _shifted(body: Jaxpr, counter: Var) -> Iterator[tuple[Atom, int]]:
    """The values that are a counter and a number, each with that."""
    found: dict[Atom, int] = {counter: 0}
    yield counter, 0
    for eqn in body.eqns:
        match eqn.primitive, eqn.inputs:
            case "add", (x, Literal() as k) | (Literal() as k, x) if x in found:
                offset = found[x] + int(k.value)
            case "sub", (x, Literal() as k) if x in found:
                offset = found[x] - int(k.value)
            case "convert_element_type", (x,) if x in found:
                if eqn.outputs[0].aval.dtype != counter.aval.dtype:
                    continue
                offset = found[x]
            case "cond", _ if "exits" in dict(eqn.params):
                for var, atom in _where_fine(eqn):
                    if atom in found:
                        found[var] = found[atom]
                        yield var, found[atom]
                continue
            case _:
                continue
        found[eqn.outputs[0]] = offset
        yield eqn.outputs[0], offset


def _where_fine(eqn: Eqn) -> Iterator[tuple[Var, Atom | None]]:
    """The results of a side exit, and what they are in turns that go on."""
    program = eqn.param("branches")[0].jaxpr
    operands = dict(zip(program.invars, eqn.inputs[1:], strict=True))
    for var, out in zip(eqn.outputs, program.outvars, strict=True):
        yield var, operands.get(out)


def _compared(body: Jaxpr, counter: Var, name: str) -> Iterator[tuple[int, int]]:
    """The comparisons of a counter and a number: that number, and the other one."""
    found = dict(_shifted(body, counter))
    for eqn in body.eqns:
        if eqn.primitive == name and isinstance(eqn.inputs[1], Literal):
            offset = found.get(eqn.inputs[0])
            if offset is not None:
                yield offset, int(eqn.inputs[1].value)


def _limits(body: Jaxpr, counter: Var) -> Iterator[int]:
    """The least numbers for which places do not count from an array's end."""
    for offset, bound in _compared(body, counter, "lt"):
        if bound == 0:
            yield -offset


def _ends(body: Jaxpr, counter: Var) -> Iterator[int]:
    """The numbers from which on places are beyond an array."""
    for offset, bound in _compared(body, counter, "ge"):
        if bound > 0:
            yield bound - offset
    found = dict(_shifted(body, counter))
    chosen: dict[Atom, Atom] = {
        e.outputs[0]: e.inputs[1] for e in body.eqns if e.primitive == "select_n"
    }
    for eqn in body.eqns:
        if eqn.primitive == "dynamic_slice":
            yield from _slice_ends(eqn, found, chosen)


def _slice_ends(
    eqn: Eqn, found: dict[Atom, int], chosen: dict[Atom, Atom]
) -> Iterator[int]:
    shape: Sequence[int] = eqn.inputs[0].aval.shape
    sizes = eqn.param("slice_sizes")
    for atom, extent, size in zip(eqn.inputs[1:], shape, sizes, strict=True):
        offset = found.get(chosen.get(atom, atom))
        if offset is not None:
            yield extent - size + 1 - offset
