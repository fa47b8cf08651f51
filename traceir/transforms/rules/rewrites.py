"""Rewrites of whole programs, each kept with its program.

Serves: control.*, cond.*, while.*, scan.*
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var


def forwarded(closed: ClosedJaxpr) -> tuple[int | None, ...]:
    """The input that each result is; None for one that is computed.

    >>> from traceir import parse
    >>> forwarded(parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = neg a in (c, b) }"))
    (None, 1)
    """
    places = {v: k for k, v in enumerate(closed.jaxpr.invars)}
    return tuple(
        places.get(v) if isinstance(v, Var) else None for v in closed.jaxpr.outvars
    )


def opened(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with its constants as its first inputs.

    >>> from traceir import parse
    >>> opened(parse("{ lambda a:f32[2]={1.0 2.0}; b:f32[]. let  in (a, b) }"))
    { lambda ; a:f32[2] b:f32[]. let  in (a, b) }
    """
    jaxpr = closed.jaxpr
    if not jaxpr.constvars:
        return closed
    invars = (*jaxpr.constvars, *jaxpr.invars)
    inner = Jaxpr((), invars, jaxpr.eqns, jaxpr.outvars, jaxpr.debug_name)
    return ClosedJaxpr(inner, (), closed.backend)


def keep_outputs(closed: ClosedJaxpr, keep: Sequence[bool]) -> ClosedJaxpr:
    """The program without some of its results; no equation is dropped.

    >>> from traceir import parse
    >>> keep_outputs(parse("{ lambda ; a:f32[]. let  in (a, a) }"), [True, False])
    { lambda ; a:f32[]. let  in (a,) }
    """
    if all(keep):
        return closed

    def make() -> ClosedJaxpr:
        return changed(closed, outvars=kept(closed.jaxpr.outvars, keep))

    return closed.memo(("keep_outputs", tuple(keep)), make)


def move_to_front(closed: ClosedJaxpr, moved: Sequence[bool]) -> ClosedJaxpr:
    """The program with some of its inputs before the others.

    >>> from traceir import parse
    >>> program = parse("{ lambda ; a:f32[] b:i32[]. let  in (a, b) }")
    >>> move_to_front(program, [False, True])
    { lambda ; a:i32[] b:f32[]. let  in (b, a) }
    """

    def make() -> ClosedJaxpr:
        inputs = closed.jaxpr.invars
        parts = kept(inputs, moved), kept(inputs, flipped(moved))
        return changed(closed, invars=(*parts[0], *parts[1]))

    return closed.memo(("move_to_front", tuple(moved)), make)


def spread(
    closed: ClosedJaxpr, places: Sequence[int], avals: Sequence[ShapedArray]
) -> ClosedJaxpr:
    """The program with inputs of these types, its own first ones among them.

    Its input number `k` is number `places[k]`; those after go on at the end. Two inputs
    may go to one place.

    >>> from traceir import parse
    >>> program = parse("{ lambda ; a:f32[] b:i32[]. let  in (a, b) }")
    >>> spread(program, [1], [program.in_avals[1], program.in_avals[0]])
    { lambda ; a:i32[] b:f32[] c:i32[]. let  in (b, c) }
    """

    def make() -> ClosedJaxpr:
        count = len(places)
        own, rest = closed.jaxpr.invars[:count], closed.jaxpr.invars[count:]
        inputs = [Var(a) for a in avals]
        renamed: dict[Atom, Atom]
        renamed = {v: inputs[place] for v, place in zip(own, places, strict=True)}
        return substitute(closed, renamed, (*inputs, *rest))

    return closed.memo(("spread", tuple(places), tuple(avals)), make)


def substitute(
    closed: ClosedJaxpr, renamed: Mapping[Atom, Atom], invars: Sequence[Var]
) -> ClosedJaxpr:
    """The program with atoms in place of variables, and these inputs."""

    def use(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
        return tuple(renamed.get(a, a) if isinstance(a, Var) else a for a in atoms)

    eqns = tuple(replace(e, inputs=use(e.inputs)) for e in closed.jaxpr.eqns)
    outvars = use(closed.jaxpr.outvars)
    return changed(closed, invars=tuple(invars), eqns=eqns, outvars=outvars)


def changed(closed: ClosedJaxpr, **parts: Any) -> ClosedJaxpr:
    """The program with other inputs, equations or results."""
    return replace(closed, jaxpr=replace(closed.jaxpr, **parts))


def kept(items: Sequence[Any], keep: Sequence[bool]) -> tuple[Any, ...]:
    """The items for which `keep` holds.

    >>> kept("abc", [True, False, True])
    ('a', 'c')
    """
    return tuple(item for item, k in zip(items, keep, strict=True) if k)


def merged(
    which: Sequence[bool], chosen: Sequence[Any], others: Sequence[Any]
) -> list[Any]:
    """One list of two: a value of the first where the mask is True.

    >>> merged([False, True, False], "b", "ac")
    ['a', 'b', 'c']
    """
    a, b = iter(chosen), iter(others)
    return [next(a) if w else next(b) for w in which]


def flipped(flags: Sequence[bool]) -> list[bool]:
    """The other truth values.

    >>> flipped([True, False])
    [False, True]
    """
    return [not f for f in flags]


def arranged(
    closed: ClosedJaxpr, inputs: Sequence[int], outputs: Sequence[int]
) -> ClosedJaxpr:
    """The program with its inputs in this order, and these of its results.

    >>> from traceir import parse
    >>> program = parse("{ lambda ; a:f32[] b:i32[]. let  in (a, b) }")
    >>> arranged(program, [1, 0], [0, 0])
    { lambda ; a:i32[] b:f32[]. let  in (b, b) }
    """

    def make() -> ClosedJaxpr:
        jaxpr = closed.jaxpr
        return changed(
            closed,
            invars=tuple(jaxpr.invars[k] for k in inputs),
            outvars=tuple(jaxpr.outvars[k] for k in outputs),
        )

    return closed.memo(("arranged", tuple(inputs), tuple(outputs)), make)


@dataclass(frozen=True, slots=True)
class Hoisted:
    """A program in two: the part that follows from its first inputs alone, and the
    rest.

    `outer` takes the first inputs; it gives what `inner` takes in their place, and then
    the results for which `moved` is True, which `inner` does not give.
    """

    outer: ClosedJaxpr
    inner: ClosedJaxpr
    moved: tuple[bool, ...]


def hoisted(closed: ClosedJaxpr, known: int, fixed: int) -> Hoisted:
    """Take out the equations that do not depend on inputs from number `known` on.

    The first `fixed` results stay where they are.

    >>> from traceir import parse
    >>> eqns = "c:f32[] = sin a; d:f32[] = mul b c"
    >>> text = f"{{ lambda ; a:f32[] b:f32[]. let {eqns} in (d, c) }}"
    >>> parts = hoisted(parse(text), 1, 1)
    >>> parts.outer, parts.moved
    ({ lambda ; a:f32[]. let b:f32[] = sin a in (b, b) }, (True,))
    >>> parts.inner
    { lambda ; a:f32[] b:f32[]. let c:f32[] = mul b a in (c,) }
    """
    return closed.memo(
        ("hoisted", known, fixed), lambda: _hoisted(closed, known, fixed)
    )


def _hoisted(closed: ClosedJaxpr, known: int, fixed: int) -> Hoisted:
    """The part of a program that depends on its known inputs alone, and the rest."""
    jaxpr = closed.jaxpr
    invariant: set[Atom] = {*jaxpr.constvars, *jaxpr.invars[:known]}
    early: list[Eqn] = []
    late: list[Eqn] = []
    for eqn in jaxpr.eqns:
        free = [a for a in eqn.inputs if isinstance(a, Var) and a not in invariant]
        if free or eqn.effects:
            late.append(eqn)
        else:
            early.append(eqn)
            invariant.update(eqn.outputs)
    stay, rest = jaxpr.outvars[:fixed], jaxpr.outvars[fixed:]
    moved = tuple(not isinstance(v, Var) or v in invariant for v in rest)
    outvars = (*stay, *kept(rest, flipped(moved)))
    read = [a for e in late for a in e.inputs]
    consts = set(jaxpr.constvars)
    needed = dict.fromkeys(
        a
        for a in (*read, *outvars)
        if isinstance(a, Var) and a in invariant and a not in consts
    )
    outer = changed(
        closed,
        invars=jaxpr.invars[:known],
        eqns=tuple(early),
        outvars=(*needed, *kept(rest, moved)),
    )
    inner = changed(
        closed,
        invars=(*needed, *jaxpr.invars[known:]),
        eqns=tuple(late),
        outvars=outvars,
    )
    return Hoisted(outer, inner, moved)
