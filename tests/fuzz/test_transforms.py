"""Random programs under random compositions of transforms: each backend as the other.

Cites derive.*, vmap.*, control.*. A draw that fails is printed as a case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import traceir
from traceir.conform.chains import Chain, chains
from traceir.conform.strategies import arrays
from traceir.conform.written import as_case
from traceir.recording import apply

# Each example traces and compiles several programs.
FEW = max(5, settings.default.max_examples // 5)


def results(chain: Chain, args: Sequence[Any], backend: str) -> list[np.ndarray]:
    """What the whole chain gives under `jit` with a backend."""
    fun = chain.function(traceir, lambda *xs: apply(chain.program, xs))
    found = traceir.jit(fun, backend=backend)(*map(traceir.numpy.asarray, args))
    return [np.asarray(r) for r in found]


def drawn(data: st.DataObject) -> tuple[Chain, list[np.ndarray]]:
    """A chain and its arguments, noted as a case."""
    chain = data.draw(chains())
    avals = chain.avals(traceir, lambda *xs: apply(chain.program, xs))
    args = [data.draw(arrays(a, True)) for a in avals]
    note(f"{as_case('fuzz/transforms', chain.program, args)}\n  under  {chain}")
    return chain, args


def assert_alike(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> None:
    """Equal types, and values as near as sums in another order may be."""
    forms = [[(a.shape, a.dtype) for a in arrays] for arrays in (got, want)]
    assert forms[0] == forms[1]
    for g, w in zip(got, want, strict=True):
        if g.dtype.kind != "f":
            np.testing.assert_array_equal(g, w)
            continue
        finite = np.isfinite(w) & (np.abs(w) < 1e30)
        scale = float(np.max(np.abs(w[finite]), initial=1.0))
        np.testing.assert_allclose(g[finite], w[finite], rtol=1e-4, atol=1e-5 * scale)


@settings(max_examples=FEW)
@given(st.data())
def test_a_chain_is_the_same_on_both_backends(data: st.DataObject) -> None:
    chain, args = drawn(data)
    want = results(chain, args, "reference")
    assert_alike(results(chain, args, "numba"), want)


@settings(max_examples=FEW)
@given(st.data())
def test_a_chain_is_the_same_with_and_without_jit(data: st.DataObject) -> None:
    chain, args = drawn(data)
    fun = chain.function(traceir, lambda *xs: apply(chain.program, xs))
    found = [np.asarray(r) for r in fun(*map(traceir.numpy.asarray, args))]
    assert_alike(found, results(chain, args, "reference"))


@settings(max_examples=FEW)
@given(st.data())
def test_a_chain_is_what_jax_makes_of_it(data: st.DataObject) -> None:
    jax = pytest.importorskip("jax", reason="this is compared with JAX itself")
    from traceir.conform.jaxsystem import JaxSystem

    chain, args = drawn(data)
    program = JaxSystem().function(chain.program)

    def function(*xs: Any) -> list[Any]:
        found = program(*xs)
        return list(found) if isinstance(found, tuple) else [found]

    found = jax.jit(chain.function(jax, function))(*map(jax.numpy.asarray, args))
    want = [np.asarray(r) for r in found]
    assert_alike(results(chain, args, "reference"), want)
