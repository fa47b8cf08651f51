"""Every primitive batched is the primitive applied to each example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from equations import ALONE, equations
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from soak import examples

import traceir
from traceir.conform.drawing.strategies import arrays
from traceir.dtypes import is_key
from traceir.ir.jaxpr import sort_params
from traceir.reference.interpreter import evaluate_eqn
from traceir.reference.kernels.random import words_of
from traceir.rules import default
from traceir.rules.batching import BATCH_CLASSES
from traceir.tracing.trace import bind_all
from traceir.transforms.batching.batching_rules import CLASSES
from traceir.transforms.rules.registry import BATCH

# Those that take operands and do not call the host, which says itself how it is mapped;
# nothing runs `custom_lin`, which stands for a derivative that a backward rule gives.
QUIET = [
    name
    for name in ALONE
    if (row := default().prims[name]).inputs
    and not (row.host or row.effects or name == "custom_lin")
]
FEW = examples(4)
# The order of a sum is free, and a batch may be summed in another.
ROUNDED = {"dot", "sum", "product", "program", "ulp", "conditioned", "spectrum"}


def test_every_primitive_has_a_class_of_batching() -> None:
    rows = default().prims.values()
    assert [row.name for row in rows if row.batch is None] == []


def test_every_class_has_a_rule() -> None:
    assert set(BATCH_CLASSES) == CLASSES.keys()


def test_rules_of_their_own_are_those_of_regions() -> None:
    regions = {
        row.name
        for row in default().prims.values()
        if row.batch is not None and row.batch.rule == "region"
    }
    assert regions == BATCH.keys()


@pytest.mark.parametrize("prim", QUIET)
@settings(max_examples=FEW)
@given(data=st.data())
def test_a_batch_is_its_examples(prim: str, data: st.DataObject) -> None:
    equation = data.draw(equations(prim, "grid"))
    size = data.draw(st.integers(1, 3))
    dims = [data.draw(_places(array)) for array in equation.arrays]
    assume(any(d is not None for d in dims))
    batched = [
        a if d is None else _examples(data, a, d, size)
        for a, d in zip(equation.arrays, dims, strict=True)
    ]
    if prim == "cond":  # whose functions clamp the index before, as the batch does
        batched[0] = np.clip(batched[0], 0, len(equation.params["branches"]) - 1)
    params = sort_params(equation.params)
    ranks = [r.ndim for r in evaluate_eqn(prim, params, equation.arrays)]
    outs = [data.draw(st.integers(-n - 1, n)) for n in ranks]

    def run(*operands: Any) -> Any:
        return tuple(bind_all(prim, operands, params))

    with traceir.enable_x64(True):
        every = traceir.vmap(run, tuple(dims), tuple(outs))
        program = traceir.make_jaxpr(every)(*map(_argument, batched))
    traceir.check(program)
    got = traceir.eval_jaxpr(program, program.consts, *batched)
    for k in range(size):
        operands = [_example(a, d, k) for a, d in zip(batched, dims, strict=True)]
        want = evaluate_eqn(prim, params, operands)
        for place, result, one in zip(outs, got, want, strict=True):
            _same(np.take(result, k, place), one, prim)


def _argument(array: np.ndarray) -> Any:
    """An operand as functions take it: NumPy has no arrays of keys."""
    if not is_key(array.dtype):
        return array
    return traceir.random.wrap_key_data(traceir.numpy.asarray(words_of(array)))


def _places(array: np.ndarray) -> st.SearchStrategy[int | None]:
    """The places of an operand's examples: nowhere, or along any dimension."""
    return st.none() | st.integers(-array.ndim - 1, array.ndim)


def _examples(
    data: st.DataObject, array: np.ndarray, dim: int, size: int
) -> np.ndarray:
    aval = traceir.ShapedArray(array.shape, array.dtype)
    others = [data.draw(arrays(aval, True)) for _ in range(size - 1)]
    return np.stack([array, *others], dim)


def _example(batched: np.ndarray, dim: int | None, k: int) -> np.ndarray:
    return batched if dim is None else np.take(batched, k, dim)


def _same(got: np.ndarray, want: np.ndarray, prim: str) -> None:
    assert got.dtype == want.dtype and got.shape == want.shape
    if default().prims[prim].accuracy in ROUNDED and want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_array_equal(got, want)


def test_examples_are_moved_only_where_they_must_be() -> None:
    def f(x: Any) -> Any:
        return (x * 2 + 1)[::2].sum(1)

    x = np.ones((4, 5, 3), "float32")
    program = traceir.make_jaxpr(traceir.vmap(f, in_axes=2, out_axes=1))(x)
    assert "transpose" not in {eqn.primitive for eqn in program.eqns}
