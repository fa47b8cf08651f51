"""Every derivative of the tables against differences of the row's own `value`.

The points are the same for all rows: ordinary ones, zeros, ones, ends, poles. What a
derivative should not agree with stands in the row, as `singular`. Cites derive.jvp
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_tables import transforming_by
from soak import examples

import traceir
from tests.transforms.test_derivative_table import SMOOTH, floating
from traceir.errors import TraceirError
from traceir.exact import gammas
from traceir.exact.digits import from_mp, mpmath, to_mp
from traceir.exact.reals import Real
from traceir.ir import typecheck
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import sort_params
from traceir.ir.typecheck import infer, typer
from traceir.oracle.finite_differences import (
    Function,
    Interval,
    derivatives,
    remembered,
    value_of,
)
from traceir.oracle.relations import Elements
from traceir.reference.kernels.registry import KERNELS
from traceir.rules import Prim, Rules, Scope, default
from traceir.rules.applied import row_scope
from traceir.rules.load import load
from traceir.tracing.trace import bind_all

FLOAT64 = np.dtype("float64")
NUMBER = ShapedArray((), FLOAT64)
# Points of functions of one, of two and of three operands.
INF = np.inf
ONE = [0.0, 1.0, 0.5, 0.3, 1.7, 2.0, 3.0, 5.25, 20.0, 1e-20, 1e12, INF]
POINTS = {
    1: [*ONE, *(-x for x in ONE)],
    2: [0.0, 1.0, -1.0, 0.3, 2.0, 20.0, INF, -INF],
    3: [0.0, 1.0, 0.3, 2.0, -1.0, INF],
}
# Values of params without a default, by their domains.
VALUES: dict[str, list[Any]] = {
    "int": [-3, -1, 0, 1, 2, 3, 8],
    "dtype": [FLOAT64],
    "flag": [False],
}


def pointwise(row: Prim) -> bool:
    """True if a row computes each element of one result of one of each operand."""
    rule = row.batch and row.batch.rule
    return (
        row.value is not None
        and row.derivative is not None
        and rule in ("pointwise", "aligned")
        and not row.variadic
        and row.single
        and any(well_typed(row, params) for params in params_of(row))
    )


def params_of(row: Prim) -> Iterator[dict[str, Any]]:
    """The params with which a row is tried."""
    needed = [p for p in row.params if not p.has_default]
    for values in itertools.product(*(VALUES.get(p.domain, []) for p in needed)):
        yield {**row.defaults, **dict(zip((p.name for p in needed), values))}


def well_typed(row: Prim, params: Mapping[str, Any]) -> bool:
    """True if a row takes numbers of float64 and gives one."""
    with traceir.enable_x64(True):
        try:
            (out,) = infer(row.name, [NUMBER] * row.arity, params)
        except TraceirError:
            return False
    return bool(out.dtype == FLOAT64)


POINTWISE = sorted(row.name for row in default().prims.values() if pointwise(row))


def tangents(
    row: Prim,
    params: Mapping[str, Any],
    columns: Sequence[np.ndarray],
    along: list[int],
) -> np.ndarray | None:
    """The tangents that the library computes; None where the row has no derivative."""
    moving = [k for k, t in enumerate(along) if t]

    def function(*moved: Any) -> Any:
        xs = {**dict(enumerate(columns)), **dict(zip(moving, moved))}
        return bind_all(row.name, [*xs.values()], sort_params(params))[0]

    xs = [columns[k] for k in moving]
    ones = [np.ones_like(x) for x in xs]
    with traceir.enable_x64(True), np.errstate(all="ignore"):
        if has_derivative(row, params, columns, moving):
            return np.asarray(traceir.jvp(function, xs, ones)[1])
        with pytest.raises(NotImplementedError, match=r"derive\.missing"):
            traceir.jvp(function, xs, ones)
    return None


def has_derivative(
    row: Prim, params: Mapping[str, Any], columns: Sequence[Any], moving: Sequence[int]
) -> bool:
    """True if a row says how it is differentiated by these operands."""
    found = row.derivative
    if found is None or found.zero:
        return found is not None
    avals = tuple(ShapedArray(x.shape, x.dtype) for x in columns)
    scope = row_scope(row, avals, sort_params(params), default())
    told = {
        name
        for names, cases in found.jvp.items()
        if any(case.when is None or case.when(scope) for case in cases)
        for name in names
    }
    return {row.inputs[k] for k in moving} <= {*found.linear, *told}


def directions(row: Prim) -> Iterator[tuple[str, list[int]]]:
    """Each operand alone, and those that have one template together."""
    alone = [(name,) for name in row.inputs]
    joint = [*row.derivative.jvp, row.derivative.linear] if row.derivative else []
    for names in dict.fromkeys((*alone, *filter(None, joint))):
        by = names[0] if len(names) == 1 else ""
        yield by, [int(name in names) for name in row.inputs]


def faults(row: Prim, rules: Rules) -> Iterator[str]:
    """A line for each point at which a derivative is not what differences say."""
    points = list(itertools.product(POINTS[row.arity], repeat=row.arity))
    columns = [np.array(c) for c in zip(*points)]
    used = set()
    for params in filter(lambda p: well_typed(row, p), params_of(row)):
        avals = [NUMBER] * row.arity
        function = remembered(value_of(row, params, avals, [NUMBER], rules))
        for by, along in directions(row):
            got = tangents(row, params, columns, along)
            for point, tangent in zip(points, () if got is None else got):
                wanted = expected(row, function, point, along)
                if wanted is None or wanted.contains(float(tangent)):
                    continue
                if known := exempt(row, params, by, point, rules):
                    used |= known
                else:
                    at = ", ".join(map(str, point))
                    yield f"{row.name}({at}) by {by or 'all'}: {tangent}, not {wanted}"
    for n, singular in enumerate(row.singular):
        if n not in used:
            yield f"{row.name}: nothing is singular where {singular.at.text}"


def expected(
    row: Prim, function: Function, point: Sequence[float], along: Sequence[int]
) -> Interval | None:
    """The derivatives that are right; steps have none at infinity."""
    moving = [x for x, t in zip(point, along) if t]
    stepped = row.derivative is not None and row.derivative.zero
    if not all(map(np.isfinite, moving)) and (stepped or len(moving) > 1):
        return None
    return derivatives(function, list(map(Real.of, point)), along)[0]


def exempt(
    row: Prim, params: Mapping[str, Any], by: str, point: Sequence[float], rules: Rules
) -> set[int]:
    """The numbers of those of a row's singular points that a point is one of."""
    operands = tuple(Elements.of(np.array(x)) for x in point)
    scope = Scope(
        {"i": (), "part": 0},
        row.each,
        row_scope(row, operands, sort_params(params), rules),
    )
    return {
        n
        for n, singular in enumerate(row.singular)
        if singular.by in ("", by) and singular.at(scope)
    }


@pytest.fixture(autouse=True)
def values_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Special functions do not say how they are conditioned, which takes long."""

    def value(function: Any, *xs: Real, order: tuple[int, ...] = ()) -> Real:
        with mpmath().workprec(gammas.DIGITS):
            return from_mp(function(*order, *(to_mp(x.value) for x in xs)))

    monkeypatch.setattr(gammas, "conditioned", value)


@pytest.mark.parametrize("name", POINTWISE)
def test_derivatives_are_the_slopes_of_values(name: str) -> None:
    assert list(faults(default().prims[name], default())) == []


# Rows that take arrays: reductions, products, what moves elements about.
ARRAYS = [
    name
    for name in SMOOTH
    if name not in POINTWISE and default().prims[name].value is not None
]


@pytest.mark.parametrize("name", ARRAYS)
@settings(max_examples=examples(6))
@given(data=st.data(), seed=st.integers(0, 99))
def test_derivatives_of_arrays_with_ties_and_zeros(
    name: str, data: st.DataObject, seed: int
) -> None:
    equation = data.draw(floating(name, ("float64",)))
    random = np.random.default_rng(seed)
    arrays = [
        random.integers(-1, 3, a.shape) * 1.0 if a.dtype.kind == "f" else a
        for a in equation.arrays
    ]
    params = {**default().prims[name].defaults, **equation.params}
    assert array_faults(name, params, arrays, random) == []


def array_faults(
    name: str, params: Mapping[str, Any], arrays: Sequence[Any], random: Any
) -> list[str]:
    """A line for each element whose derivative is not what differences say."""
    avals = [ShapedArray(a.shape, a.dtype) for a in arrays]
    moving = [k for k, a in enumerate(arrays) if a.dtype.kind == "f"]
    ts = [random.integers(-2, 3, a.shape) for a in arrays]

    def function(*moved: Any) -> Any:
        xs = {**dict(enumerate(arrays)), **dict(zip(moving, moved))}
        found = bind_all(name, [*xs.values()], sort_params(params))
        return [out for out in found if out.dtype.kind == "f"]

    with traceir.enable_x64(True), np.errstate(all="ignore"):
        outs = infer(name, avals, params)
        at, to = [arrays[k] for k in moving], [ts[k] * 1.0 for k in moving]
        got = traceir.jvp(function, at, to)[1]
    elements = [
        (Elements.of(a)[index], int(t[index]) if k in moving else 0)
        for k, (a, t) in enumerate(zip(arrays, ts))
        for index in np.ndindex(a.shape)
    ]
    value = value_of(default().prims[name], params, avals, outs, default())
    wanted = derivatives(value, *zip(*elements)) if elements else []
    tangents = [t for part in got for t in np.asarray(part).reshape(-1).tolist()]
    return [
        f"{name}{params} of {arrays}: {t} along {ts}, not {w}"
        for t, w in zip(tangents, wanted)
        if w is not None and not w.contains(t)
    ]


def test_a_derivative_that_is_missing_at_a_removable_singularity_is_told() -> None:
    row = {
        "class": "real_function",
        "value": "real('sin', a) / a if a != 0 else 1",
        "jvp": {"x": "c = cos x; e = sub c out; d = div e x; mul t d"},
    }
    tables = {k: dict(v) for k, v in default().tables.items()}
    tables["primitives"]["prim"] = {**tables["primitives"]["prim"], "unsinc": row}
    rules = load(tables)
    kernel = mock.patch.dict(KERNELS, unsinc=_unsinc)
    types = mock.patch.object(typecheck, "_default_typer", lambda: typer(rules))
    with transforming_by(rules), types, kernel:
        told = list(faults(rules.prims["unsinc"], rules))
    at_zero = "unsinc(0.0) by x: nan, not Interval(low=0.0, high=0.0)"
    assert at_zero in [line.replace("-0.0", "0.0") for line in told]


def _unsinc(x: np.ndarray) -> np.ndarray:
    return np.sinc(x / np.pi)
