"""Trials of transforms: derivatives, batches, partial evaluation, compositions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from other_tables import transforming_by

import traceir
from traceir.dtypes import kind_of
from traceir.exact.reals import Real
from traceir.ir.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var
from traceir.oracle.finite_differences import (
    SAME,
    WIDE,
    derivatives,
    one_sided,
)
from traceir.oracle.relations import Elements
from traceir.reference.interpreter import eval_jaxpr
from traceir.rules import Rules, Scope, default
from traceir.rules.applied import row_scope
from traceir.rules.formulas.helpers import box
from traceir.tracing.staging import apply

Arrays = Sequence[Any]
# Batches have so many examples.
SIZE = 2
# The last bits may differ where sums have another order.
RELATIVE, ABSOLUTE = 1e-8, 1e-9
# What is left of numbers that cancel is too small for differences over such steps.
LEAST = 2**20 * WIDE
# Sets with one element, whatever the order of operations.
ORDERLESS = frozenset({"exact", "rounded"})


def point(program: ClosedJaxpr, seed: int = 0) -> list[np.ndarray]:
    """Arguments in general position: no ties, no ends; integers are 0 and 1."""
    found = []
    for n, aval in enumerate(program.in_avals):
        count = np.arange(aval.size) + 3 * n + seed
        inexact = aval.dtype.kind in "fc"
        numbers = (count * 0.37 + 0.41) % 1.5 + 0.43 if inexact else count % 2
        found.append(np.asarray(numbers).astype(aval.dtype).reshape(aval.shape))
    return found


@contextmanager
def by(subject: Any) -> Iterator[None]:
    """Within this, transforms are those of the subject's rules, numbers of 64 bits."""
    usual = subject.rules is default()
    tables = nullcontext() if usual else transforming_by(subject.rules)
    with tables, traceir.enable_x64(True), np.errstate(all="ignore"):
        yield


def floats(arrays: Arrays) -> list[int]:
    """The numbers of those that are floating."""
    return [k for k, a in enumerate(arrays) if kind_of(a.dtype) == "f"]


def smooth(program: ClosedJaxpr, args: Arrays) -> Callable[..., list[Any]]:
    """The function of the floating arguments that gives the floating results."""
    places = floats(args)

    def function(*moving: Any) -> list[Any]:
        given = {**dict(enumerate(args)), **dict(zip(places, moving))}
        found = apply(program, [given[k] for k in range(len(args))])
        return [out for out in found if kind_of(out.dtype) == "f"]

    return function


def directions(xs: Arrays, seed: int = 0) -> list[np.ndarray]:
    """A tangent for each array, of small whole numbers."""
    return [
        ((np.arange(x.size) * 3 + n + seed) % 5 - 2.0).reshape(x.shape)
        for n, x in enumerate(xs)
    ]


def exact(program: ClosedJaxpr, rules: Rules) -> Callable[..., list[Real]]:
    """The program on exact elements: nothing is rounded, in the middle neither."""

    def function(*given: Any) -> list[Real]:
        env = exact_values(program, rules, given)
        return [
            Real.of(env[out][index])
            for out in program.jaxpr.outvars
            if kind_of(out.aval.dtype) == "f"
            for index in box(out.aval.shape)
        ]

    return function


def exact_values(
    program: ClosedJaxpr, rules: Rules, given: Iterable[Any]
) -> dict[Any, Elements]:
    """The exact elements of each variable of a program."""
    left = iter(given)
    env: dict[Any, Elements] = {}
    for var in program.jaxpr.invars:
        env[var] = Elements(var.aval, {i: next(left) for i in box(var.aval.shape)})
    for eqn in program.eqns:
        operands = tuple(
            Elements.of(a.array) if isinstance(a, Literal) else env[a]
            for a in eqn.inputs
        )
        row = rules.prims[eqn.primitive]
        assert row.value is not None
        scope = row_scope(row, operands, eqn.params, rules)
        for part, var in enumerate(eqn.outputs):
            floating = kind_of(var.aval.dtype) == "f"
            values = {}
            for i in box(var.aval.shape):
                found = row.value(Scope({"i": i, "part": part}, row.each, scope))
                # The sum of nothing is no real yet, by which one divides.
                values[i] = Real.of(found) if floating else found
            env[var] = Elements(var.aval, values)
    return env


def derivative(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """The tangents of `jvp` are limits of quotients of exact differences."""
    args = point(program)
    xs = [args[k] for k in floats(args)]
    ts = directions(xs)
    with by(subject):
        got = traceir.jvp(smooth(program, args), xs, ts)[1]
    moves = dict(zip(floats(args), ts))
    elements = [
        (Elements.of(a)[i], int(moves[k][i]) if k in moves else 0)
        for k, a in enumerate(args)
        for i in np.ndindex(a.shape)
    ]
    tangents = [t for part in got for t in np.asarray(part).reshape(-1).tolist()]
    wanted = derivatives(exact(program, default()), *zip(*elements)) if elements else []
    wrong = [
        f"the tangent {t}, not {interval}"
        for t, interval in zip(tangents, wanted)
        if interval is not None and not interval.contains(t)
    ]
    if wrong and not has_a_kink(program, [x for x, _ in elements]):
        yield from wrong


def has_a_kink(program: ClosedJaxpr, given: Sequence[Any]) -> bool:
    """True if an equation has no single derivative where it is applied, or an infinite
    one, as at the ends of `asin`; or is applied to less than the steps of differences.
    """
    env = exact_values(program, default(), given)
    for eqn in program.eqns:
        inputs = tuple(dict.fromkeys(v for v in eqn.inputs if isinstance(v, Var)))
        alone = ClosedJaxpr(Jaxpr((), inputs, (eqn,), eqn.outputs))
        function = exact(alone, default())
        at = [env[v][i] for v in inputs for i in box(v.aval.shape)]
        for k in (k for k, x in enumerate(at) if isinstance(x, Real)):
            along = [int(n == k) for n in range(len(at))]
            if at[k].special or 0 < abs(at[k].value) < LEAST:
                return True
            if not all(itertools.starmap(_agree, one_sided(function, at, along))):
                return True
    return False


def _agree(before: float | None, behind: float | None) -> bool:
    """True if both are finite and the same."""
    if before is None or behind is None or not math.isfinite(before):
        return False
    return math.isclose(before, behind, rel_tol=SAME, abs_tol=SAME)


def transposition(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """The inner product of `J t` with `c` is that of `t` with the transpose of `c`."""
    args = point(program)
    function = smooth(program, args)
    xs = [args[k] for k in floats(args)]
    ts = directions(xs)
    with by(subject):
        _, moved = traceir.jvp(function, xs, ts)
        cs = directions([np.asarray(m) for m in moved], seed=2)
        back = traceir.vjp(function, *xs)[1](list(map(traceir.numpy.asarray, cs)))
    if not all(np.isfinite(np.asarray(a)).all() for a in (*moved, *back)):
        return
    left, right = product(moved, cs), product(ts, back)
    if not np.isclose(left, right, RELATIVE, ABSOLUTE):
        yield f"⟨Jt, c⟩ = {left}, ⟨t, Jᵀc⟩ = {right}"


def product(some: Arrays, others: Arrays) -> float:
    """The inner product of lists of arrays."""
    pairs = zip(some, others, strict=True)
    return float(sum(np.sum(np.asarray(a) * np.asarray(b)) for a, b in pairs))


def reads_bits(program: ClosedJaxpr) -> bool:
    """True if bits of a number are read that depend on an order, as those of a sum."""
    rows, loose = default().prims, set[Any]()
    for eqn in program.eqns:
        depends = not loose.isdisjoint(a for a in eqn.inputs if isinstance(a, Var))
        if depends and eqn.primitive == "bitcast_convert_type":
            return True
        if depends or rows[eqn.primitive].accuracy not in ORDERLESS:
            loose.update(eqn.outputs)
    return False


def batching(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """The batch of results is the stack of the results of the examples."""
    if reads_bits(program):
        return
    examples = [point(program, seed) for seed in range(SIZE)]
    first = eval_jaxpr(program, program.consts, *examples[0])
    for axes in subject.chosen(_axes([a.ndim for a in examples[0]])):
        batch = [
            one[0] if axis is None else np.stack(one, axis)
            for axis, one in zip(axes, zip(*examples))
        ]
        with by(subject):
            run = traceir.vmap(lambda *xs: apply(program, xs), tuple(axes))
            got = traceir.jit(run, backend="reference")(*batch)
        for k, own in enumerate(examples):
            given = [o if x is not None else b for o, b, x in zip(own, batch, axes)]
            want = eval_jaxpr(program, program.consts, *given) if k else first
            for g, w in zip(got, want, strict=True):
                if not alike(one := np.asarray(g)[k], w):
                    yield f"example {k} with in_axes {axes}: {one}, not {w}"


def _axes(ranks: Sequence[int]) -> Iterator[list[int | None]]:
    """Places of examples: in front of all, at the end of one operand alone."""
    if ranks:
        yield [0] * len(ranks)
    for k, rank in enumerate(ranks):
        yield [rank if n == k else None for n in range(len(ranks))]


def alike(got: Any, want: Any) -> bool:
    """Equal types and values, floating ones but for the order of a sum."""
    got, want = np.asarray(got), np.asarray(want)
    if (got.shape, got.dtype) != (want.shape, want.dtype):
        return False
    if want.dtype.kind not in "fc":
        return bool(np.array_equal(got, want))
    return np.allclose(got, want, RELATIVE, ABSOLUTE, equal_nan=True)


def partial_evaluation(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """The known part and the rest together give what the program gives."""
    args = point(program)
    want = eval_jaxpr(program, program.consts, *args)
    for later in subject.chosen(itertools.product((True, False), repeat=len(args))):
        halves = subject.split(program, later)
        early = [a for a, late in zip(args, later) if not late]
        found = eval_jaxpr(halves.known, halves.known.consts, *early)
        count = len(halves.moved) - sum(halves.moved)
        rest = [*found[count:], *(a for a, late in zip(args, later) if late)]
        others = iter(eval_jaxpr(halves.linear, halves.linear.consts, *rest))
        known = iter(found[:count])
        got = [next(others if moved else known) for moved in halves.moved]
        if not all(map(_same, got, want)):
            yield f"in two, with {later} given later: {got}, not {want}"


def _same(got: Any, want: Any) -> bool:
    """Equal types and bits."""
    types = [(a.dtype, a.shape) for a in (got, want)]
    return types[0] == types[1] and bool(got.tobytes() == want.tobytes())


def composition(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """Transforms in either order, and with `jit` anywhere, are one function."""
    examples = [point(program, seed) for seed in range(SIZE)]
    function = smooth(program, examples[0])
    places = floats(examples[0])
    xs = [np.stack([one[k] for one in examples]) for k in places]
    ts = directions(xs)

    def pushed(fun: Callable[..., Any]) -> Callable[..., Any]:
        return lambda some, others: subject.jvp(fun, some, others)[1]

    def staged(fun: Callable[..., Any]) -> Callable[..., Any]:
        return traceir.jit(fun, backend="reference")

    ways = {
        "vmap of jvp": traceir.vmap(pushed(function)),
        "jvp of vmap": pushed(traceir.vmap(function)),
        "jit of vmap of jvp": staged(traceir.vmap(pushed(function))),
        "vmap of jvp of jit": traceir.vmap(pushed(staged(function))),
    }
    with by(subject):
        taken = subject.chosen(ways.items())
        found = {name: list(map(np.asarray, way(xs, ts))) for name, way in taken}
    first, want = next(iter(found.items()))
    for name, got in found.items():
        if not all(map(alike, got, want)):
            yield f"{name} gives {got}, {first} gives {want}"
