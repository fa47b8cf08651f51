"""Each derivative and each rule of batching is shown by a case, and is no idle text.

Rules: derive.jvp, derive.template, derive.broadcast, derive.jit, derive.jacobian,
derive.linearize, derive.transpose, derive.float0, accuracy.batched,
custom_lin.operands, custom.keyword, sharding.divides, check.value, check.derivative
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np
import pytest
from other_tables import transforming_by

import traceir
from traceir import lax
from traceir.conform import Case, judge, load_cases
from traceir.conform.systems.implementations import Reference
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, HostFunction, subjaxprs
from traceir.ir.typecheck import violations
from traceir.rules import Rules, default
from traceir.rules.rows import Prim
from traceir.test_util import check_jvp, check_vjp
from traceir.transforms.rules.registry import JVP

FORWARD, REVERSE = {"jvp", "linearize"}, {"vjp", "grad", "linear_transpose"}
FILES = (
    *("grad.tir", "vmap.tir", "transform.tir", "collective.tir", "control.tir"),
    *("cumulative.tir", "bits.tir"),
    *("transformed_windows.tir", "transformed_places.tir", "sorting.tir"),
    *("special.tir", "fft.tir", "complex.tir", "random.tir", "counters.tir"),
)
CASES = [case for case in load_cases() if case.file in FILES]
# The extreme over examples has no derivative, in JAX either, and no neighbour has one;
# nor have sums of powers, what is a derivative by a parameter already, and forms that
# the matrix does not determine.
WITHOUT = {"pmax", "pmin", "nextafter"}
WITHOUT |= {"zeta", "igamma_grad_a", "schur", "hessenberg"}
PRIMS = default().prims


def eqns(closed: ClosedJaxpr) -> Iterator[Eqn]:
    """The equations of a program and of the programs within."""
    for eqn in closed.eqns:
        yield eqn
        for inner in subjaxprs(eqn):
            yield from eqns(inner)


@cache
def shown() -> dict[tuple[str, str], list[Case]]:
    """The cases that put a primitive under a transform."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in CASES:
        if case.session is None:
            continue
        typed = [f.closed for f in case.functions.values() if f.typed]
        names = {e.primitive for closed in typed if closed for e in eqns(closed)}
        for function in case.session.functions.values():
            for transform in function.transforms:
                for name in names:
                    found.setdefault((name, transform.name), []).append(case)
    return found


def cases_of(name: str, transforms: set[str]) -> list[Case]:
    """The cases that put a primitive under one of some transforms."""
    return [c for t in transforms for c in shown().get((name, t), ())]


def differentiable() -> list[str]:
    """The primitives with templates of their tangents."""
    found = {n: row.derivative for n, row in PRIMS.items()}
    return [n for n, d in found.items() if d and (d.jvp or d.linear) and local(n)]


def local(name: str) -> bool:
    """True if a primitive is of arrays alone, and not of examples of an axis."""
    return PRIMS[name].steps is None and PRIMS[name].value is not None


@pytest.mark.parametrize("name", sorted(PRIMS))
def test_every_primitive_has_a_derivative_and_a_class_of_batching(name: str) -> None:
    row = PRIMS[name]
    assert row.batch is not None
    by_code = name in JVP or row.steps is not None
    assert by_code or row.derivative is not None or name in WITHOUT


@pytest.mark.parametrize("name", differentiable())
def test_every_derivative_is_shown(name: str) -> None:
    assert any("value" in c.verbs for c in cases_of(name, FORWARD))
    assert any("value" in c.verbs for c in cases_of(name, REVERSE))


@pytest.mark.parametrize("name", [n for n in sorted(PRIMS) if local(n)])
def test_every_rule_of_batching_is_shown(name: str) -> None:
    assert any("value" in c.verbs for c in cases_of(name, {"vmap"}))


def with_row(row: Prim) -> Rules:
    """The tables with another row in the place of the one of its name."""
    prims = MappingProxyType({**PRIMS, row.name: row})
    return replace(default(), prims=prims)


def fails(cases: list[Case], tables: Rules) -> bool:
    """True if one of the cases fails where transforms read these tables."""
    with transforming_by(tables):
        return not all(judge(Reference(), case) for case in cases)


@pytest.mark.parametrize("name", differentiable())
def test_a_derivative_that_is_deleted_is_noticed(name: str) -> None:
    less = with_row(replace(PRIMS[name], derivative=None))
    assert fails(cases_of(name, FORWARD | REVERSE), less)


@pytest.mark.parametrize("name", [n for n in differentiable() if PRIMS[n].derivative])
def test_a_derivative_that_is_zero_is_noticed(name: str) -> None:
    derivative = PRIMS[name].derivative
    assert derivative is not None
    zero = replace(derivative, zero=True, linear=(), jvp={}, transpose={})
    less = with_row(replace(PRIMS[name], derivative=zero))
    assert fails(cases_of(name, FORWARD | REVERSE), less)


@pytest.mark.parametrize("name", differentiable())
def test_a_part_of_a_derivative_that_is_lost_is_noticed(name: str) -> None:
    derivative = PRIMS[name].derivative
    assert derivative is not None
    for column in ("jvp", "transpose"):
        parts = getattr(derivative, column)
        for key in parts:
            fewer = {k: v for k, v in parts.items() if k != key}
            changed = replace(derivative, **{column: fewer})
            less = with_row(replace(PRIMS[name], derivative=changed))
            cases = cases_of(name, FORWARD | REVERSE if column == "jvp" else REVERSE)
            assert fails(cases, less), (column, key)


# What no case can show ---------------------------------------------------------------


def test_a_linear_function_of_the_host_has_operands_for_its_tangents() -> None:
    aval = ShapedArray((), "float32")
    params = {"in_zeros": (False, True), "num_res": 1, "out_avals": (aval,)}
    params |= {"bwd": HostFunction("back", len), "symbolic_zeros": False}
    assert "custom_lin.operands" in violations("custom_lin", (aval,), params)
    assert "custom_lin.operands" not in violations("custom_lin", (aval,) * 2, params)


def test_an_argument_without_a_position_has_no_tangent() -> None:
    function = traceir.custom_jvp(lambda x, **k: x)
    function.defjvp(lambda p, t: (p[0], t[0]))
    with pytest.raises(TypeError) as caught:
        function(1.0, k=2.0)
    assert getattr(caught.value, "rule", None) == "custom.keyword"


def test_extents_are_divided_evenly() -> None:
    device = traceir.devices()[0]
    mesh = traceir.sharding.Mesh(np.array([device, device]), ("x",))
    spec = traceir.sharding.PartitionSpec("x")
    named = traceir.sharding.NamedSharding(mesh, spec)
    assert named.shard_shape((4,)) == (2,)
    with pytest.raises(ValueError) as caught:
        named.shard_shape((3,))
    assert getattr(caught.value, "rule", None) == "sharding.divides"


def test_a_wrong_derivative_is_told_from_a_wrong_value() -> None:
    def square(x: float) -> float:
        return x * x

    def wrong_value(p: tuple[float], t: tuple[float]) -> tuple[float, float]:
        return p[0], 2 * p[0] * t[0]

    def wrong_tangent(p: tuple[float], t: tuple[float]) -> tuple[float, float]:
        return square(p[0]), 3 * p[0] * t[0]

    for rule, wrong in (
        ("check.value", wrong_value),
        ("check.derivative", wrong_tangent),
    ):
        with pytest.raises(AssertionError) as caught:
            check_jvp(square, wrong, (3.0,))
        assert getattr(caught.value, "rule", None) == rule
    with pytest.raises(AssertionError) as caught:
        check_vjp(square, lambda x: (square(x), lambda ct: (ct * x,)), (3.0,))
    assert getattr(caught.value, "rule", None) == "check.derivative"


def test_a_value_used_twice_has_the_sum_of_both_cotangents() -> None:
    text = str(traceir.make_jaxpr(traceir.grad(lambda x: x * lax.sin(x)))(1.0))
    assert text.count("add_any") == 1
