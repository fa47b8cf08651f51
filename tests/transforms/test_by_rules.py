"""The oracle's own transforms, by the rows alone, beside the reference's.

Rules: derive.jvp, derive.template, derive.transpose, derive.broadcast,
accuracy.batched
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soak
from hypothesis import assume, given
from hypothesis import strategies as st

import traceir
from traceir.conform import Call, Case, Setting, judge, load_cases
from traceir.conform.drawing.programs import arguments, programs
from traceir.conform.systems import higher
from traceir.conform.systems.implementations import Oracle
from traceir.dtypes import is_key
from traceir.oracle.transforms import (
    backward,
    batches,
    builder,
    control,
    forward,
    functions,
    named_axes,
    pairs,
    recordings,
    regions,
)
from traceir.oracle.transforms.builder import Beyond
from traceir.oracle.transforms.functions import TermFunctions
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import default, load
from traceir.tracing.staging import apply

CASES = {c.name: c for c in load_cases() if c.session and c.session.is_higher}
# Those in which a function is transformed by the reference's code.
RECORD = Path(__file__).parent.parent / "records" / "borrowed-transforms.txt"
SMOOTH = [
    name
    for name, row in default().prims.items()
    if row.derivative and (row.derivative.jvp or row.derivative.linear)
]
# All but those on keys of random numbers, which are no arguments of NumPy's.
ON_ARRAYS = [
    name
    for name, row in default().prims.items()
    if not (row.host or row.effects or "random" in name)
]


def borrows(case: Case) -> bool:
    """True if the rules do not say what all calls of a case give.

    What a function is traced to is not for these rules, nor what is refused.
    """
    assert case.session is not None
    steps = [s for s in case.session.steps if not isinstance(s, Setting)]
    found = zip(steps, higher.derived(case.session, default()), strict=True)
    return any(
        isinstance(step, Call) and step.via in ("eager", "jit") and outcome is None
        for step, outcome in found
        if isinstance(step, Call) and step.verdict != "raises"
    )


def test_what_is_borrowed_is_on_record() -> None:
    record = RECORD.read_text(encoding="utf-8").split()
    assert set(record) <= CASES.keys()
    some = soak.sample(sorted(CASES), 4)
    borrowed = [name for name in some if borrows(CASES[name])]
    assert borrowed == [name for name in some if name in record]


def test_what_is_borrowed_is_on_the_page() -> None:
    """With a reason, in the order of the record or another."""
    page = Path(traceir.__file__).parent.parent / "spec" / "conformance.rst"
    named = set(re.findall(r"\*([a-z_]+/[\w-]+)\*", page.read_text(encoding="utf-8")))
    assert set(RECORD.read_text(encoding="utf-8").split()) == named & CASES.keys()


# Drawn programs -----------------------------------------------------------------------


def terms(system: TermFunctions, arrays: Sequence[Any]) -> list[Any]:
    """Arrays as the values of the oracle's functions."""
    return [system.term_of(a) for a in arrays]


def flat(system: TermFunctions, value: Any) -> list[np.ndarray]:
    """The arrays of results."""
    return [system.array(v) for part in value for v in _parts(part)]


def _parts(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple | list) else [value]


def alike(own: Sequence[Any], others: Sequence[Any]) -> None:
    """Both give the same numbers: sums of derivatives may be in another order."""
    for a, b in zip(own, others, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@given(st.data())
def test_drawn_derivatives_are_alike(data: st.DataObject) -> None:
    """By the inputs that are floats; of the results that are."""
    closed = data.draw(programs(3, grid=True, primitives=SMOOTH, depth=0))
    by, of = (
        [k for k, a in enumerate(avals) if a.dtype == np.float32 and not a.weak_type]
        for avals in (closed.in_avals, closed.out_avals)
    )
    assume(by and of)
    primals, tangents = (data.draw(arguments(closed)) for _ in range(2))
    moves = [tangents[k] for k in by]
    system = TermFunctions(default(), evaluate_eqn)
    given = [system.term_of(x, a) for a, x in zip(closed.in_avals, primals)]

    def own(*moving: Any) -> Any:
        args = dict(zip(by, moving, strict=True))
        found = system.applied(closed, [args.get(k, t) for k, t in enumerate(given)])
        return tuple(found[k] for k in of)

    def other(*moving: Any) -> Any:
        args = dict(zip(by, moving, strict=True))
        found = apply(closed, [args.get(k, a) for k, a in enumerate(primals)])
        return tuple(found[k] for k in of)

    known = [given[k] for k in by]
    try:
        pairs = system.jvp(own, tuple(known), tuple(terms(system, moves)))
        cts = [np.ones_like(a) for a in flat(system, pairs[:1])]
        _, back = system.vjp(own, *known)
        grads = back(tuple(terms(system, cts)))
    except Beyond:
        assume(False)
    floats = tuple(primals[k] for k in by)
    with np.errstate(all="ignore"):
        both = traceir.jvp(other, floats, tuple(moves))
        alike(flat(system, pairs), [np.asarray(a) for p in both for a in p])
        _, pulled = traceir.vjp(other, *floats)
        alike(flat(system, [grads]), [np.asarray(a) for a in pulled(tuple(cts))])


@given(st.data())
def test_drawn_batches_are_alike(data: st.DataObject) -> None:
    closed = data.draw(programs(3, grid=True, primitives=ON_ARRAYS, depth=0))
    assume(not any(a.weak_type or is_key(a.dtype) for a in closed.in_avals))
    first, second = (data.draw(arguments(closed)) for _ in range(2))
    dims = [data.draw(st.none() | st.integers(0, a.ndim)) for a in closed.in_avals]
    assume(any(d is not None for d in dims))
    pairs = zip(first, second, dims)
    args = [a if d is None else np.stack([a, b], d) for a, b, d in pairs]
    system = TermFunctions(default(), evaluate_eqn)
    try:
        found = system.vmap(lambda *a: tuple(system.applied(closed, a)), tuple(dims))(
            *terms(system, args)
        )
    except Beyond:
        assume(False)
    with np.errstate(all="ignore"):
        both = traceir.vmap(lambda *a: tuple(apply(closed, a)), tuple(dims))(*args)
    alike(flat(system, [found]), [np.asarray(a) for a in both])


# Wrong ones ---------------------------------------------------------------------------


def _last_only(self: Any, one: Any, other: Any) -> Any:
    return one if other is None else other


def _never_summed(builder: Any, ct: Any, shape: tuple[int, ...]) -> Any:
    return (
        ct if ct.aval.shape == shape else builder.filled(1, ct.aval.update(shape=shape))
    )


def _first_case(builder: Any, eqn: Any, values: Any, ct: Any) -> list[Any]:
    return [None, *(ct for _ in values[1:])]


def _at_the_end(builder: Any, value: Any, source: int, target: int) -> Any:
    return usual_move(builder, value, source, 0)


def _from_the_end(builder: Any, value: Any, axis: int, k: int) -> Any:
    return usual_row(builder, value, axis, value.aval.shape[axis] - 1 - k)


def _the_other(self: Any, name: str, index: Any, branches: Any, args: Any) -> Any:
    return usual_choice(self, name, index, branches[::-1], args)


def _all_of_it(self: Any, var: Any) -> str:
    return "memory"


def _as_they_are(self: Any, value: Any, order: Sequence[int]) -> Any:
    return value


def _never(self: Any, eqn: Any, name: str, varying: Any) -> bool:
    return False


usual_move, usual_row = batches.moved, regions.taken
usual = forward.DerivedProgram
usual_choice = control.TermControlFlow.chosen
# What is done instead: of which module or class, its name, and the case that tells it.
WRONG: dict[str, tuple[Any, str, Any, str]] = {
    "the last contribution is the only one": (
        *(builder.DerivedProgram, "added", _last_only),
        "grad/mul-with-a-fan-out",
    ),
    "cotangents are not summed": (
        *(backward, "_summed", _never_summed),
        "vjp/of-a-scalar-beside-an-array",
    ),
    "a choice gives its cotangent to all cases": (
        *(backward, "_pulled_choice", _first_case),
        "vjp/select-n",
    ),
    "results have the dimension first": (
        *(functions, "moved", _at_the_end),
        "vmap/results-along-the-last-dimension",
    ),
    "steps of a loop go backwards": (
        *(regions, "taken", _from_the_end),
        "control/gradient-of-scan",
    ),
    "products of pairs are sums": (
        *(pairs.PAIRS, "cumprod", pairs.PAIRS["cummax"]),
        "jvp/cumprod",
    ),
    "everything is known": (
        *(recordings.Recording, "knowledge", _all_of_it),
        "level/number-under-grad",
    ),
    "effects are done by tangents": (
        *(forward, "DerivedProgram", lambda rules, effects=True: usual(rules)),
        "effect/of-what-is-differentiated",
    ),
    "a choice is the other one": (
        *(control.TermControlFlow, "chosen", _the_other),
        "control/gradient-of-cond",
    ),
    "tangents of constants": (
        *(forward, "by_template", lambda *_: None),
        "transform/perturbation-confusion",
    ),
    "parts of devices are in the order of dimensions": (
        *(named_axes.PartedFunction, "permuted", _as_they_are),
        "shard_map/over-two-axes",
    ),
    "all devices have the same": (
        *(named_axes.PartedFunction, "varies", _never),
        "shard_map/results-that-may-vary",
    ),
}
# A row that says something else: its table, primitive, column, and the case.
ROWS = {
    "jvp of mul": ("primitives", "mul", ("jvp", "x"), "mul t x", "jvp/mul"),
    "transpose of neg": ("primitives", "neg", ("transpose", "x"), "ct", "vjp/neg"),
    "batch of rev": (
        *("primitives", "rev", ("batch", "params", "dimensions"), "dimensions"),
        "vmap/rev",
    ),
    "examples of ppermute": (
        *("collectives", "ppermute", ("across",), "whole[(n,) + i]"),
        "ppermute/a-program",
    ),
    "examples of pmax": (
        *("collectives", "pmax", ("across",), "whole[(0,) + i]"),
        "pmax/and-pmin",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_transforms_are_told(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, attribute, wrong, name = WRONG[what]
    assert not borrows(CASES[name]) and judge(Oracle(), CASES[name])
    if isinstance(place, dict):
        monkeypatch.setitem(place, attribute, wrong)
    else:
        monkeypatch.setattr(place, attribute, wrong)
    assert not judge(Oracle(), CASES[name])


@pytest.mark.parametrize("what", ROWS)
def test_other_rows_are_told(what: str) -> None:
    stem, primitive, path, text, name = ROWS[what]
    tables = copy.deepcopy(dict(default().tables))
    row = tables[stem]["prim"][primitive]
    for key in path[:-1]:
        row = row[key]
    assert row[path[-1]] != text
    row[path[-1]] = text
    assert judge(Oracle(), CASES[name])
    assert not judge(Oracle(load(tables)), CASES[name])


if __name__ == "__main__":
    names = sorted(name for name, case in CASES.items() if borrows(case))
    RECORD.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
