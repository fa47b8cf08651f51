"""The derivatives of the tables: none is missing, and each has its tangent's type.

Rules: derive.missing, derive.template, derive.broadcast, table.derivative
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from equations import Equation
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from operands import Draw, build
from soak import examples

import traceir
from traceir.dtypes import float0, is_key
from traceir.ir.jaxpr import sort_params
from traceir.pytrees import flatten
from traceir.rules import default
from traceir.tracing.trace import bind_all
from traceir.transforms.autodiff.jvp_trace import operand_names
from traceir.transforms.rules.registry import JVP, TRANSPOSE

PRIMITIVES = sorted(default().prims)
# What is drawn for them is of dtypes or of programs that have no derivative here.
OTHERS = frozenset(
    p.name
    for p in default().prims.values()
    if p.steps is not None or p.host or (p.batch and p.batch.rule == "collective")
)
# An extremum over examples and a neighbour have no derivative, as in JAX.
WITHOUT = frozenset({"pmax", "pmin", "nextafter"})
WITHOUT |= {"zeta", "igamma_grad_a", "schur", "hessenberg"}
# So many of their first operands they have no derivative by, as their cases show.
HELD = {"polygamma": 1, "random_gamma_grad": 1, "regularized_incomplete_beta": 2}
SMOOTH = sorted(
    p.name
    for p in default().prims.values()
    if p.name not in OTHERS | WITHOUT and not (p.derivative and p.derivative.zero)
)


def missing() -> list[str]:
    """The rules that a primitive needs and neither its row nor a registry has."""
    found = []
    for name in sorted(set(PRIMITIVES) - WITHOUT):
        derivative = default().prims[name].derivative
        column = derivative and (derivative.zero or derivative.linear or derivative.jvp)
        if not column and name not in JVP:
            found.append(f"{name}: jvp")
        if derivative and name not in TRANSPOSE:
            lacking = set(derivative.linear) - set(derivative.transpose)
            found += [f"{name}: transpose of {x}" for x in sorted(lacking)]
    return found


def test_no_derivative_is_missing() -> None:
    assert missing() == []


def test_what_has_a_rule_in_code_has_no_template_beside_it() -> None:
    derivatives = {n: default().prims[n].derivative for n in JVP}
    assert [n for n, d in derivatives.items() if d and (d.jvp or d.linear)] == []


@st.composite
def floating(draw: Draw, prim: str, dtypes: tuple[str, ...]) -> Equation:
    """An application to floating operands in general position: no ties, no poles."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    avals, params = build(draw, prim, dtype)
    params = {**default().prims[prim].defaults, **params}
    for name in ("new_dtype", "preferred_element_type"):
        if name in params:
            params[name] = dtype
    random = np.random.default_rng(draw(st.integers(0, 99)))
    arrays = [
        random.uniform(0.5, 2.0, a.shape).astype(a.dtype)
        if a.dtype.kind == "f"
        else traceir.random.wrap_key_data(traceir.numpy.asarray(words(random, a.shape)))
        if is_key(a.dtype)
        else random.integers(0, 2, a.shape).astype(a.dtype)
        for a in avals
    ]
    if prim == "clamp":  # bounds that do not cross
        arrays = [arrays[0] / 2, arrays[1], arrays[2] + 1]
    if prim in ("asin", "acos", "atanh", "erf_inv"):  # defined within 1
        arrays = [a / dtype.type(2.5) for a in arrays]
    if prim == "acosh":  # defined from 1 on
        arrays = [a + dtype.type(1) for a in arrays]
    if prim == "polygamma":  # of whole orders
        arrays[0] = np.round(arrays[0])
    if prim == "regularized_incomplete_beta":  # to a number within 1
        arrays[2] = arrays[2] / dtype.type(2.5)
    if prim == "eig":  # of eigenvalues that lie apart
        params |= dict.fromkeys(EIGENVECTORS, False)
        arrays = [a + np.diag(apart(a.shape[-1])).astype(a.dtype) for a in arrays]
    if prim in ("qr", "svd"):  # of factors that the matrix determines
        params["full_matrices"] = False
        assume(prim == "svd" or arrays[0].shape[-2] >= arrays[0].shape[-1])
    if prim in ("reduce_max", "reduce_min"):  # of something
        assume(arrays[0].size)
    return Equation(prim, params, arrays)


# The matrix does not determine them, so they have no derivative.
EIGENVECTORS = ("compute_left_eigenvectors", "compute_right_eigenvectors")


def apart(count: int) -> np.ndarray:
    """Numbers that lie further apart than those that are drawn reach."""
    return 9.0 * (1 + np.arange(count))


def words(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """The words of which keys of a shape are made."""
    return random.integers(0, 1 << 32, (*shape, 2), np.uint32)


FLOATS = ("float32", "float64")


def smooth(equation: Equation, held: int = 0) -> tuple[Any, list[np.ndarray]]:
    """The primitive as a function of what it has a derivative by, and these operands.

    At least `held` of the first operands stay what they are.
    """
    params = sort_params(equation.params)
    held = max(held, HELD.get(equation.prim, 0))
    fixed, rest = equation.arrays[:held], equation.arrays[held:]
    return lambda *xs: bind_all(equation.prim, [*fixed, *xs], params), rest


def tangents_of(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Tangents of operands' types."""
    return [
        np.ones_like(a) if a.dtype.kind in "fc" else np.zeros(a.shape, float0)
        for a in arrays
    ]


def cotangents_of(outs: list[Any]) -> list[Any]:
    """Results as their own cotangents; those of integers have none."""
    return [
        out if out.dtype.kind in "fc" else np.zeros(out.shape, float0) for out in outs
    ]


def floats(values: Any) -> list[Any]:
    """Those that are numbers: a program gives no float0."""
    return [v for v in values if v.dtype != float0]


@pytest.mark.parametrize("prim", SMOOTH)
@settings(max_examples=examples(4))
@given(data=st.data())
def test_tangents_have_the_type_of_results(prim: str, data: st.DataObject) -> None:
    equation = data.draw(floating(prim, FLOATS))
    with traceir.enable_x64(True):
        fun, arrays = smooth(equation)
        outs, tangents = traceir.jvp(fun, tuple(arrays), tuple(tangents_of(arrays)))
        for out, tangent in zip(outs, tangents, strict=True):
            wanted = out.dtype if out.dtype.kind in "fc" else float0
            assert (tangent.shape, tangent.dtype) == (out.shape, wanted)


@pytest.mark.parametrize("prim", SMOOTH)
@settings(max_examples=examples(4))
@given(data=st.data())
def test_cotangents_have_the_type_of_operands(prim: str, data: st.DataObject) -> None:
    equation = data.draw(floating(prim, FLOATS))
    with traceir.enable_x64(True):
        fun, arrays = smooth(equation)
        outs, pull = traceir.vjp(fun, *arrays)
        cotangents = pull(tangents_of(outs))
        for array, ct in zip(arrays, cotangents, strict=True):
            wanted = array.dtype if array.dtype.kind in "fc" else float0
            assert (ct.shape, ct.dtype) == (array.shape, wanted)


@pytest.mark.parametrize("prim", SMOOTH)
@settings(max_examples=examples(4))
@given(data=st.data())
def test_the_program_of_a_derivative_is_well_typed(
    prim: str, data: st.DataObject
) -> None:
    equation = data.draw(floating(prim, FLOATS))
    with traceir.enable_x64(True):
        fun, arrays = smooth(equation)

        def both(*xs: Any) -> Any:
            outs, pull = traceir.vjp(fun, *xs)
            _, pushed = traceir.jvp(fun, xs, tuple(tangents_of(arrays)))
            pulled = pull(cotangents_of(outs))
            return floats(pushed), floats(pulled)

        closed = traceir.make_jaxpr(both)(*arrays)
        traceir.check(closed)
        assert len(closed.out_avals) == len(flatten.leaves(both(*arrays)))


def test_operands_of_a_variadic_primitive_share_a_name() -> None:
    assert operand_names("select_n", 3) == ["which", "cases", "cases"]
